"""The tables and figures that documents take from committed results."""

import os
import re
from html import escape
from pathlib import Path

from charts import chart_file, gain_text
from curves import curves_file
from doubts import History, Vouch, doubts_about
from files import read_file, write_file
from intervals import times
from kernels import kernel_markdown
from ladder import ladder_table, techniques_table
from results import RECIPES, Refused, find, known_recipe, plain, refuse, text_of, variant_of
from tables import (
    bench_table, ceilings_table, check_table, conventions_table, counters_table, curve_table, grid_table, isa_table, libraries_table,
    ndimage_table, peers_table, recipes_table, results_table, speed_table, stages_table, startup_table, steps_table)  # fmt: skip


class Document:
    """A page, with the parts of it that results decide."""

    def __init__(self, path, name):
        self.path, self.name = path, name  # "docs/line_blur.md"
        self.content = read_file(path)
        self.edits = []  # begin, end, line, what, new text
        self.vouches = []
        self.pictures = []  # line, "docs/images/chart_line_blur.svg", content
        self.charts = {}  # the arguments of the first of each recipe
        self.to_docs, self.to_root = ("", "../") if name.startswith("docs/") else ("docs/", "")

    def edited(self):
        out, at = "", 0
        for begin, end, _, _, text in self.edits:
            out, at = out + self.content[at:begin] + text, end
        return out + self.content[at:]


# ---- Tables ----


def of_kind(kind, make, least_one=True):
    """A table of a result of that kind, and of the words behind its name."""

    def table(results, document, stem, *words):
        out = make(find(results, stem, kind), *words)
        if least_one and not out.rows:
            refuse(f"'{stem}' has nothing about '{words[0] if words else ''}'")
        return out.markdown()

    return table


def ladder(results, document, recipe, *also):
    """At the shape of the page's chart of the recipe, of the first device in it."""
    chart = document.charts.get(recipe)
    if not chart:
        refuse(f"a ladder has the shape of a chart above it; there is none of '{recipe}'")
    end = next((i for i in range(2, len(chart)) if "=" not in chart[i]), len(chart))
    result = find(results, chart[1], "bench")
    table = ladder_table(results, known_recipe(recipe), result, result.group_of(recipe, chart[2:end]), also)
    return table.markdown().removesuffix("\n") + " [How to read it](report.md#ladders).\n"  # behind the note


def explore(results, document, stem, recipe, *wanted):
    curves = [one for one in find(results, stem, "explore").curves if one["recipe"] == recipe]
    curves = [one for one in curves if set(wanted) <= set(text_of(one["shape"]).split())]
    if not curves:
        refuse(f"'{stem}' has nothing about '{recipe}'")
    return "\n".join(curve_table(one).markdown() for one in curves)


# How many words may follow each name, what they are, and what makes it.
TABLES = {
    "recipes": (0, 0, "", lambda results, document: recipes_table(results, document.to_docs).markdown()),
    "techniques": (1, 1, " RESULT", lambda results, document, stem: techniques_table(results, find(results, stem, "bench").device, document.to_docs).markdown()),
    "results": (0, 0, "", lambda results, document: results_table(results).markdown()),
    "ceilings": (1, 1, " RESULT", of_kind("bench", ceilings_table)),
    "check": (1, 2, " RESULT [RECIPE]", of_kind("check", check_table)),
    "bench": (2, 2, " RESULT RECIPE", of_kind("bench", bench_table)),
    "speed": (2, 2, " RESULT RECIPE", of_kind("bench", speed_table)),
    "ladder": (1, 9, " RECIPE [VARIANT...]", ladder),
    "steps": (1, 1, " RECIPE", lambda results, document, recipe: steps_table(results, known_recipe(recipe)).markdown()),
    "stages": (1, 1, " RESULT", of_kind("stages", stages_table)),
    "peers": (1, 1, " RESULT", of_kind("peers", peers_table)),
    "libraries": (1, 1, " RESULT", lambda results, document, stem: of_kind("peers", lambda one: libraries_table(results, one.device, document.to_docs))(results, document, stem)),
    "conventions": (2, 2, " RESULT PACKAGE", of_kind("conventions", conventions_table)),
    "grid": (0, 0, "", lambda results, document: grid_table(results).markdown()),
    "ndimage": (1, 1, " RESULT", of_kind("ndimage", ndimage_table)),
    "startup": (1, 1, " RESULT", of_kind("startup", startup_table)),
    "counters": (3, 14, " RESULT RECIPE COUNTER...", of_kind("counters", lambda result, recipe, *counters: counters_table(result, recipe, counters))),
    "isa": (2, 16, " RESULT RECIPE [TARGET [COUNT...]]", of_kind("isa", lambda result, recipe, target="", *figures: isa_table(result, recipe, target, figures))),
    "explore": (2, 9, " RESULT RECIPE [NAME=VALUE]...", explore),
}  # fmt: skip


