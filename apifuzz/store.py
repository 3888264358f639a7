"""What a run has made: sorts and terms by id and by sort, and the names it has given.

Rarely used terms are preferred as arguments. A term with free variables is open: it can be an argument until
a binder binds one of its variables. After that no term with this variable is an argument, so no variable
escapes its binder and none is bound twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

from apifuzz.chance import Chance
from apifuzz.datatypes import Datatypes
from apifuzz.interface import ApiSort, ApiTerm, Head, TermKind, Unsupported
from apifuzz.trace import TraceError, is_id
from smtlib import Sort, default_theories
from smtlib.environment import has_parameters

_CLOSED: frozenset[ApiTerm] = frozenset()
MadeT = TypeVar("MadeT", ApiSort, ApiTerm)

_OPEN_SHARE = 0.6
_SAMPLES = 3
_USES = attrgetter("uses")


@dataclass(slots=True)
class Pool:
    """The terms of one sort that can be arguments."""

    closed: list[ApiTerm] = field(default_factory=list)
    open: list[ApiTerm] = field(default_factory=list)
    constants: list[ApiTerm] = field(default_factory=list)
    values: list[ApiTerm] = field(default_factory=list)


class Store:
    """The sorts and terms of one solver instance."""

    def __init__(self) -> None:
        self.sorts: dict[Sort, ApiSort] = {}
        self.pools: dict[Sort, Pool] = {}
        self.populated: list[Sort] = []
        """Sorts that have terms, functions apart, in order."""
        self.by_head: dict[str, list[Sort]] = {}
        """Sorts that have terms, by the name of the sort's head."""
        self.plain_sorts: list[Sort] = []
        """Sorts that were made, functions apart, in order, and those over parameters left out."""
        self.made_by_head: dict[str, list[Sort]] = {}
        self.open_variables: list[ApiTerm] = []
        """Variables that nothing binds yet."""
        self.functions: list[ApiTerm] = []
        """Closed terms of function sorts."""
        self.undefined: list[ApiTerm] = []
        """Declared functions that ``define-fun-rec`` may still define: nothing was made of them."""
        self.closed_terms: list[ApiTerm] = []
        """Terms without free variables, functions apart."""
        self._ground: set[ApiTerm] = set()
        self.names: set[str] = set()
        self.sort_constructors: dict[str, int] = {}
        """Declared sort constructors and parametric datatypes: their number of arguments."""
        self.lost_sorts: set[str] = set()
        """Declared sorts and datatypes that the solver of a replay lacks."""
        self.datatypes = Datatypes()
        self._ids: dict[str, ApiSort | ApiTerm] = {}
        self._lost: set[str] = set()
        self._expected: list[str] = []
        self._last = {"s": 0, "t": 0}

    def clear(self) -> None:
        """Forget everything that was made; ids continue."""
        last = self._last
        self.__init__()  # type: ignore[misc]
        self._last = last

    # Ids

    def expect(self, ids: Sequence[str]) -> None:
        """Give what is added next these ids, in this order; numbering continues after them."""
        self._expected = list(reversed(ids))

    def _next_id(self, letter: str) -> int:
        if self._expected:
            token = self._expected.pop()
            if token[0] != letter:
                raise TraceError(f"the call returns a {'sort' if letter == 's' else 'term'}, not {token}")
            if token in self._ids:
                raise TraceError(f"{token} is returned twice")
            number = int(token[1:])
        else:
            number = self._last[letter] + 1
        self._last[letter] = max(self._last[letter], number)
        return number

    @property
    def is_empty(self) -> bool:
        """Whether nothing was made."""
        return not self._ids

    def lose(self, ids: Iterable[str]) -> None:
        """Note that the call of a trace that returned these ids could not be made."""
        self._lost.update(ids)

    def sort(self, token: str) -> ApiSort:
        """The sort with this id. Raises :class:`TraceError`, or :class:`Unsupported` where it was lost."""
        return self._get(token, ApiSort, "sort")

    def term(self, token: str) -> ApiTerm:
        """The term with this id. Raises :class:`TraceError`, or :class:`Unsupported` where it was lost."""
        return self._get(token, ApiTerm, "term")

    def _get(self, token: str, kind: type[MadeT], what: str) -> MadeT:
        found = self._ids.get(token)
        if isinstance(found, kind):
            return found
        if token in self._lost:
            raise Unsupported(f"{token} could not be made")
        unknown = f"unknown {what} {token[:60]}" if is_id(token) else f"{token[:60]} is not a {what}'s id"
        raise TraceError(unknown)

    def take_name(self, name: str) -> None:
        """Use ``name`` for something new. Raises :class:`TraceError` where it is taken."""
        if name in self.names or name in default_theories().functions:
            raise TraceError(f"the name {name[:60]} is already used")
        self.names.add(name)

    # Adding

    def add_sort(self, sort: Sort, handle: Any) -> ApiSort:
        """Keep a sort. Made a second time it is another object of the same sort; the newer one is used."""
        made = ApiSort(self._next_id("s"), sort, handle)
        self._ids[str(made)] = made
        if sort not in self.sorts and not has_parameters(sort):
            self.made_by_head.setdefault(sort.name, []).append(sort)
            if not sort.is_function:
                self.plain_sorts.append(sort)
        self.sorts[sort] = made
        return made

    def add_term(
        self,
        sort: ApiSort,
        handle: Any,
        kind: TermKind,
        head: Head | None = None,
        args: tuple[ApiTerm, ...] = (),
        free: frozenset[ApiTerm] = _CLOSED,
    ) -> ApiTerm:
        """Keep a term. ``free`` are its free variables; a variable's own is itself."""
        made = ApiTerm(self._next_id("t"), sort, handle, kind, free, 0, head, args)
        for arg in args:
            arg.uses += 1
        self._ids[str(made)] = made
        if kind is TermKind.VALUE or (head is not None and self._ground.issuperset(args)):
            self._ground.add(made)
        if kind is TermKind.VARIABLE:
            made.free = frozenset((made,))
            self.open_variables.append(made)
        self._file(made)
        return made

    def is_ground(self, term: ApiTerm) -> bool:
        """Whether the term is made of values and operators only, so that nothing is left to find."""
        return term in self._ground

    def _file(self, term: ApiTerm) -> None:
        sort = term.sort.sort
        pool = self.pools.get(sort)
        if pool is None:
            pool = self.pools[sort] = Pool()
            self.by_head.setdefault(sort.name, []).append(sort)
            if not sort.is_function:
                self.populated.append(sort)
        if term.free:
            pool.open.append(term)
            return
        pool.closed.append(term)
        if sort.is_function:
            self.functions.append(term)
            return
        self.closed_terms.append(term)
        if term.kind is TermKind.CONSTANT:
            pool.constants.append(term)
        elif term.kind is TermKind.VALUE:
            pool.values.append(term)

    def bind(self, variables: Iterable[ApiTerm]) -> None:
        """These variables are bound now: whatever has them free is no argument any more."""
        bound = frozenset(variables)
        self.open_variables = [v for v in self.open_variables if v not in bound]
        for pool in self.pools.values():
            if pool.open:
                pool.open = [t for t in pool.open if t.free.isdisjoint(bound)]

    def is_bound(self, term: ApiTerm) -> bool:
        """Whether a variable of the term was bound elsewhere, so that the term is out of scope."""
        return bool(term.free) and not term.free.issubset(self.open_variables)

    # Choosing

    def pick(self, sort: Sort, chance: Chance) -> ApiTerm | None:
        """A term of this sort, preferably a rarely used and an open one; None where there is none."""
        pool = self.pools.get(sort)
        if pool is None:
            return None
        if pool.open and (not pool.closed or chance.happens(_OPEN_SHARE)):
            return rarely_used(pool.open, chance)
        return rarely_used(pool.closed, chance)

    def pick_closed(self, sort: Sort, chance: Chance) -> ApiTerm | None:
        """A closed term of this sort; None where there is none."""
        pool = self.pools.get(sort)
        return rarely_used(pool.closed, chance) if pool is not None else None

    def pick_any(self, chance: Chance) -> ApiTerm | None:
        """A closed term of any sort, functions apart; None where there is none."""
        return rarely_used(self.closed_terms, chance)

    def pick_open(self, sorts: Sequence[Sort], chance: Chance) -> ApiTerm | None:
        """A term of one of these sorts with free variables; None where there is none."""
        pools = [pool.open for sort in sorts if (pool := self.pools.get(sort)) is not None and pool.open]
        return rarely_used(chance.pick(pools), chance) if pools else None

    def constants(self, fits: Callable[[Sort], bool] = lambda sort: True) -> list[ApiTerm]:
        """The free constants of the sorts that fit, functions apart."""
        return [c for sort in self.populated if fits(sort) for c in self.pools[sort].constants]


def rarely_used(terms: Sequence[ApiTerm], chance: Chance) -> ApiTerm | None:
    """One of ``terms``: the least used of a few that are drawn; None where there are none."""
    return min(chance.choices(terms, k=min(len(terms), _SAMPLES)), key=_USES) if terms else None
