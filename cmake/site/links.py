"""links.py ROOT: every link and anchor of README.md, CONTRIBUTING.md and docs/*.md leads somewhere, every
marker of `clcook report --markdown` has its result, and a recipe's page has at most two screens before its
details. Needs nothing but Python.

Prints FILE:LINE: what is wrong, and ends with 1 if anything is."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"(?<!\\)!?\[(?:[^\]\\]|\\.)*\]\(([^)\s]+)[^)]*\)")
FENCE = re.compile(r"^\s*(```|~~~)")
MARKER = re.compile(r"<!-- clcook:(table|value|gain|chart|kernel) (.*?) -->")
# What a recipe's page may have before its heading "Details", in lines.
MOST_TEXT, MOST_KERNEL = 110, 60


def prose(path):
    """(line number, text) of the lines outside of fenced code, inline code blanked."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", lambda code: "`" * len(code.group(0)), line)


def slug(heading):
    """The anchor that both MkDocs and the usual hosts give to a heading."""
    text = re.sub(r"<[^>]*>|[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text.strip().lower()))


def anchors(path, known={}):
    if path not in known:
        found, count = set(), {}
        fenced = False
        for line in path.read_text(encoding="utf-8").splitlines():
            if FENCE.match(line):
                fenced = not fenced
            heading = re.match(r"#{1,6} (.*)", line)
            if heading and not fenced:
                name = slug(heading.group(1))
                found.add(name if name not in count else f"{name}_{count[name]}")
                count[name] = count.get(name, 0) + 1
            found.update(re.findall(r'id="([^"]+)"', line))
        known[path] = found
    return known[path]


def too_long(page):
    """(line number, what) where the part before the details becomes too long; nothing where it does not."""
    text = kernel = 0
    in_kernel = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line == "## Details":
            return
        if line.startswith("<!-- clcook:kernel "):
            in_kernel = True
        elif line.startswith("<!-- /clcook:kernel "):
            in_kernel = False
        elif not in_kernel:
            text += 1
            if text == MOST_TEXT + 1:
                yield number, f"more than {MOST_TEXT} lines of text before ## Details"
        elif not line.startswith("```"):
            kernel += 1
            if kernel == MOST_KERNEL + 1:
                yield number, f"more than {MOST_KERNEL} lines of kernels before ## Details"


def main(root):
    pages = [root / "README.md", root / "CONTRIBUTING.md"] + sorted((root / "docs").rglob("*.md"))
    links = markers = 0
    wrong = []
    for page in pages:
        name = page.relative_to(root)
        for number, line in prose(page):
            where = f"{name}:{number}"
            for link in LINK.finditer(line):
                links += 1
                target, _, anchor = link.group(1).partition("#")
                if re.match(r"[a-z]+:", target):
                    continue
                file = (page.parent / target).resolve() if target else page
                if not file.exists():
                    wrong.append(f"{where}: there is no {target}")
                elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                    wrong.append(f"{where}: {target or name} has no heading #{anchor}")
        whole = text = page.read_text(encoding="utf-8")
        blank = lambda code: re.sub(r"[^\n]", " ", code.group(0))
        text = re.sub(r"(?ms)^\s*```.*?^\s*```$|`[^`\n]*`", blank, text)
        for marker in MARKER.finditer(text):
            markers += 1
            where = f"{name}:{text.count(chr(10), 0, marker.start()) + 1}"
            kind, what = marker.group(1), marker.group(2)
            end = text.find(f"<!-- /clcook:{kind} -->", marker.end())
            if end < 0 or "<!-- clcook:" in text[marker.end() : end]:
                wrong.append(f"{where}: the marker '{kind} {what}' has no end")
            elif len((whole if kind == "kernel" else text)[marker.end() : end].strip(" \n?")) == 0:
                wrong.append(
                    f"{where}: the marker '{kind} {what}' has no result: run clcook report --markdown"
                )
            # What a table needs is for clcook report --markdown --check to say; a test runs that.
            if kind in ("value", "gain") and not (root / f"bench/results/{what.split()[0]}.json").exists():
                wrong.append(f"{where}: there is no bench/results/{what.split()[0]}.json")
        if (root / f"lib/clcook/cookbook/{page.stem}.hpp").exists():
            wrong += [f"{name}:{number}: {what}" for number, what in too_long(page)]
    for one in wrong:
        print(one)
    print(f"{len(pages)} pages, {links} links, {markers} markers, {len(wrong)} wrong")
    return 1 if wrong or not links or not markers else 0


sys.exit(main(Path(sys.argv[1]).resolve()))