def make_table(results, words, document):
    known = " ".join(TABLES)
    if not words:
        refuse(f"a table needs a name; known are {known}")
    name, *rest = words
    if name not in TABLES:
        refuse(f"there is no table '{name}'; known are {known}")
    least, most, usage, make = TABLES[name]
    if not least <= len(rest) <= most:
        refuse(f"wrong number of arguments; expected: clcook:table {name}{usage}")
    return make(results, document, *rest)


# ---- Values ----


def member_of(element, key):
    for one in key.split("."):
        element = element.get(one) if isinstance(element, dict) else None
    return element


def text_of_member(value):
    return str(value).lower() if isinstance(value, bool) else plain(value)


def matching(elements, step):
    """The one element with these members; of several the one whose shape has the fewest, if it is the only one."""
    conditions = [one.partition("=") for one in step.split(",")]
    if any(not equals for _, equals, _ in conditions):
        refuse(f"'{step}' is neither an index nor key=value", "")
    found = [one for one in elements if all(member_of(one, key) is not None and text_of_member(member_of(one, key)) == value.removesuffix(".0")
                                            for key, _, value in conditions)]  # fmt: skip
    if not found:
        refuse(f"no element has {step}", "")
    sizes = [len(one.get("shape", ())) for one in found]
    if sizes.count(min(sizes)) > 1:
        refuse(f"several elements have {step}", "")
    return found[sizes.index(min(sizes))]


def follow(at, pointer):
    """What a JSON pointer leads to. Beyond the standard, a step into a list may be "key=value,key=value", where "a.b" is
    member b of member a."""

    def lost(why):
        refuse(why, f"report: '{pointer}'")

    if not pointer.startswith("/"):
        lost("a pointer begins with '/'")
    for step in pointer[1:].split("/"):
        if isinstance(at, dict) and step in at:
            at = at[step]
        elif not isinstance(at, list):
            lost(f"there is no '{step}'")
        elif step.isdecimal():
            if int(step) >= len(at):
                lost(f"there is no element {step}")
            at = at[int(step)]
        else:
            try:
                at = matching(at, step)
            except Refused as error:
                lost(str(error).removeprefix(": "))
    return at


def make_value(results, words):
    """RESULT POINTER [FORMAT], where FORMAT is [FACTOR*]TEXT with one {} or {:spec} in TEXT. Returns the text, and TEXT if it is
    of a number."""
    if len(words) < 2:
        refuse("expected: value RESULT POINTER [FORMAT]")
    value = follow(find(results, words[0]).json, words[1])
    form = " ".join(words[2:]) or "{}"
    factor = None
    star = form.find("*")
    if 0 <= star < form.find("{"):
        try:
            factor, form = float(form[:star]), form[star + 1 :]
        except ValueError:
            refuse(f"'{form}': no number before the '*'")
    if isinstance(value, (dict, list)) or value is None:
        refuse(f"'{words[1]}' is neither a number nor a text")
    spec = form[form.find("{") :].partition("}")[0]
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, str):
        pass
    elif factor is not None or any(c in spec for c in "feg"):  # those are for floating point
        value = (1 if factor is None else factor) * float(value)
    try:
        text = form.format(Shortest(value) if isinstance(value, float) else value)
    except (ValueError, IndexError, KeyError, AttributeError) as error:
        refuse(f"format '{form}' does not fit {value}: {error}")
    return (escape(text), None) if isinstance(value, str) else (text, form)


class Shortest(float):
    """8.0 without a format is 8; "times" is that of ratios."""

    def __format__(self, spec):
        if spec == "times":
            return times(self)
        return float.__format__(self, spec) if spec else repr(float(self)).removesuffix(".0")


# ---- Documents ----

