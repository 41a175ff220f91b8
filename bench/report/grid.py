"""What the rows of bench/peers/run --random say: how many are lost, and by how much."""
import math
from itertools import groupby
from operator import itemgetter
from statistics import median

LARGE = 256 * 256
SIZES = ("width", "height", "depth", "count", "items", "pixels", "texels", "patches", "vertices", "instances", "islands")


def size_of(row):
    """Pixels or items."""
    return math.prod(value for name, value in row["shape"].items() if name in SIZES)


def best_of(row, clock="us"):
    """The fastest of the others by a clock, "us" or "caller_us"."""
    return min((one for one in row["others"] if one.get(clock)), key=lambda one: one[clock], default=None)


def ratio_of(row, clock="us"):
    """The time of the fastest other over the library's; None where the row does not have both."""
    best = best_of(row, clock) if row.get(clock) else None
    return best[clock] / row[clock] if best else None


def beside(rows, who):
    """The rows with one of the others alone."""
    return [{**row, "others": [one for one in row.get("others", []) if one["who"] == who]} for row in rows]


def quantile(ratios, share):
    """The smallest that so many of them do not exceed."""
    return sorted(ratios)[max(math.ceil(share * len(ratios)) - 1, 0)]


PARTS = {"all": lambda row: True, "256 x 256 and more": lambda row: size_of(row) >= LARGE, "smaller": lambda row: size_of(row) < LARGE}


def summary(rows, clock="us"):
    """(part, rows, lost, worst, 5 % quantile, median) of all rows and of both sizes, where there are any."""
    out = []
    for part, has in PARTS.items():
        ratios = [ratio_of(row, clock) for row in rows if "skipped" not in row and has(row)]
        ratios = [one for one in ratios if one is not None]
        if ratios:
            out.append((part, len(ratios), sum(one < 1 for one in ratios), min(ratios), quantile(ratios, 0.05), median(ratios)))
    return out


def absent(rows):
    """The programs that are in no row of a recipe whose rows left them out: "NPP (rank_filter)". Not clcook, whose Python package
    has the caller's clock alone."""
    there = {(one["who"].partition(",")[0], row["recipe"]) for row in rows for one in row.get("others", [])}
    left_out = {(who.partition(",")[0], row["recipe"]) for row in rows for who in row.get("left_out", {})}
    gone = sorted(one for one in left_out - there if one[0] != "clcook")
    return [f"{who} ({', '.join(recipe for _, recipe in all_of)})" for who, all_of in groupby(gone, key=itemgetter(0))]


def misses(rows):
    """(times that of the fastest variant, row) of those whose variants were timed, where automatic's choice misses most first."""
    timed = [(row["variants"].get(row["variant"]), row) for row in rows if row.get("variants")]
    return sorted(((one / min(row["variants"].values()), row) for one, row in timed if one), key=lambda one: -one[0])


def worst(rows, clock="us", count=10):
    """(ratio, row) of those that lose most."""
    found = [(ratio_of(row, clock), row) for row in rows if "skipped" not in row]
    return sorted((one for one in found if one[0] is not None), key=lambda one: one[0])[:count]
