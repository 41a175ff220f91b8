"""The ladder of a recipe's page, one variant a rung with what limits it there, and the index of techniques."""

import math

from intervals import digits, times
from results import (
    BOLD, RECIPES, TECHNIQUES, Pair, baseline_of, best_of, counted_rows, fastest_rows, judge, number, pair_of, ratio_of,
    refuse, row_of, short_device, text_of, variant_of)  # fmt: skip
from tables import Cell, Right, Table, counted

FEW_LANES = 24  # of 32
LIMITING = 0.6  # from this share of what there is on, a counter limits a kernel


def rungs_of(recipe, rows, reached):
    """The variants on the way from the baseline to these, in the card's order."""
    wanted = set()
    for name in reached:
        while name and name not in wanted:
            wanted.add(name)
            name = variant_of(recipe, name).get("predecessor")
    return [one for one in recipe["variants"] if one["name"] in wanted and row_of(rows, one["name"])]


def tuned_pair(recipe, group, fast, slow):
    """Two variants at equal tunes and "", or else the fastest of each and "with" the tune of the first; no pair where one is missing."""
    pair = pair_of(recipe, group.rows, fast, slow)
    rows = fastest_rows(group)
    fast, slow = row_of(rows, fast), row_of(rows, slow)
    if pair.fast or not fast or not slow:
        return pair, ""
    ratio = ratio_of(slow, fast)
    return Pair(fast, slow, ratio, judge(ratio)), " with " + (text_of(fast.tune) or "its own tune")


def rung_step(recipe, group, variant):
    """What the step to a variant gains."""
    if not variant["predecessor"]:
        return Cell("baseline")
    pair, tune = tuned_pair(recipe, group, variant["name"], variant["predecessor"])
    if not pair.fast:
        return Cell("-")
    figure = times(pair.ratio.value)
    if pair.ratio.is_tie or figure == "1.00":
        return Cell(pair.ratio.tie_cell() + tune, "tie")
    return Cell(figure + "×" + tune, "strong" if pair.ratio.value >= BOLD else "")


# ---- What the counters say ----


def other_words(shape, counted_shape):
    """In what words two shapes differ, such as the kind of data; None where a size differs."""
    if len(shape) != len(counted_shape) or any(key not in shape for key in counted_shape):
        return None
    other = {key: value for key, value in counted_shape.items() if shape[key] != value}
    return text_of(other) if all(isinstance(value, str) for value in other.values()) else None


REASONS = {
    "global memory": ("stall_global", "stall_global_queue"),
    "local memory or special functions": ("stall_local",),
    "the queue of local memory and constants": ("stall_local_queue",),
    "a barrier": ("stall_barrier",),
    "constants": ("stall_constant",),
    "instructions": ("stall_fetch", "stall_branch"),
    "their stores": ("stall_drain",),
}


def wait_of(row):
    """What its warps wait for most, if that is a large part of their waiting."""
    waits = {key: value or 0 for key, value in row.counters.items() if key.startswith("stall_") and key != "stall_not_chosen"}
    shares = {words: sum(waits.get(key, 0) for key in keys) / sum(waits.values()) for words, keys in REASONS.items()} if any(waits.values()) else {}
    most = max(shares, key=shares.get, default="")
    return f"{100 * shares[most]:.0f} % of waits: {most}" if most and shares[most] > 0.4 else ""


def limit_text(row, size, copy_gbs):
    """One counter in words; empty where none stands out. DRAM is compared with the measured copy, `size` are the bytes
    that the kernel has to move."""
    if row.status != "counted":
        return ""
    moved = (counted(row, "dram_read_bytes") + counted(row, "dram_write_bytes")) * 1e6
    dram = moved / (counted(row, "time_ns") * 1e-6) / (copy_gbs * 1e9)
    issue = counted(row, "issue_pct") / 100
    if issue >= LIMITING and not dram > issue:
        # Where many lanes are idle in a slot, they say more.
        lanes = counted(row, "lanes")
        return f"{lanes:.0f} of 32 lanes active" if lanes < FEW_LANES else f"issue slots {100 * issue:.0f} %"
    if dram >= LIMITING:
        # Read again and again, since the cache did not hold it.
        return f"L2 hit rate {counted(row, 'l2_hit_pct'):.0f} %" if moved > 2 * size else f"DRAM {100 * dram:.0f} %"
    passes, wait = counted(row, "local_wavefronts"), wait_of(row)
    conflicts = counted(row, "bank_conflicts") / passes if passes else math.nan
    if conflicts >= 0.4 and (not wait or "local memory" in wait):
        return f"bank conflicts {100 * conflicts:.0f} % of local passes"
    lanes = counted(row, "lanes")
    return wait or (f"{lanes:.0f} of 32 lanes active" if lanes < FEW_LANES else "")


