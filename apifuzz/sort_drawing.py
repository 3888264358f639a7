"""Sorts: which there are to make, and what they may be used for."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache

from apifuzz.operators import is_known
from apifuzz.run import Run
from smtlib import Sort, default_theories, make_sort
from smtlib.signature import SortSymbol

MAX_DEPTH = 3
"""Drawn sorts are not nested deeper."""

_WIDTHS = (1, 1, 2, 2, 3, 4, 4, 5, 8, 8, 8, 16, 32, 64)
_FORMATS = ((3, 5), (2, 3), (5, 11), (5, 11), (8, 24), (8, 24), (8, 24), (11, 53), (4, 4), (3, 3))
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 29, 101, 257)
_ROLES = {"Array": ("array-index", "array-element"), "->": ("function",)}


_NEVER = {"seq-element": ("Unicode",)}
"""A sequence of characters is another name of String."""


def allowed(run: Run, role: str, sort: Sort) -> bool:
    """Whether the solver takes the sort in this role (see ``Capabilities.sorts_without``)."""
    without = run.capabilities.sorts_without.get(role)
    return (without is None or sort.name not in without) and sort.name not in _NEVER.get(role, ())


def role_of(name: str, position: int) -> str:
    """The role of an argument of the sort constructor ``name``."""
    roles = _ROLES.get(name, (f"{name.lower()}-element",))
    return roles[min(position, len(roles) - 1)]


def symbols(run: Run) -> tuple[SortSymbol, ...]:
    """The sorts of the theory files that the run can make."""
    return _symbols(run.engine.families, run.scope.theories & run.capabilities.theories)


@lru_cache(maxsize=256)
def _symbols(families: tuple[str, ...], theories: frozenset[str]) -> tuple[SortSymbol, ...]:
    return tuple(
        s for s in default_theories().sorts.values() if s.theory in theories and is_known(s.only, families)
    )


# Drawing


def draw_sort(run: Run) -> Sort | None:
    """A sort to make: of the run's theories, or an instance of a declared sort constructor."""
    chance = run.random
    declared = list(run.store.sort_constructors.items())
    if declared and chance.random() < 0.3:
        name, arity = declared[int(chance.random() * len(declared))]
        return _applied(run, name, arity)
    if run.operators.function_sorts and chance.random() < 0.1:
        return _applied(run, "->", 2 + int(chance.random() * 1.5))
    known = symbols(run)
    symbol = known[int(chance.random() * len(known))]
    return draw_sort_of(run, symbol.name)


def draw_sort_of(run: Run, name: str) -> Sort | None:
    """A sort with this head; None where there is none now."""
    chance = run.random
    draw = _INDICES.get(name)
    if draw is not None:
        return make_sort(name, draw(run, chance))
    if name == "->":
        return _applied(run, name, 2)
    if name in run.store.sort_constructors:
        return _applied(run, name, run.store.sort_constructors[name])
    symbol = default_theories().sorts.get(name)
    if symbol is None or symbol not in symbols(run):
        return None
    return _applied(run, name, 1 + int(chance.random() * 3) if symbol.variadic else symbol.arity)


def _applied(run: Run, name: str, count: int) -> Sort | None:
    """The sort constructor ``name`` applied to sorts that were made."""
    args: list[Sort] = []
    for position in range(count):
        arg = draw_argument(run, name, position)
        if arg is None:
            return None
        args.append(arg)
    return make_sort(name, (), tuple(args))


def draw_argument(run: Run, name: str, position: int) -> Sort | None:
    """A sort that was made and may be an argument of the sort constructor ``name``."""
    role = role_of(name, position)
    for _ in range(4):
        sort = draw_made(run)
        if sort is not None and sort.depth < MAX_DEPTH and allowed(run, role, sort):
            return sort
    return None


def draw_made(run: Run) -> Sort | None:
    """A sort that was made, functions apart."""
    made = run.store.plain_sorts
    return made[int(run.random.random() * len(made))] if made else None


def _width(run: Run, chance: random.Random) -> tuple[int, ...]:
    if chance.random() < 0.15:
        return (1 + int(chance.random() * run.capabilities.max_width),)
    return (min(_WIDTHS[int(chance.random() * len(_WIDTHS))], run.capabilities.max_width),)


def _format(run: Run, chance: random.Random) -> tuple[int, ...]:
    return _FORMATS[int(chance.random() * len(_FORMATS))]


def _prime(run: Run, chance: random.Random) -> tuple[int, ...]:
    return (_PRIMES[int(chance.random() * len(_PRIMES))],)


_INDICES: dict[str, Callable[[Run, random.Random], tuple[int, ...]]] = {
    "BitVec": _width,
    "FloatingPoint": _format,
    "FiniteField": _prime,
}
