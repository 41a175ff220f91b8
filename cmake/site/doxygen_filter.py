"""doxygen_filter.py FILE: the file with its comments as Doxygen wants them, their text left alone.

Our comments are plain: // before a declaration, or behind it. A block that ends with an empty line
belongs to nothing."""

import re
import sys

OWN = re.compile(r"^(\s*)//(?: (?!-{4})(.*)|)$")
BEHIND = re.compile(r"^(.*[;,})\w])\s+// (.*)$")


def main(lines):
    out, at = [], 0
    while at < len(lines):
        own = OWN.match(lines[at])
        if own:
            end = at
            while end < len(lines) and OWN.match(lines[end]):
                end += 1
            text = [OWN.match(line).group(2) or "" for line in lines[at:end]]
            free = end == len(lines) or not lines[end].strip()
            head = at == 0
            if free and not head:
                out += lines[at:end]
            else:
                out += block(own.group(1), text, "@file\n" if head else "")
            at = end
            continue
        behind = BEHIND.match(lines[at])
        if behind and not lines[at].lstrip().startswith("//") and not lines[at].startswith("}"):
            column, text = len(lines[at]) - len(behind.group(2)) - 3, [behind.group(2)]
            code = behind.group(1)
            at += 1
            while at < len(lines) and (more := OWN.match(lines[at])) and len(more.group(1)) == column:
                text.append(more.group(2) or "")
                at += 1
            out.append(code + " /**< @verbatim\n" + "\n".join(text) + "\n@endverbatim */")
            continue
        out.append(lines[at])
        at += 1
    return "\n".join(out)


def block(indent, text, head):
    return [
        indent + "/** " + head + "@verbatim\n" + "\n".join(text).replace("*/", "* /") + "\n@endverbatim */"
    ]


if __name__ == "__main__":
    print(main(open(sys.argv[1], encoding="utf-8").read().splitlines()))
