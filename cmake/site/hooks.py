"""What mkdocs.yml cannot say: pages from elsewhere in the repository, the list of recipes, links to
sources, and links from the first use of a word to the glossary."""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("CLCOOK_SITE_WORK", ROOT / "build/site"))
# Pages of the repository's first folder, and what they are called in the site.
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^\s*(```|~~~)")
# Or code in a line, which stays.
COMMENT = re.compile(r"((`+)(?!`).*?(?<!`)\2(?!`))|<!--.*?-->")

sources = {}  # linked files that are no pages: path in the repository -> name in the site


def recipes():
    """Family -> names of its recipes, from the cards."""
    families = {}
    for card in sorted((ROOT / "lib/clcook/cookbook").glob("*.hpp")):
        family = re.search(r'recipe\.family = "([^"]+)"', card.read_text())
        families.setdefault(family.group(1) if family else "others", []).append(card.stem)
    return families


def on_config(config):
    for section in config.nav:
        if section.get("Recipes") == []:
            section["Recipes"] = [
                {family.capitalize(): [{name: name + ".md"} for name in names]}
                for family, names in sorted(recipes().items())
            ]
        if section.get("Tools") == []:
            commands = [
                page.name
                for page in sorted((ROOT / "docs").glob("*.md"))
                if (ROOT / "bench" / (page.stem + ".cpp")).exists()
            ]
            section["Tools"] = commands + [{"The report": "report.html"}]
    return config


def on_files(files, config):
    sources.clear()
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for made in (WORK / "made").rglob("*.*"):  # by build.sh: commands.md, report.html, headers/
        name = made.relative_to(WORK / "made").as_posix()
        files.append(File.generated(config, name, abs_src_path=str(made)))
    for asset in (ROOT / "cmake/site/assets").iterdir():
        files.append(File.generated(config, "assets/" + asset.name, abs_src_path=str(asset)))
    # Files that pages link to: shown as text, folders as the list of what is in them.
    for file in list(files.documentation_pages()):
        if file.src_uri == "changes.md":
            continue
        for target in links(file.content_string):
            path = in_repository(file.src_uri, target.split("#")[0])
            if path and path not in sources and is_source(path):
                name = "files/" + path.rstrip("/") + ".txt"
                sources[path] = name
                place = ROOT / path
                if place.is_dir():
                    text = "\n".join(sorted(one.name for one in place.iterdir())) + "\n"
                    files.append(File.generated(config, name, content=text))
                else:
                    files.append(File.generated(config, name, abs_src_path=str(place)))
    return files


def links(text):
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            for link in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                yield link.group(2)


def in_repository(page, target):
    """The path in the repository that a link in a page of the site means; None for other links."""
    if not target or re.match(r"[a-z]+:|#|/", target):
        return None
    folder = "" if page in PAGES.values() else "docs/" + posixpath.dirname(page)
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path.startswith("..") else path


def is_source(path):
    if path in PAGES or path.startswith("docs/"):
        return False
    return (ROOT / path).exists()


def on_page_markdown(markdown, page, config, files):
    if 'class="pair"' in markdown:  # two kernels side by side want the place of the contents
        page.meta["hide"] = ["toc"]
    elif page.file.src_uri == "index.md":  # its own entry is all that there is to navigate
        page.meta["hide"] = ["navigation"]
    here = posixpath.dirname(page.file.src_uri)

    def target(link):
        path, hash_, anchor = link.group(2).partition("#")
        place = in_repository(page.file.src_uri, path)
        if place is None:
            return link.group(0)
        if place in PAGES:
            to = PAGES[place]
        elif place in sources:
            to, hash_, anchor = sources[place], "", ""
        elif place.startswith("docs/"):
            to = place[len("docs/") :]
        else:
            return link.group(0)
        return link.group(1) + posixpath.relpath(to, here or ".") + hash_ + anchor + link.group(3)

    out, fenced, numbered, comment = [], False, False, False
    for line in markdown.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        if not fenced:
            # Comments are for clcook report and the snippets; this Markdown ends a paragraph at each.
            line = COMMENT.sub(lambda found: found.group(1) or "", LINK.sub(target, line))
            if comment or line.startswith("<!--"):
                comment = "-->" not in line
                continue
            # It wants an empty line before a list, and four spaces for what belongs to an item.
            item = re.match(r"(\d+\.|[-*]) ", line)
            if item and out and out[-1].strip() and not re.match(r"\s|(\d+\.|[-*]) ", out[-1]):
                out.append("")
            if line.strip() and not line.startswith(" "):
                numbered = bool(item) and line[0].isdigit()
        out.append(" " + line if numbered and line.startswith("   ") else line)
    return "\n".join(out)


# ---- The glossary: a heading for each word, other words for it after "Also:" ----

SKIP = {"a", "code", "pre", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "script", "style", "svg", "th"}


def terms():
    """Each form of a word -> the anchor of its heading."""
    out, anchor = {}, None
    for line in (ROOT / "docs/glossary.md").read_text().splitlines():
        if line.startswith("### "):
            anchor = line[4:].lower().replace(" ", "-")
            out[line[4:].lower()] = anchor
        also = re.match(r"\*Also: ([^*]+)\.\*", line)
        if also and anchor:
            out.update({form.strip().lower(): anchor for form in also.group(1).split(",")})
    return out


def on_page_content(html, page, config, files):
    if page.file.src_uri.startswith(("commands", "changes", "glossary")):
        return html
    left = terms()
    depth, out = 0, []
    here = posixpath.dirname(page.file.src_uri) or "."
    glossary = posixpath.relpath("glossary.html", here)
    for part in re.split(r"(<[^>]*>)", html):
        tag = re.match(r"<(/?)([a-zA-Z0-9]+)", part)
        if tag:
            if tag.group(2) in SKIP:
                depth += -1 if tag.group(1) else 1
            out.append(part)
            continue
        if depth == 0 and part.strip() and left:
            forms = "|".join(sorted(map(re.escape, left), key=len, reverse=True))
            pattern = rf"(?<![\w=-])({forms})(s|es)?(?![\w-])"

            def link(found):
                anchor = left.get(found.group(1).lower())
                if anchor is None:
                    return found.group(0)
                for form in [form for form, other in left.items() if other == anchor]:
                    del left[form]
                return f'<a class="term" href="{glossary}#{anchor}">{found.group(0)}</a>'

            part = re.sub(pattern, link, part, flags=re.I)
        out.append(part)
    return "".join(out)
