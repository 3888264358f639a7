"""The model of API fuzzing for people: as a table, and as a picture (Graphviz)."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from apifuzz.model import Machine, State, Transition


def rows(model: Machine) -> Iterator[tuple[str, str, str, str, str]]:
    """State, action, share of the state's weight in percent, target and condition of what is on."""
    for state in model.states.values():
        total = _total(state)
        for t in _by_weight(state):
            yield state.name, t.action or "-", f"{100 * t.weight / total:.2f}", t.target, t.condition


def table(model: Machine) -> str:
    """The machine as a table for people."""
    head = ("state", "action", "%", "to", "when")
    shares = [head, *rows(model)]
    widths = [max(len(row[i]) for row in shares) for i in range(len(head))]
    lines = []
    last = ""
    for row in shares:
        shown = ("" if row[0] == last else row[0], *row[1:])
        last = row[0]
        cells = [
            c.rjust(w) if i == 2 else c.ljust(w) for i, (c, w) in enumerate(zip(shown, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def boxes(model: Machine) -> Iterator[tuple[str, list[str]]]:
    """The states of the picture, with the lines below their names: purpose, and actions."""
    for state in model.states.values():
        yield state.name, [state.about, *_lines(state, state.name)]


def arrows(model: Machine) -> Iterator[tuple[str, str, list[str], float]]:
    """The arrows of the picture: source, target, labels, and their share in percent."""
    for state in model.states.values():
        total = _total(state)
        for target in dict.fromkeys(t.target for t in _by_weight(state) if t.target != state.name):
            weight = sum(t.weight for t in state.transitions if t.target == target)
            yield state.name, target, _lines(state, target), 100 * weight / total


def dot(model: Machine) -> str:
    """The machine as text for Graphviz."""
    lines = [
        "digraph model {",
        '  graph [rankdir=TB, nodesep=0.5, ranksep=0.7, fontname="sans-serif"];',
        '  node [shape=box, style="rounded,filled", fillcolor="#f4f6fa", color="#55606e",',
        '    margin="0.15,0.08", fontname="sans-serif", fontsize=11];',
        '  edge [color="#6b7a90", fontcolor="#33404f", fontname="sans-serif", fontsize=9,',
        "    arrowsize=0.7];",
    ]
    for name, (about, *inner) in boxes(model):
        body = "".join(f'{escape(line)}<br align="left"/>' for line in inner)
        label = f"<b>{escape(name)}</b><br/><i>{escape(about)}</i><br/>{body}"
        lines.append(f'  "{name}" [label=<{label}>];')
    for source, target, labels, share in arrows(model):
        # Rare transitions are thin, and the layout may bend them.
        width, weight = 0.6 + share / 30, 1 + round(share / 10)
        label = "".join(f'&#160;{escape(line)}<br align="left"/>' for line in labels)
        look = f"penwidth={width:.2f}, weight={weight}"
        lines.append(f'  "{source}" -> "{target}" [label=<{label}>, {look}];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def _total(state: State) -> float:
    return sum(t.weight for t in state.transitions)


def _by_weight(state: State) -> list[Transition]:
    return sorted((t for t in state.transitions if t.weight > 0), key=lambda t: -t.weight)


def _lines(state: State, target: str) -> list[str]:
    """What leads from the state to ``target``: the action, or the condition, with its share."""
    total = _total(state)
    lines = []
    for t in _by_weight(state):
        if t.target == target:
            words = (t.action, f"[{t.condition}]" if t.condition else "", _percent(t.weight / total))
            lines.append(" ".join(filter(None, words)))
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0095 else f"{100 * share:.1g}%"
