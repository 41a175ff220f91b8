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

    def begin_of(self, i):
        """The index of the first token of the statement or declaration that holds token i."""
        while i > 0 and self.text(i - 1) not in (";", "{", "}"):
            i -= 1
        return i

    def statement_end(self, i):
        """The index behind the statement that begins at i, None where there is no end."""
        word = self.text(i)
        if word == "":
            return None
        if word == "{":
            return self.behind(i)
        if word in ("if", "for", "while", "switch"):
            body = self.behind(i + 2 if self.text(i + 1) == "constexpr" else i + 1)
            end = None if body is None else self.statement_end(body)
            return self.statement_end(end + 1) if end and word == "if" and self.text(end) == "else" else end
        if word == "do":
            body = self.statement_end(i + 1)
            behind = None if body is None or self.text(body) != "while" else self.behind(body + 1)
            return None if behind is None else behind + 1
        if word == "else":
            return self.statement_end(i + 1)
        if word in ("case", "default"):
            at = i
            while self.text(at) not in (":", ""):
                at += 1
            return None if self.text(at) == "" else at + 1
        if word == "_Pragma":
            behind = self.behind(i + 1)
            return None if behind is None else self.statement_end(behind)
        at = i
        while at is not None and self.text(at) not in (")", "]", "}", "", ";"):
            at = self.behind(at) if self.text(at) in OPENERS else at + 1
        return at + 1 if at is not None and self.text(at) == ";" else None

    def behind(self, i):
        """The index behind the bracket that closes the one at i; None where there is none."""
        close = self.partner.get(i) if self.text(i) in OPENERS else None
        return None if close is None else close + 1

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


def pairs(words):
    words = words.split()
    return dict(zip(words[::2], words[1::2]))


def both_ways(words):
    one = pairs(words)
    return {**one, **{value: key for key, value in one.items()}}


KINDS = {
    "bound": both_ways("< <= > >= == != min max"),
    "operator": {**both_ways("+ - * / << >> & | && || += -= *= /= <<= >>= &= |="), **pairs("% / ^ |")},
    "conversion": {**both_ways("floor ceil rint trunc"), **pairs("round trunc")},
}
SWAPS = {word: (other, kind) for kind, words in KINDS.items() for word, other in words.items()}
BARRIERS = {"barrier", "work_group_barrier", "sub_group_barrier", "mem_fence"}
ROUNDINGS = both_ways("_rte _rtz _rtp _rtn")
NARROWER = pairs("ulong uint long int uint ushort int short ushort uchar short char size_t uint double float")
NARROWER_HOST = {
    **pairs("""std::size_t unsigned std::uint64_t std::uint32_t std::int64_t std::int32_t std::uint32_t std::uint16_t
            std::ptrdiff_t int cl_ulong cl_uint cl_long cl_int cl_uint cl_ushort cl_int cl_short int short double float"""),
    "unsigned": "unsigned short",
}


def constants(text):
    """Other values for a literal: one more, one less, zero."""
    plain = text.replace("'", "")
    if integer := re.fullmatch(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)([uUlLzZ]*)", plain):
        digits, suffix = integer.groups()
        value = int(digits, 0)
        spell = (lambda v: f"0x{v:X}") if digits[:2] in ("0x", "0X") else str
        return [spell(v) + suffix for v in dict.fromkeys((value + 1, value - 1, 0)) if v >= 0 and v != value]
    real = re.fullmatch(r"(0[xX][0-9a-fA-F.]*[pP][+-]?\d+|[\d.]+(?:[eE][+-]?\d+)?)([fF]?)", plain)
    if not real or re.fullmatch(r"0\d+", real[1]):
        return []
    value = float.fromhex(real[1]) if real[1][:2] in ("0x", "0X") else float(real[1])
    others = [v for v in dict.fromkeys((value + 1, value - 1, 0.0)) if v != value]
    return [f"(-{abs(v)!r}{real[2]})" if v < 0 else f"{v!r}{real[2]}" for v in others]


class Finder:
    """All edits of one file."""

    def __init__(self, file, content):
        self.file = file
        self.content = content
        self.lines = content.split("\n")
        self.host = file.endswith(".hpp")
        self.found = []

    def add(self, stream, scope, i, begin, end, text, kind, edit):
        first = stream.first_line if stream.macro else stream.tokens[stream.begin_of(i)].line
        line = self.content.count("\n", 0, begin) + 1
        self.found.append(
            Mutant(self.file, line, begin, end, text, kind, edit, self.lines[line - 1].strip(" \\"),
                   scope, first)
        )

    def scopes(self, stream):
        """For each token the outermost function around it, else the struct, else nothing."""
        names = [""] * len(stream.tokens)
        i = 0
        while i < len(stream.tokens):
            close = stream.partner.get(i)
            name = self.head_of(stream, i) if stream.text(i) == "{" and close is not None else ""
            if name:
                begin = stream.begin_of(i)
                names[begin : close + 1] = [name] * (close + 1 - begin)
                i = close
            i += 1
        return names

    def head_of(self, stream, brace):
        """The name of the function or struct whose body this brace opens."""
        at = brace - 1
        while stream.text(at) in ("const", "noexcept", "override", "final"):
            at -= 1
        if stream.text(at) == ")":
            name = stream.text(stream.partner[at] - 1) if at in stream.partner else ""
            control = ("if", "for", "while", "switch", "catch")
            return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name not in control else ""
        words = [stream.text(k) for k in range(stream.begin_of(brace), brace)]
        # Of a host struct its functions have names of their own.
        return "struct" if not self.host and ("struct" in words or "union" in words) else ""

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

        def swap():
            one(SWAPS[text][1], SWAPS[text][0], f"{text} to {SWAPS[text][0]}")

        if token.kind == "number":
            for other in constants(text):
                one("constant", other, f"{text} to {other}")
        elif token.kind == "op":
            before, behind = self.content[begin - 1 : begin], self.content[end : end + 1]
            if text in SWAPS and before.isspace() and behind.isspace() and i > 0:
                swap()
            elif text == "!" and not behind.isspace() and behind not in "=":
                one("operator", "", "drop !")
            elif text == "(":
                self.cast(stream, scope, i)
        elif token.kind == "name":
            close = stream.partner.get(i + 1) if stream.text(i + 1) == "(" else None
            if text in SWAPS and stream.text(i + 1) == "(":
                swap()
            elif text in BARRIERS and close is not None and stream.text(close + 1) in (";", ""):
                one("barrier", "", "drop the barrier", stream.tokens[close].end)
            elif text == "if":
                self.guard(stream, scope, i)
            elif text in ("for", "while"):
                self.loop(stream, scope, i)
            elif text == "static_cast" and self.host:
                self.static_cast(stream, scope, i)
            rounding = re.fullmatch(r"(convert_\w+?|vstore_half\d*|)(_sat)?(_rt[ezpn])?", text)
            head, sat, mode = rounding.groups() if rounding else ("", None, None)
            if sat:
                one("conversion", head + (mode or ""), "drop _sat")
            if mode:
                one("conversion", head + (sat or "") + ROUNDINGS[mode], f"{mode} to {ROUNDINGS[mode]}")

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
