"""Figures of explorations: several curves on one plot."""

import re
from html import escape

from files import write_file
from plots import Line, curve_plot
from results import find, refuse
from style import LIGHT, DARK

SAME = 0.03  # curves of one variant that agree to this everywhere are drawn once


class Figure:
    """Curves of a recipe that belong on one plot: they differ in one parameter at most."""

    def __init__(self, title, varies):
        self.title = title  # what all have in common, beside what other figures have too
        self.varies = varies  # the parameter that tells the curves apart; empty for one curve
        self.curves = []


def said(curve, key):
    """A number with its name, a word alone."""
    value = curve["shape"].get(key, "-")
    return value if isinstance(value, str) and value != "-" else f"{key} {value}"


def figures_of(result, recipe):
    out = []
    of_axis = {}
    for curve in result.curves:
        if curve["recipe"] == recipe:
            of_axis.setdefault(curve["axis"], []).append(curve)
    for curves in of_axis.values():
        # The parameters that they do not have in common. The lines of a figure differ in the one with the most values.
        keys = [key for key, value in curves[0]["shape"].items() if any(one["shape"].get(key) != value for one in curves)]
        varies = max(keys, key=lambda key: len({said(one, key) for one in curves}), default="")
        figures = {}
        for curve in curves:
            title = ", ".join(said(curve, key) for key in keys if key != varies)
            figures.setdefault(title, Figure(title, varies)).curves.append(curve)
        out += figures.values()
    return out


def points_of(curve, times):
    return [(x, y) for x, y in zip(curve["points"], times) if y is not None]


def are_same(a, b):
    return len(a) == len(b) and all(x == u and abs(y - v) <= SAME * max(y, v) for (x, y), (u, v) in zip(a, b))


def breaks_of(variant, points):
    """The ends, within the axis, of the ranges in which a variant pays."""
    out = []
    for x in (end for ends in variant.get("pays") or [] for end in ends):
        if points[0][0] < x < points[-1][0]:
            right = next(i for i, point in enumerate(points) if point[0] >= x)
            (a, b), (c, d) = points[right - 1], points[right]
            out.append((x, b + (d - b) * (x - a) / (c - a)))
    return out


def lines_of(figure):
    """Lines, and the points where variants break even."""
    lines, marks, others = [], [], []  # others: variant, points, line
    # Where there is one curve, colours tell the variants apart.
    is_alone = len(figure.curves) == 1
    for c, curve in enumerate(figure.curves):
        which = ", " + said(curve, figure.varies) if figure.varies else ""
        for v, one in enumerate(curve["variants"]):
            points, colour = points_of(curve, one["measured_us"]), v if is_alone else c
            if not points:
                continue
            # The prediction for 32 lanes where it is there, else the first. Of many variants they would hide the measurements.
            predicted = one.get("predicted_us") or {}
            if predicted and (one["baseline"] or (is_alone and len(curve["variants"]) <= 3)):
                model = points_of(curve, predicted.get("32 lanes", next(iter(predicted.values()))))
                lines += [Line("", colour, "predicted", model)] * bool(model)
            if not one["baseline"]:
                marks += breaks_of(one, points)
                twin = next((at for name, other, at in others if name == one["variant"] and are_same(other, points)), None)
                if twin is not None:
                    lines[twin] = lines[twin]._replace(label=one["variant"])
                    continue
                others.append((one["variant"], points, len(lines)))
            lines.append(Line(one["variant"] + which, colour, "baseline" if one["baseline"] or is_alone else "other", points))
    first = figure.curves[0]
    if is_alone and first.get("copy_us") and lines:
        limit = points_of(first, first["copy_us"])
        # Where nothing comes near it, it would only squeeze the others together.
        if limit and min(y for line in lines for _, y in line.points) < 5 * min(y for _, y in limit):
            lines.append(Line("copy", 0, "limit", limit))
    return lines, marks


def figure_svg(figure):
    lines, marks = lines_of(figure)
    axis = figure.curves[0]["axis"]
    title = f"Curves: time against {axis}" + (", " + figure.title if figure.title else "")
    return curve_plot(lines, marks, axis, title) if lines else ""


def curves_file(result, recipe):
    """The figures of a recipe below each other, as a file of its own."""
    body, y = "", 0
    for figure in figures_of(result, recipe):
        svg = figure_svg(figure)
        if svg and figure.title:
            body += f'<text x="8" y="{y + 17}" font-size="14" fill="currentColor">{escape(figure.title)}</text>\n'
            y += 24
        if svg:
            body += svg.replace("<svg", f'<svg y="{y}" width="640" height="360"', 1)
            y += 360
    if not body:
        refuse(f"'{result.stem}' has no curves of '{recipe}'")
    body = f'<rect width="640" height="{y}" fill="var(--back)"/>\n' + body
    # The page's light colours by value: not every viewer of pictures knows variables. Where one knows styles, its
    # reader's dark setting replaces them.
    used = dict.fromkeys(["--text", *re.findall(r"var\((--[\w-]+)\)", body)])
    rules = "".join(f'[{what}="{LIGHT[name]}"]{{{what}:{DARK[name]}}}' for name in used for what in ("fill", "stroke", "color"))
    body = re.sub(r"var\((--[\w-]+)\)", lambda match: LIGHT[match[1]], body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {y}" width="640" height="{y}" font-family="sans-serif" '
            f'color="{LIGHT["--text"]}">\n<style>@media (prefers-color-scheme: dark) {{ {rules} }}</style>\n{body}</svg>\n')  # fmt: skip


def write_curves(results, stem, recipe, path):
    write_file(path, curves_file(find(results, stem, "explore"), recipe))
    return 0
