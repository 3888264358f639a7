"""Sorts: which there are to make, and what they may be used for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from apifuzz.call import Drawn, draw_made
from apifuzz.interface import ApiSort
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
    """The sorts of the theory files that the run can make, and that some operator is about."""
    return _symbols(run.engine.families, run.scope.theories & run.capabilities.theories, run.operators.heads)


@lru_cache(maxsize=256)
def _symbols(
    families: tuple[str, ...], theories: frozenset[str], heads: frozenset[str]
) -> tuple[SortSymbol, ...]:
    return tuple(
        s
        for s in default_theories().sorts.values()
        if s.theory in theories and s.name in heads and is_known(s.only, families)
    )


# Drawing


def draw_sort(run: Run) -> Sort | None:
    """A sort to make: of the run's theories, or an instance of a declared sort constructor."""
    chance = run.random
    declared = list(run.store.sort_constructors.items())
    if declared and chance.happens(0.3):
        return _applied(run, *chance.pick(declared))
    if run.operators.function_sorts and chance.happens(0.1):
        return _applied(run, "->", 1 + chance.up_to(1.5))
    return draw_sort_of(run, chance.pick(symbols(run)).name)


def draw_sort_of(run: Run, name: str) -> Sort | None:
    """A sort with this head; None where there is none now."""
    draw = _INDICES.get(name)
    if draw is not None:
        return make_sort(name, draw(run))
    if name == "->":
        return _applied(run, name, 2)
    if name in run.store.sort_constructors:
        return _applied(run, name, run.store.sort_constructors[name])
    symbol = default_theories().sorts.get(name)
    if symbol is None or symbol not in symbols(run):
        return None
    return _applied(run, name, run.random.up_to(3) if symbol.variadic else symbol.arity)


def _applied(run: Run, name: str, count: int) -> Sort | None:
    """The sort constructor ``name`` applied to sorts that were made."""
    args = [_draw_argument(run, role_of(name, position)) for position in range(count)]
    fit = tuple([arg for arg in args if arg is not None])
    return make_sort(name, (), fit) if len(fit) == count else None


def _draw_argument(run: Run, role: str) -> Sort | None:
    """A sort that was made and may be an argument of a sort constructor in this role."""
    for _ in range(4):
        sort = draw_made_for(role, run)
        if sort is not None and sort.sort.depth < MAX_DEPTH:
            return sort.sort
    return None


def draw_made_for(role: str, run: Run) -> ApiSort | None:
    """A sort that was made, where the solver takes it in this role; None where it does not."""
    sort = draw_made(run)
    return sort if sort is not None and allowed(run, role, sort.sort) else None


def made_for(role: str) -> Drawn:
    """An argument that is a sort in this role."""
    return Drawn(partial(draw_made_for, role))


def _width(run: Run) -> int:
    most = run.capabilities.max_width
    return run.random.up_to(most) if run.random.happens(0.15) else min(run.random.pick(_WIDTHS), most)


_INDICES: dict[str, Callable[[Run], tuple[int, ...]]] = {
    "BitVec": lambda run: (_width(run),),
    "FloatingPoint": lambda run: run.random.pick(_FORMATS),
    "FiniteField": lambda run: (run.random.pick(_PRIMES),),
}
