"""One z3 solver object: of some kind, with assertions tracked in some way, checked and asked afterwards."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import z3
from z3 import z3core

from apifuzz.engine import Stack
from apifuzz.engines.z3.options import parameter_names
from apifuzz.engines.z3.session import model_of, set_up_process
from apifuzz.engines.z3.terms import Terms
from apifuzz.interface import Answer, ApiTerm, Unsupported
from apifuzz.scope import STANDARD

KINDS = (
    *("solver",) * 5,
    *("simple",) * 3,
    "smt",
    "default",
    "simplify propagate-values smt",
    "simplify solve-eqs elim-uncnstr smt",
    "simplify purify-arith solve-eqs smt",
)
"""What a solver is made by: Z3_mk_solver, Z3_mk_simple_solver, or the tactics that are named, in a row."""

PLAIN, TRACKED, LITERALS = "plain", "tracked", "literals"
"""How assertions get into unsat cores: not, by ``assert_and_track``, by assumed literals that imply them."""

ANSWERS = {z3.Z3_L_TRUE: Answer.SAT, z3.Z3_L_FALSE: Answer.UNSAT, z3.Z3_L_UNDEF: Answer.UNKNOWN}

RECURSIVE_LOGICS = ("", "ALL", "HO_ALL")
"""z3 unfolds recursive functions with these; with others it may take them for any functions, and say sat."""


class Solving:
    """A solver, made when it is first used: options and logic come before. Assertions are marked by the
    literals that track them.
    """

    def __init__(self, terms: Terms, stack: Stack, kind: str, tracking: str) -> None:
        self.session = terms.session
        self.terms = terms
        self.stack = stack
        self.kind = kind
        self.tracking = tracking
        self.parameters: dict[str, bool | int | float | str] = {}
        self.logic = ""
        self._solver: Any = None
        self.assumed: dict[int, ApiTerm] = {}
        self.core: list[int] | None = None
        self._model: Any = None

    @property
    def is_made(self) -> bool:
        """Whether the solver exists yet."""
        return self._solver is not None

    @property
    def solver(self) -> Any:
        """The z3.Solver."""
        if self._solver is None:
            self._solver = self._make()
        return self._solver

    def _make(self) -> Any:
        context = self.session.context
        if self.logic:
            solver = z3.SolverFor(self.logic) if self.session.plain else solver_for(self.logic, context)
        elif self.kind == "solver":
            solver = z3.Solver(ctx=context)
        elif self.kind == "simple":
            solver = z3.SimpleSolver(context)
        else:
            names = self.kind.split()
            tactic = z3.Then(*names, ctx=context) if len(names) > 1 else z3.Tactic(names[0], context)
            solver = tactic.solver()
        parameters = dict(self.parameters)
        if self.tracking != PLAIN or self.kind not in ("solver", "simple") or self.logic:
            # Else solvers made of tactics give empty cores, also of assumptions.
            parameters["unsat_core"] = True
        known = parameter_names(solver) if parameters else ()
        for name, value in parameters.items():
            if name in known:
                solver.set(name, value)
        return solver

    def set_parameter(self, name: str, value: bool | int | float | str) -> None:
        """Set a parameter of the solver, now or when it is made; each kind of solver has its own."""
        self.parameters[name] = value
        if self._solver is not None:
            if name not in parameter_names(self._solver):
                raise Unsupported(f"this kind of solver has no parameter {name}")
            self._solver.set(name, value)

    def forget_model(self) -> None:
        """What is asserted changes."""
        self._model = None

    # After a check

    def core_ids(self) -> list[int]:
        """The ids of the last check's core. A minimised one is requested once: z3 returns an empty one
        later.
        """
        if self.core is None or not self.parameters.get("core.minimize"):
            self.core = [literal.get_id() for literal in self.solver.unsat_core()]
        if not self.core and self.kind not in ("solver", "simple"):
            # That all tactics in a row make cores cannot be seen: default ones do not, with quantifiers.
            raise Unsupported("the tactics of this solver may make no cores")
        return self.core

    @property
    def model(self) -> Any:
        """The model of the last check."""
        if self._model is None:
            self._model = model_of(self.solver)
        return self._model


@lru_cache(maxsize=1)
def known_logics() -> frozenset[str]:
    """Those of the logics that runs draw for which z3 has a solver.

    Read in a separate context, because the run's does not exist yet, and all at once: each takes z3 some ten
    milliseconds, too long for every run.
    """
    set_up_process()
    context = z3.Context()
    return frozenset(logic for logic in sorted(STANDARD | {"ALL", "HO_ALL"}) if _has_solver(logic, context))


def knows_logic(logic: str) -> bool:
    """Whether z3 has a solver for the logic."""
    return logic in known_logics() or _has_solver(logic, z3.Context())


def solver_for(logic: str, context: Any) -> Any:
    """The solver for a logic; not by ``z3.SolverFor``, which makes the main context, too."""
    symbol = z3.z3.to_symbol(logic, context)
    return z3.Solver(z3core.Z3_mk_solver_for_logic(context.ref(), symbol), context)


def _has_solver(logic: str, context: Any) -> bool:
    try:
        solver_for(logic, context)
    except z3.Z3Exception:
        return False
    return True


def is_value(term: Any) -> bool:
    """Whether the term is a truth value or a number, as a model without gaps has it."""
    tests = (z3.is_true, z3.is_false, z3.is_int_value, z3.is_rational_value, z3.is_bv_value)
    return any(test(term) for test in tests)
