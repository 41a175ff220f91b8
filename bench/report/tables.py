"""The tables of the report: made once, written as markdown and, by page.html, as HTML."""

import math
import textwrap

import grid
from intervals import bootstrap, digits, median, times
from results import (
    BOLD, COUNTERS, RECIPES, best_of, devices_of, fastest_rows, has_baseline, has_cookbook, newest_of, number, pair_of,
    refuse, seconds_of, short_device, stages_of, stands_out, step_of, text_of, usual_name, wins)  # fmt: skip


class Right(str):
    """The title of a column of figures."""

    is_figures = True


class Cell(str):
    """Its mark is faster, tie, slower, failed, skipped, strong or empty."""

    def __new__(cls, text, mark="", link=""):
        out = super().__new__(cls, text)
        out.mark, out.link = mark, link
        return out


class Table:
    def __init__(self, columns, rows=None, note=""):
        self.columns = [one if isinstance(one, Right) else Cell(one) for one in columns]
        self.rows, self.note = rows or [], note

    def add(self, *cells):
        self.rows.append([one if isinstance(one, Cell) else Cell(one) for one in cells])

    def classes(self, column, cell):
        """Of a cell in HTML."""
        figures = isinstance(self.columns[column], Right)
        size = len(cell.encode())
        width = "figure" if figures else "longer" if size > 34 else "long" if size > 18 else ""
        return f"{width} {cell.mark}".strip()

    def markdown(self):
        lines = ["".join(f" {escaped(one)} |" for one in self.columns)]
        lines.append("".join("---:|" if isinstance(one, Right) else "---|" for one in self.columns))
        for row in self.rows:
            line = ""
            for cell in row:
                text = f"[{escaped(cell)}]({cell.link})" if cell.link else escaped(cell)
                line += f" **{text}** |" if cell.mark in ("strong", "faster") else f" {text} |"
            lines.append(line)
        note = textwrap.fill(f"*{escaped(self.note)}.*", 200, break_long_words=False, break_on_hyphens=False)
        return "".join(f"|{line}\n" for line in lines) + (f"\n{note}\n" if self.note else "")


def escaped(text):
    """For markdown."""
    out = ""
    for c in text:
        # "](" would end the text of a link.
        before = "\\" if c in "|`*\\" or (c == "(" and out.endswith("]")) else ""
        out += before + {"<": "&lt;", ">": "&gt;", "&": "&amp;", "\n": " ", "\r": " "}.get(c, c)
    return out


class Reasons:
    """What is left out of a table and why, in groups."""

    def __init__(self):
        self.groups = {}

    def add(self, reason, who):
        # "LineBlur: the variant padded: " says what stands beside it.
        reason = reason.partition(f": the variant {who}: ")[2] or reason
        self.groups.setdefault(reason, []).append(who)

    def text(self, title):
        """"Left out: a, b (no images); c (it failed; 3 times)"; empty without any."""
        parts = []
        for reason, who in self.groups.items():
            names = list(dict.fromkeys(who))
            again = f"; {len(who)} times" if len(who) > len(names) else ""
            parts.append(f"{', '.join(names)} ({reason}{again})")
        return f"{title}: {'; '.join(parts)}" if parts else ""


# ---- Cells ----


def percent(share):
    return "-" if math.isnan(share) else f"{100 * share:.{1 if share < 0.095 else 0}f} %"


def mark_of(verdict, ratio):
    """The colour of a figure; "faster" is bold as well, so a gain below 1.05 has none."""
    return "" if verdict == "faster" and ratio.value < BOLD else verdict


def ratio_cell(verdict, ratio):
    """"2.31× [2.20, 2.40]", "tie: 1.01× [0.98, 1.03]", "slower: 0.90× [...]"."""
    if verdict in ("", "baseline"):
        return Cell(verdict or "-")
    return Cell(("" if verdict == "faster" else verdict + ": ") + str(ratio), mark_of(verdict, ratio))


