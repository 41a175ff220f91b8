"""The page, one evidence card per recipe, and the page of `./cook demo`."""

import re
from pathlib import Path

import jinja2

import curves
import plots
import tables
from files import read_file, write_file
from intervals import bootstrap, digits, times
from plots import Bar, Dot
from results import RECIPES, best_of, devices_of, judge, refuse, seconds_of, stages_of, text_of
from style import STYLE
from tables import Cell, Right, Table, gain_cell, percent, ratio_cell


def made(template, names):
    """A page; templates know the tables, the plots and these names."""
    control = re.compile("[\x00-\x08\x0b-\x1f]")  # may stand in no document
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     finalize=lambda one: control.sub("", one) if isinstance(one, str) and not hasattr(one, "__html__") else one)  # fmt: skip
    environment.globals.update({name: one for module in (tables, plots, curves) for name, one in vars(module).items() if callable(one)})
    environment.globals.update(recipes=RECIPES, style=STYLE, digits=digits, text_of=text_of, devices_of=devices_of, **names)
    text = template(environment)
    return re.sub("\n\n+", "\n", text).lstrip("\n")


# ---- The page ----


class Page:
    """What the template asks."""

    def __init__(self, results, pictures):
        self.results, self.pictures = results, pictures

    def of(self, kind, device=None):
        """Results of one kind and device, the newest first; without a device all, device by device."""
        if device is None:
            return [one for device in devices_of(self.results, kind) for one in self.of(kind, device)]
        found = [one for one in self.results if one.kind == kind and one.device == device]
        return sorted(found, key=lambda one: one.date, reverse=True)

    def names(self):
        """The recipes that the results speak of, in the registry's order, then those it does not know."""
        found = dict.fromkeys(name for one in self.results if one.kind not in ("peers", "startup", "grid") for name in mentioned(one))
        found.update(dict.fromkeys(one["recipe"] for one in self.pictures))
        place = {name: i for i, name in enumerate(RECIPES)}
        return sorted(found, key=lambda name: place.get(name, len(place)))

    def is_measured(self, name):
        return any(one.groups_of(name) or (one.kind == "stages" and one.recipe == name) for one in self.results)

    def negatives(self, recipe):
        """What is wrong, slower or a tie: by device a list of shapes with variants, what they are, and a mark."""
        out = {}
        for device in devices_of(self.results, ""):
            groups = []
            for result in self.of("check", device):
                groups.append((f"Checked with {result.stem}", [(one.variant, f"{one.failed} of {one.runs} runs are wrong", "failed")
                                                               for one in result.totals_of(recipe) if one.failed]))  # fmt: skip
            for result in self.of("bench", device):
                for group in result.groups_of(recipe):
                    items = [(row.label, "wrong result, not timed", "failed") if row.status == "failed" else (row.label, f"{row.verdict} {row.against}", "")
                             for row in group.rows if row.status == "failed" or row.verdict in ("slower", "tie")]  # fmt: skip
                    groups.append((group.where, items))
            for result in self.of("stages", device):
                if result.recipe == recipe:
                    items = [(row.title, f"{row.verdict_of_step} {row.step} after {row.previous}", "") for row in stages_of(result)
                             if row.verdict_of_step in ("slower", "tie")]  # fmt: skip
                    groups.append((f"Step by step, {text_of(result.json['shape'])}", items))
            groups = [one for one in groups if one[1]]
            out.update({device: groups} if groups else {})
        return out

    def shown(self, result, group):
        """Bars, the dots of a roofline, and whether there are fewer than rows: with several tunings the fastest of each
        variant, else all would not fit."""
        fastest, measured = {}, [row for row in group.rows if row.is_measured]
        for row in measured:
            if row.variant not in fastest or row.median_us < fastest[row.variant].median_us:
                fastest[row.variant] = row
        bars, dots = [], []
        for row in fastest.values():
            verdict = row.verdict
            says = f", {times(row.against.value)}×" if verdict in ("faster", "slower") else f", {verdict}" if verdict else ""
            bars.append(Bar(row.label, f"{digits(row.time.value)} µs{says}", row.time, row.copy_us, verdict))
            if row.operations > 0 and row.bytes > 0 and (row.gops or 0) > 0:
                dots.append(Dot(row.label, row.operations / row.bytes, row.gops, verdict))
        ceilings = result.json["ceilings"]
        return bars, dots if ceilings["copy_gbs"] > 0 and ceilings["fma_gops"] > 0 else [], len(fastest) < len(measured)


def mentioned(result):
    """The recipes of a result in the order of its rows."""
    rows = [row.recipe for row in result.of_kind("bench") + result.totals + result.of_kind("counters")]
    return [result.recipe] * bool(result.recipe) + rows + [one["recipe"] for one in result.kernels + result.curves]


def write_page(out, results, pictures):
    if pictures:
        from pictures import figures_of

        pictures = [figures_of(one) for one in pictures]
    page = Page(results, pictures)
    names = {name: getattr(page, name) for name in ("results", "pictures", "of", "is_measured", "negatives", "shown")}
    text = made(lambda environment: environment.get_template("page.html").module.page(), {**names, "names": page.names()})
    # The one folder that is made, since nobody named it.
    if out == "out/report.html" and not Path("out").is_dir():
        Path("out").mkdir()
        print("made the folder out")
    write_file(out, text)
    print(f"{len(results)} results in {out}")
    return 0


