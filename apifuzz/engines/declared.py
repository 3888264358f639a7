"""Actions of one solver, as the file ``actions.toml`` of its engine declares them: a row each.

The name of a row is the action's; in traces the solver's stands before it. Keys of a row:

=========== ==========================================================================================
``about``   what the action does, and its arguments
``places``  the states of the model in which it is drawn, with weights
``takes``   its arguments by name: how they are read, checked and drawn, in words of :mod:`apifuzz.call`
``draw``    the arguments drawn together (``by_kinds()``: one by one); returns them, or nothing
``after``   the answers of the last check after which it is possible
``needs``   what else must hold for it: ``option=value``, or ``{holds = ..., otherwise = ...}``
``likely``  what must hold for it to be drawn
``do``      the solver's calls, and what must hold after them; returns the terms that it made
=========== ==========================================================================================

A row without ``do`` draws other calls, which are written in its place. Expressions and statements are in
Python's syntax. Their words are, in this order: the arguments (for terms and sorts the solver's own objects;
``call`` has the run's), what the solver's subclass of :class:`Asking` has, what the solver's module
of actions defines, the words of all solvers' rows, and what the subclass finds beside (the solver's module).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from apifuzz import call as kinds
from apifuzz.actions import MAY_CHANGE, Made, Need, Own, Unwritten, option
from apifuzz.actions.life import SetOption
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import Script, Words
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Feature,
    Misbehaviour,
    TermKind,
    Unsupported,
    expect,
    must,
)
from apifuzz.run import Run
from apifuzz.trace import TraceError
from smtlib import BOOL, INT, REAL, Sort

_NONE = object()
_PLACES = {"terms": 1.0}
_NEEDS = {"may change": MAY_CHANGE}
_WORDS: dict[str, Any] = {
    **{"Answer": Answer, "Feature": Feature, "TermKind": TermKind, "SetOption": SetOption},
    **{"Misbehaviour": Misbehaviour, "TraceError": TraceError, "Unsupported": Unsupported},
    **{"BOOL": BOOL, "INT": INT, "REAL": REAL},
    **{word.__name__: word for word in (expect, must, profile)},
}
"""The words that the rows of all solvers have."""


class Asking:
    """A run as the rows of a solver's actions see it."""

    module: ClassVar[Mapping[str, Any]]
    """What the solver's module of actions defines, and the words that the rows of all solvers have."""

    def __init__(self, run: Run, core: Any) -> None:
        self.run = run
        self.core = core
        self.stack = run.stack
        self.random = core.random
        self.happens, self.pick = self.random.happens, self.random.pick
        self.below, self.up_to = self.random.below, self.random.up_to

    def of(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The solver's own terms."""
        return [self.own(term) for term in terms]

    def own(self, term: ApiTerm) -> Any:
        """The solver's own term."""
        return term.handle

    @property
    def given(self) -> list[Any]:
        """The assertions, as the solver's own terms."""
        return self.of(self.stack.terms)

    def keep(self, made: Any, sort: Sort, args: Sequence[ApiTerm] = ()) -> Made:
        """Keep a term of a sort that the run has made, with the terms that it was made of."""
        kept = self.run.store.sorts.get(sort)
        if kept is None:
            raise Unsupported(f"no sort {sort} was made")
        free = frozenset(variable for arg in args for variable in arg.free)
        return (self.run.keep_term(kept, made, TermKind.TERM, None, tuple(args), free),)

    def word(self, name: str) -> Any:
        """A word that only this solver's rows have. Raises KeyError."""
        raise KeyError(name)

    def words(self, call: Declared) -> Words:
        """The words of an action."""
        known = {name: self._own_argument(value) for name, value in zip(call.takes, call, strict=True)}
        return Words(known | {"call": call, "asking": self}, self._find)

    def _find(self, name: str) -> Any:
        found = getattr(self, name, _NONE)
        if found is _NONE:
            return self.module[name] if name in self.module else self.word(name)
        return found

    def _own_argument(self, value: Any) -> Any:
        match value:
            case ApiTerm():
                return self.own(value)
            case ApiSort():
                return value.handle
            case tuple():
                return [self._own_argument(part) for part in value]
        return value


class Declared(Own):
    """An action that a row declares."""

    asking: ClassVar[type[Asking]]
    script: ClassVar[Script]
    drawing: ClassVar[Script | None]

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if cls.drawing is None:
            return super().draw(run)
        by_kinds = partial(super().draw, run)
        drawn = cls.drawing.run(_drawing_words(run, cls.asking.module, by_kinds=by_kinds))
        return None if drawn is None else cls(*drawn)

    def act(self, run: Run, core: Any) -> Made | None:
        made: Made | None = self.script.run(self.asking(run, core).words(self))
        return made


class _DeclaredUnwritten(Unwritten, Declared):
    """Draws other calls."""


def _drawing_words(run: Run, module: Mapping[str, Any], **more: Any) -> Words:
    known = {"run": run, "store": run.store, "chance": run.random, "stack": run.stack, **more}
    return Words(known, module.__getitem__)


def declared(
    file: Path, solver: str, asking: type[Asking], module: Mapping[str, Any]
) -> tuple[type[Declared], ...]:
    """The actions of a file, in its order; ``module`` is what the solver's module of actions defines."""
    asking.module = {**_WORDS, **module}
    rows = tomllib.loads(file.read_text("utf-8"))
    return tuple(_action(f"{solver}:{name}", solver, row, asking) for name, row in rows.items())


def _action(name: str, solver: str, row: Mapping[str, Any], asking: type[Asking]) -> type[Declared]:
    def holds(text: str) -> Callable[[Run], bool]:
        script = Script(text, name, is_expression=True)
        return lambda run: bool(script.run(_drawing_words(run, asking.module)))

    def need(said: str | Mapping[str, str]) -> Need:
        if isinstance(said, str):
            return _NEEDS[said] if said in _NEEDS else option(said)
        return Need(holds(said["holds"]), said["otherwise"])

    takes = row.get("takes", {})
    base = Declared if "do" in row else _DeclaredUnwritten
    members = {
        "__doc__": f"``{name}``: {row['about']}",
        "__annotations__": {field: _kind(text, name, asking.module) for field, text in takes.items()},
        "solver": solver,
        "name": name,
        "places": tuple(row.get("places", _PLACES).items()),
        "asking": asking,
        "after": tuple(map(Answer, row.get("after", ()))),
        "needs": tuple(map(need, row.get("needs", ()))),
        "likely": tuple(map(holds, row.get("likely", ()))),
        "script": Script(row["do"], name) if "do" in row else None,
        "drawing": Script(row["draw"], name) if "draw" in row else None,
    }
    return type(name.partition(":")[2].title().replace("-", ""), (base,), members)


def _kind(text: str, name: str, module: Mapping[str, Any]) -> Any:
    """The annotation that ``KIND, HOW TO DRAW IT`` stands for."""
    script = Script(text, name, is_expression=True)
    found = script.run(Words(module, vars(kinds).__getitem__))
    parts = found if isinstance(found, tuple) else (found,)
    if isinstance(parts[0], kinds.Kind):
        parts = (Any, *parts)
    return Annotated[parts] if len(parts) > 1 else parts[0]