def gain_cell(verdict, ratio, who=""):
    """One figure, or the word "tie", unless it is a wide one: the pages have the intervals."""
    if verdict in ("", "baseline"):
        return ratio_cell(verdict, ratio)
    figure = times(ratio.value)
    if verdict == "tie" or figure == "1.00":
        return Cell(ratio.tie_cell(), "tie")
    return Cell(f"{'slower: ' if verdict == 'slower' else ''}{figure}× {who}".strip(), mark_of(verdict, ratio))


def span_text(least, most):
    """"1.80×", "0.89× to 1.80×"."""
    least, most = times(least), times(most)
    return f"{most}×" if least == most else f"{least}× to {most}×"


def interval_text(ratio):
    return f"{digits(ratio.low)} to {digits(ratio.high)}"


NOT_MEASURED = Cell("not measured yet", "skipped")


# ---- All recipes ----


def names_of(results):
    """The cookbook's recipes, then what else is in the results."""
    return list(dict.fromkeys([*RECIPES, *(row.recipe for one in results for row in one.of_kind("bench"))]))


def technique_cell(name, result):
    """What the recipe's technique gains at the shape that its card names."""
    headline = RECIPES[name]["headline"] if name in RECIPES else {"with": ""}
    if not headline["with"]:
        return Cell("-")
    group = result and result.group_with(name, headline["words"])
    pair = pair_of(RECIPES[name], group.rows, headline["with"], headline["without"]) if group else None
    return gain_cell(pair.verdict, pair.ratio) if pair and pair.fast else NOT_MEASURED


def together_cell(name, result):
    """What the fastest exact variant gains over the baseline there."""
    group = result and result.groups_of(name)[0]
    if not group or (name in RECIPES and not has_baseline(RECIPES[name], group)):
        return NOT_MEASURED
    best = best_of(group.rows)
    if best is None:
        return Cell("nothing to compare", "skipped")
    others = sum(row.variant != best.variant and wins(row, best) for row in fastest_rows(group))
    or_else = ["", " or another"][others] if others < 2 else f" or {others} others"
    return gain_cell(best.verdict, best.against, best.variant + or_else)


def gains_table(results, linked=()):
    """All recipes with two gains per device: that of the recipe's technique, at the shape that its card names, and
    that of the fastest exact variant over the baseline at the first. The names in `linked` lead to #NAME."""
    devices = devices_of(results, "bench")
    columns = []
    for name in (short_device(results, "bench", device) for device in devices):
        columns += [name + ": the technique alone", name + ": the fastest variant"]
    table = Table(["Recipe"] + (columns or ["Gain"]))
    for name in names_of(results):
        row = [Cell(name, "", "#" + name if name in linked else "")]
        for newest in (newest_of(results, "bench", device, name) for device in devices):
            row += [technique_cell(name, newest), together_cell(name, newest)]
        table.add(*row, *([] if devices else [NOT_MEASURED]))
    return table


def written_first(recipe, group):
    """How many times as fast as the baseline the fastest is of what is written first."""
    first = [row.against.value for row in group.rows if row.variant in recipe["written_first"] and row.verdict]
    return max([1, *first])


def span_cell(name, result):
    """"0.89× to 1.80× column_tiles (4)": over the so many shapes the least and the most of what a recipe recommends for the device, or
    else of the fastest exact variant of each, with its name where it is the same for all."""
    if result is None:
        return NOT_MEASURED
    recipe = RECIPES.get(name)
    wanted = (recipe["for_cpus"] if result.is_cpu else recipe["for_gpus"]) if recipe else ""
    ratios, names = [], []
    for group in result.groups_of(name):
        if recipe and (not has_baseline(recipe, group) or group.rows[0].shape in recipe["without_first"]):
            continue
        rows = [row for row in group.rows if row.variant == wanted and row.verdict]
        best = max(rows, key=lambda row: row.against.value, default=None) if wanted else best_of(group.rows)
        if best is None:
            continue
        ratio = best.against.value / (written_first(recipe, group) if recipe else 1)
        # Where nothing is faster than what is written first, that is the fastest.
        ratios.append(ratio if wanted else max(1.0, ratio))
        names.append(best.variant)
    if not ratios:
        return NOT_MEASURED
    who = names[0] if len(set(names)) == 1 else ""
    return Cell(f"{span_text(min(ratios), max(ratios))} {who}".strip() + f" ({len(ratios)})", "strong" if max(ratios) >= BOLD else "")


