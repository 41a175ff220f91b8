"""reference.py CLCOOK WORK: the pages of the reference in WORK/reference, from the comments of public
headers and device headers (by Doxygen) and from what the commands say of themselves."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Parts of a header that are no interface: what only its own plan or kernel needs.
HIDDEN = re.compile(r"(^|::)(detail|quirks|Spec|PlainSpec|Resources|Kernel[A-Z]\w*|Cut|Traits)(::|$)")
# Title, name of the page, patterns of headers; with several headers a page has a section for each.
PARTS = [
    ("Core", "core", ["lib/clcook/error.hpp", "lib/clcook/core/*.hpp"]),
    ("Models", "model", ["lib/clcook/model/*.hpp"]),
    ("Files", "io", ["lib/clcook/io/*.hpp"]),
    ("Device headers", "device_headers", ["kernels/clcook/*.clh"]),
]


def run_doxygen(work):
    folders = ["lib/clcook", "lib/clcook/core", "lib/clcook/model", "lib/clcook/io", "kernels/clcook"]
    settings = (ROOT / "cmake/site/doxyfile").read_text()
    settings += "INPUT = " + " ".join(folders) + f"\nOUTPUT_DIRECTORY = {work}/doxygen\n"
    (work / "doxygen").mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)


def text_of(node):
    return "" if node is None else "".join(node.itertext())


def words_of(member):
    """The comment as it stands in the header."""
    out = [text_of(one).strip("\n") for one in member.iterfind("./briefdescription//verbatim")]
    out += [text_of(one).strip("\n") for one in member.iterfind("./detaileddescription//verbatim")]
    return "\n".join(out)


def to_markdown(comment, language):
    """A comment as Markdown: what is indented by two or more is code."""
    out, code = [], []

    def flush():
        if code:
            out.extend(["", "```" + language] + code + ["```", ""])
            code.clear()

    for line in comment.splitlines():
        if line.startswith("  ") and (code or not out or not out[-1].lstrip().startswith(("* ", "- "))):
            code.append(line[2:])
        elif not line.strip() and code:
            code.append("")
        else:
            while code and not code[-1]:
                code.pop()
            flush()
            out.append(re.sub(r"([*\[\]])", r"\\\1", line.replace("<", "&lt;")))
    while code and not code[-1]:
        code.pop()
    flush()
    return "\n".join(out)


def tidy(code):
    """Doxygen's spaces as clang-format would have them."""
    code = re.sub(r"<\s+", "<", re.sub(r"(?<=[\w>*&])\s+>(?!=)", ">", code))
    code = re.sub(r"(\w|>) ([&*]+)\s*(?=[\w,)>.])", r"\1\2 ", code)
    code = re.sub(r"(?<=[\w\])])=(?=[\w{\"'-])", " = ", code)
    return re.sub(r"=  +", "= ", re.sub(r"([&*]) (?=[,)>])", r"\1", code))


def signature(member):
    """The declaration, without a body; None for an enum of many values."""
    kind, name = member.get("kind"), member.findtext("name")
    args = member.findtext("argsstring") or ""
    if kind == "enum":
        values = ", ".join(one.findtext("name") for one in member.iterfind("enumvalue"))
        strong = "class " if member.get("strong") == "yes" else ""
        return f"enum {strong}{name} {{ {values} }};" if len(values) < 70 else None
    if kind == "define":
        parameters = [one.findtext("defname") for one in member.iterfind("param")]
        return f"#define {name}" + (f"({', '.join(filter(None, parameters))})" if parameters else "")
    if kind == "typedef":
        return tidy(re.sub(r"^using \S+::(\w+ =)", r"using \1", member.findtext("definition")) + ";")
    head = ""
    if member.find("templateparamlist") is not None:
        names = [
            " ".join(filter(None, (text_of(one.find("type")), one.findtext("declname"))))
            for one in member.find("templateparamlist")
        ]
        head = "template <" + ", ".join(names) + ">\n"
    type_ = text_of(member.find("type")).replace("CLCOOK_INLINE", "").strip()
    type_ = re.sub(r"^constexpr static\b", "static constexpr", type_)
    before = [word for word in ("explicit", "static") if member.get(word) == "yes" and word not in type_]
    value = ""
    if kind == "variable":
        value = " ".join(text_of(member.find("initializer")).split())
        value = " " + value if value and len(value) <= 60 else ""
        value = value.replace(" ={", " {").replace(" {", "{", 1) if value.startswith(" {") else value
    words = before + ([type_] if type_ else []) + [name]
    return head + tidy(" ".join(words) + args.strip() + value + ";")