KINDS = ("table", "chart", "curves", "kernel", "older", "figures")
# Ours, outside of inline code: a block begins or ends, or a figure stands before its name.
MARKER = re.compile(r"<!-- (/?)clcook:|<!--([a-z]+[0-9]+)-->")
NUMBER = r"(?<![\w.])-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)"


def parse_vouch(arguments, where, text):
    recipe, *stems = arguments.split() or [""]
    name, at, digest = recipe.partition("@")
    if not stems or not at or not name:
        refuse("expected: clcook:older RECIPE@HASH RESULT..., where RECIPE may be *")
    if not text.strip(" \n"):
        refuse("between the markers must stand why the results hold")
    return Vouch(where, name, digest, stems, text)


def make_part(document, kind, arguments, inside, line, root, results):
    """The new text between the markers of a kind; of a chart or curves the document gets the picture."""
    words = arguments.split()
    if kind == "table":
        return "\n" + make_table(results, words, document)
    if kind == "kernel":
        return "\n" + kernel_markdown(root, arguments, document.to_root)
    if kind == "curves":
        picture = re.search(r"\]\(([^)]+\.svg)\)", inside)
        if len(words) != 2 or not picture:
            refuse("expected: clcook:curves RESULT RECIPE" if picture else "the block shows no picture ![...](FILE.svg)")
        content = curves_file(find(results, words[0], "explore"), words[1])
        document.pictures.append((line, os.path.normpath(os.path.join(os.path.dirname(document.name), picture[1])), content))
        return inside
    content = chart_file(results, words)
    name = f"images/chart_{words[0]}.svg"
    document.pictures.append((line, "docs/" + name, content))
    document.charts.setdefault(words[0], words)
    return f"\n![Time of each variant; shorter is faster]({document.to_docs}{name})\n"


def make_figure(results, query):
    """The text of a figure, and how such a text looks, as a pattern."""
    kind, *words = query.split()
    if kind == "value":
        text, form = make_value(results, words)
        pattern = re.escape(text) if form is None else NUMBER.join(map(re.escape, re.split(r"\{[^}]*\}", form)))
        return text, pattern.replace("\\ ", r"\s+")
    if kind != "gain":
        refuse(f"'{query}' is neither gain nor value")
    several, cases = (f"{NUMBER}(?:×? to {NUMBER})?", r"(?: \(\d+ cases\))?") if "others" in words else (NUMBER, "")
    apart = f"not told apart: {NUMBER}× to {NUMBER}×|" if words[-1] == "short" else f"{NUMBER} to {NUMBER} times \\(not told apart\\) as fast as|"
    pattern = apart + (f"{several}×{cases}|a tie" if words[-1] == "short" else f"{several} times{cases} as fast as|as fast as")
    return gain_text(results, words), pattern.replace(" ", r"\s+")


def queries_of(document, text, line):
    """The lines of the block at the foot, "ID: gain ..." or "ID: value ...", each perhaps with indented lines more: by ID the
    query and its line."""
    out, name = {}, None
    for i, row in enumerate(text.split("\n"), line):
        match = re.match(r"([a-z]+[0-9]+): +(.*)", row)
        if match and match[1] in out:
            refuse(f"there is another figure {match[1]}", f"{document.name}:{i}")
        if match:
            name = match[1]
            out[name] = (match[2], i)
        elif row.startswith(" ") and name:
            out[name] = (f"{out[name][0]} {row.strip()}", out[name][1])
        elif row.strip():
            refuse(f"expected 'ID: gain ...' or 'ID: value ...', got: {row[:80]}", f"{document.name}:{i}")
    return out


def add_figures(document, uses, queries, results):
    """Edits of the figures before names in the text, which are at these places and lines."""
    made = {}
    for name, (query, line) in queries.items():
        try:
            made[name] = make_figure(results, query)
        except Refused as error:
            refuse(f"{name}: {error}", f"{document.name}:{line}")
        if not any(name == one for one, _, _ in uses):
            refuse(f"the figure {name} stands nowhere", f"{document.name}:{line}")
    for name, at, line in uses:
        where = f"{document.name}:{line}"
        if name not in queries:
            refuse(f"<!--{name}--> has no query in a block clcook:figures at the foot", where)
        text, pattern = made[name]
        before = document.content[max(0, at - 400) : at].rpartition("-->")[2]
        match = re.search(rf"(?:{pattern}|\?)\Z", before)
        if not match:
            refuse(f"before <!--{name}--> stands nothing like '{text}', nor a '?' for it", where)
        is_same = match[0].split() == text.split()  # lines may break within
        document.edits.append((at - len(match[0]), at, line, queries[name][0], match[0] if is_same else text))
    document.edits.sort()