def is_like(results, peers, device):
    """Whether peers were compared on such a device. Two machines with PoCL and as many cores are."""
    return any(usual_name(one.about) == usual_name(peers.about) for one in results if one.kind == "bench" and one.device == device)


def others_cell(results, device, recipe):
    """"1.20× to 8.09× (5)": of the so many cases of all results of such a device."""
    peers = [one for one in results if one.kind == "peers" and one.recipe == recipe and is_like(results, one, device)]
    ratios = [ratio for one in peers for ratio in against_others(one)]
    if not ratios:
        return Cell("-")
    values = [one.value for one in ratios]
    return Cell(f"{span_text(min(values), max(values))} ({len(values)})", "strong" if any(map(is_bold, ratios)) else "")


def recipes_table(results, prefix):
    """All recipes with the question that each answers and, per device, what it gains."""
    devices = devices_of(results, "bench")
    # On a CPU a kernel written for GPUs is no yardstick where there is a better one.
    by_others = [any(one.kind == "peers" and one.is_cpu and is_like(results, one, device) for one in results) for device in devices]
    titles = [short_device(results, "bench", device) + (": against C++ and libraries" if others else "") for device, others in zip(devices, by_others)]
    table = Table(["Recipe", "The question", *titles])
    for name in names_of(results):
        # Somebody's kernels have no page.
        if name not in RECIPES and has_cookbook(results):
            continue
        row = [Cell(name, "", f"{prefix}{name}.md"), RECIPES[name]["question"] if name in RECIPES else "-"]
        for device, others in zip(devices, by_others):
            row.append(others_cell(results, device, name) if others else span_cell(name, newest_of(results, "bench", device, name)))
        table.add(*row)
    return table


# ---- One result ----


def results_table(results):
    table = Table(["Result", "Kind", "Device", "Date", "Commit"])
    for one in results:
        nobody = "none: other libraries" if one.kind == "conventions" else "none: offline compilation"
        table.add(one.stem, one.kind, one.device or nobody, one.date[:10], one.commit)
    return table


def ceilings_table(result):
    ceilings = result.json["ceilings"]
    table = Table(["Ceiling, measured in the same run", Right("Value")])
    for name, key, unit in [("copy, several times the last-level cache", "copy_gbs", "GB/s"), ("copy within the cache", "cached_copy_gbs", "GB/s"),
                            ("float fused multiply-add", "fma_gops", "Gop/s"), ("empty kernel", "launch_us", "µs")]:  # fmt: skip
        table.add(name, f"{digits(ceilings[key])} {unit}")
    return table


def check_table(result, recipe=""):
    table = Table(["Variant", *map(Right, ["Runs", "Passed", "Failed", "Skipped", "Kernels run", "Values compared", "Largest error", "Largest bound",
                                           "Error of its bound"]), "Skipped because"])  # fmt: skip
    for total in result.totals_of(recipe):
        reasons = {}
        for skip in total.skips:
            reasons[skip["reason"]] = reasons.get(skip["reason"], 0) + skip["count"]
        error, share = (math.inf if one is None else one for one in (total.max_error, total.share))

        def largest(value):
            return "-" if total.passed + total.failed == 0 else "exact" if value == 0 else f"{value:.3g}"

        table.add(("" if recipe else total.recipe + "/") + total.variant, str(total.runs), str(total.passed),
                  Cell(str(total.failed), "failed" if total.failed else ""), Cell(str(total.skipped), "skipped" if total.skipped else ""),
                  str(total.launches), str(total.compared), largest(error), largest(total.bound),
                  Cell("-" if total.bound == 0 or math.isinf(share) else f"{100 * share:.1f} %", "failed" if share > 1 else ""),
                  "; ".join(f"{reason} ({count} times)" for reason, count in sorted(reasons.items())))  # fmt: skip
    return table


