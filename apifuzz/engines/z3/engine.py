"""The engine of z3: its Python module and the calls beneath it, in a context per run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import z3

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.engines.z3.options import CONTEXT_OPTIONS, read_option, solver_options
from apifuzz.engines.z3.session import (
    STEPS,
    UNKNOWN_SORT,
    Session,
    keep_spare,
    message_of,
    misread,
    require_readable,
)
from apifuzz.engines.z3.solving import (
    ANSWERS,
    KINDS,
    PLAIN,
    RECURSIVE_LOGICS,
    TRACKED,
    Solving,
    is_value,
    known_logics,
    knows_logic,
)
from apifuzz.engines.z3.sorts import MIN_SIGNIFICAND, Sorts
from apifuzz.engines.z3.terms import Terms, patterns_in
from apifuzz.engines.z3.words import BINDERS, QUESTIONS, SORTS, WAYS, Shown, drawn, words_in
from apifuzz.interface import Answer, MadeSort, Misbehaviour, Option, Unsupported, expect, must
from smtlib import Signature, Sort
from smtlib import make_sort as smtlib_sort
from smtlib.sorts import subsorts

_NOT_ALONE = profile("z3").list_of("not_alone")


class Z3Engine(TableEngine):
    """z3 behind the interface."""

    name = "z3"
    plan = "apifuzz.engines.z3.actions"
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    questions = QUESTIONS
    parts = ("sorts", "terms", "solving")
    exceptions = (z3.Z3Exception,)

    def __init__(self) -> None:
        super().__init__()
        self.config: dict[str, str] = {}
        self._attach(Session(self, self.config), PLAIN)

    def _attach(self, session: Session, tracking: str) -> None:
        """Work in a session from now on, with a solver of its own."""
        self.session = session
        self.sorts = Sorts(session)
        self.terms = Terms(session, self.sorts)
        self.solving = Solving(self.terms, self.stack, "solver", tracking)

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        return profile(self.name).translate(message_of(error), call.method in ("push", "pop"))

    def own_word(self, name: str) -> Any:
        return words_in(self.session)(name)

    # What it is

    @property
    def version(self) -> str:
        return str(z3.get_version_string())

    def options(self) -> tuple[Option, ...]:
        # Together with these, once, before runs are forked.
        known_logics()
        keep_spare()
        return solver_options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        if len(sorts) <= 1 and signature.name in _NOT_ALONE:
            return False
        every = [part for sort in (*sorts, result) for part in subsorts(sort)]
        return all(s.name != "FloatingPoint" or s.indices[1] >= MIN_SIGNIFICAND for s in every)

    # Life

    def new(self) -> None:
        """A session with a context of its own, and a solver of some kind."""
        self.config = {}
        self._attach(Session(self, self.config), PLAIN)
        self.solving.kind = self.session.random.pick(KINDS)

    def renew(self) -> None:
        """Let go of the solver and of its parameters, but not of its kind."""
        self.solving = Solving(self.terms, self.stack, self.solving.kind, self.solving.tracking)

    def delete(self) -> None:
        self._attach(Session(self, {}), PLAIN)

    def sibling(self) -> Engine:
        other = Z3Engine()
        other.random = self.random
        # Sorts and terms are those of the first: its session, its tables, a solver of its own.
        other.session, other.sorts, other.terms = self.session, self.sorts, self.terms
        other.solving = Solving(self.terms, other.stack, "solver", TRACKED)
        return other


Z3Engine.words = {
    **{word.__name__: word for word in (drawn, expect, is_value, message_of, misread, must, patterns_in)},
    **{word.__name__: word for word in (MadeSort, Misbehaviour, Shown, Unsupported, require_readable)},
    **{"BINDERS": BINDERS, "SORTS": SORTS, "WAYS": WAYS, "STEPS": STEPS, "smtlib_sort": smtlib_sort},
    **{"RECURSIVE_LOGICS": RECURSIVE_LOGICS, "UNKNOWN_SORT": UNKNOWN_SORT, "ANSWERS": ANSWERS},
    **{"Answer": Answer, "CONTEXT_OPTIONS": CONTEXT_OPTIONS, "knows_logic": knows_logic},
    "read_option": read_option,
    "SWITCHES": profile("z3").list_of("simplifier_switches"),
}
