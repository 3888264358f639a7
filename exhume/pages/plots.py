"""The plots of pages: SVG for HTML, drawn by matplotlib.

Text stays text. Colours are CSS variables (``--ink``, ``--faint``, ``--c0`` ...), so that they follow the
theme of the page. There are no external references: no fonts, no metadata, no addresses.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from exhume.pages.rendering import printable

COLOURS = 12
"""Number of colours (``--c0`` ...) in the page. The first eight stand for outcomes and finding classes."""
NEUTRAL = 8
"""The first of the colours without a meaning."""
# Placeholders in matplotlib's output; no plot uses these colours otherwise.
_INK, _FAINT = "#010203", "#040506"
_SERIES = [f"#0708{number:02x}" for number in range(COLOURS)]
_VARIABLES = {_INK: "var(--ink)", _FAINT: "var(--faint)"} | {
    colour: f"var(--c{number})" for number, colour in enumerate(_SERIES)
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.4,
    "xtick.bottom": False,
    "ytick.left": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
_MOST_BARS = 24
_MOST_COMBINATIONS = 20
_WIDTH = 7.6
_LABEL = 40
_DIGITS = re.compile(r"(?<=[\s\"(-])(\d+\.\d)\d+")
_NOT_IN_HTML = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|\sxmlns(?::\w+)?=\"[^\"]*\"", re.S
)


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with its title and note, and its numbers as a table; ``description`` says what is drawn, to
    readers who do not see it.
    """

    title: str
    note: str
    svg: Markup
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    description: str = ""

    @property
    def image(self) -> Markup:
        """The drawing with its title and description as a screen reader reads them."""
        head, _, drawn = self.svg.partition(">")
        text = Markup("<title>{}</title>").format(printable(self.title))
        if self.description:
            text += Markup("<desc>{}</desc>").format(printable(self.description))
        return Markup('{} role="img">{}{}').format(head, text, drawn)


def bar_plot(
    name: str,
    title: str,
    note: str,
    cut: str,
    counts: Mapping[str, Counter[str]],
    series: Sequence[str],
    unit: str,
    colours: Sequence[int] | None = None,
    order: Sequence[str] = (),
) -> Plot:
    """Stacked bars of the counts per place and series: the highest sums first, or in the ``order`` of the
    places.

    The last word of ``name`` says what a place is. ``cut`` goes into the note if there are too many places,
    with ``{}`` for the number of those drawn and of all.
    """
    places = list(order) or sorted(counts, key=lambda place: (-counts[place].total(), place))
    drawn = places[:_MOST_BARS]
    if len(places) > len(drawn):
        note += f" Shown: {cut.format(len(drawn), len(places))}."
    stacks = {text: [counts[place][text] for place in drawn] for text in series}
    svg = Markup(_stacked_bars(name.replace(" ", "-"), drawn, stacks, unit, colours))
    rows = [[place, *(str(counts[place][text]) for text in series)] for place in places]
    return Plot(title, note, svg, [name.rpartition(" ")[2], *series], rows)