def bench_table(result, recipe, groups=None):
    """All shapes, without what was skipped; or these, with it. Columns that say nothing are left out: one mode of
    the caches, no operations."""
    with_skipped, groups = groups is not None, groups or result.groups_of(recipe)
    rows = [(group, row) for group in groups for row in group.rows]
    with_shape, with_mode = len(groups) > 1, len({one.mode for one in groups}) > 1
    with_gops = any(row.is_measured and number(row.gops) > 0 for _, row in rows)
    baseline = next((row.variant for _, row in rows if row.baseline), "the baseline")
    known = RECIPES.get(recipe)
    columns = ["Variant"] + ["Shape"] * with_shape + ["Caches"] * with_mode
    columns += [Right("Median µs"), Right("95 % interval"), "Against " + baseline] + ["This step alone"] * bool(known)
    table = Table([*columns, Right("GB/s"), *[Right("Gop/s")] * with_gops, Right("Of its ceiling"), "Ceiling"])
    for group, row in rows:
        if not with_skipped and row.status == "skipped":
            continue
        cells = [row.label] + [text_of(row.shape)] * with_shape + [row.mode] * with_mode
        if not row.is_measured:
            cells += ["-", "-", Cell(f"{row.status}: {row.reason}", "failed" if row.status == "failed" else "skipped")]
            table.add(*cells, *["-"] * (len(table.columns) - len(cells)))
            continue
        cells += [digits(row.time.value), interval_text(row.time), ratio_cell(row.verdict, row.against)]
        if known:
            step = step_of(known, group.rows, row)
            cell = ratio_cell(step.verdict, step.ratio)
            cells.append(Cell(f"{cell} after {step.slow.variant}", cell.mark) if step.fast else cell)
        cells += [digits(number(row.gbs))] + [digits(number(row.gops))] * with_gops
        table.add(*cells, Cell(percent(number(row.share)), "failed" if row.flag else ""), limit_of(row))
    return table


def limit_of(row):
    """The ceiling of a row, and what is odd about its times: bytes say nothing of a ceiling that has none."""
    flag = row.flag
    if flag and flag.startswith("over 105 %") and row.limit != "copy":
        flag = "over 105 % of the ceiling: fewer operations than the card's formula counts" if row.limit == "fma" else "over 105 % of the ceiling"
    return row.limit + (f" ({flag})" if flag else "")


def steps_table(results, recipe):
    """The recipe's variants, each with its predecessor, what it changes, and what that alone gains at the first
    shape, one column per device."""
    devices = devices_of(results, "bench")
    table = Table(["Variant", "After", "What this step changes"] + ["This step alone on " + short_device(results, "bench", one) for one in devices])
    for one in recipe["variants"]:
        row = [one["name"], one["predecessor"] or "-", "the baseline" if one["baseline"] else one["change"]]
        for newest in (newest_of(results, "bench", device, recipe["name"]) for device in devices):
            rows = newest.groups_of(recipe["name"])[0].rows if newest else []
            pair = pair_of(recipe, rows, one["name"], one["predecessor"])
            row.append(ratio_cell(pair.verdict, pair.ratio))
        table.add(*row)
    return table


def stages_table(result):
    table = Table(["Stage", Right("Median µs"), Right("95 % interval"), Right("Against the first"), "Step", Right("Largest error"), Right("Off the full sum")])
    skipped = Reasons()
    for row in stages_of(result):
        if row.skipped is not None:
            skipped.add(row.skipped, row.title)
            continue
        step = ratio_cell(row.verdict_of_step, row.step)
        if row.verdict_of_step:
            step = Cell(f"{step} after {row.previous}", step.mark)
        errors = ["-" if one is None else f"{one:.3g}" for one in (row.max_error, row.max_error_to_full)]
        total = "-" if row.total_ratio is None else times(row.total_ratio) + "×"
        table.add(row.title, digits(row.time_us.value), interval_text(row.time_us), total, step, *errors)
    table.note = skipped.text("Skipped")
    return table


def startup_table(result):
    table = Table(["Caches", *map(Right, ["Device and queue, s", "Plan, s", "First blur, s", "Second blur, s", "Processor time, s", "Programs compiled"]), "Variant"])
    for row in result.rows:
        seconds = (row.pick_s, row.plan_s, row.first_blur_s, row.second_blur_s, row.processor_s)
        table.add(row.caches or "-", *map(digits, seconds), str(row.compiled), row.method)
    return table


