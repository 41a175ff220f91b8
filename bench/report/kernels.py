"""Parts of kernel files, for the documents."""

import re

from results import refuse


def parse(arguments):
    """Words, and NAME="text with spaces" as pairs; of a word the name is empty."""
    out = []
    at = 0
    while match := re.compile(r"[ \n]*(?:([^ \n=\"]*)=\"|([^ \n]+))").match(arguments, at):
        at = match.end()
        if match[2] is None:
            end = arguments.find('"', at)
            if end < 0:
                refuse("no closing quote in: " + arguments[match.start(1) :])
            out.append((match[1], arguments[at:end]))
            at = end + 1
        else:
            out.append(("", match[2]))
    return out


def find_code(file, name, path):
    """The lines of a function or macro, without the backslashes of the latter, and the first and last, counted from 1."""
    word = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?=[( \\])")
    function = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?=\()")
    for i, line in enumerate(file):
        if line.startswith("#define ") and word.search(line):
            last = next((k for k in range(i, len(file)) if not file[k].endswith("\\")), None)
            if last is not None:
                return [one.removesuffix("\\").rstrip(" ") for one in file[i : last + 1]], i + 1, last + 1
        if not re.match("[A-Za-z_]", line) or not function.search(line):
            continue
        before = file[i - 1] if i else ""
        first = i - 1 if before.startswith(("__kernel", "__attribute__")) and not before.endswith((";", "}")) else i
        for last in range(i, len(file)):
            if file[last] == "}":
                return file[first : last + 1], first + 1, last + 1
            if file[last].endswith(";") and not file[last].startswith(" "):
                break  # a declaration
    refuse(f"there is no function or macro '{name}' in {path}")


def cut(code, name, regions, marks):
    """The function's head, its arguments left out where they take lines of their own, and of its body the regions
    with "// ..." for what is left out; without regions the whole function. Pairs: a line, and whether it is marked."""
    shown, head, out = [not regions] * len(code), 0, []
    if regions:
        if not code[0].startswith("#define "):
            head = next((i for i, line in enumerate(code) if line.endswith("{")), None)
            if head is None:
                refuse(f"'{name}' has no line that ends with '{{'")
            shown[-1] = True
        head += 1
        at = head
        for begin, end in regions:
            first = next((i for i in range(at, len(code)) if begin in code[i]), None)
            if first is None:
                refuse(f"'{name}' has no line with from=\"{begin}\" after the part before")
            last = next((i for i in range(first, len(code)) if end in code[i]), None) if end else len(code) - 1
            if last is None:
                refuse(f"'{name}' has no line with to=\"{end}\" after from=\"{begin}\"")
            shown[first : last + 1] = [True] * (last + 1 - first)
            at = last + 1
        text = " ".join(code[:head])
        out.append(code[0] if head == 1 else f"{text.partition(name)[0]}{name}(...) {{")
    gap = False
    for line, is_shown in list(zip(code, shown))[head:]:
        if is_shown:
            out.append(line)
        elif (text := line.lstrip(" ")) and not text.startswith("#") and not gap:
            out.append(" " * (len(line) - len(text)) + "// ...")
            gap = True
        gap = gap and not is_shown
    for mark in marks:
        if not any(mark in line for line in out):
            refuse(f"what is shown of '{name}' has no mark=\"{mark}\"")
    return [(line, any(mark in line for mark in marks)) for line in out]


def kernel_markdown(root, arguments, to_root):
    """FILE NAME [from="TEXT" [to="TEXT"]]... [mark="TEXT"]... [NAME ...]: functions or macros of a file under `root`
    as fenced code, and a link to their lines, which are `to_root` + FILE."""
    words = parse(arguments)
    if len(words) < 2 or words[0][0] or words[1][0]:
        refuse('expected: clcook:kernel FILE NAME [from="TEXT" [to="TEXT"]]... [mark="TEXT"]... [NAME ...]')
    parts = []  # name, regions, marks
    for name, text in words[1:]:
        if not name:
            parts.append((text, [], []))
            continue
        _, regions, marks = parts[-1]
        if not text:
            refuse(name + " is empty")
        if name == "from":
            regions.append((text, ""))
        elif name == "to":
            if not regions or regions[-1][1]:
                refuse(f'to="{text}" has no from before it')
            regions[-1] = (regions[-1][0], text)
        elif name == "mark":
            marks.append(text)
        else:
            refuse(f"'{name}' is neither from, to nor mark")
    path = words[0][1]
    file = (root / path).read_text("utf-8").split("\n")
    lines, links = [], []
    for name, regions, marks in parts:
        code, first, last = find_code(file, name, path)
        lines += [("", False)] * bool(lines) + cut(code, name, regions, marks)
        span = f"lines {first} to {last}" if first < last else f"line {first}"
        links.append(f"[{path}, {span}]({to_root}{path}#L{first}{f'-L{last}' if first < last else ''})")
    marked = " ".join(str(i) for i, (_, is_marked) in enumerate(lines, 1) if is_marked)
    text = "".join(line + ("  // <--" if is_marked else "") + "\n" for line, is_marked in lines)
    highlight = f' hl_lines="{marked}"' if marked else ""
    return f"```c{highlight}\n{text}```\n\n{', '.join(links)}\n"
