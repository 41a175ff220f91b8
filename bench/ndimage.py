#!/usr/bin/env python3
"""clcook.ndimage beside SciPy, and on a GPU beside CuPy, in calls that nobody chose; writes JSON.

    python3 bench/ndimage.py --random SEED --rows N --bin build/bin --out bench/results/PREFIX_ndimage.json

FOLDER of --bin holds clcook_peers (-DCLCOOK_BUILD_PEERS=ON), which says what commit and device the result is
of; the package is the one that Python finds, to be installed from the same commit.

A call has a function, the array's sides and type, a size, sigma, footprint or weights, and a mode, all drawn:
the same for a seed on every machine. Arrays have 1,000 to 16 million elements, and so few that SciPy's
neighbours are at most --work. Results must be SciPy's bit for bit, those of uniform_filter nearly: a call with
another result is left out and named. All go from numpy to numpy, in turns, until each has taken --budget
seconds; a time is the median. "first_ms" is clcook's first call, with what it compiles: begin with empty caches
(CLCOOK_CACHE_DIR, POCL_CACHE_DIR). SciPy runs on one core.
"""
import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy
from scipy import ndimage as scipys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "peers"), os.path.join(HERE, "report")]
import draw as drawing  # noqa: E402
import grid  # noqa: E402

SUMS = ("gaussian_filter", "uniform_filter", "correlate")
LINES = ("gaussian_filter1d", "uniform_filter1d", "correlate1d", "minimum_filter1d", "maximum_filter1d")
EXTREMES = ("minimum_filter", "maximum_filter", "grey_erosion", "grey_dilation", "grey_opening", "grey_closing")
RANKS = ("median_filter", "median_filter", "rank_filter", "percentile_filter")
SIDES = ("depth", "height", "width")


def sides_of(draw, dimensions, most):
    """Sides whose product is at most about `most`, and 1,000 at least."""
    elements = draw.real(1e3, most)
    sides = [draw.whole(2, 64)] if dimensions == 3 else []
    plane = max(elements / math.prod(sides), 64)
    if dimensions == 1:
        return [int(plane)]
    height = max(int(math.sqrt(plane) * draw.real(0.25, 4)), 4)
    return [*sides, height, max(int(plane / height), 4)]


def drawn(draw, work):
    """A call: its function, and the words of it."""
    name = draw.pick(*SUMS, *LINES, *EXTREMES, *RANKS)
    dimensions = draw.pick(1, 2, 2, 2, 3)
    words = {"type": draw.pick("uint8", "uint8", "uint16", "int16", "float32", "float32", "float64"),
             "mode": draw.pick("reflect", "reflect", "nearest", "mirror", "wrap", "constant")}
    neighbours = 1
    if name.startswith("gaussian"):
        words.update(sigma=draw.real(0.5, 20), order=draw.pick(0, 0, 0, 1))
    elif name in ("correlate", *RANKS):
        size = draw.whole(2, {1: 99, 2: 15, 3: 5}[dimensions])
        words.update(size=size)
        neighbours = size**dimensions
    else:
        words.update(size=draw.whole(2, 60 if dimensions < 3 else 20))
    if name in (*EXTREMES, *RANKS) and dimensions == 2 and draw.random() < 0.25:
        words.update(size=min(words["size"] | 1, 15), footprint="disk")
        neighbours = words["size"] ** 2
    if name == "rank_filter":
        words.update(rank=int(draw.random() * int(footprint_of(words, dimensions).sum())))
    elif name == "percentile_filter":
        words.update(percentile=draw.share())
    if name in LINES:
        words.update(axis=int(draw.random() * dimensions))
    sides = sides_of(draw, dimensions, min(1.6e7, max(work / neighbours, 2e3)))
    return name, {**dict(zip(SIDES[-dimensions:], sides)), **words}


def footprint_of(words, dimensions):
    if words.get("footprint") != "disk":
        return np.ones((words["size"],) * dimensions, bool)
    radius = words["size"] // 2
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return x * x + y * y <= (radius + 0.5) ** 2


def call_of(name, words):
    """(array, the other arguments by name)."""
    shape = tuple(words[one] for one in SIDES if one in words)
    dtype = np.dtype(words["type"])
    random = np.random.default_rng(1)
    if dtype.kind == "f":
        a = random.random(shape, np.float32).astype(dtype)
    else:
        a = random.integers(0, np.iinfo(dtype).max, shape, dtype)
    more = {"mode": words["mode"]}
    more.update((one, words[one]) for one in ("sigma", "order", "rank", "percentile", "axis") if one in words)
    if name.startswith("correlate"):
        sides = 1 if name.endswith("1d") else len(shape)
        more["weights"] = random.random((words["size"],) * sides) / words["size"] ** sides
    elif words.get("footprint") == "disk":
        more["footprint"] = footprint_of(words, 2)
    elif "size" in words:
        more["size"] = words["size"]
    return a, more


def cupys():
    """CuPy's functions from numpy to numpy, and its version; None where it is not there."""
    try:
        import cupy
        from cupyx.scipy import ndimage

        cupy.cuda.runtime.getDevice()
    except Exception as error:  # no CuPy, or no driver
        print(f"CuPy is not there: {error}", file=sys.stderr)
        return None

    def run(name, a, more):
        arguments = {key: cupy.asarray(one) if isinstance(one, np.ndarray) else one for key, one in more.items()}
        return cupy.asnumpy(getattr(ndimage, name)(cupy.asarray(a), **arguments))

    return run, cupy.__version__