def speed_table(result, recipe):
    """One row per variant, one column per shape: the baseline's time, and of the others how many times as fast they are.
    The fastest is bold, with all whose intervals reach its own, from 1.05 on."""
    groups = result.groups_of(recipe)
    if not groups:
        return Table([])
    common = [word for word in groups[0].words if all(word in group.words for group in groups)]
    title = ", ".join([short_device([result], "bench", result.device), *(word for word in common if word != "hot")])
    columns = [Right(" ".join(word for word in group.words if word not in common) or "against the first") for group in groups]
    table = Table([title, *columns])
    fastest = [fastest_rows(group) for group in groups]
    labels = {}
    for row in (row for rows in fastest for row in rows):
        labels.setdefault(row.variant, label_of(row))
    for variant, label in labels.items():
        cells = []
        for rows in fastest:
            row, best = next((one for one in rows if one.variant == variant), None), best_of(rows)
            cell = Cell("–")
            if row and row.verdict == "baseline":
                cell = Cell(duration(row.median_us))
            elif row and row.is_tie:
                cell = Cell(row.against.tie_cell())
            elif row and row.verdict:
                cell = Cell(times(row.against.value) + "×", "strong" if stands_out(row, best) else "")
            cells.append(cell)
        table.add(label, *cells)
    return table


def label_of(row):
    return row.variant + (" (approximate)" if row.is_approximate else "")


def duration(us, next_to=0):
    """"82.5 µs", "26.7 ms"; in milliseconds what stands next to a time of so many."""
    return digits(us) + " µs" if max(us, next_to) < 10000 else digits(us / 1000) + " ms"


# ---- Other programs ----


def library_of(row):
    """Of "NPP, FilterMaxBorder"."""
    return row.who.split(", ")[0]


def is_ours(row):
    return row.who.startswith("clcook")


def cases_of(result):
    """The rows of each case that were measured, in order."""
    out = []
    for row in result.of_kind("peers"):
        if row.skipped is None:
            if not out or out[-1][0].case != row.case:
                out.append([])
            out[-1].append(row)
    return out


def against_libraries(rows):
    """How many times as fast as each library clcook is in a case, by what automatic takes, its first row; where that is not as
    exact, but for 3 dB, by its fastest variant that is; without those that nothing of it is as exact as."""
    out = {}
    automatic = next((row for row in rows if is_ours(row)), None)
    for library in dict.fromkeys(library_of(row) for row in rows if not is_ours(row)):
        theirs = min((row for row in rows if library_of(row) == library), key=lambda row: median(row.seconds))
        ours = [row for row in rows if is_ours(row) and (row.psnr is None or (theirs.psnr is not None and row.psnr >= theirs.psnr - 3))]
        if ours:
            best = automatic if automatic in ours else min(ours, key=lambda row: median(row.seconds))
            out[library] = bootstrap(seconds_of(theirs), seconds_of(best))
    return out


def is_bold(ratio):
    return ratio.value >= BOLD and not ratio.is_tie


def against_others(result):
    """How many times as fast clcook is as the fastest other program, case by case."""
    return [min(one.values(), key=lambda ratio: ratio.value) for one in map(against_libraries, cases_of(result)) if one]


def libraries_table(results, device, prefix):
    table = Table(["Recipe", "Library", "clcook is", Right("Cases")])
    for recipe in RECIPES:
        spans, cases = {}, 0
        for result in results:
            if result.device == device and result.kind == "peers" and result.recipe == recipe:
                for rows in cases_of(result):
                    cases += 1
                    for library, ratio in against_libraries(rows).items():
                        spans.setdefault(library, []).append(ratio)
        for library, ratios in spans.items():
            values = [one.value for one in ratios]
            text = Cell(span_text(min(values), max(values)), "strong" if all(map(is_bold, ratios)) else "")
            table.add(Cell(recipe, "", f"{prefix}{recipe}.md"), library, text, share_text(len(ratios), cases))
    return table


