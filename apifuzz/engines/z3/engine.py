"""The engine of z3: its Python module and the calls beneath it, in a context per run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import z3
from z3 import z3core

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.engines.z3.inspection import UNKNOWN_SORT, Inspection, require_readable
from apifuzz.engines.z3.options import (
    CONTEXT_OPTIONS,
    PRODUCE_MODELS,
    PRODUCE_UNSAT_CORES,
    read_value,
    solver_options,
)
from apifuzz.engines.z3.session import STEPS, Session, keep_spare, message_of, misread
from apifuzz.engines.z3.solving import (
    KINDS,
    LITERALS,
    PLAIN,
    RECURSIVE_LOGICS,
    TRACKED,
    Solving,
    is_value,
    known_logics,
    knows_logic,
)
from apifuzz.engines.z3.sorts import MIN_SIGNIFICAND, Sorts
from apifuzz.engines.z3.terms import Binders, Terms
from apifuzz.engines.z3.words import QUESTIONS, WAYS, drawn, words_in
from apifuzz.interface import ApiTerm, Capabilities, Misbehaviour, Option, Unsupported, expect, must
from smtlib import Signature, Sort
from smtlib.sorts import subsorts

_NOT_ALONE = profile("z3").list_of("not_alone")


class Z3Engine(TableEngine):
    """z3 behind the interface."""

    name = "z3"
    plan = "apifuzz.engines.z3.actions"
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    parts = ("sorts", "terms", "binders", "inspection", "solving")
    exceptions = (z3.Z3Exception,)

    def __init__(self) -> None:
        super().__init__()
        self._config: dict[str, str] = {}
        self._attach(Session(self, self._config), PLAIN)

    def _attach(self, session: Session, tracking: str) -> None:
        """Work in a session from now on, with a solver of its own."""
        self.session = session
        self.sorts = Sorts(session)
        self.terms = Terms(session, self.sorts)
        self.binders = Binders(session, self.terms)
        self.inspection = Inspection(session, self.terms)
        self.solving = Solving(self.terms, self.stack, "solver", tracking)

    def own(self, term: ApiTerm) -> Any:
        """The z3 term of a term."""
        return self.terms.of(term)

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        return profile(self.name).translate(message_of(error), call.method in ("push", "pop"))

    def word(self, name: str) -> Any:
        try:
            return super().word(name)
        except KeyError:
            return words_in(self.session)(name)

    # What it is

    @property
    def version(self) -> str:
        return str(z3.get_version_string())

    def capabilities(self) -> Capabilities:
        return profile(self.name).capabilities

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
        self._config = {}
        self._attach(Session(self, self._config), PLAIN)
        self.solving.kind = self.session.random.pick(KINDS)

    def delete(self) -> None:
        self._attach(Session(self, {}), PLAIN)

    def sibling(self) -> Engine:
        other = Z3Engine()
        other.random = self.random
        # Sorts and terms are those of the first: its session, its tables, a solver of its own.
        other.session, other.sorts, other.terms = self.session, self.sorts, self.terms
        other.binders, other.inspection = self.binders, self.inspection
        other.solving = Solving(self.terms, other.stack, "solver", TRACKED)
        return other

    def set_logic(self, logic: str) -> None:
        """Have the solver made for a logic."""
        if not knows_logic(logic):
            raise Unsupported(f"z3 has no logic {logic}")
        self.solving.logic = logic

    def set_option(self, name: str, value: str) -> None:
        read = read_value(name, value)
        if name == PRODUCE_MODELS:
            self.solving.set_parameter("model", read)
        elif name == PRODUCE_UNSAT_CORES:
            self.solving.tracking = self.session.random.pick((TRACKED, LITERALS)) if read else PLAIN
        elif name in CONTEXT_OPTIONS:
            self._config[name] = value
            if self.session.is_made:
                z3core.Z3_update_param_value(self.session.ref, name, value)
        else:
            self.solving.set_parameter(name, read)


Z3Engine.words = {
    **{word.__name__: word for word in (drawn, expect, is_value, message_of, misread, must)},
    **{"Misbehaviour": Misbehaviour, "Unsupported": Unsupported, "WAYS": WAYS, "STEPS": STEPS},
    **{"RECURSIVE_LOGICS": RECURSIVE_LOGICS, "UNKNOWN_SORT": UNKNOWN_SORT, "QUESTIONS": QUESTIONS},
    "require_readable": require_readable,
    "SWITCHES": profile("z3").list_of("simplifier_switches"),
}
