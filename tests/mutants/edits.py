"""Single edits of kernels and headers: what tests/mutants/mutants.py tries.

A file is cut into tokens and, as far as that goes without a compiler, into statements. The style that
clang-format gives is relied on: a binary operator has blanks on both sides, that of a pointer, a
reference or a template has none.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>R"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<space>(?:[ \t\r\n\f]|\\\n)+)
    | (?P<op><<=|>>=|->\*?|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|::|\.\.\.|.)
    """,
    re.X | re.S,
)
OPENERS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    line: int
    directive: str = ""  # the word behind # where the token is in a directive


@dataclass
class Mutant:
    file: str  # below the folder of the project
    line: int  # from 1
    begin: int
    end: int
    text: str  # what stands there instead
    kind: str
    edit: str  # in words, the same for the same edit
    source_line: str  # without blanks at its ends
    scope: str  # the function or macro around it
    first_line: int  # of the statement or macro around it
    nth: int = 1  # among those of the same file, scope, line and edit
    of: int = 1
    number: int = 0

    def key(self):
        return (self.file, self.scope, self.source_line, self.edit)

    def apply(self, content):
        return content[: self.begin] + self.text + content[self.end :]


@dataclass
class Stream:
    """Tokens that follow each other: those outside of directives, or the body of one macro."""

    tokens: list
    macro: str = ""
    first_line: int = 0
    partner: dict = field(default_factory=dict)

    def __post_init__(self):
        open_ = []
        for i, token in enumerate(self.tokens):
            if token.kind != "op":
                continue
            if token.text in OPENERS:
                open_.append(i)
            elif token.text in OPENERS.values():
                # The branches of an #if may close a bracket twice, or open it twice.
                for at in range(len(open_) - 1, -1, -1):
                    if OPENERS[self.tokens[open_[at]].text] == token.text:
                        self.partner[open_[at]] = i
                        self.partner[i] = open_[at]
                        del open_[at:]
                        break

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def statement_end(self, i):
        """The index behind the statement that begins at i, None where there is no end."""
        word = self.text(i)
        if word == "":
            return None
        if word == "{":
            close = self.partner.get(i)
            return None if close is None else close + 1
        if word in ("if", "for", "while", "switch"):
            at = i + 1
            if self.text(at) == "constexpr":
                at += 1
            close = self.partner.get(at) if self.text(at) == "(" else None
            if close is None:
                return None
            end = self.statement_end(close + 1)
            if end is not None and word == "if" and self.text(end) == "else":
                return self.statement_end(end + 1)
            return end
        if word == "do":
            body = self.statement_end(i + 1)
            if body is None or self.text(body) != "while":
                return None
            close = self.partner.get(body + 1)
            return None if close is None else close + 2
        if word == "else":
            return self.statement_end(i + 1)
        if word in ("case", "default"):
            at = i
            while self.text(at) not in (":", ""):
                at += 1
            return None if self.text(at) == "" else at + 1
        if word == "_Pragma":
            close = self.partner.get(i + 1)
            return None if close is None else self.statement_end(close + 1)
        at = i
        while at < len(self.tokens):
            here = self.text(at)
            if here == ";":
                return at + 1
            if here in OPENERS:
                close = self.partner.get(at)
                if close is None:
                    return None
                at = close + 1
                continue
            if here in (")", "]", "}"):
                return None
            at += 1
        return None

    def statements(self, begin, end):
        """Begin and end of each statement between two indices; None where they cannot be told."""
        out = []
        while begin < end:
            behind = self.statement_end(begin)
            if behind is None or behind > end:
                return None
            out.append((begin, behind))
            begin = behind
        return out


def tokens_of(content):
    out = []
    line = 1
    directive = ""  # of the line
    fresh = True  # nothing but blanks in this line so far
    at = 0
    while at < len(content):
        match = TOKEN.match(content, at)
        kind = match.lastgroup if match.lastgroup != "tag" else "string"
        text = match.group()
        if kind == "op" and text == "#" and fresh and not directive:
            word = re.match(r"#[ \t]*(\w*)", content[at:])
            directive = word.group(1) or "#"
        out.append(Token(kind, text, at, match.end(), line, directive))
        if kind == "space":
            # A directive ends at a line end without a backslash.
            if re.search(r"(?<!\\)\n", text):
                directive = ""
                fresh = True
        elif kind != "comment":
            fresh = False
        line += text.count("\n")
        at = match.end()
    return out