def next_marker(text, at, end):
    for match in MARKER.finditer(text, at, end):
        start = text.rfind("\n", 0, match.start()) + 1
        if text.count("`", start, match.start()) % 2 == 0:
            return match
    return None


def find_edits(document, root, results):
    """Finds the parts and makes their new text, and what the document vouches for. Fenced code is left alone."""
    text, at, line, fence = document.content, 0, 1, ""
    uses, queries, closings = [], None, set()

    def wrong(what):
        refuse(what, f"{document.name}:{line}")

    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if at == 0 or text[at - 1] == "\n":
            mark = text[at:end].lstrip(" ")[:3]
            if (mark == fence) if fence else mark in ("```", "~~~"):
                fence = "" if fence else mark
        match = None if fence else next_marker(text, at, end)
        if not match:
            at, line = end + 1, line + 1
            continue
        begin, word = match.start(), match.end()
        if match[2] or begin in closings:
            uses += [(match[2], begin, line)] * bool(match[2])
            at = word
            continue
        marker = text[begin : min(end, begin + 80)]
        if match[1]:
            wrong("nothing is open here: " + marker)
        kind = re.compile(r"[^ \n]*").match(text, word)[0]
        if kind not in KINDS:
            wrong(f"unknown marker; known are {' '.join('clcook:' + one for one in KINDS)}: {marker}")
        head = word + len(kind)
        ending = "-->" if kind == "figures" else f"<!-- /clcook:{kind} -->"
        close, last, other = text.find("-->", head), text.find(ending, head), text.find("<!-- clcook:", head)
        if last < 0 or last < close or -1 < other < last:
            wrong(f"not closed by {ending}: {marker}")
        arguments, inside, done = text[head:close], text[close + 3 : last], last + len(ending)
        try:
            if kind == "figures":
                if queries is not None:
                    wrong("there is another block clcook:figures")
                queries = queries_of(document, arguments, line)
            elif kind == "older":
                document.vouches.append(parse_vouch(arguments, f"{document.name}:{line}", inside))
                done = close + 3  # what is inside may have figures
                closings.add(last)
            else:
                made = make_part(document, kind, arguments, inside, line, root, results)
                document.edits.append((close + 3, last, line, kind + arguments, made))
        except Refused as error:
            if str(error).startswith(document.name + ":"):
                raise
            wrong(str(error))
        except OSError as error:
            wrong(f"{error.filename}: {error.strerror}")
        line += text.count("\n", at, done)
        at = done
    add_figures(document, uses, queries or {}, results)


def difference(before, after):
    """The lines that differ, without the equal ones before and after."""
    old, now = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    while old and now and old[-1] == now[-1]:
        old.pop()
        now.pop()
    same = 0
    while same < min(len(old), len(now)) and old[same] == now[same]:
        same += 1
    return "".join([f"- {line}\n" for line in old[same:]] + [f"+ {line}\n" for line in now[same:]])


def left_out(documents, results):
    """Complaints of comparisons that a recipe's page leaves out. README has the least and the most of them only, so
    nobody would see where clcook loses, nor what was refused."""
    out = []
    for result in (one for one in results if one.kind == "peers"):
        part = ["table", "peers", result.stem]
        for document in documents:
            if document.name == f"docs/{result.recipe}.md" and not any(edit[3].split() == part for edit in document.edits):
                out.append(f"{document.name} leaves out {result.stem}: add <!-- clcook:{' '.join(part)} -->")
    return out