# ---- The demo ----


class Measured:
    """A recipe as it was measured here, with how many times as fast as a C++ loop what `automatic` takes is, where that is known."""

    def __init__(self, result, recipe, loop=None):
        self.recipe, self.group, self.loop = recipe, result.groups_of(recipe)[0], loop
        rows = self.group.rows
        self.baseline = next((row for row in reversed(rows) if row.baseline and row.is_measured), None)
        self.best = best_of(rows)
        self.losers = [row for row in rows if row.status == "failed" or row.verdict in ("tie", "slower")]


def loop_ratio(result):
    """How many times as fast as the C++ loop the library was in the one case of a result; None where the loop was left out."""
    for rows in tables.cases_of(result):
        ours, theirs = (next((row for row in rows if tables.is_ours(row) == wanted), None) for wanted in (True, False))
        if ours and theirs:
            return bootstrap(seconds_of(theirs), seconds_of(ours))
    return None


def loop_cell(ratio):
    return Cell("-") if ratio is None else ratio_cell(judge(ratio), ratio)


def printed(measured, threads):
    """The gains for the terminal."""
    titles = [f"against C++, {threads} threads", "against the first kernel"] if threads else ["gain"]
    lines = [f"{'':18} " + " ".join(f"{one:24}" for one in titles)]
    for one in measured:
        first = gain_cell(one.best.verdict, one.best.against) if one.best else "-"
        loop = [gain_cell(judge(one.loop), one.loop) if one.loop else "-"] * bool(threads)
        lines.append(f"{one.recipe:18} " + " ".join(f"{cell:24}" for cell in [*loop, first]) + (one.best.variant if one.best else ""))
    return "\n".join(map(str.rstrip, lines))


def pays_table(measured, examples, threads):
    """Beside C++ loops of so many threads, or of 0 without any."""
    gain = [f"Against a C++ loop, {threads} threads", "Against the first kernel"] if threads else ["Gain"]
    table = Table(["Recipe", *gain, "Best variant", Right("Of its ceiling"), "First kernel" if threads else "Baseline", "Problem"])

    def with_time(row):
        if row is None:
            return "-"
        return f"{row.variant}, {digits(row.median_us)} µs" if row.median_us < 1000 else f"{row.variant}, {digits(row.median_us / 1000)} ms"

    for one in measured:
        row = [Cell(one.recipe, "", "#" + one.recipe if one.recipe in examples else "")]
        row += [loop_cell(one.loop)] * bool(threads)
        if one.best is None:
            row += [Cell("nothing to compare", "skipped"), "-", "-"]
        else:
            share = one.best.share
            # A small problem may be faster than the memory.
            ceiling = "-" if share is None else "in the cache" if share > 1.05 else f"{percent(share)} of {one.best.limit}"
            row += [ratio_cell(one.best.verdict, one.best.against), with_time(one.best), ceiling]
        table.add(*row, with_time(one.baseline), one.group.shape)
    return table


def example_of(folder, name):
    """What an example printed, its command in the first line, with the pictures that this line names."""
    text = read_file(folder / f"{name}.txt")
    files = [Path(word).name for word in text.partition("\n")[0].split(" ") if word.endswith(".png")]
    return {"text": text, "pictures": [file for file in files if (folder / file).is_file()]}


def write_demo(folder, here, check, loops, others):
    """FOLDER/index.html, from the results of this machine and what the examples left there; `loops` are beside C++ loops, `others` of
    other devices."""
    folder = Path(folder)
    for one, kind in ((here, "bench"), (check, "check"), *((one, "peers") for one in loops)):
        if one and one.kind != kind:
            refuse(f"holds a result of kind '{one.kind}', expected '{kind}'", f"result file {one.path}")
    examples = {path.stem: example_of(folder, path.stem) for path in sorted(folder.glob("*.txt")) if path.stem in RECIPES}
    if not here and not examples:
        refuse(f"there is neither a bench.json nor what an example printed in {folder}; ./cook demo leaves them there")
    rows = here.rows if here else []
    ratios = {one.recipe: loop_ratio(one) for one in loops if here and one.device == here.device}
    threads = next((one.json["threads"] for one in loops if ratios.get(one.recipe)), 0)
    measured = [Measured(here, name, ratios.get(name)) for name in dict.fromkeys(row.recipe for row in rows)]

    def gain(one):
        ratio = one.loop if threads else one.best.against if one.best else None
        return ratio.value if ratio else 0

    measured.sort(key=gain, reverse=True)
    untimed = {}
    for row in (row for row in rows if not row.is_measured):
        untimed.setdefault(f"{row.status}: {row.reason}", []).append(f"{row.recipe}/{row.variant}")
    names = {"here": here, "check": check, "others": others, "examples": examples, "measured": measured, "untimed": untimed, "pays_table": pays_table,
             "threads": threads, "right": sum(row.is_measured for row in rows), "wrong": sum(row.status == "failed" for row in rows),
             "has_report": (folder / "report.html").exists()}  # fmt: skip
    write_file(folder / "index.html", made(lambda environment: environment.get_template("demo.html").render(), names))
    if measured:
        print(printed(measured, threads))
    return 0
