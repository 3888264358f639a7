"""Actions that only bitwuzla has: their names begin with ``bitwuzla:``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz.actions.own import Own
from apifuzz.call import Count
from apifuzz.calls import Assert, CheckSat
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes, unreadable
from apifuzz.engines.bitwuzla.interpolants import Interpolants
from apifuzz.engines.bitwuzla.limits import Terminator
from apifuzz.engines.bitwuzla.making import MakeRounded, MakeTerm
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, Unsupported
from apifuzz.run import Run
from smtlib import quote_symbol

_LOGIC = re.compile(r"\A\(set-logic [A-Z_]*\)")


class _Plain(Own):
    """An action of bitwuzla without arguments."""

    solver = "bitwuzla"


class InspectOptions(_Plain):
    """``bitwuzla:inspect-options``: every option, asked all it can be asked."""

    places = (("options", 0.05),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.settings.inspect()


class Statistics(_Plain):
    """``bitwuzla:statistics``: names and values, as text."""

    places = (("terms", 0.1),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.statistics()
        core.solver.term_mgr()
        if not found or not all(found):
            raise Misbehaviour("value", f"statistics: {str(found)[:300]}")


class SimplifyAssertions(_Plain):
    """``bitwuzla:simplify-assertions``: the assertions, in place; the last answer is forgotten."""

    places = (("terms", 0.5),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.simplify_assertions()


class LimitCheck(Own):
    """``bitwuzla:limit-check N``: the next check asks its terminator N times only: it ends early, mostly."""

    solver = "bitwuzla"
    places = (("check", 0.3),)
    calls: Count

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        return cls(1 + int(run.random.random() * 20))

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.terminator.limit_next(self.calls)


class _BeforeChecks(_Plain):
    """Before the first check only: it puts what is left of the assertions in their place."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return cast(BitwuzlaEngine, run.engine.core).untouched

    def require(self, run: Run) -> None:
        if not cast(BitwuzlaEngine, run.engine.core).untouched:
            raise Unsupported("assertions are not as they were asserted after a check")


class Assertions(_BeforeChecks):
    """``bitwuzla:assertions``: those that were asserted, in order."""

    places = (("assert", 0.2),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.get_assertions()
        if [t.id() for t in found] != [t.handle.id() for t in core.stack.terms]:
            raise Misbehaviour("term", f"assertions: {'; '.join(map(str, found))[:1000]}")


class ReadFormula(_BeforeChecks):
    """``bitwuzla:read-formula``: what is asserted, printed and read by another instance, has no other
    answer.
    """

    places = (("assert", 0.3),)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return super().is_possible(run) and any(run.stack.levels)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.solver.print_formula("smt2", 16)  # not read: leading zeros are lost
        text = core.solver.print_formula("smt2", core.random.choice((2, 10)))
        _require_readable(core.stack.terms)
        other = core.sibling()
        for term in core.stack.terms:
            other.perform(Assert(term))
        answers = (check(_read(core, text)), other.perform(CheckSat()))
        if {Answer.SAT, Answer.UNSAT} <= set(answers):
            one, two = answers
            raise Misbehaviour("print", f"printed {one}, asserted {two}\n{text[:2000]}")


class PrintCore(_Plain):
    """``bitwuzla:print-core``: the core as a script, which another instance does not find satisfiable."""

    places = (("unsat", 1),)
    after = (Answer.UNSAT,)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        core = cast(BitwuzlaEngine, run.engine.core)
        return super().is_possible(run) and core.settings.is_on("produce-unsat-cores")

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.solver.print_unsat_core("smt2", 16)
        text = core.solver.print_unsat_core("smt2", core.random.choice((2, 10)))
        _require_readable((*run.assertions, *(run.assumptions or ())))
        if check(_read(core, text)) is Answer.SAT:
            raise Misbehaviour("core", f"the printed core is satisfiable\n{text[:2000]}")


def _require_readable(terms: Sequence[ApiTerm]) -> None:
    """Unsupported where bitwuzla's parser does not read what its printer writes."""
    for term in terms:
        for node in nodes(term.handle, MAX_NODES):
            if node.kind() == Kind.LAMBDA:
                raise Unsupported("reading back a lambda: the parser has none")
            if node.kind() == Kind.VALUE and node.sort().is_uninterpreted():
                raise Unsupported("reading back a value of an uninterpreted sort")


def _read(core: BitwuzlaEngine, text: str) -> Any:
    """An instance that has read the script."""
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    # bitwuzla 0.9 prints formulas without declarations of sorts, and with logics that are too small.
    text = _LOGIC.sub("", text, count=1)
    sorts = "".join(f"(declare-sort {quote_symbol(name)} 0)" for name in core.session.declared)
    try:
        parser.configure_auto_print_model(False)
        parser.configure_terminator(Terminator())
        parser.parse(sorts + text, True, False)
    except bitwuzla.BitwuzlaException as error:
        raise unreadable(text, error) from error
    if not parser.statistics():
        raise Misbehaviour("value", "a parser without statistics")
    return parser.bitwuzla()


ACTIONS = (
    *(InspectOptions, MakeTerm, MakeRounded, SimplifyAssertions, Statistics, Assertions, ReadFormula),
    *(LimitCheck, PrintCore, Interpolants),
)
"""All of them; in each state of the model they come in this order."""