def streams_of(content):
    """The stream outside of directives, those of macros, and those of conditions (#if, #elif)."""
    outside, macros, conditions = [], [], []
    body = None
    tokens = tokens_of(content)
    for i, token in enumerate(tokens):
        begins = token.kind == "op" and token.text == "#" and token.directive
        if begins and (i == 0 or tokens[i - 1].directive == "" or tokens[i - 1].kind == "space"):
            body = [] if token.directive in ("define", "if", "elif") else None
            if body is not None:
                (macros if token.directive == "define" else conditions).append((token.line, body))
        if token.kind in ("comment", "space"):
            continue
        if not token.directive:
            outside.append(token)
        elif body is not None:
            body.append(token)
    out = [Stream(outside)]
    defaults = set(re.findall(r"(?m)^#ifndef (\w+)\n#define \1 [^\n]*\n#endif", content))
    for line, body in macros:
        name = body[2].text if len(body) > 2 else ""
        # The host gives these: the default is for the file alone.
        if name in defaults or not name:
            continue
        rest = 3
        if len(body) > 3 and body[3].text == "(" and body[3].begin == body[2].end:
            while rest < len(body) and body[rest].text != ")":
                rest += 1
            rest += 1
        out.append(Stream(body[rest:], macro=name, first_line=line))
    for line, body in conditions:
        out.append(Stream(body[2:], macro="#" + body[1].text, first_line=line))
    return out


SWAPS = {
    "<": ("<=", "bound"),
    "<=": ("<", "bound"),
    ">": (">=", "bound"),
    ">=": (">", "bound"),
    "==": ("!=", "bound"),
    "!=": ("==", "bound"),
    "+": ("-", "operator"),
    "-": ("+", "operator"),
    "*": ("/", "operator"),
    "/": ("*", "operator"),
    "%": ("/", "operator"),
    "<<": (">>", "operator"),
    ">>": ("<<", "operator"),
    "&": ("|", "operator"),
    "|": ("&", "operator"),
    "^": ("|", "operator"),
    "&&": ("||", "operator"),
    "||": ("&&", "operator"),
    "+=": ("-=", "operator"),
    "-=": ("+=", "operator"),
    "*=": ("/=", "operator"),
    "/=": ("*=", "operator"),
    "<<=": (">>=", "operator"),
    ">>=": ("<<=", "operator"),
    "&=": ("|=", "operator"),
    "|=": ("&=", "operator"),
}
CALLS = {
    "min": ("max", "bound"),
    "max": ("min", "bound"),
    "rint": ("trunc", "conversion"),
    "round": ("trunc", "conversion"),
    "trunc": ("rint", "conversion"),
    "floor": ("ceil", "conversion"),
    "ceil": ("floor", "conversion"),
}
BARRIERS = {"barrier", "work_group_barrier", "sub_group_barrier", "mem_fence"}
ROUNDINGS = {"_rte": "_rtz", "_rtz": "_rte", "_rtp": "_rtn", "_rtn": "_rtp"}
NARROWER = {
    "ulong": "uint",
    "long": "int",
    "uint": "ushort",
    "int": "short",
    "ushort": "uchar",
    "short": "char",
    "size_t": "uint",
    "double": "float",
}
NARROWER_HOST = {
    "std::size_t": "unsigned",
    "std::uint64_t": "std::uint32_t",
    "std::int64_t": "std::int32_t",
    "std::uint32_t": "std::uint16_t",
    "std::ptrdiff_t": "int",
    "cl_ulong": "cl_uint",
    "cl_long": "cl_int",
    "cl_uint": "cl_ushort",
    "cl_int": "cl_short",
    "unsigned": "unsigned short",
    "int": "short",
    "double": "float",
}