def upset_plot(name: str, title: str, note: str, sets: Mapping[str, AbstractSet[str]], unit: str) -> Plot:
    """Which members the sets share, as an UpSet plot (Lex et al., IEEE TVCG 20(12), 2014): a column for each
    combination of sets that has members of its own, those with the most first.

    The last word of ``name`` says what a set is, ``unit`` what its members are. Each member is in one column:
    that of all sets that have it. At most 20 columns are drawn; the note says how many members the others
    have, the table lists them.
    """
    what = name.rpartition(" ")[2]
    sizes = {text: len(sets[text]) for text in sorted(sets, key=lambda text: (-len(sets[text]), text))}
    found = Counter(tuple(s for s in sizes if member in sets[s]) for member in set().union(*sets.values()))
    places = {text: place for place, text in enumerate(sizes)}
    # By size, then those of few sets, then in the order of the rows: the same for the same sets.
    combinations = sorted(found, key=lambda c: (-found[c], len(c), [places[text] for text in c]))
    drawn = {combination: found[combination] for combination in combinations[:_MOST_COMBINATIONS]}
    note += f" Each row stands for one {what}, with the number of all its {unit} at the left. A column counts"
    note += f" the {unit} of the {what}s with dark dots that no other {what} has."
    if left := found.total() - sum(drawn.values()):
        note += f" Shown: the {len(drawn)} of {len(found)} columns with the most; the others have {left}."
    rows = [[f"{text}, in all", str(size)] for text, size in sizes.items()]
    rows += [[f"{_listed(combination)} alone", str(found[combination])] for combination in combinations]
    said = "; ".join(f"{text}: {count}" for text, count in rows[: len(sizes) + len(drawn)])
    svg = Markup(_upset(name.replace(" ", "-"), sizes, drawn, unit))
    return Plot(title, note, svg, [f"{what}s", unit], rows, f"{unit} by {what}: {said}.")


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _upset(
    name: str, sizes: Mapping[str, int], combinations: Mapping[tuple[str, ...], int], label: str
) -> str:
    """Bars of the ``sizes`` of sets and of their ``combinations``, beside and above a matrix of dots."""
    width, height = max(8, len(combinations)), max(1, len(sizes))
    with mpl.rc_context({**_STYLE, "axes.grid": False}):
        figure = Figure(figsize=(_WIDTH, 2.3 + 0.3 * height), layout="constrained")
        ratios: Any = {"width_ratios": (1, 4), "height_ratios": (1.8, 0.3 * height)}
        parts: Any = figure.subplot_mosaic([[".", "bars"], ["sizes", "dots"]], **ratios)
        colour = _colour(NEUTRAL)
        bars, beside, dots = parts["bars"], parts["sizes"], parts["dots"]
        bars.bar_label(bars.bar(range(len(combinations)), combinations.values(), 0.6, color=colour))
        bars.set_ylabel(label)
        bars.yaxis.set_major_locator(MaxNLocator(integer=True))
        # To the left, so that labels stand left of their bars.
        lengths = beside.barh(range(len(sizes)), [-size for size in sizes.values()], 0.6, color=colour)
        beside.bar_label(lengths, [str(size) for size in sizes.values()], padding=2)
        beside.margins(x=0.2)
        dots.set_yticks(range(len(sizes)), [_short(text) for text in sizes])
        for column, combination in enumerate(combinations):
            dark = [row for row, text in enumerate(sizes) if text in combination]
            dots.plot([column] * len(sizes), range(len(sizes)), "o", color=_FAINT, markersize=5)
            dots.plot([column] * len(dark), dark, "o-", color=_INK, markersize=7, linewidth=1.6)
        for axes in (bars, dots):
            axes.set_xlim(-0.6, width - 0.4)
            axes.set_xticks([])
        for axes in (beside, dots):
            axes.set_ylim(height - 0.5, -0.5)
            axes.spines[:].set_visible(False)
        beside.set_xticks([])
        beside.set_yticks([])
        return _svg(name, figure)


Stacks = Mapping[str, Sequence[float]]
"""The values of each series, one per place on the axis."""


def _stacked_bars(
    name: str, places: Sequence[str], series: Stacks, label: str, colours: Sequence[int] | None
) -> str:
    """Horizontal stacked bars; ``label`` names the unit."""
    height = 1.1 + 0.32 * max(1, len(places))
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(height)
        for rows, lengths, starts, look in _bars(len(places), series, colours):
            axes.barh(rows, lengths, left=starts, height=0.7, **look)
        axes.set_yticks(range(len(places)), [_short(place) for place in places])
        axes.set_ylim(-0.5, max(1, len(places)) - 0.5)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(label)
        _legend(figure, axes, len(series))
        return _svg(name, figure)


