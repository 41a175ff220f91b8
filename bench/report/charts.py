"""Bars of a recipe's variants, as a file of its own for its page; gains in a sentence."""

import math
from html import escape

from intervals import times
from results import (
    NO_RATIO, RECIPES, best_of, fastest_rows, find, pair_of, refuse, short_device, stands_out)  # fmt: skip
from tables import against_others, duration, label_of

BARS_AT = 200  # pixels: where the bars begin
LONGEST_BAR = 320  # how long the longest is
WIDTH = 720
BAR_ROW = 24
MARGIN = 16
LETTER = 6.6  # of small text, on average
SPREAD = 70  # a bar this many times shorter than another can still be seen
PAST_BARS = 1.2  # an interval may end this many times as far right as the longest bar

# The colours of the drawings in docs/images.
STYLE = """
  .bg { fill: #ffffff } .ink { fill: #1f2933 } .dim { fill: #5f6b7a }
  .baseline { fill: #7b8794 } .faster { fill: #2f6fb3 } .tie { fill: #b39136 } .slower { fill: #d98324 }
  .whisker { stroke: #1f2933; stroke-width: 1.3; fill: none }
  .copy { stroke: #1f2933; stroke-width: 1.6; stroke-dasharray: 4 4; fill: none }
  text { font: 14px system-ui, sans-serif } .small { font-size: 12px } .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .bg { fill: #1b1f27 } .ink { fill: #e4e9ef } .dim { fill: #a3afbd }
    .baseline { fill: #8b95a1 } .faster { fill: #5b9bdc } .tie { fill: #d3b257 } .slower { fill: #e8a04c }
    .whisker, .copy { stroke: #ffffff }
  }"""


def text_at(x, y, kind, words):
    return f'<text class="{kind}" x="{x:.4g}" y="{y}">{escape(words)}</text>\n'


def bar(colour, x, y, width, height):
    return f'<rect class="{colour}" x="{plain(x)}" y="{y}" width="{width}" height="{height}" rx="2"/>\n'


def path(kind, way):
    return f'<path class="{kind}" d="{way}"/>\n'


def plain(value):
    """8.0 as 8."""
    return repr(value).removesuffix(".0")


def colour_of(row):
    return "tie" if row.is_tie else row.verdict or "baseline"


def legend_of(signs, y):
    """What the signs mean that a chart uses, and where its lines end."""
    entries = []  # draws a sign at x and y; its width; its meaning
    for colour in ("baseline", "faster", "tie", "slower"):
        if colour in signs:
            entries.append((lambda x, y, colour=colour: bar(colour, x, y, 14, 12), 14, "a tie" if colour == "tie" else colour))
    if "bold" in signs:
        who = "the fastest exact" if "approximate" in signs else "the fastest"
        entries.append((lambda x, y: f'<text class="ink small strong" x="{plain(x)}" y="{y + 11}">bold</text>\n', 28, who + ", from 1.05× on"))
    if "whisker" in signs:
        entries.append((lambda x, y: path("whisker", f"M{plain(x)} {y}m0 2v8m0 -4h14m0 -4v8"), 14, "95 % interval"))
    if "copy" in signs:
        entries.append((lambda x, y: path("copy", f"M{plain(x)} {y}m4 -4v20"), 8, "a copy of the same bytes"))
    if "cut" in signs:
        gap = "m6 14l4 -16h4l-4 16zm8 0l4 -16h4l-4 16z"
        entries.append((lambda x, y: bar("slower", x, y, 24, 12) + path("bg", f"M{plain(x)} {y}{gap}"), 24, "cut, too long to draw"))
    out, x, y = "", float(MARGIN), y + 4
    for draw, sign, words in entries:
        width = sign + 6 + LETTER * len(words)
        if x > MARGIN and x + width > WIDTH - MARGIN:
            x, y = float(MARGIN), y + 22
        out += draw(x, y) + text_at(x + sign + 6, y + 11, "dim small", words)
        x += width + 16
    return out, y + 20


def limit_of(rows):
    """How long a bar is that reaches the end."""
    longest, shortest = max(row.median_us for row in rows), min(row.median_us for row in rows)
    baseline = next((row.median_us for row in reversed(rows) if row.baseline), 0)
    # A slow bar must not press the others together.
    limit = min(longest, 1.6 * baseline) if baseline > 0 else longest
    limit = min(limit, SPREAD * shortest)
    # Nor may an interval leave the picture.
    for row in rows:
        if row.median_us <= limit:
            limit = max(limit, row.time.high / PAST_BARS)
    return limit, baseline