def difference(ours, theirs):
    """The largest of two results, 0 where they are the same bit for bit."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return math.inf
    if np.array_equal(ours, theirs):
        return 0.0
    return float(np.max(np.abs(ours.astype(np.float64) - theirs.astype(np.float64))))


def allowed(function, dtype):
    """How far a result may lie from SciPy's, whose running sums of quotients are themselves off."""
    if not function.startswith("uniform"):
        return 0
    return 1 if dtype.kind in "iu" else 1e-5


def seconds_of(run):
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def timed(runs, seconds, budget):
    """Medians of seconds of {name: function}, in turns, behind the first of each in `seconds`."""
    seconds = {who: [seconds[who]] if seconds[who] > budget else [] for who in runs}
    while waiting := [who for who in runs if sum(seconds[who]) < budget and len(seconds[who]) < 60]:
        for who in waiting:
            one = [seconds_of(runs[who])[0]]
            if one[0] < 0.02:  # a short call meets the caches and clocks that the one before it left
                one = [seconds_of(runs[who])[0] for _ in range(4)]
            seconds[who] += one
    return {who: statistics.median(some) for who, some in seconds.items()}


def row_of(function, words, cupy, budget):
    from clcook import ndimage as ours

    a, more = call_of(function, words)
    row = {"function": function, "shape": words, "others": []}
    runs = {"clcook": lambda: getattr(ours, function)(a, **more), "SciPy": lambda: getattr(scipys, function)(a, **more)}
    try:
        first, result = seconds_of(runs["clcook"])
    except RuntimeError as error:
        return {**row, "skipped": f"clcook: {error}"}
    row["first_ms"] = round(1e3 * first, 3)
    seconds = {"clcook": 0}
    seconds["SciPy"], expected = seconds_of(runs["SciPy"])
    row["max_error"] = difference(result, expected)
    if row["max_error"] > allowed(function, expected.dtype):
        return {**row, "skipped": f"clcook: differs by {row['max_error']}"}
    if cupy:
        runs["CuPy"] = lambda: cupy(function, a, more)
        try:
            seconds["CuPy"], _ = 0, runs["CuPy"]()  # the first call compiles
        except Exception as error:
            del runs["CuPy"]
            row["left_out"] = {"CuPy": str(error).partition("\n")[0]}
    times = {who: round(1e6 * one, 3) for who, one in timed(runs, seconds, budget).items()}
    row["caller_us"] = times.pop("clcook")
    row["others"] = [{"who": who, "caller_us": one} for who, one in times.items()]
    return row


def summary_of(rows, versions):
    """{who: {"all", "large" and "small" arrays: how many calls, how many lost, and ratios}}, for sentences."""
    out = {}
    for who in versions:
        names = {"all": "all", "256 x 256 and more": "large", "smaller": "small"}
        out[who] = {
            names[part]: {"calls": count, "lost": lost, "worst": least, "low": low, "median": middle}
            for part, count, lost, least, low, middle in grid.summary(grid.beside(rows, who), "caller_us")
        }
    return out


def write(path, head, rows):
    head = {**head, "summary": summary_of(rows, head["versions"])}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines.append('"rows": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "]")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, required=True, metavar="SEED")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--bin", default=os.path.join(HERE, "..", "build", "bin"))
    parser.add_argument("--budget", type=float, default=0.15, help="seconds of each, of each row")
    parser.add_argument("--work", type=float, default=1e8, help="neighbours that SciPy visits one by one, at most")
    parser.add_argument("--out", help="without it none is written")
    parser.add_argument("--list", action="store_true", help="prints the calls alone")
    arguments = parser.parse_args()
    calls = [drawn(drawing.Draw(f"{arguments.random} ndimage {i}"), arguments.work) for i in range(arguments.rows)]
    if arguments.list:
        for name, words in calls:
            print(name, *(f"{key}={one}" for key, one in words.items()))
        return
    program = os.path.join(arguments.bin, "clcook_peers")
    if not os.path.exists(program):
        parser.error(f"{program} is not there: build it with -DCLCOOK_BUILD_PEERS=ON, or say --bin")
    probe = subprocess.run(program, input="head\n", stdout=subprocess.PIPE, text=True, check=True)
    head = json.loads(probe.stdout.splitlines()[0])
    found = cupys() if head["device"]["type"] == "gpu" else None
    head.update(kind="ndimage", command=shlex.join(["bench/ndimage.py", *sys.argv[1:]]), seed=arguments.random,
                versions={"SciPy": scipy.__version__, **({"CuPy": found[1]} if found else {})})
    rows = []
    for name, words in calls:
        rows.append(row_of(name, words, found and found[0], arguments.budget))
        row, best = rows[-1], grid.best_of(rows[-1], "caller_us")
        print(name, *(f"{key}={one}" for key, one in words.items()), end=": ")
        print(row["skipped"] if "skipped" in row else
              f"{row['caller_us']:.0f} us, {best['who']} {best['caller_us']:.0f} us, "
              f"{best['caller_us'] / row['caller_us']:.2f}", flush=True)
        if arguments.out:
            write(arguments.out, head, rows)
    for part, count, lost, least, low, middle in grid.summary(rows, "caller_us"):
        print(f"{part}: {lost} of {count} lost, median {middle:.2f}, 5 % {low:.3f}, worst {least:.3f}")


if __name__ == "__main__":
    main()
