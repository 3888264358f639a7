"""Tactic expressions of z3: reads them, draws random ones, and shortens them.

An expression is a word (a tactic) or a tuple, in the shape of its s-expression: ``("then", "simplify",
("using-params", "simplify", ":som", "true"), "smt")``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import sexpdata

from smtlib import ReadError, read_sexps
from smtlib.reader import SExp

Tactic = str | tuple["Tactic", ...]

COMMAND = "check-sat-using"
"""The command that solves with a tactic; also the setting that replaces every ``check-sat`` by it."""

# Those whose arguments are all tactics.
_IN_A_ROW = frozenset({"then", "and-then", "par-then"})
_CHOICES = frozenset({"or-else", "par-or"})
# Where the tactics stand among the arguments of the others.
_INSIDE = {"using-params": (1,), "!": (1,), "try-for": (1,), "repeat": (1,), "when": (2,), "if": (2, 3)}
_WITH_PARAMETERS = frozenset({"using-params", "!"})
_LONGEST_ROW = 4
# Deeper expressions are refused, for what is done with them recurses.
_DEEPEST = 100


def read_tactic(text: str) -> Tactic:
    """The expression in ``text``; ValueError if it is not one."""
    try:
        (tactic,) = map(_tactic, read_sexps(text))
    except (ReadError, ValueError) as error:
        raise ValueError(f"{text!r} is not a tactic") from error
    return tactic


def _tactic(sexp: SExp, depth: int = 0) -> Tactic:
    if not sexp or depth > _DEEPEST:
        raise ValueError
    return sexp if isinstance(sexp, str) else tuple(_tactic(part, depth + 1) for part in sexp)


def print_tactic(tactic: Tactic) -> str:
    """The expression as z3 reads it."""
    text: str = sexpdata.dumps(tactic, str_as="symbol")
    return text


def tactic_names(tactic: Tactic) -> set[str]:
    """The names of the tactics in an expression, without those of combinators, probes and parameters."""
    if isinstance(tactic, str):
        return {tactic}
    found: set[str] = set()
    for place in _places(tactic):
        found |= tactic_names(tactic[place])
    return found


def _places(tactic: tuple[Tactic, ...]) -> Sequence[int]:
    """The positions of tactics among the parts of an expression."""
    head = tactic[0]
    if head in _IN_A_ROW or head in _CHOICES:
        return range(1, len(tactic))
    return [place for place in _INSIDE.get(str(head), ()) if place < len(tactic)]


def shorter_rows(row: str) -> Iterator[str]:
    """``row`` with one part removed, the largest part first: a tactic of a list, a choice, a parameter with
    its value, a combinator around a tactic. Each result is a tactic, but may not decide the formula: a crash
    needs no answer. Yields nothing for a single tactic, or if ``row`` cannot be read.
    """
    try:
        tactic = read_tactic(row)
    except ValueError:
        return
    seen = {row}
    for shorter in _shorter(tactic):
        text = print_tactic(shorter)
        if text not in seen:
            seen.add(text)
            yield text


def _shorter(tactic: Tactic) -> Iterator[Tactic]:
    if isinstance(tactic, str):
        return
    head, places = tactic[0], _places(tactic)
    if head in _IN_A_ROW or head in _CHOICES:
        for place in places:
            left = tactic[:place] + tactic[place + 1 :]
            yield left if len(left) > 2 else left[1]
    else:
        yield from (tactic[place] for place in places)
    if head in _WITH_PARAMETERS and len(tactic) > 4:
        for place in range(2, len(tactic) - 1, 2):
            yield tactic[:place] + tactic[place + 2 :]
    for place in places:
        for inner in _shorter(tactic[place]):
            yield (*tactic[:place], inner, *tactic[place + 1 :])


def random_row(first: Sequence[str], last: Sequence[str], source: random.Random) -> str:
    """Some of ``first`` and one of ``last``, as ``(then a b c)``; sometimes one of ``last`` alone."""
    chosen = source.choice(last if source.random() < 0.5 else last[:1])
    before = source.sample(first, min(len(first), source.randint(0, _LONGEST_ROW - 1)))
    return f"(then {' '.join([*before, chosen])})" if before else chosen