def panel(group, y, signs):
    """The bars of one shape below y."""
    rows = fastest_rows(group)
    best, (limit, baseline), out = best_of(rows), limit_of(rows), ""
    for row in rows:
        verdict = row.verdict
        is_cut = row.median_us > limit * 1.0001

        def place(us):
            return BARS_AT + LONGEST_BAR * us / limit

        end = max(BARS_AT + 1.0, place(min(row.median_us, limit)))
        ratio = ("baseline" if verdict == "baseline" else "a tie" if row.is_tie else f"{times(row.against.value)}×" if verdict
                 else "without a ratio")  # fmt: skip
        is_bold = stands_out(row, best)
        kind = "ink small strong" if is_bold else "ink small"
        out += text_at(MARGIN, y + 15, kind, label_of(row)) + bar(colour_of(row), BARS_AT, y + 3, f"{end - BARS_AT:.1f}", 16)
        text = end
        if is_cut:
            out += path("bg", "".join(f"M{at:g} {y + 21}l6 -20h5l-6 20z" for at in (end - 30, end - 20)))
        elif row.time.high > row.time.low:
            low, high = place(row.time.low), place(row.time.high)
            out += path("whisker", f"M{low:.1f} {y + 7}v8m0 -4H{high:.1f}m0 -4v8")
            text = max(text, high)
            signs.add("whisker")
        copy = row.copy_us
        if copy is not None and copy <= limit:
            out += path("copy", f"M{place(copy):.1f} {y - 1}v{BAR_ROW}")
            text = max(text, place(copy))
            signs.add("copy")
        out += text_at(text + 8, y + 15, kind, f"{duration(row.median_us, baseline)}, {ratio}")
        more = {"bold": is_bold, "approximate": row.is_approximate, "cut": is_cut}
        signs |= {colour_of(row), *(name for name, holds in more.items() if holds)}
        y += BAR_ROW
    return out, y


def chart_file(results, words):
    """RECIPE RESULT [NAME=VALUE]... [RESULT ...]: a file with the bars of one shape per RESULT, with their intervals,
    the time of a copy and a legend."""
    if len(words) < 2:
        refuse("expected: clcook:chart RECIPE RESULT [NAME=VALUE]... [RESULT ...]")
    recipe, wanted = words[0], []  # results with the words of their shapes
    for word in words[1:]:
        if "=" in word and wanted:
            wanted[-1][1].append(word)
        else:
            wanted.append((find(results, word, "bench"), []))
    panels = [(result, result.group_of(recipe, shape)) for result, shape in wanted]
    parts, signs, y = "", set(), 0
    for result, group in panels:
        title = short_device([result], "bench", result.device)
        # Panels of different shapes say so in their titles.
        own = [word for word in group.words if not all(word in other.words for _, other in panels)]
        parts += text_at(MARGIN, y + 28, "ink strong", " ".join([title + ":" * bool(own), *own]))
        parts += text_at(MARGIN, y + 46, "dim small", f"{group.shape}, {group.mode} caches")
        bars, y = panel(group, y + 58, signs)
        parts, y = parts + bars, y + 8
    legend, y = legend_of(signs, y)
    title = escape(f"{recipe}: time of each variant, a bar each; shorter is faster")
    height = y + 6
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'aria-label="{title}">\n<title>{title}</title>\n<style>{STYLE}\n</style>\n'
            f'<rect class="bg" width="{WIDTH}" height="{height}" rx="6"/>\n{parts}{legend}</svg>\n')  # fmt: skip


# ---- Gains in a sentence ----


def gain_text(results, words):
    """RESULT RECIPE VARIANT[/OTHER] [NAME=VALUE]... [short]: "2.8 times as fast as", or "as fast as" where the interval
    contains 1 or the ratio rounds to that; with short "2.8×" or "a tie". Of a wide tie "0.80 to 1.2 times (not told apart)
    as fast as"; with short "not told apart: 0.80× to 1.2×". Against OTHER at equal tunes, else against the baseline.
    RESULT RECIPE others [short]: "1.6 to 4.2 times (5 cases) as fast as" the fastest other program."""
    if len(words) < 3:
        refuse("expected: gain RESULT RECIPE VARIANT[/OTHER] [NAME=VALUE]... [short], or RESULT RECIPE others [short]")
    is_short = words[-1] == "short"
    unit = "×" if is_short else " times as fast as"
    stem, recipe, who, *wanted = words[:-1] if is_short else words
    if who == "others":
        ratios = [one.value for one in against_others(find(results, stem, "peers"))]
        if not ratios or wanted:
            refuse(f"'{stem}' has nothing that clcook was compared with")
        least, most, count = times(min(ratios)), times(max(ratios)), len(ratios)
        span = ("" if least == most else least + ("× to " if is_short else " to ")) + most
        cases = f" ({count} cases)" if count > 1 else ""
        return f"{span}×{cases}" if is_short else f"{span} times{cases} as fast as"
    group = find(results, stem, "bench").group_of(recipe, wanted)
    ratio, verdict = NO_RATIO, ""
    variant, _, other = who.partition("/")
    if not other:
        for row in fastest_rows(group):
            if row.variant == variant:
                ratio, verdict = row.against, row.verdict
    elif recipe in RECIPES:
        _, _, ratio, verdict = pair_of(RECIPES[recipe], group.rows, variant, other)
    figure = "" if math.isnan(ratio.value) else times(ratio.value)
    if verdict == "tie" or (verdict and figure == "1.00"):
        if not ratio.is_wide_tie:
            return "a tie" if is_short else "as fast as"
        low, high = times(ratio.low), times(ratio.high)
        return f"not told apart: {low}× to {high}×" if is_short else f"{low} to {high} times (not told apart) as fast as"
    if verdict in ("faster", "slower"):
        return figure + unit
    refuse(f"'{stem}' has no ratio of '{who}' in {recipe}/{group.shape}")