def share_text(count, of):
    """"5", "2 of 5"."""
    return str(count) if count == of else f"{count} of {of}"


def peers_table(result):
    # Exact results have none, and recipes that do not ask for it.
    with_psnr = any(row.skipped is None and row.psnr is not None for row in result.rows)
    table = Table(["Case", "Who", *map(Right, ["Median µs", "95 % interval", "Time against clcook", *["PSNR, dB"] * with_psnr, "Largest error"])])
    last, ours, left_out = None, None, Reasons()  # ours: the first of a case that is clcook's and was not left out
    for row in result.rows:
        if row.skipped is not None:
            left_out.add(row.skipped, row.who)
            continue
        is_first, last = row.case != last, row.case
        ours = None if is_first else ours
        samples = seconds_of(row)
        is_reference = ours is None and is_ours(row)
        ours = samples if is_reference else ours
        time = bootstrap(samples)
        cells = [row.case if is_first else "", f"{row.who} {row.version}".strip(), digits(time.value), interval_text(time)]
        cells.append("1" if is_reference else "-" if ours is None else str(bootstrap(samples, ours)))
        if with_psnr:
            cells.append("exact" if row.psnr is None else f"{row.psnr:.1f}")
        error = number(row.max_error)
        table.add(*cells, "exact" if error == 0 and not with_psnr else f"{error:.2g}")
    # Who does not do a case leaves it without a word.
    cases = cases_of(result)
    there = [dict.fromkeys(library_of(row) for row in rows if not is_ours(row)) for rows in cases]
    counts = {one: sum(one in names for names in there) for names in there for one in names}
    partial = ", ".join(f"{one} ({share_text(count, len(cases))})" for one, count in counts.items() if count < len(cases))
    table.note = "; ".join(filter(None, [left_out.text("Left out"), partial and f"Not in every case: {partial}"]))
    return table


def conventions_table(result, package):
    """What a library answered, with its version and date: in words, or in columns. A group such as readers/Pillow and readers/OpenEXR has a row for each."""
    members = [one for one in result.json["packages"] if one["package"].partition("/")[0] == package]
    columns = next((one["columns"] for one in members if "columns" in one), ["Answer"])
    figures = any(row["answer"][0][:1].isdigit() for one in members for row in one["rows"] if "columns" in one)
    table = Table(["What", *(Right(one) if figures else one for one in columns)])
    is_group = any("/" in one["package"] for one in members)
    for one in members:
        for row in one["rows"]:
            answers = row["answer"] if "columns" in one else [row["answer"]] + [""] * (len(columns) - 1)
            name = one["version"] or one["package"].partition("/")[2]
            table.add(", ".join(filter(None, [name, row["question"]])) if is_group else row["question"], *answers)
    asked = " and ".join(sorted({one["seen"] for one in members if one["seen"]}))
    table.note = ", ".join([*[one["version"] for one in members if not is_group], f"asked on {asked}"]) if asked else ""
    return table


CLOCKS = {"us": "the device's", "caller_us": "from numpy to numpy"}


def whole_grids(grids):
    """Rows of one seed on one device are one draw, also where recipes were measured in runs of their own: lists of results."""
    out = []
    for one in grids:
        recipes = {row["recipe"] for row in one.json["rows"]}
        for parts in out:
            same = (parts[0].device, parts[0].json["seed"]) == (one.device, one.json["seed"])
            if same and not any(row["recipe"] in recipes for part in parts for row in part.json["rows"]):
                parts.append(one)
                break
        else:
            out.append([one])
    return out


def lost_cells(count, lost, ratios):
    return [str(count), f"{lost} ({percent(lost / count)})", *(times(one) + "×" for one in ratios)]


def worst_of(rows, clock, name):
    """In words; none where no row has both times. `name` is the member that says what a row is of."""
    return [" ".join([f"the worst, {times(ratio)}×, beside {grid.best_of(row, clock)['who']}: {row[name]}",
                      *(f"{key}={value}" for key, value in row["shape"].items())]) for ratio, row in grid.worst(rows, clock, count=1)]  # fmt: skip


