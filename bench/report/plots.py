"""Plots as SVG that takes its colours from the page: text is currentColor, all else has the variables of style.css."""

import math
from html import escape
from typing import NamedTuple

from intervals import Ratio

TICK = 5
SERIES = [f"var(--s{i})" for i in range(1, 9)]
INKS = {"faster": "var(--faster)", "tie": "var(--tie)", "slower": "var(--slower)"}
BASE, SOFT, GRID, TEXT = "var(--base)", "var(--soft-text)", "var(--grid)", "currentColor"


def shortened(text, limit):
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Axis:
    """From values to pixels. A linear one that is `rounded` ends at its ticks."""

    def __init__(self, low, high, begin, end, is_log=False, most=7, rounded=False):
        self.is_log, self.begin, self.end = is_log, begin, end
        step = 0
        if not is_log:
            step = next(one for one in self.steps((high - low) / most or 1))
            if rounded:
                low, high = math.floor(low / step) * step, math.ceil(high / step - 1e-9) * step
        self.low, self.high, self.step = low, high, step

    @staticmethod
    def steps(least):
        """1, 2 or 5 times a power of ten, at least so large."""
        ten = 10.0 ** math.floor(math.log10(least))
        return (ten * one for one in (1, 2, 5, 10) if ten * one >= least * (1 - 1e-9))

    def place(self, value):
        if self.is_log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low or 1)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        """Places with their labels; those between have none."""
        if not self.is_log:
            first = math.ceil(self.low / self.step - 1e-9)
            last = math.floor(self.high / self.step + 1e-9)
            return [(self.place(i * self.step), f"{i * self.step:g}") for i in range(first, last + 1)]
        labelled = (1, 2, 5) if self.high < 100 * self.low else (1,)
        out = []
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for one in range(1, 10):
                value = one * 10.0**power
                if self.low <= value * (1 + 1e-9) and value <= self.high * (1 + 1e-9):
                    out.append((self.place(value), f"{value:g}" if one in labelled else ""))
        return out


