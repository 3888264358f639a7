"""What the rows of ``actions.toml``, the actions that only bitwuzla has, need beside bitwuzla's own calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz import call
from apifuzz.actions import Second
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes, require_readable, unreadable
from apifuzz.engines.bitwuzla.session import Terminator, kind_named
from apifuzz.engines.declared import Asking, declared
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, must
from apifuzz.run import Run
from apifuzz.store import Store
from apifuzz.trace import TraceError
from smtlib import quote_symbol
from smtlib.floats import rounded
from smtlib.sorts import bit_vector
from smtlib.values import MODES

_LOGIC = re.compile(r"\A\(set-logic [A-Z_]*\)")

KINDS: dict[str, tuple[Any, int]] = {
    "redxor": (Kind.BV_REDXOR, 1),
    "inc": (Kind.BV_INC, 1),
    "dec": (Kind.BV_DEC, 1),
    "rol": (Kind.BV_ROL, 2),
    "ror": (Kind.BV_ROR, 2),
}
"""Kinds of bit-vector terms that no theory file has, and how many arguments of one sort they take."""


class BitwuzlaAsking(Asking, Second):
    """A run of bitwuzla. The second instance is one on the same term manager, made for each question."""

    def __init__(self, run: Run, core: BitwuzlaEngine) -> None:
        super().__init__(run, core)
        self.session, self.manager = core.session, core.session.manager

    @property
    def solver(self) -> Any:
        """The run's instance, with everything asserted."""
        return self.core.solver

    def answer(self, formulas: Sequence[Any]) -> Answer:
        solver = bitwuzla.Bitwuzla(self.manager, bitwuzla.Options())
        if formulas:
            solver.assert_formula(*formulas)
        return check(solver)

    def negated(self, formula: Any) -> Any:
        return self.manager.mk_term(Kind.NOT, [formula])

    def verify(
        self, parts: Sequence[Sequence[Any]], interpolants: Sequence[Any], asserted: Sequence[Any]
    ) -> None:
        """Misbehaviour where an interpolant does not follow, or does not contradict the rest."""
        before: list[Any] = []
        seen: set[int] = set()
        for part, interpolant in zip(parts, interpolants, strict=True):
            seen.update(term.id() for term in part)
            rest = [term for term in asserted if term.id() not in seen]
            common = _constants([term for term in asserted if term.id() in seen]) & _constants(rest)
            if not _constants([interpolant]) <= common:
                raise Misbehaviour("interpolant", f"{interpolant} has constants that are not common")
            self.must_follow([*before, *part], interpolant, "interpolation", "interpolant")
            self.must_not_be(Answer.SAT, "interpolant", [*rest, interpolant], "an interpolant with the rest")
            before = [interpolant]

    def read(self, text: str, terms: Sequence[ApiTerm]) -> Any:
        """An instance that has read a script about these terms. Unsupported where bitwuzla's parser does not
        read what its printer writes.
        """
        for term in terms:
            for node in nodes(term.handle, MAX_NODES):
                require_readable(node)
        parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
        # bitwuzla 0.9 prints formulas without declarations of sorts, and with logics that are too small.
        text = _LOGIC.sub("", text, count=1)
        sorts = "".join(f"(declare-sort {quote_symbol(name)} 0)" for name in self.session.declared)
        try:
            parser.configure_auto_print_model(False)
            parser.configure_terminator(Terminator())
            parser.parse(sorts + text, True, False)
        except bitwuzla.BitwuzlaException as error:
            raise unreadable(text, error) from error
        must("value", bool(parser.statistics()), "a parser without statistics")
        return parser.bitwuzla()


def is_on(run: Run, option: str) -> bool:
    """Whether an option of the instance is on."""
    return cast(BitwuzlaEngine, run.engine.core).settings.is_on(option)


def _constants(terms: Sequence[Any]) -> set[int]:
    return {node.id() for term in terms for node in nodes(term, 10 * MAX_NODES) if node.is_const()}


# Rounded numbers


def _read_numeral(store: Store, token: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) <= 2000):
        raise TraceError(f"a numeral expected, found {token[:20]}")
    return int(token)


NUMERAL = call.Kind(_read_numeral)


# Words of the rows, besides what is defined here.
__all__ = ["ACTIONS", "MODES", "Fraction", "bit_vector", "kind_named", "rounded"]

ACTIONS = declared(Path(__file__).with_suffix(".toml"), "bitwuzla", BitwuzlaAsking, globals())