def synopsis(member):
    """Lines of code: the comment, the declaration."""
    lines = ["// " + line if line else "//" for line in words_of(member).splitlines()]
    if member.get("kind") == "enum" and signature(member) is None:
        strong = "class " if member.get("strong") == "yes" else ""
        lines.append(f"enum {strong}{member.findtext('name')} {{")
        for one in member.iterfind("enumvalue"):
            note = " ".join(words_of(one).split())
            lines.append(f"  {one.findtext('name')}," + (f"  // {note}" if note else ""))
        return lines + ["};"]
    code = wrapped(signature(member))
    notes = words_of(member).splitlines()
    if (
        len(notes) == 1
        and len(code) == 1
        and len(code[0]) + len(notes[0]) < 96
        and member.get("kind") == "variable"
    ):
        return [f"{code[0]}  // {notes[0]}"]
    return lines + code


def wrapped(code):
    out = []
    for line in code.splitlines():
        if len(line) > 98 and "(" in line:
            at = line.index("(", line.index("operator()") + 10 if "operator()" in line else 0)
            head, rest = line[:at], line[at + 1 :]
            parts, depth, part = [], 0, ""
            for c in rest:
                depth += (c in "(<{") - (c in ")>}")
                part += c
                if c == "," and depth == 0:
                    parts.append(part.strip())
                    part = ""
            parts.append(part.strip())
            out.append(head + "(")
            out += ["    " + one for one in parts]
        else:
            out.append(line)
    return out


def shown(member):
    return member.get("prot") != "private" and not HIDDEN.search(
        member.findtext("qualifiedname") or member.findtext("name")
    )


class Headers:
    def __init__(self, work):
        self.files = {}  # path -> (words, defines)
        self.compounds = {}  # path -> classes
        self.members = {}  # path -> {id: member}
        for name in (work / "doxygen/xml").glob("*.xml"):
            if name.name in ("index.xml", "Doxyfile.xml"):
                continue
            for compound in ET.parse(name).getroot().iterfind("compounddef"):
                self.add(compound)

    def add(self, compound):
        kind = compound.get("kind")
        place = compound.find("location")
        path = "" if place is None else place.get("file")
        name = compound.findtext("compoundname")
        if kind == "file":
            self.files[path] = words_of(compound)
        if kind in ("class", "struct", "union"):
            if compound.get("prot") != "private" and not HIDDEN.search(name) and "<" not in name:
                self.compounds.setdefault(path, []).append(compound)
        elif kind in ("file", "namespace"):
            for member in compound.iterfind("sectiondef/memberdef"):
                where = member.find("location")
                if HIDDEN.search(name) or not shown(member) or member.findtext("name", "").startswith("@"):
                    continue
                self.members.setdefault(where.get("declfile") or where.get("file"), {})[
                    member.get("id")
                ] = member

    def markdown(self, path, level, language):
        marks = "#" * level
        out = []
        include = re.sub(r"^(lib|kernels)/", "", path)
        out += [
            f"```{language}",
            f"#include <{include}>",
            "```",
            "",
            to_markdown(self.files.get(path, ""), language),
            "",
        ]
        for compound in sorted(self.compounds.get(path, []), key=line_of):
            name = compound.findtext("compoundname").replace("clcook::", "", 1)
            out += [
                f"{marks} {compound.get('kind')} {name}",
                "",
                to_markdown(words_of(compound), language),
                "",
            ]
            lines = []
            for section in compound.iterfind("sectiondef"):
                for member in section.iterfind("memberdef"):
                    if shown(member) and member.get("kind") != "friend":
                        lines.append((line_of(member), synopsis(member)))
            bases = ", ".join(
                "public " + text_of(one)
                for one in compound.iterfind("basecompoundref")
                if one.get("prot") == "public"
            )
            head = tidy(
                f"{compound.get('kind')} {name.split('::')[-1]}" + (f" : {bases}" if bases else "") + " {"
            )
            body = ["  " + line for _, one in sorted(lines, key=lambda one: one[0]) for line in one]
            out += ["```" + language, head] + body + ["};", "```", ""]
        members = [
            one for one in sorted(self.members.get(path, {}).values(), key=line_of) if interesting(one)
        ]
        if members:
            out += [f"{marks} Functions, types and macros", "", "```" + language]
            for member in members:
                lines = synopsis(member)
                if len(lines) > 1 and out[-1] and not out[-1].startswith("```"):
                    out.append("")
                out += lines
            out += ["```", ""]
        return "\n".join(out)