class Plot:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def line(self, points, ink, width, dashes="", more=""):
        way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<path d="M{way}" fill="none" stroke="{ink}" stroke-width="{width}"{dashes}{more}/>')

    def dot(self, x, y, radius, ink):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{ink}"/>')

    def text(self, x, y, words, ink=TEXT, anchor="start", size=12):
        """With its middle at y."""
        self.parts.append(f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" fill="{ink}" font-size="{size}" text-anchor="{anchor}">{escape(words)}</text>')

    def axes(self, x, y=None, box=()):
        """Grid, ticks and border of the left and the lower side; box is left, top, right, bottom."""
        left, top, right, bottom = box
        for at, label in x.ticks():
            if label:
                self.line([(at, top), (at, bottom)], GRID, 0.7)
                edge = min(at, self.width - at)  # no label leaves the picture
                anchor = "middle" if edge > 4 * len(label) else "start" if edge == at else "end"
                self.text(at, bottom + 17, label, SOFT, anchor, 13)
            self.line([(at, bottom), (at, bottom + (TICK if label else TICK / 2))], SOFT, 1)
        for at, label in y.ticks() if y else []:
            if label:
                self.line([(left, at), (right, at)], GRID, 0.7)
                self.text(left - TICK - 5, at, label, SOFT, "end", 13)
            self.line([(left - (TICK if label else TICK / 2), at), (left, at)], SOFT, 1)
        self.line(([(left, top)] if y else []) + [(left, bottom), (right, bottom)], SOFT, 1)

    def svg(self):
        return (f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
                f'aria-label="{escape(self.title)}">\n' + "\n".join(self.parts) + "\n</svg>\n")  # fmt: skip


# ---- Bars ----


class Bar(NamedTuple):
    label: str
    note: str  # written behind the label: "412 us, 2.3x"
    time: Ratio
    copy: float  # where a dashed line marks the time of a copy of its bytes, None without
    verdict: str


def needs_log(bars):
    """Whether these values need a logarithmic axis."""
    positive = [bar.time.value for bar in bars if bar.time.value > 0]
    return bool(positive) and max(positive) > 20 * min(positive)


def bar_plot(bars, unit, title):
    """Bars, or on a logarithmic axis, where a length says nothing, dots. `title` is what a screen reader says."""
    row, width, is_log = 38, 420, needs_log(bars)
    plot = Plot(width, row * len(bars) + 40, title)
    high = max(max(bar.time.value, bar.time.high) for bar in bars)
    low = min(bar.time.low if bar.time.low > 0 else bar.time.value for bar in bars)
    low = min([low] + [bar.copy for bar in bars if bar.copy]) / 1.3 if is_log else 0
    # Each bar lies under its own label, so that neither needs a margin: this fits a phone.
    box = (5, 2, width - 6, plot.height - 38)
    x = Axis(low, high * (1.1 if is_log else 1.02) or 1, box[0], box[2], is_log)
    plot.axes(x, None, box)
    plot.text(box[2], plot.height - 8, unit + (", logarithmic" if is_log else ""), SOFT, "end")
    for i, bar in enumerate(bars):
        top = 2 + row * i
        middle, ink, at = top + 27, INKS.get(bar.verdict, BASE), x.place(bar.time.value)
        plot.text(box[0], top + 9, shortened(bar.label, 30), size=13)
        plot.text(box[2], top + 9, shortened(bar.note, 32), anchor="end")
        if is_log:
            plot.dot(at, middle, 4.5, ink)
        else:
            plot.parts.append(f'<rect x="{box[0]}" y="{middle - 6}" width="{at - box[0]:.1f}" height="12" fill="{ink}"/>')
        ends = [x.place(end) for end in (bar.time.low, bar.time.high)]
        plot.line([(ends[0], middle), (ends[1], middle)], TEXT, 1.3)
        for end in ends:
            plot.line([(end, middle - 4), (end, middle + 4)], TEXT, 1.3)
        if bar.copy and bar.copy <= high:
            plot.line([(x.place(bar.copy), top + 18), (x.place(bar.copy), top + 36)], TEXT, 1.4, "3 3")
    return plot.svg()


# ---- Roofline ----


class Dot(NamedTuple):
    label: str
    x: float
    y: float
    verdict: str


def spread(wanted, half, first, last):
    """Places for labels as near as can be to those wanted, in rising order, with so much room to each side."""
    out, edge = [], first
    for at, room in zip(wanted, half):
        out.append(max(at, edge + room))
        edge = out[-1] + room
    edge = last
    for i in reversed(range(len(out))):
        out[i] = min(out[i], edge - half[i])
        edge = out[i] - half[i]
    return out


def roofline_plot(dots, ceilings, title):
    copy, cached, fma = ceilings["copy_gbs"], ceilings["cached_copy_gbs"], ceilings["fma_gops"]
    plot = Plot(420, max(250, 16 * len(dots) + 60), title)
    box = (67, 28, 252, plot.height - 46)
    x = Axis(min([fma / copy / 30] + [dot.x / 2 for dot in dots]), max([fma / copy * 5] + [dot.x * 2 for dot in dots]), box[0], box[2], True)
    y = Axis(min([fma / 30] + [dot.y / 2 for dot in dots]), max([fma] + [dot.y for dot in dots]) * 1.6, box[3], box[1], True)
    plot.axes(x, y, box)
    plot.text(5, 10, "Gop/s", SOFT)
    plot.text(box[2], plot.height - 10, "operations per byte", SOFT, "end")
    for bandwidth, dashes in [(copy, "")] + [(cached, "6 4")] * (cached > copy):
        begin = max(x.low, y.low / bandwidth)
        roof = [(begin, begin * bandwidth), (fma / bandwidth, fma), (x.high, fma)]
        plot.line([(x.place(a), y.place(b)) for a, b in roof if a >= begin], TEXT, 1.6, dashes)
    # The labels stand in a column at the right, in the order of their dots, with a line to each.
    dots = sorted(dots, key=lambda dot: -dot.y)
    for dot, at in zip(dots, spread([y.place(dot.y) for dot in dots], [8] * len(dots), 0, box[3] + 8)):
        plot.line([(x.place(dot.x), y.place(dot.y)), (262, at)], SOFT, 0.6)
        plot.text(266, at, shortened(dot.label, 22))
    for dot in dots:
        plot.dot(x.place(dot.x), y.place(dot.y), 3.8, INKS.get(dot.verdict, BASE))
    return plot.svg()


# ---- Curves ----


class Line(NamedTuple):
    label: str  # stands at its right end; empty for none
    colour: int  # of baselines and predictions; the other variants are grey
    style: str  # "baseline", "other", "predicted" or "limit"
    points: list

    @property
    def ink(self):
        return BASE if self.style in ("other", "limit") else SERIES[self.colour % len(SERIES)]


class Label:
    def __init__(self, line, end, mean):
        self.line, self.end, self.mean = line, end, mean  # where the line ends, and lies on the whole
        self.names, self.several = [line.label], False

    @property
    def rows(self):
        """The names of lines that are drawn as one, "tiled, run 1", "tiled, run 8" and "plain" as "tiled, run 1, 8;" and
        "plain", in rows of at most 26 characters where words are not longer."""
        entries = {}
        for name in self.names:
            variant, _, values = name.partition(", ")
            known = entries.get(variant)
            if known is None:
                entries[variant] = values
            else:
                entries[variant] = f"{known}, {values.partition(' ')[2]}" if known and values else ""  # empty: all
        rows = [""]
        for word in "; ".join(variant + (", " + values if values else "") for variant, values in entries.items()).split(" "):
            if rows[-1] and len(rows[-1]) + 1 + len(word) > 26:
                rows.append(word)
            else:
                rows[-1] = f"{rows[-1]} {word}".lstrip(" ")
        return rows


def curve_plot(lines, marks, x_title, title):
    """`marks` are the points where a variant breaks even."""
    plot, box = Plot(640, 360, title), (70.4, 25.2, 448, 313.2)
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    positive = [one for one in ys if one > 0] or [1]
    # Powers of two read badly on a linear axis.
    x_log = min(xs) > 0 and max(xs) >= 100 * min(xs)
    y_log = max(ys) > 20 * min(positive)
    x = Axis(min(xs), max(xs), box[0], box[2], x_log, most=8, rounded=True)
    y = Axis(min(positive) / 1.2 if y_log else 0, max(positive) * (1.2 if y_log else 1.08), box[3], box[1], y_log)

    def are_near(one, two, share, factor):
        return (bool(one.label) == bool(two.label) and "limit" not in (one.style, two.style) and [p[0] for p in one.points] == [p[0] for p in two.points]
                and all(max(a, b) <= factor * min(a, b) if y_log else abs(a - b) <= share * y.high
                        for (_, a), (_, b) in zip(one.points, two.points)))  # fmt: skip

    # What lies on another line cannot be told from it and is drawn once. What goes along with one has its name in that
    # one's label.
    drawn, labels = [], []
    for line in sorted((line for line in lines if line.points), key=lambda line: line.style == "other"):
        is_visible = not any(are_near(one, line, 0.01, 1.03) for one in drawn)
        drawn += [line] * is_visible
        if not line.label:
            continue
        same = next((one for one in labels if are_near(one.line, line, 0.035, 1.08)), None)
        if same:
            same.names.append(line.label)
            same.several |= is_visible
        else:
            places = [y.place(value) for _, value in line.points]
            labels.append(Label(line, places[-1], sum(places) / len(places)))

    plot.axes(x, y, box)
    plot.text(5, 11, "µs, logarithmic" if y_log else "µs", SOFT)
    # A long title takes the room below the labels, too.
    plot.text(box[2] if len(x_title.encode()) <= 60 else 630, 349, shortened(x_title, 96), SOFT, "end")
    looks = {"predicted": (1.2, "6 4"), "limit": (1.6, "2 3"), "other": (2.6, ""), "baseline": (1.8, "")}
    for line in drawn:
        points = [(x.place(a), y.place(b)) for a, b in line.points]
        plot.line(points, line.ink, *looks[line.style], ' stroke-linejoin="round"')
        for point in points if line.style == "baseline" else []:
            plot.dot(*point, 2, line.ink)
    for a, b in marks:
        plot.dot(x.place(a), y.place(b), 4, INKS["slower"])
    if marks:
        plot.text(630, 11, "● breaks even", INKS["slower"], "end")
    if any(line.style == "predicted" for line in lines):
        plot.text(448, 11, "- - predicted", SOFT, "end")

    # Labels stand at the ends of their lines, from the top down, none over another. Of lines that end at one point the
    # one that lies higher stands first.
    labels.sort(key=lambda one: one.end)
    for _ in labels:
        for i in range(1, len(labels)):
            if labels[i].end - labels[i - 1].end < 7 and labels[i - 1].mean > labels[i].mean:
                labels[i - 1], labels[i] = labels[i], labels[i - 1]
    half = [7 * len(one.rows) for one in labels]
    for label, at, room in zip(labels, spread([one.end for one in labels], half, box[1] - 7, box[3] + 7), half):
        end = label.line.points[-1]
        plot.line([(x.place(end[0]), y.place(end[1])), (457.6, at)], SOFT, 0.6)
        for i, row in enumerate(label.rows):
            plot.text(460.8, at - room + 14 * (i + 0.5), shortened(row, 32), TEXT if label.several else label.line.ink)
    return plot.svg()
