"""Ratios of medians with their intervals: the numbers of bench/measure/statistics.cpp, to the last digit."""

import functools
import math
from typing import NamedTuple

import numpy as np

ROUNDS = 2000
WIDE_TIE = 0.1  # a gain that matters: a tie whose interval holds it, or its inverse, says so
# How many standard errors a 95 % interval of the mean of so many values reaches to each side; of 0, of any number.
STUDENT = (1.96, 1.96, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


class Ratio(NamedTuple):
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def is_tie(self):
        return self.low <= 1 <= self.high

    @property
    def is_wide_tie(self):
        return self.is_tie and (self.high > 1 + WIDE_TIE or self.low < 1 / (1 + WIDE_TIE))

    def tie_cell(self):
        """A tie in a table: a wide one with its interval."""
        return f"tie ({times(self.low)} to {times(self.high)})" if self.is_wide_tie else "tie"

    def __str__(self):
        return f"{times(self.value)}× [{times(self.low)}, {times(self.high)}]"


def times(ratio):
    """A ratio with two significant digits: "130", "2.3", "0.041"; up to 1.1 with two decimals, where a hundredth says who is faster."""
    if math.isnan(ratio) or math.isinf(ratio) or ratio <= 0:
        return "-" if math.isnan(ratio) else f"{ratio:.2f}"
    if 0.095 <= ratio < 1.095:
        return f"{ratio:.2f}"
    rounded = float(f"{ratio:.1e}")
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def digits(value):
    """About three digits: "12.3", "1234", "0.012", "-" for NaN."""
    if math.isnan(value):
        return "-"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e7 or size < 1e-3:
        return f"{value:.2e}"
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3}f}"


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def split(samples, count):
    """Samples that were taken in so many blocks, one after the other."""
    count = max(1, min(count, len(samples)))
    blocks = [[] for _ in range(count)]
    for i, one in enumerate(samples):
        blocks[i * count // len(samples)].append(one)
    return tuple(map(tuple, blocks))


def _numbers(count):
    """SplitMix64 of seed 20."""
    with np.errstate(over="ignore"):
        z = np.uint64(20) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@functools.lru_cache(maxsize=None)
def _draws(above, below):
    """Of blocks of these sizes the samples that each round draws, as places in all of them, a row for each round,
    behind each row as many -1 as it takes to make all equally long. One block fewer than there are: without
    that the interval of few blocks is too narrow (Rao and Wu 1988)."""
    sides = [(sizes, max(1, len(sizes) - 1), np.cumsum((0,) + sizes)) for sizes in (above, below)]
    numbers = _numbers(ROUNDS * sum(count * (1 + max(sizes)) for sizes, count, _ in sides))
    if all(len(set(sizes)) == 1 for sizes, _, _ in sides):  # each round takes as many numbers
        rounds = numbers.reshape(ROUNDS, -1)
        out = []
        for sizes, count, _ in sides:
            own, rounds = rounds[:, : count * (1 + sizes[0])], rounds[:, count * (1 + sizes[0]) :]
            own = own.reshape(ROUNDS, count, 1 + sizes[0])
            block = own[:, :, :1] % np.uint64(len(sizes))
            out.append((block * np.uint64(sizes[0]) + own[:, :, 1:] % np.uint64(sizes[0])).reshape(ROUNDS, -1).astype(int))
        return out
    numbers, at = numbers.tolist(), 0
    out = [np.full((ROUNDS, count * max(sizes)), -1) for sizes, count, _ in sides]
    for turn in range(ROUNDS):
        for (sizes, count, starts), table in zip(sides, out):
            drawn = []
            for _ in range(count):
                block = numbers[at] % len(sizes)
                size = sizes[block]
                drawn += [starts[block] + one % size for one in numbers[at + 1 : at + 1 + size]]
                at += 1 + size
            table[turn, : len(drawn)] = drawn
    return out


def _medians(blocks, places):
    """Of the samples at the places in each row."""
    samples = np.array([one for block in blocks for one in block] + [np.inf])
    if len(samples) == 2:
        return np.full(len(places), samples[0])
    counts = np.sum(places >= 0, axis=1)
    middles = np.unique([counts // 2, (counts - 1) // 2])
    drawn = np.partition(samples[places], middles, axis=1)
    rows = np.arange(len(places))
    upper, lower = drawn[rows, counts // 2], drawn[rows, (counts - 1) // 2]
    return (lower + upper) / 2


@functools.lru_cache(maxsize=None)
def bootstrap(above, below=((1.0,),)):
    """median(above) / median(below), of tuples of blocks of samples, with its 95 % interval."""
    sizes = [tuple(len(block) for block in side) for side in (above, below)]
    with np.errstate(all="ignore"):
        over, under = (_medians(side, places) for side, places in zip((above, below), _draws(*sizes)))
        ratios = np.sort(over / under)
        value = float(np.divide(median([one for block in above for one in block]), median([one for block in below for one in block])))
    if np.isnan(ratios).any():
        return Ratio(math.nan, math.nan, math.nan)
    fewest = min(len(above), len(below))
    student = STUDENT[fewest] if fewest < len(STUDENT) else 1.96 + 2.72 / (fewest - 1)

    def end(share):
        one = float(ratios[int(share * (ROUNDS - 1))])
        return value * math.pow(one / value, student / STUDENT[0]) if value > 0 and one > 0 else one

    return Ratio(value, end(0.025), end(0.975))
