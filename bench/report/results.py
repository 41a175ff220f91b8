"""Results and cards, as the clcook command hands them over, and what the report makes of their rows."""

import math
from typing import NamedTuple

from intervals import Ratio, bootstrap, split, times


class Refused(Exception):
    """What the user has to hear; its text begins with where it is."""


def refuse(what, where="report"):
    raise Refused(f"{where}: {what}")


NO_RATIO = Ratio()
BOLD = 1.05  # what gains less is not worth a bold word
RECIPES = {}  # by name, in the order of the cookbook, then those of descriptions
TECHNIQUES = []
COUNTERS = {}  # title and factor by the name in files


def take(facts):
    """Keeps what the cards say. Returns the results."""
    RECIPES.update((one["name"], one) for one in facts["recipes"])
    TECHNIQUES.extend(facts["techniques"])
    COUNTERS.update((one["key"], one) for one in facts["counters"])
    return [Result(one) for one in facts["results"]]


# ---- Rows ----


def number(value):
    return math.nan if value is None else value


def plain(value):
    """A number or word as a text: 64 also of 64.0, which are one value whoever wrote it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def text_of(params):
    """"width=3 sigma=0.5 pixel=rgba8"."""
    return " ".join(f"{key}={plain(value)}" for key, value in params.items())


class Row:
    """A row of a file: its fields are members, those that may be missing have the values of the class."""

    reason, skipped, ratio, flag, whole, blocks, psnr, group = "", None, None, None, None, 1, None, None
    previous, total_ratio, max_error, max_error_to_full, version = "", None, None, None, ""
    probes_us, caches = None, None

    def __init__(self, fields):
        self.__dict__.update(fields)

    @property
    def label(self):
        return f"{self.variant} {text_of(self.tune)}".strip()

    @property
    def name(self):
        """"recipe/naive group=64 (width=3) hot": what is the same in two runs."""
        return f"{self.recipe}/{self.label} ({text_of(self.shape)}) {self.mode}"

    @property
    def is_measured(self):
        return self.status == "measured"

    @property
    def time(self):
        return bootstrap(self.samples)

    @property
    def samples(self):
        return split(self.samples_us, self.blocks)

    @property
    def verdict(self):
        if self.baseline:
            return "baseline"
        return judge(self.against) if self.ratio else ""

    @property
    def against(self):
        """The ratio to the baseline; zeros where there is none."""
        return Ratio(*(number(self.ratio[key]) for key in ("value", "low", "high"))) if self.ratio else NO_RATIO

    @property
    def is_approximate(self):
        return variant_of(RECIPES.get(self.recipe), self.variant).get("approximate", False)

    @property
    def is_tie(self):
        """What differs by less than a half per cent is called a tie, however certain it is."""
        verdict = self.verdict
        return verdict == "tie" or (verdict != "baseline" and times(self.against.value) == "1.00")

    @property
    def copy_us(self):
        """The time that a copy of its bytes takes, where the copy is its ceiling."""
        return self.share * self.median_us if self.limit == "copy" and (self.share or 0) > 0 else None


def judge(ratio):
    if math.isnan(ratio.low) or math.isnan(ratio.high):
        return ""
    return "tie" if ratio.is_tie else "faster" if ratio.low > 1 else "slower"


def variant_of(recipe, name):
    """What the card says of a variant; nothing for one of another version."""
    return next((one for one in recipe["variants"] if one["name"] == name), {}) if recipe else {}


def baseline_of(recipe):
    return next(one["name"] for one in recipe["variants"] if one["baseline"])


# ---- Results ----


class Result:
    def __init__(self, given):
        self.path, self.stem, self.again = given["path"], given["stem"], given["again"]
        self.json, self.ran = given["json"], given.get("ran", [])
        self.kind = self.json["kind"]
        self.commit, self.date = self.json.get("commit") or "", self.json.get("date") or ""
        self.about = {} if self.kind in ("isa", "compile", "conventions") else self.json["device"]
        self.device = "{name}, {platform}, driver {driver}".format(**self.about) if self.about else ""
        self.recipe = self.json.get("recipe", "") if self.kind in ("stages", "peers") else ""
        self.totals = [Row(one) for one in given["totals"]]
        self.rows = [Row(one) for one in self.json["rows"]] if self.kind in ("bench", "stages", "peers", "counters", "startup") else []
        self.curves = self.json["curves"] if self.kind == "explore" else []
        self.kernels = self.json["kernels"] if self.kind == "isa" else []
        for row, tune in zip(self.rows, given["tunes"]):
            row.whole = tune

    @property
    def is_cpu(self):
        return self.about.get("type") == "cpu"

    def of_kind(self, kind):
        return self.rows if self.kind == kind else []

    @property
    def recipes(self):
        names = {row.recipe for row in self.of_kind("bench") + self.of_kind("counters") + self.totals}
        names.update(one["recipe"] for one in self.curves + self.kernels)
        names.update({self.recipe, "gaussian_blur" if self.kind == "startup" else ""} - {""})
        return sorted(names)

    def totals_of(self, recipe):
        return [one for one in self.totals if not recipe or one.recipe == recipe]

    def groups_of(self, recipe):
        groups = {}
        for row in self.of_kind("bench"):
            if row.recipe == recipe:
                groups.setdefault((text_of(row.shape), row.mode), []).append(row)
        return [Group(shape, mode, rows) for (shape, mode), rows in groups.items()]

    def group_of(self, recipe, wanted):
        """The first group whose shape has all of these, such as "width=3840" or "mode=hot"."""
        groups = self.groups_of(recipe)
        if not groups:
            refuse(f"'{self.stem}' has no times of '{recipe}'")
        for group in groups:
            words = f"{group.shape} mode={group.mode}".split()
            if all(one.removesuffix(".0") in words for one in wanted):
                return group
        refuse(f"'{self.stem}' has no times of '{recipe}' with" + "".join(" " + one for one in wanted))

    def group_with(self, recipe, words):
        """The same of one line of words; nothing where no shape has them."""
        try:
            return self.group_of(recipe, words.split())
        except Refused:
            return None


class Group(NamedTuple):
    """Rows of one recipe that can be compared: one shape, one mode."""

    shape: str
    mode: str
    rows: list

    @property
    def words(self):
        return f"{self.shape} {self.mode}".split()

    @property
    def where(self):
        return f"{self.shape}, caches {self.mode}"


def find(results, stem, kind=""):
    for one in results:
        if one.stem == stem:
            if kind and one.kind != kind:
                refuse(f"'{stem}' is a result of kind '{one.kind}', this needs '{kind}'")
            return one
    refuse(f"there is no result '{stem}'; known are {' '.join(one.stem for one in results) or 'none'}")


def known_recipe(name):
    if name not in RECIPES:
        refuse(f"there is no recipe '{name}'; known are {' '.join(RECIPES)}", "recipes")
    return RECIPES[name]


def newest_of(results, kind, device, recipe):
    """The newest result of a kind and a device that has times of a recipe."""
    found = [one for one in results if one.kind == kind and one.device == device and recipe in one.recipes]
    return max(found, key=lambda one: one.date, default=None)


def counted_rows(results, device, recipe):
    """What was counted of a recipe on a device, in whichever files, the newest first."""
    found = sorted((one for one in results if one.kind == "counters" and one.device == device), key=lambda one: one.date, reverse=True)
    return [row for one in found for row in one.rows if row.recipe == recipe]


def is_of_cookbook(result):
    return any(name in RECIPES and not RECIPES[name]["described"] for name in result.recipes)


def has_cookbook(results):
    return any(one.kind == "bench" and is_of_cookbook(one) for one in results)


def counts(results, result, kind):
    """Whether a result counts where devices are compared: those of somebody's kernels do not, beside the cookbook's."""
    return kind != "bench" or is_of_cookbook(result) or not has_cookbook(results)


def devices_of(results, kind):
    """The devices with a result of that kind ("" for any), in order of appearance."""
    return list(dict.fromkeys(one.device for one in results if one.device and kind in ("", one.kind) and counts(results, one, kind)))


def usual_name(about):
    units = about.get("compute_units")
    if about["platform"] != "Portable Computing Language" or not units:
        return about["name"]
    return f"PoCL, {units} core{'' if units == 1 else 's'}"


def short_device(results, kind, device):
    """What people call the device, such as "PoCL, 2 cores"; its whole name where another one is called so too."""
    of_kind = [one for one in results if one.kind == kind]
    name = next((usual_name(one.about) for one in reversed(of_kind) if one.device == device), "")
    twins = (one for one in of_kind if one.device != device and usual_name(one.about) == name)
    return device if any(counts(results, one, kind) for one in twins) else name


# ---- Comparing rows ----


class Pair(NamedTuple):
    fast: Row = None
    slow: Row = None
    ratio: Ratio = NO_RATIO  # the time of slow over that of fast
    verdict: str = ""


def have_equal_tunes(one, other):
    """Members that only one of them has are no difference; tunes of another version are none."""
    return one is not None and other is not None and all(other.get(key, value) == value for key, value in one.items())


def ratio_of(slow, fast):
    return bootstrap(slow.samples, fast.samples)


def pair_of(recipe, rows, fast, slow):
    """Two measured rows of these variants at equal tunes, what was left open included: of all such the
    one in which the first is fastest."""
    if not variant_of(recipe, fast) or not variant_of(recipe, slow):
        return Pair()
    best = None
    for one in rows:
        if one.variant != fast or not one.is_measured:
            continue
        for other in rows:
            if other.variant != slow or not other.is_measured or (best and best[0].median_us <= one.median_us):
                continue
            if have_equal_tunes(one.whole, other.whole):
                best = one, other
    if not best:
        return Pair()
    ratio = ratio_of(best[1], best[0])
    return Pair(*best, ratio, judge(ratio))


def step_of(recipe, rows, row):
    """The same of a row and its variant's predecessor."""
    before = variant_of(recipe, row.variant).get("predecessor")
    return pair_of(recipe, [row] + [one for one in rows if one.variant == before], row.variant, before) if before else Pair()