def ladder_table(results, recipe, result, group, also):
    """A rung per variant on the way from the baseline to those that the recipe recommends, to the fastest and to those
    in `also`, at the shape of a group of `result`."""
    name, rows = recipe["name"], fastest_rows(group)
    for one in also:
        if not row_of(rows, one):
            refuse(f"'{result.stem}' has no time of '{one}' at {group.shape}")
    best = best_of(rows)
    recommended = recipe["for_cpus"] if result.is_cpu else recipe["for_gpus"]
    reached = [*also, baseline_of(recipe), recommended, recipe["headline"]["with"], best.variant if best else ""]
    rungs = rungs_of(recipe, rows, reached)
    if len(rungs) < 2:
        refuse(f"'{result.stem}' has no steps of '{name}' at {group.shape}")

    # What is as fast as a copy at best is compared with one, of the least bytes that any of them moves.
    copy_gbs = result.json["ceilings"]["copy_gbs"]
    measured = [row_of(rows, one["name"]) for one in rungs]
    size = min(row.bytes for row in measured)
    copied_us = size / copy_gbs * 1e-3
    by_copy = best is None or best.limit == "copy"
    ceilings = [{"fma": "the multiply-adds", "launch": "the launches"}.get(row.limit, "the copy") for row in measured]
    one_limit = len({row.limit for row in measured}) == 1

    # Of the kinds of data that were counted the one with the most rungs, and rather the table's own.
    counts = {}
    for one in counted_rows(results, result.device, name):
        for i, row in enumerate(measured):
            if one.variant == row.variant and one.tune == row.tune and (other := other_words(row.shape, one.shape)) is not None:
                counts.setdefault(other, {}).setdefault(i, limit_text(one, size, copy_gbs))
    counted_at = max(counts, key=lambda other: (len(counts[other]), other == ""), default="")
    limits = [counts.get(counted_at, {}).get(i, "") for i in range(len(rungs))]

    of = "Of the copy" if by_copy else "Of " + ceilings[0] if one_limit else "Of its ceiling"
    table = Table(["Variant", "What it changes", Right("Median µs"), Right(of), "This step alone"]
                  + ["What limits it" + (f", with {counted_at}" if counted_at else " now")] * any(limits))  # fmt: skip
    before = None
    for rung, row, ceiling, limit in zip(rungs, measured, ceilings, limits):
        follows = before is not None and rung["predecessor"] == before
        change = rung["summary"] if rung["baseline"] else rung["change"] if follows else f"after {rung['predecessor']}: {rung['change']}"
        share = copied_us / row.median_us if by_copy else number(row.share)
        of_what = "" if by_copy or one_limit else " of " + ceiling
        table.add(rung["name"] + (" (approximate)" if rung["approximate"] else ""), change, digits(row.median_us),
                  f"{100 * share:.0f} %{of_what}", rung_step(recipe, group, rung), *[limit] * any(limits))  # fmt: skip
        before = rung["name"]
    table.note = f"{short_device(results, 'bench', result.device)}, {group.shape}" + (f"; a copy takes {digits(copied_us)} µs" if by_copy else "")
    return table


# ---- The index of techniques: one word for each, and the measurements that it rests on ----

WORDS = ("pays", "ties", "costs", "not tested")


def word_of(ratio, is_tie):
    """Two runs of one program differ by a per cent or two: what differs by less is a tie."""
    return "ties" if is_tie or abs(ratio - 1) < 0.02 else "pays" if ratio > 1 else "costs"


class Found:
    def __init__(self, word="not tested", ratio=0.0, evidence=""):
        self.word, self.ratio, self.evidence = word, ratio, evidence


def of_ratio(verdict, ratio, names):
    return Found() if verdict in ("", "baseline") else Found(word_of(ratio.value, verdict == "tie"), ratio.value, f"{names} {ratio}")