def constants(text):
    """Other values for a literal: one more, one less, zero."""
    plain = text.replace("'", "")
    integer = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlLzZ]*)", plain)
    if integer:
        digits, suffix = integer.groups()
        base = 16 if digits[:2].lower() == "0x" else 10
        if base == 10 and len(digits) > 1 and digits[0] == "0":
            return []
        value = int(digits, base)
        spell = (lambda v: f"0x{v:X}") if base == 16 else str
        values = [v for v in (value + 1, value - 1, 0) if v >= 0 and v != value]
        return [spell(v) + suffix for v in dict.fromkeys(values)]
    real = re.fullmatch(r"(0[xX][0-9a-fA-F.]*[pP][+-]?\d+|[\d.]+(?:[eE][+-]?\d+)?)([fF]?)", plain)
    if not real:
        return []
    digits, suffix = real.groups()
    value = float.fromhex(digits) if digits[:2].lower() == "0x" else float(digits)
    out = []
    for other in dict.fromkeys((value + 1, value - 1, 0.0)):
        if other != value:
            spelled = repr(abs(other)) + suffix
            out.append(f"(-{spelled})" if other < 0 else spelled)
    return out


class Finder:
    """All edits of one file."""

    def __init__(self, file, content):
        self.file = file
        self.content = content
        self.lines = content.split("\n")
        self.host = file.endswith(".hpp")
        self.found = []

    def add(self, stream, scope, i, begin, end, text, kind, edit):
        first = self.first_line(stream, i)
        line = self.content.count("\n", 0, begin) + 1
        self.found.append(
            Mutant(self.file, line, begin, end, text, kind, edit, self.lines[line - 1].strip(" \\"),
                   scope, first)
        )

    def first_line(self, stream, i):
        if stream.macro:
            return stream.first_line
        while i > 0 and stream.text(i - 1) not in (";", "{", "}"):
            i -= 1
        return stream.tokens[i].line

    def scopes(self, stream):
        """For each token the outermost function around it, else the struct, else nothing."""
        names = [""] * len(stream.tokens)
        i = 0
        while i < len(stream.tokens):
            name = self.head_of(stream, i) if stream.text(i) == "{" else ""
            close = stream.partner.get(i)
            if name and close is not None:
                begin = i
                while begin > 0 and stream.text(begin - 1) not in (";", "}", "{"):
                    begin -= 1
                for at in range(begin, close + 1):
                    names[at] = name
                i = close + 1
            else:
                i += 1
        return names

    def head_of(self, stream, brace):
        """The name of the function or struct whose body this brace opens."""
        at = brace - 1
        while stream.text(at) in ("const", "noexcept", "override", "final"):
            at -= 1
        if stream.text(at) == ")":
            open_ = stream.partner.get(at)
            name = stream.text(open_ - 1) if open_ is not None else ""
            plain = re.fullmatch(r"[A-Za-z_]\w*", name)
            return name if plain and name not in ("if", "for", "while", "switch", "catch") else ""
        begin = brace
        while begin > 0 and stream.text(begin - 1) not in (";", "}", "{"):
            begin -= 1
        words = [stream.text(k) for k in range(begin, brace)]
        if "struct" in words or "union" in words:
            if self.host:
                return ""  # its functions have names of their own
            return "struct"
        return ""

    def find(self):
        for stream in streams_of(self.content):
            if stream.macro:
                scopes = [stream.macro] * len(stream.tokens)
            else:
                scopes = self.scopes(stream)
            skip_to = 0
            for i, token in enumerate(stream.tokens):
                if token.text == "static_assert":
                    skip_to = stream.statement_end(i) or i
                if i < skip_to:
                    continue
                self.look_at(stream, scopes[i], i, token)
        self.found.sort(key=lambda m: (m.begin, m.end, m.text))
        groups = {}
        for mutant in self.found:
            groups.setdefault(mutant.key(), []).append(mutant)
        for group in groups.values():
            for n, mutant in enumerate(group, 1):
                mutant.nth, mutant.of = n, len(group)
        return self.found

    def look_at(self, stream, scope, i, token):
        text, begin, end = token.text, token.begin, token.end

        def one(kind, other, edit, to=end):
            self.add(stream, scope, i, begin, to, other, kind, edit)

        if token.kind == "number":
            for other in constants(text):
                one("constant", other, f"{text} to {other}")
        elif token.kind == "op":
            before, behind = self.content[begin - 1 : begin], self.content[end : end + 1]
            if text in SWAPS and before.isspace() and behind.isspace() and i > 0:
                other, kind = SWAPS[text]
                one(kind, other, f"{text} to {other}")
            elif text == "!" and not behind.isspace() and behind not in "=":
                one("operator", "", "drop !")
            elif text == "(":
                self.cast(stream, scope, i)
        elif token.kind == "name":
            call = stream.text(i + 1) == "("
            if text in CALLS and call:
                other, kind = CALLS[text]
                one(kind, other, f"{text} to {other}")
            elif text in BARRIERS and call:
                close = stream.partner.get(i + 1)
                if close is not None and stream.text(close + 1) in (";", ""):
                    one("barrier", "", "drop the barrier", stream.tokens[close].end)
            elif text == "if":
                self.guard(stream, scope, i)
            elif text in ("for", "while"):
                self.loop(stream, scope, i)
            elif text == "static_cast" and self.host:
                self.static_cast(stream, scope, i)
            rounding = re.fullmatch(r"(convert_\w+?|vstore_half\d*|)(_sat)?(_rt[ezpn])?", text)
            if rounding and (rounding[2] or rounding[3]):
                head, sat, mode = rounding.groups()
                if sat:
                    one("conversion", head + (mode or ""), "drop _sat")
                if mode:
                    other = ROUNDINGS[mode]
                    one("conversion", head + (sat or "") + other, f"{mode} to {other}")

    def cast(self, stream, scope, i):
        """(uint)x"""
        name = stream.text(i + 1)
        if name not in NARROWER or stream.text(i + 2) != ")" or self.host:
            return
        before = stream.tokens[i - 1] if i > 0 else None
        if before is not None and before.kind == "name" and before.text != "return":
            return
        behind = stream.tokens[i + 3] if i + 3 < len(stream.tokens) else None
        if behind is None or not (behind.kind in ("name", "number") or behind.text in "(-~"):
            return
        # A work-group has fewer items than any of these types counts.
        if behind.text in ("get_local_id", "get_local_size"):
            return
        at = stream.tokens[i + 1]
        self.add(stream, scope, i, at.begin, at.end, NARROWER[name], "conversion",
                 f"({name}) to ({NARROWER[name]})")

    def static_cast(self, stream, scope, i):
        at = i + 2
        name = ""
        while stream.text(at) not in (">", "(", ""):
            name += stream.text(at)
            at += 1
        if stream.text(i + 1) != "<" or name not in NARROWER_HOST:
            return
        other = NARROWER_HOST[name]
        self.add(stream, scope, i, stream.tokens[i + 2].begin, stream.tokens[at - 1].end, other,
                 "conversion", f"cast to {name} to {other}")

    def guard(self, stream, scope, i):
        """Drops `if (x) return;`; makes the condition of another `if` true."""
        if stream.text(i + 1) != "(" or stream.text(i - 1) == "#":
            return
        close = stream.partner.get(i + 1)
        if close is None:
            return
        end = stream.statement_end(i)
        has_else = end is None or stream.statement_end(close + 1) != end
        body = close + 1
        if not has_else and stream.text(body) == "{":
            inside = stream.statements(body + 1, stream.partner[body])
            body = body + 1 if inside and len(inside) == 1 else close + 1
        if not has_else and stream.text(body) in ("return", "continue", "break", "throw"):
            self.add(stream, scope, i, stream.tokens[i].begin, stream.tokens[end - 1].end, ";",
                     "guard", "drop the guard")
            return
        true = "true" if self.host else "1"
        self.add(stream, scope, i, stream.tokens[i + 2].begin, stream.tokens[close - 1].end, true,
                 "guard", "if always")

    def loop(self, stream, scope, i):
        """Drops the last statement of a loop, and a loop that goes on where another one ended."""
        close = stream.partner.get(i + 1) if stream.text(i + 1) == "(" else None
        end = stream.statement_end(i)
        if close is None or end is None or stream.text(close + 1) == ";":
            return
        statement = stream.tokens[i].begin, stream.tokens[end - 1].end
        if stream.text(i) == "while" or stream.text(i + 2) == ";":
            self.add(stream, scope, i, *statement, "while (0) {}", "tail", "drop the loop")
        if stream.text(close + 1) == "{":
            inside = stream.statements(close + 2, stream.partner[close + 1])
            if not inside:
                return
            first, behind = inside[-1]
        else:
            first, behind = close + 1, end
        self.add(stream, scope, i, stream.tokens[first].begin, stream.tokens[behind - 1].end, ";",
                 "tail", "drop the loop's last statement")


def mutants_of(file, content):
    return Finder(file, content).find()