def has_baseline(recipe, group):
    """Whether a group's baseline is the recipe's, at the first of its tunes, the best one: not where the shape
    has another, to show what the tune gains."""
    row = next((one for one in group.rows if one.baseline), None)
    return row is not None and row.variant == baseline_of(recipe) and have_equal_tunes(row.whole, recipe["first_tune"])


def best_of(rows):
    """The row with the largest ratio to the baseline, without approximate variants."""
    compared = [one for one in rows if one.verdict not in ("", "baseline") and not one.is_approximate]
    return max(compared, key=lambda one: one.against.value, default=None)


def wins(row, best):
    """Whether an exact row is as fast as the best of its group, as far as the intervals tell."""
    if best is None or best.verdict != "faster" or best.is_tie:
        return row.baseline
    return not row.baseline and not row.is_approximate and row.against.high >= best.against.low


def stands_out(row, best):
    """Whether it is one of those and gains enough for a bold word: neither a baseline nor a tie does."""
    return not row.baseline and not row.is_tie and wins(row, best) and row.against.value >= BOLD


def fastest_rows(group):
    """Of each variant the measured row with the fastest tuning; of the baseline the one that ratios are to."""
    out = {}
    for row in group.rows:
        other = out.get(row.variant)
        if row.is_measured and (other is None or (not other.baseline and (row.baseline or row.median_us < other.median_us))):
            out[row.variant] = row
    return list(out.values())


def row_of(rows, variant):
    return next((one for one in rows if one.variant == variant), None)


# ---- Stages, and other programs ----


def seconds_of(row):
    return (tuple(one * 1e6 for one in row.seconds),)


def stages_of(result):
    """The rows of a stage table with their times and steps."""
    out = []
    for row in result.of_kind("stages"):
        row.title = row.stage + (f"@{row.group}" if row.group else "")
        row.step, row.verdict_of_step = NO_RATIO, ""
        if row.skipped is None:
            row.time_us = bootstrap(seconds_of(row))
            for other in out:
                # A step changes one thing: the stage, or the group size.
                if other.title == row.previous and other.skipped is None and (other.stage == row.stage or other.group == row.group):
                    row.step = bootstrap(seconds_of(other), seconds_of(row))
                    row.verdict_of_step = judge(row.step)
        out.append(row)
    return out