def columns(name: str, places: Sequence[str], series: Stacks, label: str, colours: Sequence[int]) -> str:
    """Stacked columns, one per place (releases, in order); ``colours`` are indices of the page's colours."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(3.4)
        for at, heights, starts, look in _bars(len(places), series, colours):
            axes.bar(at, heights, bottom=starts, width=0.75, **look)
        axes.set_xticks(range(len(places)), [_short(p) for p in places], rotation=60, ha="right", fontsize=8)
        axes.set_xlim(-0.6, max(1, len(places)) - 0.4)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel(label)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        _legend(figure, axes, len(series))
        return _svg(name, figure)


def _bars(
    places: int, series: Stacks, colours: Sequence[int] | None
) -> Iterator[tuple[list[int], list[float], list[float], dict[str, Any]]]:
    """Of each series the places with a bar to draw, the lengths of the bars, where they start, and how they
    look; one bar without a length, for the legend, if there is none.
    """
    starts = [0.0] * places
    for number, (text, values) in enumerate(series.items()):
        at = [place for place, value in enumerate(values) if value] or [0]
        colour = _colour(colours[number] if colours else NEUTRAL + number)
        look = {"color": colour, "label": _short(text), "clip_on": False}
        yield at, [values[place] for place in at], [starts[place] for place in at], look
        starts = [start + value for start, value in zip(starts, values, strict=True)]


def lines_over_time(name: str, times: Sequence[float], label: str, upper: Stacks, lower: Stacks) -> str:
    """Two plots over the same times, one below the other."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 4.6), layout="constrained")
        both: Any = figure.subplots(2, 1, sharex=True)
        for offset, (axes, series) in enumerate(zip(both, (upper, lower), strict=True)):
            for number, (text, values) in enumerate(series.items()):
                colour = _colour(NEUTRAL + number + 2 * offset)
                axes.step(times, values, where="post", color=colour, label=_short(text), lw=1.6)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
            axes.legend(loc="upper left", fontsize=9)
        both[1].set_xlabel(label)
        return _svg(name, figure)


def curves(
    name: str, series: Mapping[str, Sequence[tuple[float, float]]], end: float, across: str, up: str
) -> str:
    """Step curves from zero to ``end``, given by the points where they rise; ``across`` and ``up`` name the
    axes.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(3.4)
        for number, (text, points) in enumerate(series.items()):
            last = points[-1][1] if points else 0.0
            drawn = [(0.0, 0.0), *points, (end, last)]
            dashes = ("-", "--", ":", "-.")[number % 4]
            colour = _colour(NEUTRAL + number)
            axes.step(*zip(*drawn, strict=True), where="post", color=colour, ls=dashes, label=_short(text))
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_ylim(bottom=0)
        _legend(figure, axes, len(series))
        return _svg(name, figure)


def standalone(svg: str) -> str:
    """A drawing as a file of its own, with the colours that a page would give it."""
    colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
    own = {f"--c{NEUTRAL + number}": colour for number, colour in enumerate(colours)}
    style = ";".join(f"{name}:{value}" for name, value in {"--ink": "#111", "--faint": "#999", **own}.items())
    head = f'<svg xmlns="http://www.w3.org/2000/svg" style="background:#fff;font-family:sans-serif;{style}" '
    return svg.replace("<svg ", head, 1) + "\n"


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _colour(number: int) -> str:
    return _SERIES[number if number < COLOURS else NEUTRAL + number % (COLOURS - NEUTRAL)]


def _short(text: str) -> str:
    """A label short enough for the plot; a leading underscore would hide it from the legend."""
    plain = "".join(c if c.isprintable() else "?" for c in text).lstrip("_") or "?"
    return plain if len(plain) <= _LABEL else plain[: _LABEL - 1] + "…"


def _legend(figure: Figure, axes: Axes, series: int) -> None:
    if series:
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(series, 6), fontsize=9)


def _svg(name: str, figure: Figure) -> str:
    """The drawing as an SVG element; ``name`` makes its ids unique in the page."""
    buffer = io.StringIO()
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name, "svg.id": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = _NOT_IN_HTML.sub("", buffer.getvalue()).strip()
    text = _small(text.replace("xlink:href=", "href="))
    text = re.sub(r"font-family: [^;\"]*", "font-family: inherit", text)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, variable)
    return text


def _small(svg: str) -> str:
    """The drawing without names that nothing refers to, without indentation, and with tenths of a point."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^\")]+)", svg))
    svg = re.sub(r'\sid="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    # In tags alone: the text of a plot has releases such as 4.12.2.
    svg = re.sub(r"<[^<>]*>", lambda tag: _DIGITS.sub(r"\1", tag[0]), svg)
    svg = re.sub(r"\s*\n\s*", " ", re.sub(r">\s+<", "><", svg))
    return re.sub(r"<g>(<(?:path|use|text) [^<]*(?:/>|</text>))</g>", r"\1", svg)
