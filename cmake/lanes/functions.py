#!/usr/bin/env python3
"""functions.py SOURCE: no function of the library, the tools, the examples and the scripts has more than
100 lines, comments and blank ones aside. C++ is read as clang-format lays it out: a function ends at the
first brace that is indented as its head."""

import ast
import pathlib
import re
import sys

MOST = 100
FOLDERS = ("lib", "bench", "examples", "tests/support", "tests/stub", "tests/mutants", "cmake")
# Tables of data.
TABLES = {
    "lib/clcook/cookbook/gaussian_blur.hpp: gaussian_blur",
    "lib/clcook/cookbook/group_size.hpp: group_size",
    "lib/clcook/cookbook/halo_tile.hpp: halo_tile",
    "lib/clcook/cookbook/rank_filter.hpp: rank_filter",
}
SCOPE = re.compile(r'(template <.*> )?(inline )?(namespace|class|struct|union|enum|extern "C")\b')


def functions_of(lines):
    """Name and lines of code of each function, of a lambda's those of the function around it."""
    head, at = [], 0
    while at < len(lines):
        line = lines[at]
        text = line.strip()
        begins = text.endswith("{")
        if not text or text.startswith(("//", "#")) or text.endswith((";", "}", ":")):
            head = []
        else:
            head.append(line)
        at += 1
        if not begins or not head:
            continue
        whole = " ".join(one.strip() for one in head)
        indent = re.match(" *", head[0]).group()
        head = []
        if SCOPE.match(whole):
            continue
        body = []
        while at < len(lines) and not lines[at].startswith(indent + "}"):
            body.append(lines[at].strip())
            at += 1
        at += 1
        name = re.search(r"([\w~:]+|operator\S+?)\(", whole)
        if name:
            yield name.group(1), sum(1 for one in body if one and not one.startswith("//"))


def functions_in_python(text):
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.FunctionDef):
            lines = text.split("\n")[one.lineno : one.end_lineno]
            yield one.name, sum(1 for line in lines if line.strip() and line.strip()[0] != "#")


def main():
    source = pathlib.Path(sys.argv[1])
    failed, count = False, 0
    tables = set(TABLES)
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".py"):
                continue
            text = path.read_text(encoding="utf-8")
            python = path.suffix == ".py"
            for name, lines in functions_in_python(text) if python else functions_of(text.split("\n")):
                count += 1
                if lines <= MOST:
                    continue
                where = f"{path.relative_to(source)}: {name}"
                if where in tables:
                    tables.remove(where)
                else:
                    failed = True
                    print(f"FAILED: {where} has {lines} lines, more than {MOST}")
    for where in sorted(tables):
        failed = True
        print(f"FAILED: {where} is no long table any more: take it out of the list")
    print(f"{count} functions")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