def of_times(slow, fast):
    return Found(word_of(slow / fast, False), slow / fast, f"{slow:.0f} µs to {fast:.0f} µs") if slow and fast else Found()


def in_bench(result, recipe, one):
    group = result.group_with(recipe["name"], one["words"])
    if not group:
        return Found()
    names = f"{one['without']} to {one['with']}"
    if one["kind"] == "shapes":
        other = result.group_with(recipe["name"], one["without"])
        rows = [row_of(fastest_rows(each), one["with"]) for each in (group, other) if each]
        return of_times(*(row.median_us for row in rows)) if len(rows) == 2 and all(rows) else Found()
    if one["kind"] == "baseline":
        row = row_of(fastest_rows(group), one["with"])
        return of_ratio(row.verdict, row.against, names) if row and baseline_of(recipe) == one["without"] else Found()
    pair, tune = tuned_pair(recipe, group, one["with"], one["without"])
    return of_ratio(pair.verdict, pair.ratio, names + tune)


def at_point(curve, place):
    """The time at "direct@128" on a curve."""
    name, _, at = place.partition("@")
    points = [i for i, point in enumerate(curve["points"]) if point == float(at)]
    return next((one["measured_us"][i] for one in curve["variants"] if one["variant"] == name for i in points), 0)


def in_curves(result, recipe, one):
    for curve in result.curves:
        words = f"{text_of(curve['shape'])} along={curve['along']}".split()
        if curve["recipe"] == recipe["name"] and all(word in words for word in one["words"].split()):
            return of_times(at_point(curve, one["without"]), at_point(curve, one["with"]))
    return Found()


def registers_of(rows, recipe, variant):
    """As the device counts them for the recipe's first shape; NaN where nothing was counted."""
    for row in rows:
        if (row.variant, row.status) == (variant, "counted") and row.shape == recipe["first_shape"]:
            return counted(row, "registers")
    return math.nan


def look(results, device, recipe, one):
    """What the results of a device say."""
    found = Found()
    if one["kind"] != "not_tested":
        for result in results:
            if result.device == device and not found.evidence:
                found = in_curves(result, recipe, one) if one["kind"] == "sweep" else in_bench(result, recipe, one) if result.kind == "bench" else found
        found.evidence = found.evidence or "no time of this device yet"
    if one["what"] and one["kind"] in ("sweep", "shapes"):
        found.evidence = f"{one['what']}: {found.evidence}"
    elif one["what"]:
        found.evidence = f"{found.evidence}, {one['what']}" if found.evidence else one["what"]
    if one["shows_registers"]:
        rows = counted_rows(results, device, recipe["name"])
        before, after = (registers_of(rows, recipe, one[key]) for key in ("without", "with"))
        if not math.isnan(before) and not math.isnan(after):
            found.evidence += f"; {before:.0f} registers both" if before == after else f"; {before:.0f} registers to {after:.0f}"
            if one["kind"] == "fewer_registers" and after >= before:
                found.word = "not tested"
                found.evidence += ": the driver saves none"
    return found


def techniques_table(results, device, prefix):
    """The numbered techniques, what pays first, and what the results of `device` measured of each in each recipe that shows it."""
    rows = []
    for title in TECHNIQUES:
        of_title = []
        for recipe in RECIPES.values():
            by_word = {}
            for shown in (one for one in recipe["shows"] if one["number"] == title["number"]):
                for found in (look(results, device, recipe, one) for one in shown["experiments"]):
                    same = by_word.setdefault(found.word, found)
                    if same is not found:
                        same.evidence += "; " + found.evidence
            of_title += [(title, recipe["name"], found) for found in by_word.values()]
        rows += of_title or [(title, "", Found())]
    # What to try first: what pays, and of that what pays most.
    rows.sort(key=lambda row: (WORDS.index(row[2].word), -row[2].ratio if row[2].word == "pays" else 0))
    table = Table([Right(""), "Technique", "It", "Evidence on " + short_device(results, "bench", device), "Page"])
    for title, recipe, found in rows:
        table.add(str(title["number"]), title["title"], Cell(found.word, "strong" if found.word == "pays" else ""), found.evidence,
                  Cell(recipe, "", f"{prefix}{recipe}.md" if recipe else ""))  # fmt: skip
    return table