def grid_table(results):
    """Of rows that nobody chose: how many are lost to the fastest other program, and by how much."""
    table = Table(["Device", "Clock", "Rows", *map(Right, ["How many", "Lost", "Worst", "5 % quantile", "Median"])])
    grids = whole_grids([one for one in results if one.kind == "grid"])
    rows_of = [[row for part in one for row in part.json["rows"]] for one in grids]
    recipes = [list(dict.fromkeys(row["recipe"] for row in rows)) for rows in rows_of]
    most = {one[0].device: 0 for one in grids}
    for one, names in zip(grids, recipes):
        most[one[0].device] = max(most[one[0].device], len(names))
    devices = [short_device(results, "grid", one[0].device) + (f", {', '.join(names)}" if len(names) < most[one[0].device] else "")
               for one, names in zip(grids, recipes)]
    for one, rows, device in zip(grids, rows_of, devices):
        name = f"{device}, seed {one[0].json['seed']}" if devices.count(device) > 1 else device
        for clock, title in CLOCKS.items():
            for part, count, lost, *ratios in grid.summary(rows, clock):
                table.add(name, title, part, *lost_cells(count, lost, ratios))
    if not grids:
        table.add(NOT_MEASURED, *["-"] * 7)
    notes = []
    for one, rows, device in zip(grids, rows_of, devices):
        over, absent = sum(row.get("skipped") == "the time was over" for row in rows), ", ".join(grid.absent(rows))
        parts = [f"{device}: seed {one[0].json['seed']} of {one[0].date[:10]}, {len(rows)} rows drawn"]
        parts += [f"for {over} the time was over"] if over else []
        if missed := grid.misses(rows):
            slow = [ratio for ratio, _ in missed if ratio > 1.1]
            parts.append(f"automatic takes more than 10 % longer than clcook's fastest variant in {len(slow)} of {len(missed)} rows, at most {times(missed[0][0])} times as long")
        parts += worst_of(rows, "us", "recipe")
        parts += [f"in no row: {absent}"] if absent else []
        notes.append("; ".join(parts))
    table.note = ". ".join(["How many times as fast as the fastest other program", *notes]) if grids else ""
    return table


def kind_of_filter(row):
    if row["function"] in ("median_filter", "rank_filter", "percentile_filter"):
        return "ranks"
    return "extremes" if row["function"].startswith(("minimum", "maximum", "grey")) else "sums"


def ndimage_table(result):
    """Of calls of clcook.ndimage that nobody chose: how they compare with each of the others, from numpy to numpy."""
    table = Table(["Beside", "Arrays", "Functions", *map(Right, ["Calls", "Lost", "Worst", "5 % quantile", "Median"])])
    rows = [row for row in result.json["rows"] if "skipped" not in row]
    for who, version in result.json["versions"].items():
        alone = grid.beside(rows, who)
        for kind in ("all", "sums", "extremes", "ranks"):
            of_kind = [row for row in alone if kind in ("all", kind_of_filter(row))]
            for part, count, lost, *ratios in grid.summary(of_kind, "caller_us"):
                if kind == "all" or part == "256 x 256 and more":
                    arrays = part.replace("256 x 256", "65,536 elements")
                    table.add(f"{who} {version}", arrays, kind, *lost_cells(count, lost, ratios))
    parts = [f"Seed {result.json['seed']} of {result.date[:10]}, {len(result.json['rows'])} calls drawn"]
    parts += [f"{len(result.json['rows']) - len(rows)} failed"] if len(rows) < len(result.json["rows"]) else []
    if first := [row["first_ms"] for row in rows]:
        parts.append(f"clcook's first calls take {median(first):.0f} ms in the median and {max(first):.0f} ms at most")
    parts += worst_of(rows, "caller_us", "function")
    table.note = "; ".join(parts)
    return table


# ---- Counters, machine code, curves ----


def counter(key):
    if key not in COUNTERS:
        refuse(f"there is no counter '{key}'; known are {' '.join(COUNTERS)}", "counters")
    return COUNTERS[key]