def interesting(member):
    """Not include guards and the like."""
    return not (
        member.get("kind") == "define"
        and re.search(r"_(HPP|CLH|DEFINITIONS|INLINE)$", member.findtext("name"))
    )


def line_of(node):
    place = node.find("location")
    return int(place.get("declline") or place.get("line") or 0)


def api_pages(work):
    headers = Headers(work)
    pages = []
    for path in sorted((ROOT / "lib/clcook").glob("*.hpp")):
        if path.name == "error.hpp":
            continue
        relative = str(path.relative_to(ROOT))
        page = ROOT / f"docs/{path.stem}.md"
        text = f"# {path.name}\n\n"
        if page.exists():
            text += f"The recipe: [{path.stem}](../{path.stem}.md).\n\n"
        pages.append((path.name, f"reference/{path.stem}.md", text + headers.markdown(relative, 2, "cpp")))
    for title, name, patterns in PARTS:
        text = f"# {title}\n\n"
        for pattern in patterns:
            language = "c" if pattern.endswith(".clh") else "cpp"
            for path in sorted(ROOT.glob(pattern)):
                text += (
                    f"## {path.name}\n\n" + headers.markdown(str(path.relative_to(ROOT)), 3, language) + "\n"
                )
        pages.append((title, f"reference/{name}.md", text))
    return pages


# ---- Commands ----


def help_of(clcook, command=()):
    environment = dict(os.environ, COLUMNS="100")
    help_ = subprocess.run(
        [clcook, *command, "--help"], capture_output=True, text=True, check=True, env=environment
    ).stdout
    return help_.replace(clcook, "clcook").replace("bin/clcook", "clcook")


def command_page(clcook):
    whole = help_of(clcook)
    names = re.findall(r"^  ([a-z_]+)\s", whole[whole.lower().index("subcommands") :], re.M)
    out = [
        "# Commands",
        "",
        "What `clcook --help` and `clcook COMMAND --help` print.",
        "",
        "```text",
        whole.strip(),
        "```",
        "",
    ]
    for name in names:
        out += [f"## clcook {name}", ""]
        if (ROOT / f"docs/{name}.md").exists():
            out += [f"In words: [clcook {name}](../{name}.md).", ""]
        out += ["```text", help_of(clcook, [name]).strip(), "```", ""]
    cook = subprocess.run([str(ROOT / "cook"), "help"], capture_output=True, text=True, check=True).stdout
    out += ["## ./cook", "", "```text", cook.strip(), "```", ""]
    return "\n".join(out)


def main():
    clcook, work = sys.argv[1], Path(sys.argv[2]).resolve()
    pages = work / "reference"
    pages.mkdir(parents=True, exist_ok=True)
    for old in pages.glob("*"):
        old.unlink()
    run_doxygen(work)
    made = [("Commands", "reference/commands.md", command_page(clcook))] + api_pages(work)
    for _, name, text in made:
        (work / name).write_text(text)
    (pages / "list.txt").write_text("".join(f"{title}\t{name}\n" for title, name, _ in made))


main()
