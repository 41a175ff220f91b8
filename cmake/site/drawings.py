"""drawings.py FOLDER: the drawings of docs/primer.md, docs/start.md and recipes' pages, as SVG files that follow the
reader's light or dark setting. Run it by hand after a change: python3 cmake/site/drawings.py docs/images"""

import math
import sys
from pathlib import Path

STYLE = """
  .bg { fill: #ffffff } .ink { fill: #1f2933 } .dim { fill: #5f6b7a }
  .box { fill: #eef2f6; stroke: #7b8794 } .line { stroke: #5f6b7a; fill: none }
  .a { fill: #2f6fb3 } .b { fill: #d98324 } .c { fill: #3c8d5a } .off { fill: #d5dbe2 } .bad { fill: #c0392b }
  .on { fill: #ffffff }
  text { font: 14px system-ui, sans-serif } .small { font-size: 12px } .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .bg { fill: #1b1f27 } .ink { fill: #e4e9ef } .dim { fill: #a3afbd }
    .box { fill: #262c37; stroke: #7b8794 } .line { stroke: #a3afbd }
    .a { fill: #5b9bdc } .b { fill: #e8a04c } .c { fill: #62b583 } .off { fill: #3a4250 } .bad { fill: #e4695b }
    .on { fill: #12161c }
  }"""


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def rect(self, x, y, w, h, kind="box", radius=3):
        stroke = ' stroke-width="1"' if kind == "box" else ""
        self.parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}"{stroke}/>'
        )

    def cells(self, x, y, columns, rows, w, h, gap_x, gap_y, kind="off"):
        """A grid of rectangles in one path."""
        one = "".join(
            f"M{round(x + i * (w + gap_x), 1):g} {round(y + j * (h + gap_y), 1):g}h{w:g}v{h:g}h-{w:g}z"
            for j in range(rows)
            for i in range(columns)
        )
        self.parts.append(f'<path class="{kind}" d="{one}"/>')

    def text(self, x, y, words, kind="ink", anchor="start"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>')

    def line(self, x1, y1, x2, y2, width=1.5, arrow=False):
        end = ' marker-end="url(#tip)"' if arrow else ""
        self.parts.append(f'<path class="line" stroke-width="{width}" d="M{x1} {y1}L{x2} {y2}"{end}/>')

    def svg(self):
        tip = (
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="dim" d="M0 0L8 4L0 8z"/></marker>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{self.title}">\n<title>{self.title}</title>\n'
            f"<style>{STYLE}\n</style>\n<defs>{tip}</defs>\n"
            f'<rect class="bg" width="{self.width}" height="{self.height}" rx="6"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def primer_device():
    d = Drawing(
        720,
        350,
        "A device: compute units with registers, local memory and first-level cache; one second-level cache; memory",
    )
    for i in range(3):
        x = 20 + i * 232
        d.rect(x, 20, 216, 190)
        d.text(x + 108, 42, "compute unit" + (" 0", " 1", " n")[i], "ink strong", "middle")
        for wave in range(4):
            for lane in range(16):
                d.rect(x + 12 + lane * 12, 54 + wave * 15, 10, 11, ("a", "c", "b", "off")[wave], 1)
        d.text(x + 108, 130, "waves of 32 or 64 lanes", "dim small", "middle")
        d.rect(x + 12, 142, 192, 24)
        d.text(x + 108, 159, "registers", "ink small", "middle")
        d.rect(x + 12, 174, 92, 24)
        d.text(x + 58, 191, "local memory", "ink small", "middle")
        d.rect(x + 112, 174, 92, 24)
        d.text(x + 158, 191, "L1 cache", "ink small", "middle")
        d.line(x + 108, 210, x + 108, 236)
    d.rect(20, 236, 680, 34)
    d.text(360, 258, "L2 cache, shared by all compute units", "ink", "middle")
    d.line(360, 270, 360, 296)
    d.rect(20, 296, 680, 34)
    d.text(360, 318, "global memory", "ink", "middle")
    return d


def primer_divergence():
    d = Drawing(720, 250, "A wave whose lanes disagree runs both branches, one after the other")
    lanes = [0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0]
    d.text(20, 32, "lanes of one wave", "dim small")
    for x, words in ((172, "condition"), (284, "then"), (452, "else"), (620, "after")):
        d.text(x, 32, words, "ink small", "middle")
    for i, long in enumerate(lanes):
        y = 42 + i * 12
        d.rect(130, y, 84, 10, "a", 1)
        d.rect(218, y, 132, 10, "off" if long else "c", 1)
        d.rect(354, y, 196, 10, "b" if long else "off", 1)
        d.rect(554, y, 132, 10, "a", 1)
    d.line(130, 240, 690, 240, arrow=True)
    d.text(20, 244, "time", "dim small")
    return d


def primer_latency():
    d = Drawing(
        720, 190, "While one wave waits for memory, others compute; with too few waves the unit idles"
    )
    for row, waves in enumerate((1, 4)):
        top = 34 + row * 62
        d.text(
            20,
            top - 8,
            "one wave: the unit waits" if waves == 1 else "four waves: it always has one that can go on",
            "ink small",
        )
        for wave in range(waves):
            y = top + wave * 15
            for turn in range(4 if waves == 4 else 4):
                x = 130 + wave * 36 + turn * 144
                if x + 36 > 700:
                    continue
                d.rect(x, y, 34, 12, "a" if waves == 1 else ("a", "c", "b", "dim")[wave], 2)
                if x + 144 < 706:
                    d.rect(x + 36, y, 106, 12, "off", 2)
    d.rect(20, 166, 14, 12, "a", 2)
    d.text(40, 177, "computes", "dim small")
    d.rect(120, 166, 14, 12, "off", 2)
    d.text(140, 177, "waits for memory", "dim small")
    return d


def primer_coalescing():
    d = Drawing(
        720,
        250,
        "Neighbouring lanes that read neighbouring words need two cache lines; with a stride each lane needs its own",
    )
    for row, stride in enumerate((1, 4)):
        top = 46 + row * 112
        d.text(
            20,
            top - 18,
            (
                "lane i reads word i: 2 lines for 16 lanes"
                if stride == 1
                else "lane i reads word 4 i: 8 lines, three quarters of them for nothing"
            ),
            "ink small",
        )
        for lane in range(16):
            d.rect(20 + lane * 20, top, 16, 14, "a", 2)
        for word in range(64):
            read = word % stride == 0 and word // stride < 16
            d.rect(20 + word * 10.6 + (word // 8) * 1.5, top + 56, 9, 14, "a" if read else "off", 1)
        for lane in range(16):
            word = lane * stride
            d.line(28 + lane * 20, top + 15, 24.5 + word * 10.6 + (word // 8) * 1.5, top + 54, 1)
    d.text(20, 240, "a line here: 8 words", "dim small")
    return d


def primer_banks():
    d = Drawing(
        720, 260, "Local memory has banks; lanes that want different words of one bank wait for each other"
    )
    cases = (
        ("stride 1: every lane a bank of its own, one pass", 1),
        ("stride 8: one bank for all lanes, eight passes", 8),
        ("stride 9, the rows padded by a word: one pass again", 9),
    )
    for row, (words, stride) in enumerate(cases):
        top = 40 + row * 76
        d.text(20, top - 12, words, "ink small")
        for bank in range(8):
            hits = sum((lane * stride) % 8 == bank for lane in range(8))
            d.rect(20 + bank * 62, top, 56, 30)
            for hit in range(hits):
                d.rect(24 + bank * 62 + hit * 6, top + 6, 5, 18, "bad" if hits > 1 else "c", 1)
        d.text(532, top + 20, ("1 pass", "8 passes", "1 pass")[row], "ink small")
    d.text(20, 250, "8 lanes and 8 banks here; NVIDIA and AMD have 32 banks", "dim small")
    return d


def primer_occupancy():
    d = Drawing(
        720,
        220,
        "A group of 1024 work-items with 40 registers fills five eighths of a unit's registers, and a second one does not fit",
    )
    d.text(20, 30, "registers of one compute unit, 65 536", "ink small")
    d.rect(20, 40, 680, 36)
    d.rect(20, 40, 425, 36, "a")
    d.text(232, 63, "one group of 1024 work-items, 40 registers each", "on small", "middle")
    d.text(572, 63, "no second group fits: 37.5 % idle", "dim small", "middle")
    d.rect(20, 112, 680, 36)
    for i in range(6):
        d.rect(20 + i * 106.3, 112, 104, 36, "c")
        d.text(72 + i * 106.3, 135, "256 work-items", "on small", "middle")
    d.text(20, 102, "the same kernel in groups of 256", "ink small")
    d.text(
        20, 176, "Registers, local memory and places for waves are given out in whole groups,", "dim small"
    )
    d.text(20, 194, "and come back when the last wave of a group has ended.", "dim small")
    return d


def primer_tile():
    d = Drawing(
        560, 300, "A tile of results and its halo: what a work-group reads is larger than what it writes"
    )
    cell, edge = 22, 2
    for y in range(12):
        for x in range(12):
            inside = edge <= x < 12 - edge and edge <= y < 12 - edge
            d.rect(20 + x * cell, 18 + y * cell, cell - 2, cell - 2, "a" if inside else "off", 2)
    d.rect(310, 60, 16, 16, "a", 2)
    d.text(336, 73, "results of the group, 8 x 8", "ink small")
    d.rect(310, 92, 16, 16, "off", 2)
    d.text(336, 105, "halo of radius 2, read as well", "ink small")
    d.text(310, 150, "without local memory: 64 x 25 reads", "ink small")
    d.text(310, 174, "with a tile: 12 x 12 reads", "ink small")
    return d


def primer_cpu():
    d = Drawing(
        720, 250, "A CPU runs a work-group as a loop on one core, some work-items side by side in a vector"
    )
    for i in range(2):
        x = 20 + i * 350
        d.rect(x, 20, 330, 150)
        d.text(x + 165, 42, f"core {i}: work-group {i}", "ink strong", "middle")
        d.text(x + 14, 68, "for work-items 0, 8, 16, ...", "dim small")
        for lane in range(8):
            d.rect(x + 14 + lane * 38, 76, 34, 22, ("a", "c")[i], 2)
        d.text(x + 14, 116, "one vector: 4, 8 or 16 floats", "dim small")
        d.rect(x + 14, 128, 302, 28)
        d.text(x + 165, 147, "this core's caches, local memory in them", "ink small", "middle")
        d.line(x + 165, 170, x + 165, 196)
    d.rect(20, 196, 680, 34)
    d.text(360, 218, "last-level cache, then memory", "ink", "middle")
    return d


def start_tree():
    d = Drawing(
        720,
        534,
        "Six questions, in this order: is it the kernel, how far from a copy, do the lanes agree, is it instructions, are enough waves resident, is it a CPU",
    )
    steps = [
        ("1  Is it the kernel?", "calls take longer than events", "launches, builds, transfers"),
        ("2  How far from a copy?", "at most 1.5 times its time", "fewer bytes: fuse, pack"),
        ("", "3 times or more, data is reread", "more results per item, tiles"),
        ("", "neighbours access far apart", "neighbours store neighbours"),
        ("3  Do the lanes agree?", "branch or loop depends on data", "select, search, regroup"),
        ("4  Is it instructions?", "issues in over 80 % of cycles", "hoist, tables, matrix units"),
        ("5  Enough waves?", "few waves, or barriers", "smaller groups, longer items"),
        ("6  Is it a CPU?", "a GPU's kernel on PoCL", "vectors, long work-items"),
    ]
    y = 18
    last = None
    for question, seen, answer in steps:
        if question:
            if last is not None:
                d.line(110, last + 40, 110, y, arrow=True)
            d.rect(16, y, 196, 40)
            d.text(28, y + 25, question, "ink strong small")
            last = y
            d.line(212, y + 20, 236, y + 20, arrow=True)
        else:
            d.line(224, y - 44, 224, y + 20)
            d.line(224, y + 20, 236, y + 20, arrow=True)
        d.rect(238, y, 262, 40)
        d.text(248, y + 25, seen, "ink small")
        d.line(500, y + 20, 520, y + 20, arrow=True)
        d.rect(522, y, 184, 40, "c", 3)
        d.text(614, y + 25, answer, "on small", "middle")
        y += 64
    return d

# ---- Recipes ----


def drawing_bc6h_mode():
    d = Drawing(
        720,
        214,
        "The low two bits of a header's first word and the three above them say which of 14 modes it has",
    )
    d.text(20, 28, "first word of a block: bits 31 to 0, of which five matter", "dim small")
    for i in range(32):
        x = 20 + i * 21.2
        d.rect(x, 40, 19, 26, "b" if i > 29 else "a" if i > 26 else "off", 2)
        if i > 26:
            d.text(x + 9.5, 58, ("h", "h", "h", "l", "l")[i - 27], "on small", "middle")
    for row, (low, high, mode) in enumerate(
        (
            ("00", "any", "mode 0"),
            ("01", "any", "mode 1"),
            ("10", "h = 0 to 7", "mode 2 + h"),
            ("11", "h = 0 to 3", "mode 10 + h   (h = 4 to 7: reserved, 15)"),
        )
    ):
        y = 84 + row * 32
        d.rect(20, y, 60, 24, "b")
        d.text(50, y + 17, "l = " + low, "on small", "middle")
        d.rect(88, y, 100, 24, "a")
        d.text(138, y + 17, high, "on small", "middle")
        d.line(196, y + 12, 236, y + 12, arrow=True)
        d.text(246, y + 17, mode, "ink")
    return d


def drawing_argument_swap():
    d = Drawing(
        720,
        236,
        "Two calls in two branches run one after the other; one call with chosen arguments runs once",
    )
    lanes = [0, 1, 0, 0, 1, 1, 0, 1]
    for column, words in enumerate(("two calls: each waits for the other", "choose the arguments, call once")):
        x = 20 + column * 356
        d.text(x, 26, words, "ink small strong")
        for i, leaves in enumerate(lanes):
            y = 40 + i * 20
            if column == 0:
                d.rect(x, y, 150, 16, "off" if leaves else "c", 2)
                d.rect(x + 154, y, 150, 16, "b" if leaves else "off", 2)
                d.text(x + 75 + 154 * leaves, y + 12, "f(b, a)" if leaves else "f(a, b)", "on small", "middle")
            else:
                d.rect(x, y, 22, 16, "b" if leaves else "c", 2)
                d.rect(x + 26, y, 150, 16, "a", 2)
                d.text(x + 101, y + 12, "f(from, to)", "on small", "middle")
    d.line(20, 212, 690, 212, arrow=True)
    d.text(20, 230, "time, 8 lanes of a wave that disagree", "dim small")
    return d


def drawing_regroup():
    d = Drawing(
        720,
        236,
        "Lanes with mixed paths run them all in turn; sorted by path, neighbours run one path together",
    )
    colours = ("a", "b", "c")
    lanes = [0, 2, 1, 0, 1, 2, 0, 1]
    lengths = (60, 90, 120)  # of a path
    starts = (62, 126, 220)
    d.text(20, 26, "mixed: every lane waits for all paths", "ink small strong")
    d.text(410, 26, "regrouped: one path in each wave", "ink small strong")
    for i, path in enumerate(lanes):
        y = 40 + i * 20
        d.rect(20, y, 36, 16, colours[path], 2)
        for other in range(3):
            d.rect(starts[other], y, lengths[other], 16, colours[other] if other == path else "off", 2)
    for i, path in enumerate(sorted(lanes)):
        y = 40 + i * 20 + 6 * path
        d.rect(410, y, 36, 16, colours[path], 2)
        d.rect(452, y, lengths[path], 16, colours[path], 2)
    d.line(360, 116, 398, 116, arrow=True)
    d.text(379, 106, "sort", "dim small", "middle")
    d.line(20, 212, 340, 212, arrow=True)
    d.line(410, 224, 690, 224, arrow=True)
    d.text(20, 230, "time, 8 lanes and three paths", "dim small")
    return d


def drawing_rank_filter():
    d = Drawing(
        720,
        250,
        "A window goes down one row: a row of neighbours comes into the histogram, a row goes out, and the result's bin"
        " is near the last one",
    )
    kinds = ("off", "bad", "a", "a", "a", "a", "c", "off")
    for row, kind in enumerate(kinds):
        for column in range(9):
            d.rect(40 + column * 24, 24 + row * 24, 22, 22, kind if 2 <= column <= 6 else "off", 2)
    d.rect(136, 120, 22, 22, "b", 2)
    d.text(268, 64, "goes out: 2r + 1 counts down", "ink small")
    d.text(268, 136, "the result", "ink small")
    d.text(268, 184, "comes in: 2r + 1 counts up", "ink small")
    for i, high in enumerate((6, 14, 22, 40, 66, 88, 72, 50, 34, 20, 10, 4)):
        d.rect(470 + i * 18, 190 - high, 16, high, "a" if i < 5 else "b" if i == 5 else "off", 2)
    d.line(470, 192, 686, 192)
    d.text(470, 212, "below: at most the rank's number", "ink small")
    d.line(568, 70, 568, 96, arrow=True)
    d.text(568, 62, "the bin of the result", "ink small", "middle")
    return d


def drawing_threshold_count():
    d = Drawing(
        720,
        330,
        "Fifteen falling thresholds cut the numbers into sixteen slots. Lanes leave the chain at different thresholds"
        " and wait for the last; a search takes four steps for every lane",
    )
    d.text(20, 24, "15 falling thresholds, 16 slots: a value gets the slot it lies in", "ink small strong")
    for k in range(16):
        d.rect(20 + k * 42.5, 52, 40, 26, "b" if k == 13 else "off", 2)
        d.text(40 + k * 42.5, 69, str(15 - k), "on small" if k == 13 else "ink small", "middle")
    d.line(592, 34, 592, 50, arrow=True)
    d.text(584, 44, "x", "ink small", "end")
    d.text(20, 94, "small values", "dim small")
    d.text(698, 94, "large values", "dim small", "end")
    slots = (2, 9, 0, 14, 5, 11, 7, 3)
    d.text(20, 132, "else_if_chain: leave at the threshold", "ink small strong")
    d.text(446, 132, "binary_search: halve the slots", "ink small strong")
    for lane, slot in enumerate(slots):
        y = 144 + lane * 18
        d.text(20, y + 11, f"lane {lane}", "dim small")
        d.rect(70, y, 15 * 22 - 2, 14, "off", 2)
        for k in range(slot + 1):
            d.rect(70 + k * 22, y, 20, 14, "a", 2)
        for k in range(4):
            d.rect(446 + k * 22, y, 20, 14, "c", 2)
    d.line(70, 298, 400, 298, arrow=True)
    d.line(446, 298, 536, 298, arrow=True)
    d.text(20, 302, "time", "dim small")
    d.rect(70, 308, 12, 12, "a", 2)
    d.text(88, 318, "compares", "dim small")
    d.rect(160, 308, 12, 12, "off", 2)
    d.text(178, 318, "waits for the wave's last lane", "dim small")
    d.text(546, 200, "four steps for all,", "ink small")
    d.text(546, 218, "whatever the values", "ink small")
    return d


def drawing_gbuffer_shade():
    d = Drawing(
        720,
        256,
        "A work-item keeps eight texels in registers and reads each light once for all of them. Per light and texel a"
        " condition multiplies three times, or chooses once",
    )
    d.text(20, 26, "a texel, 16 bytes", "ink small strong")
    for i, words in enumerate(("normal, ambient", "albedo", "depth, unlit", "shadow bits")):
        d.rect(20 + i * 172, 38, 164, 28, ("a", "c", "b", "dim")[i])
        d.text(102 + i * 172, 57, words, "on small", "middle")
    d.text(20, 98, "a work-item keeps 8 of them ...", "ink small strong")
    for i in range(8):
        for j in range(4):
            d.rect(20 + i * 40, 110 + j * 22, 34, 18, ("a", "c", "b", "dim")[j], 2)
    d.text(20, 218, "... in registers, through the whole loop:", "dim small")
    d.text(20, 236, "unpacked that is over 100 of them", "dim small")
    d.text(400, 98, "each light is read once for all 8", "ink small strong")
    for i in range(8):
        d.rect(400 + i * 38, 110, 32, 18)
    d.line(390, 119, 342, 119, arrow=True)
    d.text(400, 154, "does it reach the texel? per light and texel", "ink small strong")
    for row, (name, steps) in enumerate(
        (
            ("wide", (("b", "r x 0/1"), ("b", "g x 0/1"), ("b", "b x 0/1"))),
            ("predicates", (("c", "choose"), ("off", "r"), ("off", "g"), ("off", "b"))),
        )
    ):
        y = 166 + row * 32
        d.text(400, y + 16, name, "ink small")
        x = 470
        for kind, words in steps:
            width = 34 if len(words) == 1 else 70
            d.rect(x, y, width, 24, kind, 2)
            d.text(x + width / 2, y + 16, words, "ink small" if kind == "off" else "on small", "middle")
            x += width + 6
    d.text(400, 244, "orange: a product with 0 or 1", "dim small")
    return d


def drawing_bc6h_decode():
    d = Drawing(
        720,
        306,
        "Four blocks of 16 texels. With an arm per mode lanes wait for each other, and each writes a texel of its own"
        " block; without branches all read their headers at once, and neighbours write neighbouring bytes",
    )
    d.text(20, 26, "branchy: an arm per mode", "ink small strong")
    d.text(390, 26, "local_headers: one path for all modes", "ink small strong")
    modes = (0, 2, 1, 3)
    kinds = ("a", "c", "b", "dim")
    for lane, mode in enumerate(modes):
        y = 40 + lane * 22
        for column in (20, 390):
            d.rect(column, y, 62, 18, kinds[lane], 2)
            d.text(column + 31, y + 13, f"block {lane}", "on small", "middle")
        d.rect(90, y, 236, 18, "off", 2)
        d.rect(90 + mode * 59, y, 57, 18, kinds[lane], 2)
        d.text(118 + mode * 59, y + 13, f"mode {(0, 2, 5, 9)[mode]}", "on small", "middle")
        d.rect(460, y, 57, 18, kinds[lane], 2)
        d.text(488, y + 13, "header", "on small", "middle")
        d.line(519, y + 9, 560, y + 9, arrow=True)
    d.rect(564, 40, 136, 84)
    d.text(632, 78, "headers in", "ink small", "middle")
    d.text(632, 96, "local memory", "ink small", "middle")
    d.text(20, 146, "grey: the lane waits for another mode", "dim small")
    d.text(20, 180, "a store: lane i writes a texel of block i", "ink small strong")
    d.text(390, 180, "a store: lane i writes the 16 bytes i of a row", "ink small strong")
    for block in range(4):
        left = 20 + block * 80
        d.cells(left, 192, 4, 4, 17, 18, 2, 4)
        d.rect(left, 192, 17, 18, kinds[block], 2)
        d.text(left + 8.5, 205, str(block), "on small", "middle")
        left += 370
        d.cells(left, 214, 4, 3, 17, 18, 2, 4)
        for pair in range(2):
            d.rect(left + pair * 38, 192, 36, 18, kinds[block], 2)
            d.text(left + pair * 38 + 18, 205, str(2 * block + pair), "on small", "middle")
    d.text(20, 298, "pieces of 8 bytes, a block apart", "dim small")
    d.text(390, 298, "one run of bytes along the row", "dim small")
    return d


def drawing_group_size():
    d = Drawing(720, 216, "The same 1024 work-items as one group or as eight: when waves wait, other groups can go on")
    for row, (groups, words) in enumerate(
        ((1, "one group of 1024: at a barrier all wait for the last wave"), (8, "eight groups of 128: the others go on"))
    ):
        top = 40 + row * 92
        d.text(20, top - 12, words, "ink small strong")
        width = 680 / groups
        for g in range(groups):
            d.rect(20 + g * width, top, width - 6, 46)
        for wave in range(32):
            group, place = divmod(wave, 32 // groups)
            x = 22 + group * width + place * (width - 10) * groups / 32
            late = wave == 13
            waits = not late and (groups == 1 or wave // 4 == 13 // 4)
            d.rect(x + 2, top + 7, 15, 32, "b" if late else "off" if waits else "c", 2)
    d.rect(20, 194, 12, 12, "b", 2)
    d.text(38, 204, "still working", "dim small")
    d.rect(140, 194, 12, 12, "off", 2)
    d.text(158, 204, "waits", "dim small")
    d.rect(220, 194, 12, 12, "c", 2)
    d.text(238, 204, "works", "dim small")
    return d


def drawing_stream_compaction():
    d = Drawing(720, 190, "Of the pixels the bright ones are kept: flags, their running sum, and the list of indices")
    kept = [0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 0]
    for i, one in enumerate(kept):
        x = 150 + i * 35
        d.rect(x, 20, 31, 26, "b" if one else "off", 2)
        d.text(x + 15, 38, str(i), "on small" if one else "dim small", "middle")
        d.text(x + 15, 74, str(one), "ink small", "middle")
        d.text(x + 15, 104, str(sum(kept[:i])), "ink small" if one else "dim small", "middle")
        if one:
            to = 150 + sum(kept[:i]) * 35
            d.line(x + 15, 110, to + 15, 138, arrow=True)
            d.rect(to, 142, 31, 26, "b", 2)
            d.text(to + 15, 160, str(i), "on small", "middle")
    for y, words in ((38, "pixels"), (74, "flag"), (104, "flags before"), (160, "list of indices")):
        d.text(20, y, words, "ink small")
    return d


def drawing_vertex_transform():
    d = Drawing(720, 206, "A vertex is moved by a blend of four joints' matrices, then by the matrix of its instance")
    d.text(20, 26, "skeleton of an instance", "ink small strong")
    for i in range(4):
        d.rect(20 + i * 64, 40, 56, 56, "box")
        for k in range(16):
            d.rect(25 + i * 64 + k % 4 * 12, 45 + k // 4 * 12, 10, 10, "off" if k > 11 else "a", 1)
        d.line(48 + i * 64, 98, 150, 132, arrow=True)
    d.text(20, 196, "grey: a row 0 0 0 1 that nobody needs to load", "dim small")
    d.text(150, 152, "sum of weight x matrix", "ink small", "middle")
    d.line(240, 148, 300, 148, arrow=True)
    d.text(340, 122, "instance's matrix", "ink small", "middle")
    d.rect(312, 130, 56, 40)
    for k in range(12):
        d.rect(317 + k % 4 * 12, 134 + k // 4 * 12, 10, 10, "c", 1)
    d.line(380, 148, 440, 148, arrow=True)
    for i in range(3):
        for j in range(6):
            d.rect(460 + j * 40 + i * 4, 44 + i * 44, 30, 30, "b" if (i + j) % 3 == 0 else "off", 2)
    d.text(460, 196, "instances x vertices: position and normal", "ink small")
    return d


# ---- The course: which lane reads what ----


def lanes_to_cells(d, top, lanes, cells, wants, width=40, kinds=None):
    """A row of lanes above a row of cells; wants[lane] are the cells that it reads or writes."""
    for lane in range(lanes):
        d.rect(20 + lane * width, top, width - 6, 18, "a", 2)
        d.text(20 + lane * width + (width - 6) / 2, top + 13, str(lane), "on small", "middle")
    for cell in range(cells):
        d.rect(20 + cell * width, top + 68, width - 6, 18, kinds[cell] if kinds else "off", 2)
    for lane, cells_of in enumerate(wants):
        for cell in cells_of:
            d.line(37 + lane * width - 3, top + 20, 37 + cell * width - 3, top + 66, 1, True)


def course_two_calls():
    d = Drawing(720, 200, "Lanes whose ray comes from inside wait while the others call, and the other way round")
    inside = (0, 1, 1, 0, 0, 1, 0, 1)
    for lane, of in enumerate(inside):
        y = 34 + lane * 18
        d.text(20, y + 12, f"lane {lane}", "dim small")
        d.rect(80, y, 110, 14, "b" if of else "c", 2)
        d.text(135, y + 11, "from inside" if of else "from outside", "on small", "middle")
        d.rect(210, y, 220, 14, "off" if of else "c", 2)
        d.rect(440, y, 220, 14, "b" if of else "off", 2)
    d.text(135, 24, "what lane i reads: ray i", "ink small", "middle")
    d.text(320, 24, "first call", "ink small", "middle")
    d.text(550, 24, "second call", "ink small", "middle")
    d.text(20, 194, "grey: the lane waits", "dim small")
    return d


def course_table():
    d = Drawing(720, 190, "Each lane reads one word; its five low bits choose one of 32 cases")
    words = (0x02, 0x1F, 0x00, 0x0B, 0x16, 0x01, 0x1E, 0x03)
    for lane, word in enumerate(words):
        x = 20 + lane * 86
        d.rect(x, 30, 76, 20, "a", 2)
        d.text(x + 38, 45, f"...{word:05b}", "on small", "middle")
        d.text(x + 38, 24, f"lane {lane}", "dim small", "middle")
        steps = (3, 14, 1, 13, 8, 2, 10, 11)[lane]
        for k in range(14):
            d.rect(x, 60 + k * 8, 76, 6, "b" if k < steps else "off", 1)
    d.text(20, 186, "orange: comparisons of the lane until it knows its mode; the wave makes all 14", "dim small")
    return d


def course_thresholds():
    d = Drawing(720, 176, "Lanes leave the chain of comparisons at different thresholds, and wait for the last")
    slots = (3, 9, 0, 12, 5, 7, 1, 12)
    for k in range(12):
        d.text(98 + k * 50, 22, f"t[{k}]", "dim small", "middle")
    for lane, slot in enumerate(slots):
        d.text(20, 42 + lane * 17, f"lane {lane}", "dim small")
        for k in range(12):
            d.rect(76 + k * 50, 31 + lane * 17, 44, 13, "a" if k <= slot else "off", 2)
    d.text(20, 172, "blue: compared; grey: the lane waits", "dim small")
    return d


def course_local_line():
    d = Drawing(720, 150, "Neighbouring lanes read nearly the same pixels: with a radius of 2 each reads five")
    lanes_to_cells(d, 30, 12, 16, [range(i, i + 5) for i in range(12)], 42)
    d.text(20, 22, "lanes: lane i makes the pixel i + 2", "ink small")
    d.text(20, 138, "pixels of a row in global memory: 12 x 5 reads of 16 pixels", "dim small")
    return d


def course_transposed_store():
    d = Drawing(720, 230, "Lanes read along a row of src and write down a column of dst")
    for column, name in enumerate(("src: lane i reads pixel i of a row", "dst: lane i writes row i")):
        left = 20 + column * 360
        d.text(left, 24, name, "ink small")
        for y in range(8):
            for x in range(8):
                mine = y == 3 if column == 0 else x == 3
                lane = x if column == 0 else y
                d.rect(left + x * 36, 34 + y * 22, 32, 18, "a" if mine else "off", 2)
                if mine:
                    d.text(left + x * 36 + 16, 47 + y * 22, str(lane), "on small", "middle")
    d.text(20, 224, "memory runs along the rows of both", "dim small")
    return d


def course_symmetric_taps():
    d = Drawing(720, 190, "The weights of two pixels at the same distance are one number")
    for k in range(-6, 7):
        height = round(100 * 2.718 ** (-k * k / 12))
        x = 340 + k * 48
        kind = "c" if k == 0 else "a" if abs(k) % 2 else "b"
        d.rect(x, 140 - height, 40, height, kind, 2)
        d.text(x + 20, 156, f"{k:+d}" if k else "0", "ink small", "middle")
    d.text(20, 24, "one work-item: pixel x + k times the weight of k", "ink small")
    d.text(20, 182, "each weight is an exponential", "dim small")
    return d


def course_halo_tile():
    d = Drawing(720, 236, "A group of 8 x 8 lanes reads its tile and a border of two pixels; one lane reads 25 of them")
    for y in range(12):
        for x in range(12):
            inside = 2 <= x < 10 and 2 <= y < 10
            d.rect(20 + x * 18, 16 + y * 18, 15, 15, "a" if inside else "b", 2)
    for y in range(12):
        for x in range(12):
            near = 3 <= x < 8 and 4 <= y < 9
            centre = x == 5 and y == 6
            d.rect(300 + x * 18, 16 + y * 18, 15, 15, "c" if centre else "a" if near else "off", 2)
    d.text(530, 40, "left: what a group needs,", "ink small")
    d.text(530, 58, "its pixels and the halo", "ink small")
    d.text(530, 90, "right: what one lane reads", "ink small")
    return d


def course_compaction():
    d = Drawing(720, 176, "Flags become positions: the number of kept pixels before each")
    flags = (0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0)
    before = 0
    for i, flag in enumerate(flags):
        x = 20 + i * 43
        d.rect(x, 36, 37, 20, "a" if flag else "off", 2)
        d.text(x + 18, 51, str(i), "on small" if flag else "ink small", "middle")
        if flag:
            d.line(x + 18, 58, 38 + before * 43, 106, 1, True)
            d.rect(20 + before * 43, 108, 37, 20, "b", 2)
            d.text(38 + before * 43, 123, str(i), "on small", "middle")
            before += 1
    d.text(20, 26, "pixels of a group; blue: kept", "ink small")
    d.text(20, 150, "kept, from first[group] on", "ink small")
    d.text(20, 168, "lane i may write when it knows how many are kept before its own", "dim small")
    return d


def course_folded_switch():
    d = Drawing(720, 220, "Sixteen lanes make the sixteen control points of a patch: corners, edges, interior")
    kinds = "cbbcbaabbaabcbbc"
    for i, kind in enumerate(kinds):
        x = 40 + i % 4 * 56
        y = 160 - i // 4 * 46
        d.rect(x, y, 48, 38, kind, 3)
        d.text(x + 24, y + 24, str(i), "on small", "middle")
    d.text(320, 40, "lane i of a patch makes control point i", "ink small")
    d.rect(320, 60, 20, 16, "c", 2)
    d.text(350, 73, "corner: 9 points", "ink small")
    d.rect(320, 84, 20, 16, "b", 2)
    d.text(350, 97, "edge: 6 points", "ink small")
    d.rect(320, 108, 20, 16, "a", 2)
    d.text(350, 121, "interior: 4 points", "ink small")
    d.text(320, 160, "A switch runs 16 cases one after the other,", "dim small")
    d.text(320, 178, "each for one lane of a patch.", "dim small")
    return d


def course_group_order():
    d = Drawing(720, 190, "Twelve groups in a row reach more pixels than twelve groups in a block")
    for column in range(2):
        left = 20 + column * 360
        for y in range(7):
            for x in range(14):
                if column == 0:
                    mine, near = y == 3 and x < 12, 2 <= y <= 4 and x < 13
                else:
                    mine, near = 2 <= y < 5 and 2 <= x < 6, 1 <= y < 6 and 1 <= x < 7
                d.rect(left + x * 23, 34 + y * 19, 20, 16, "a" if mine else "b" if near else "off", 2)
    d.text(20, 24, "row by row", "ink small")
    d.text(380, 24, "side by side", "ink small")
    d.text(20, 184, "blue: tiles of the first 12 groups; orange: pixels around them that they read", "dim small")
    return d


def course_local_passes():
    d = Drawing(720, 170, "An iteration solves colour after colour; lanes of a colour share no point")
    for y in range(4):
        for x in range(10):
            if x < 9:
                d.rect(44 + x * 60, 32 + y * 32, 40, 6, "a" if x % 2 == 0 else "b", 2)
            if y < 3:
                d.rect(31 + x * 60, 44 + y * 32, 6, 14, "c" if y % 2 == 0 else "bad", 2)
            d.rect(27 + x * 60, 28 + y * 32, 14, 14, "off", 7)
    d.text(20, 20, "points of an island and their constraints, in four colours", "ink small")
    d.text(20, 162, "lane i takes constraint i of a colour: two points in, two points out, and a barrier", "dim small")
    return d


def course_registers():
    d = Drawing(720, 170, "What a texel is in memory, and what becomes of it in registers")
    d.text(20, 24, "a texel: four words", "ink small")
    for i, words in enumerate(("nx ny nz amb", "r g b -", "depth", "shadow")):
        d.rect(20 + i * 116, 34, 108, 24, "a", 3)
        d.text(74 + i * 116, 50, words, "on small", "middle")
    d.text(20, 88, "before the loop over the lights: twelve registers, and the light l", "ink small")
    names = "nx ny nz red gre blu sum sum sum unl fog sha"
    for i, words in enumerate(names.split() + ["l"]):
        d.rect(20 + i * 52, 98, 46, 24, "b" if i != 12 else "off", 3)
        d.text(43 + i * 52, 114, words, "on small" if i != 12 else "ink small", "middle")
    d.text(20, 152, "the twelve times four texels: lane i has texels i, i + 64, i + 128 and i + 192 of its group", "dim small")
    return d


def drawing_folded_switch():
    d = Drawing(
        720,
        230,
        "A patch is a quad with the ring of vertices around it; sixteen control points come from three functions",
    )
    d.text(20, 24, "a patch and its ring", "ink small strong")
    for k in range(4):
        d.line(30, 44 + k * 48, 174, 44 + k * 48)
        d.line(30 + k * 48, 44, 30 + k * 48, 188)
    d.rect(78, 92, 48, 48, "c", 0)
    for k in range(16):
        x, y = 30 + k % 4 * 48, 44 + k // 4 * 48
        own = k in (5, 6, 9, 10)
        d.rect(x - 6, y - 6, 12, 12, "b" if own else "a", 6)
    d.text(20, 214, "four edges meet in each vertex: valence 4", "dim small")
    d.line(204, 116, 282, 116, arrow=True)
    d.text(310, 24, "its control points", "ink small strong")
    kinds = "beeb", "eiie", "eiie", "beeb"
    for k in range(16):
        x, y = 320 + k % 4 * 48, 58 + k // 4 * 48
        kind = {"b": "b", "e": "a", "i": "c"}[kinds[k // 4][k % 4]]
        d.rect(x - 12, y - 12, 24, 24, kind, 12)
    d.parts.append('<rect class="line" stroke-width="2" x="300" y="38" width="88" height="88" rx="8"/>')
    for k, (kind, words) in enumerate(
        (
            ("b", "4 from the corner function"),
            ("a", "8 from the edge function"),
            ("c", "4 from the interior function"),
        )
    ):
        d.rect(510, 52 + k * 32, 16, 16, kind, 8)
        d.text(536, 65 + k * 32, words, "ink small")
    d.text(510, 170, "framed: the four points next to", "ink small")
    d.text(510, 188, "a corner, which are computed", "ink small")
    d.text(510, 206, "alike at each corner", "ink small")
    return d


def drawing_line_blur():
    d = Drawing(
        720,
        226,
        "Stripes of one pixel each: a blur with all taps makes them grey, one that leaves out every second tap keeps them",
    )
    cells, radius, sigma = 40, 64, 0.5

    def blurred(x, step):
        taps = range(-radius, radius + 1, step)
        weights = [math.exp(-((k / radius) ** 2) / (2 * sigma**2)) for k in taps]
        return sum(w * float((x + k) % 2) for w, k in zip(weights, taps)) / sum(weights)

    for row, (words, value) in enumerate(
        (
            ("the picture: stripes of one pixel each", lambda x: float(x % 2)),
            ("blurred with all 129 taps", lambda x: blurred(x, 1)),
            ("blurred with every second tap: the stripes are still there", lambda x: blurred(x, 2)),
        )
    ):
        top = 34 + row * 66
        d.text(20, top - 10, words, "ink small")
        for x in range(cells):
            grey = round(255 * value(x))
            d.parts.append(
                f'<rect x="{20 + x * 17}" y="{top}" width="17" height="34" fill="rgb({grey},{grey},{grey})"/>'
            )
        d.parts.append(f'<rect class="line" x="20" y="{top}" width="{cells * 17}" height="34"/>')
    return d


def drawing_folded_paths():
    """Lanes, rows, in lock-step: each column is a path that they run in turn."""
    d = Drawing(
        720,
        262,
        "Sixteen lanes in lock-step run sixteen arms in turn; folded into three functions thirteen paths remain;"
        " a work-item per corner has one path for all",
    )
    kinds = "beebeiieeiiebeeb"  # corner, edge or interior
    colours = {"b": "b", "e": "a", "i": "c"}
    for x, words in ((62, "switch16: 16 arms"), (306, "folded3: 13 paths"), (516, "per_corner: one path")):
        d.text(x, 26, words, "ink small strong")
    paths = {}
    for lane, kind in enumerate(kinds):
        y = 38 + lane * 11
        d.rect(62, y, 16 * 13 - 2, 9, "off", 1)
        d.rect(62 + lane * 13, y, 11, 9, colours[kind], 1)
        path = paths.setdefault("i" if kind == "i" else lane, len(paths))
        d.rect(306, y, 13 * 13 - 2, 9, "off", 1)
        d.rect(306 + path * 13, y, 11, 9, colours[kind], 1)
        for k, part in enumerate("beei"):
            d.rect(516 + k * 20, y, 18, 9, colours[part], 1)
    d.text(20, 46, "lane 0", "dim small")
    d.text(20, 211, "15", "dim small")
    for x, end in ((62, 272), (306, 476), (516, 600)):
        d.line(x, 222, end, 222, arrow=True)
    d.text(20, 226, "time", "dim small")
    d.text(608, 60, "a lane per", "ink small")
    d.text(608, 76, "corner makes", "ink small")
    d.text(608, 92, "4 points:", "ink small")
    d.text(608, 108, "64 points, not 16", "ink small")
    for x, kind, words in (
        (62, "b", "corner"),
        (140, "a", "edge"),
        (206, "c", "interior"),
        (292, "off", "the lane waits"),
    ):
        d.rect(x, 242, 12, 12, kind, 2)
        d.text(x + 18, 252, words, "dim small")
    return d


def drawing_gaussian_blur():
    d = Drawing(
        720,
        250,
        "Three ways to compute a Gaussian blur: two passes along rows and columns; a product with a band matrix of weights;"
        " a blur of a coarse grid",
    )
    d.text(20, 26, "separable: two passes", "ink small strong")
    d.cells(20, 40, 7, 7, 18, 18, 2, 2)
    d.cells(20, 100, 7, 1, 18, 18, 2, 2, "a")
    d.cells(80, 40, 1, 7, 18, 18, 2, 2, "b")
    d.cells(80, 100, 1, 1, 18, 18, 2, 2, "c")
    d.text(20, 202, "7 + 7 reads, not 7 x 7", "ink small")
    d.text(20, 220, "a read serves twelve", "dim small")
    d.text(20, 236, "neighbouring sums", "dim small")
    d.text(230, 26, "tensor: a band matrix of weights", "ink small strong")
    for y in range(8):
        d.rect(230, 40 + y * 17, 12 * 11 - 1, 15, "off", 1)
        d.rect(230 + y * 11, 40 + y * 17, 5 * 11 - 1, 15, "a", 1)
        d.rect(444, 40 + y * 17, 43, 15, "c", 1)
    d.text(373, 112, "x", "ink", "middle")
    d.rect(384, 40, 43, 134, "b", 1)
    d.text(436, 112, "=", "ink", "middle")
    d.text(230, 202, "weights x pixels = 8 sums per column;", "ink small")
    d.text(230, 220, "on matrix units, which multiply", "dim small")
    d.text(230, 236, "by the zeros as well", "dim small")
    d.text(516, 26, "pyramid: a coarse grid", "ink small strong")
    d.cells(516, 40, 8, 8, 7, 7, 1, 1)
    d.cells(632, 40, 3, 3, 19, 19, 2, 2, "b")
    d.cells(516, 110, 3, 3, 19, 19, 2, 2, "a")
    d.cells(632, 110, 8, 8, 7, 7, 1, 1, "c")
    d.line(584, 72, 628, 72, arrow=True)
    d.line(640, 104, 584, 128, arrow=True)
    d.line(584, 142, 628, 142, arrow=True)
    d.text(606, 64, "shrink", "dim small", "middle")
    d.text(606, 108, "blur", "dim small", "middle")
    d.text(606, 158, "enlarge", "dim small", "middle")
    d.text(516, 202, "few taps, whatever the sigma", "ink small")
    d.text(516, 220, "not exact: the error", "dim small")
    d.text(516, 236, "has a bound", "dim small")
    return d


def drawing_line_blur_window():
    d = Drawing(
        720,
        276,
        "A window of eight pixels in registers moves along a line: one read feeds eight sums. Lanes that take neighbouring"
        " lines store side by side",
    )
    d.text(20, 26, "a window in registers: one read feeds eight sums", "ink small strong")
    d.text(20, 56, "line", "dim small")
    d.cells(70, 42, 15, 1, 22, 22, 2, 2)
    d.cells(142, 42, 8, 1, 22, 22, 2, 2, "a")
    d.cells(334, 42, 1, 1, 22, 22, 2, 2, "c")
    for x in (3, 10, 11):
        d.text(81 + x * 24, 58, str(x), "on small", "middle")
    d.text(70, 86, "green: read next, into the register of pixel 3", "dim small")
    d.text(20, 134, "registers", "dim small")
    d.text(20, 194, "sums", "dim small")
    for j in range(8):
        x = 102 + j * 32
        d.rect(x, 118, 26, 24, "a", 2)
        d.text(x + 13, 134, str(3 + j), "on small", "middle")
        d.line(x + 13, 144, x + 13, 174, 1.5, True)
        d.rect(x, 178, 26, 24, "b", 2)
        d.text(x + 13, 194, str(j), "on small", "middle")
    d.text(366, 164, "x w[3]", "ink small")
    d.text(70, 224, "tap 3: sum j takes pixel j + 3 times the weight of tap 3;", "dim small")
    d.text(70, 242, "then the window moves on by one pixel", "dim small")
    for row, (words, side) in enumerate((("naive: a row apart", False), ("coalesced: side by side", True))):
        top = 26 + row * 122
        d.text(480, top, words, "ink small strong")
        d.cells(480, top + 10, 10, 5, 20, 16, 2, 2)
        for lane in range(5):
            x, y = (lane, 1) if side else (1, lane)
            d.rect(480 + x * 22, top + 10 + y * 18, 20, 16, "a", 0)
            d.text(490 + x * 22, top + 22 + y * 18, str(lane), "on small", "middle")
    d.text(480, 266, "dst, and which lane stores where", "dim small")
    return d


def drawing_local_multipass():
    d = Drawing(
        720,
        300,
        "A launch per pass reads and writes global memory each time; one launch loads once, makes its passes in local"
        " memory with barriers between them, and stores once",
    )
    d.text(20, 24, "per_colour: a launch per pass", "ink small strong")
    d.rect(20, 36, 680, 24)
    d.text(360, 53, "global memory", "ink small", "middle")
    for i in range(6):
        x = 20 + i * 116
        d.line(x + 14, 62, x + 14, 90, arrow=True)
        d.line(x + 70, 92, x + 70, 64, arrow=True)
        d.rect(x, 94, 84, 28, "a", 3)
        d.text(x + 42, 112, f"pass {i}", "on small", "middle")
        if i < 5:
            d.rect(x + 88, 104, 24, 8, "bad", 2)
    d.rect(20, 130, 12, 12, "bad", 2)
    d.text(38, 140, "the cost of a launch", "dim small")
    d.text(20, 176, "all_local: one launch", "ink small strong")
    d.rect(20, 188, 680, 24)
    d.text(360, 205, "global memory", "ink small", "middle")
    d.rect(20, 240, 390, 50)
    d.line(32, 214, 32, 238, arrow=True)
    d.text(40, 232, "load once", "dim small")
    d.line(398, 240, 398, 216, arrow=True)
    d.text(390, 232, "store once", "dim small", "end")
    d.text(215, 284, "local memory", "ink small", "middle")
    for i in range(6):
        x = 28 + i * 63
        d.rect(x, 246, 54, 24, "a", 3)
        d.text(x + 27, 262, f"pass {i}", "on small", "middle")
        if i < 5:
            d.rect(x + 57, 246, 3, 24, "c", 1)
    d.rect(430, 252, 4, 16, "c", 1)
    d.text(442, 264, "a barrier of the work-group", "dim small")
    return d


def drawing_group_swizzle():
    d = Drawing(
        720,
        396,
        "64 work-groups that run together, in a picture 64 groups wide. Row by row they read a strip of 64 x 5 tiles; in"
        " strips of eight a window of 12 x 12",
    )
    for row, strips in enumerate((False, True)):
        top = 40 + row * 170
        d.rect(20, top, 680, 136, "off", 2)
        if strips:
            window = (22, 1, 12, 12)
            words = "column_tiles, strips of 8: they read 12 x 12 = 144 tiles"
        else:
            window = (0, 4, 64, 5)
            words = "row_major: the groups that run together read 64 x 5 = 320 tiles"
        step = 680 / 64
        d.text(20, top - 10, words, "ink small strong")
        x, y, w, h = window
        d.rect(round(20 + x * step, 1), round(top + y * 9.7, 1), round(w * step, 1), round(h * 9.7, 1), "b", 2)
        if strips:
            d.cells(20.5 + 24 * step, top + 29.6, 8, 8, 9.6, 8.7, step - 9.6, 1, "a")
        else:
            d.cells(20.5, top + 58.7, 64, 1, 9.6, 8.7, step - 9.6, 1, "a")
        if strips:
            for x in (24, 32):
                at = round(20 + x * step, 1)
                d.line(at, top, at, top + 136, 1)
            d.line(396, top + 30, 396, top + 110, arrow=True)
            d.text(408, top + 74, "down the strip, then the next one", "ink small")
    d.rect(20, 366, 12, 12, "a", 2)
    d.text(38, 376, "64 groups that run together", "dim small")
    d.rect(230, 366, 12, 12, "b", 2)
    d.text(248, 376, "what they read, two tiles around each: a small window stays in the cache", "dim small")
    return d


def main():
    """Each function whose name begins with one of these draws the file of its name."""
    folder = Path(sys.argv[1])
    for name, make in globals().items():
        if name.startswith(("primer_", "start_", "drawing_", "course_")):
            (folder / f"{name}.svg").write_text(make().svg())


main()