def counted(row, key):
    """In the unit of the counter's title; NaN where the row does not have it."""
    value = row.counters.get(key) if row.status == "counted" else None
    return math.nan if value is None else value * COUNTERS[key]["factor"]


SAYING_MOST = ("lanes", "instructions", "divergent", "bank_conflicts", "l2_hit_pct", "dram_read_bytes", "dram_write_bytes",
               "issue_pct", "branches", "branch_misses", "cache_misses")  # fmt: skip


def counters_table(result, recipe, counters=None):
    """The variants of a recipe with these counters, or those that say most. What was not counted stands in the note."""
    rows = [row for row in result.of_kind("counters") if row.recipe == recipe]
    if counters is None:
        counters = [key for key in SAYING_MOST if any(not math.isnan(counted(row, key)) for row in rows)]
    table = Table(["Variant"] + [Right(counter(key)["title"]) for key in counters])
    named = set()
    for row in rows:
        if row.status != "counted":
            continue
        named.add(row.variant)
        # Where a shape differs from the first one: "sigma=8".
        other = {key: value for key, value in row.shape.items() if rows[0].shape.get(key) != value}
        label = row.label + (f" ({text_of(other)})" if other else "")
        table.add(label, *(digits(counted(row, key)) for key in counters))
    # Once each, and only variants that no shape counted.
    uncounted = Reasons()
    for row in rows:
        if row.variant not in named:
            named.add(row.variant)
            uncounted.add(("" if row.status == "skipped" else row.status + ": ") + row.reason, row.variant)
    table.note = uncounted.text("Not counted")
    return table


# By the name that blocks give it: the title, and its place in a row of the file.
FIGURES = {
    "instructions": ("Instructions", "counts"), "vector_alu": ("Vector ALU", "counts"), "scalar_alu": ("Scalar ALU", "counts"),
    "branches": ("Branches", "counts", "branch"), "vector_memory": ("Vector memory", "counts"), "scalar_memory": ("Scalar memory", "counts"),
    "local_memory": ("Local memory", "counts"), "waits": ("Waits", "counts", "wait"), "registers": ("Registers", "resources"),
    "scalar_registers": ("Scalar registers", "resources"), "spills": ("Spills", "resources"), "code_bytes": ("Code bytes", "resources", "bytes"),
    "occupancy": ("Occupancy", "resources")}  # fmt: skip


def isa_table(result, recipe, target="", figures=()):
    """Counts and resources of every kernel, those with these names or all; "" for all targets."""
    unknown = [one for one in figures if one not in FIGURES]
    if unknown or len(set(figures)) < len(figures):
        refuse(f"'{' '.join(figures)}' are not all counts of machine code; known are {' '.join(FIGURES)}")
    shown = {key: one for key, one in FIGURES.items() if not figures or key in figures}
    table = Table([*([] if target else ["Target"]), "Kernel of", *(Right(one[0]) for one in shown.values())])
    for machine in targets_of(result, recipe):
        for one in result.kernels:
            if one["recipe"] != recipe or one["target"] != machine or target not in ("", machine):
                continue
            name = f"{one['variant']} {one['tune']}".strip()
            who = Cell(name + (f" ({one['label']})" if one["label"] else ""))
            if one["problem"]:
                who = Cell(f"{name} does not compile: {one['problem']}", "failed")
            values = [None if one["problem"] else one[where][(*key, name)[0]] for name, (_, where, *key) in shown.items()]
            table.add(*([] if target else [machine]), who, *("-" if value is None else str(value) for value in values))
    return table


def targets_of(result, recipe):
    return list(dict.fromkeys(one["target"] for one in result.kernels if one["recipe"] == recipe))


def curve_table(curve):
    columns = {}
    for one in curve["variants"]:
        columns[one["variant"] + ", measured µs"] = one["measured_us"]
        for model, predicted in (one.get("predicted_us") or {}).items():
            columns[f"{one['variant']}, predicted for {model}"] = predicted
    table = Table(list(map(Right, [curve["axis"], *columns])))
    for i, point in enumerate(curve["points"]):
        table.add(str(point), *(digits(number(one[i])) for one in columns.values()))
    return table