NAMES = r"(?:`[a-z0-9_]+`(?:,\s+and\s+|,\s+or\s+|\s+and\s+|\s+or\s+|,\s+)?)+"
# What says of variants that there is no result: its word is what then must not be there.
DENIALS = [re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in (
    rf"({NAMES})\s*(?:was|were|is|are|has|have)(?:\s+been)?\s+not(?:\s+yet)?(?:\s+been)?\s+(counted|measured)",
    rf"()not(?:\s+yet)?(?:\s+been)?\s+(counted|measured)(?:\s+yet)?(?::|\s+(?:is|are|was|were))\s+({NAMES})",
    rf"({NAMES})\s*(?:has|have|is\s+without|are\s+without|lacks?)\s+(?:no\s+|a\s+|its\s+|their\s+)?(counter)s?\b",
    rf"()(?:no|missing)\s+(counter)s?\s+(?:of|for)\s+({NAMES})",
    rf"()(counter)s?\s+(?:of|for)\s+({NAMES})\s*(?:is|are)\s+missing",
    r"^\|\s*(`?[a-z0-9_]+`?)\s*\|.*\bnot(?:\s+yet)?\s+(counted|measured)")]  # fmt: skip


def prose_of(document):
    """The page without what results decide, comments and code, in the same lines."""
    text = document.content
    for begin, end, *_ in document.edits:
        if text[begin - 3 : begin] == "-->":
            text = text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
    return re.sub(r"^ *(```|~~~).*?^ *\1|<!--.*?-->", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL | re.MULTILINE)


def denied(documents, results):
    """Complaints of pages that say of a variant that it was not counted, or not measured, where a result has it. On a page
    that is no recipe's each recipe with such a variant must have it there."""
    of_word = {"measured": ("bench", "measured"), "counted": ("counters", "counted"), "counter": ("counters", "counted")}
    out = []
    for document in documents:
        own = document.name.removeprefix("docs/").removesuffix(".md")
        recipes = [own] if own in RECIPES else list(RECIPES)
        prose = prose_of(document)
        for match in (match for pattern in DENIALS for match in pattern.finditer(prose)):
            kind, status = of_word[match[2].lower()]
            for name in re.findall(r"[a-z0-9_]+", match[1] or match[3]):
                found = [[one.stem for one in results if one.kind == kind and any(
                    (row.recipe, row.variant, row.status) == (recipe, name, status) for row in one.of_kind(kind))]
                    for recipe in recipes if variant_of(RECIPES[recipe], name)]  # fmt: skip
                if found and all(found):
                    line = prose.count("\n", 0, match.start()) + 1
                    out.append(f"{document.name}:{line} says that '{name}' was not {status}; {found[0][0]} has it")
    return out


def rewrite_markdown(root_name, results, check_only):
    """Rewrites the tables and figures of README.md and docs/*.md under `root`; with `check_only` it prints what differs
    instead, which results there is a doubt about, which comparisons a recipe's page leaves out, and what it says to be
    missing though it is there. Returns 1 when it printed any of these, else 0."""
    root = Path(root_name)
    paths = [path for path in [root / "README.md", *sorted(root.glob("docs/*.md"))] if path.is_file()]
    if not paths:
        refuse(f"there is neither README.md nor docs/*.md in {root_name}; use --root FOLDER")
    documents = [Document(path, path.relative_to(root).as_posix()) for path in paths]
    parts, different, changes, drawn = 0, 0, [], set()
    for document in documents:
        find_edits(document, root, results)
        parts += len(document.edits) + len(document.pictures)
        for begin, end, line, what, text in document.edits:
            old = document.content[begin:end]
            if old != text:
                different += 1
                if check_only:
                    query = " ".join(what.split())
                    print(f"{document.name}:{line}: {query} differs from the results\n{difference(old, text)}", end="")
        for line, name, content in document.pictures:
            if name in drawn:
                refuse(f"there is another chart {name}", f"{document.name}:{line}")
            drawn.add(name)
            if not (root / name).is_file() or read_file(root / name) != content:
                different += 1
                changes.append((name, content))
                if check_only:
                    print(f"{document.name}:{line}: {name} differs from the results")
    if check_only:
        history = History(root_name)
        vouches = [one for document in documents for one in document.vouches]
        doubts = doubts_about(results, vouches, history) + left_out(documents, results) + denied(documents, results)
        for one in doubts + [history.note()]:
            print(*[one] * bool(one), sep="", end="\n" if one else "")
        print(f"{parts} tables and figures, {different} differ" + ("; write them with: clcook report --markdown" if different else ""))
        return 1 if different or doubts else 0
    # Only now, when every part could be made, is anything written.
    changes += [(document.name, document.edited()) for document in documents if document.edited() != document.content]
    for name, content in changes:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(root / name, content)
        print("wrote " + name)
    print(f"{parts} tables and figures, {different} changed")
    return 0
