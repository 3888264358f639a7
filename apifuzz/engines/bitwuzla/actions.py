"""Actions that only bitwuzla has: their names begin with ``bitwuzla:``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import bitwuzla

from apifuzz.actions import Need, actions_in
from apifuzz.actions.own import Own
from apifuzz.call import Count, up_to
from apifuzz.engines.bitwuzla import interpolants, making
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes, require_readable, unreadable
from apifuzz.engines.bitwuzla.interpolants import SecondInstance, is_on
from apifuzz.engines.bitwuzla.limits import Terminator
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, must
from apifuzz.run import Run
from smtlib import quote_symbol

_LOGIC = re.compile(r"\A\(set-logic [A-Z_]*\)")


class _OfBitwuzla(Own):
    """An action of bitwuzla."""

    solver = "bitwuzla"


class InspectOptions(_OfBitwuzla):
    """``bitwuzla:inspect-options``: every option is asked everything."""

    places = (("options", 0.05),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.settings.inspect()


class Statistics(_OfBitwuzla):
    """``bitwuzla:statistics``: names and values, as text."""

    places = (("terms", 0.1),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.statistics()
        core.solver.term_mgr()
        must("value", bool(found) and all(found), f"statistics: {str(found)[:300]}")


class SimplifyAssertions(_OfBitwuzla):
    """``bitwuzla:simplify-assertions``: the assertions, in place; the last answer is forgotten."""

    places = (("terms", 0.5),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.simplify_assertions()


class LimitCheck(_OfBitwuzla):
    """``bitwuzla:limit-check N``: the next check may ask its terminator N times; mostly it ends early."""

    places = (("check", 0.3),)
    calls: Annotated[Count, up_to(20)]

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.terminator.next_calls = self.calls


_UNTOUCHED = Need(
    lambda run: cast(BitwuzlaEngine, run.engine.core).untouched,
    "assertions are not as they were asserted after a check",
)
"""A check replaces the assertions with what is left of them."""


class Assertions(_OfBitwuzla):
    """``bitwuzla:assertions``: those that were asserted, in order."""

    places = (("assert", 0.2),)
    needs = (_UNTOUCHED,)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.get_assertions()
        if [t.id() for t in found] != [t.handle.id() for t in core.stack.terms]:
            raise Misbehaviour("term", f"assertions: {'; '.join(map(str, found))[:1000]}")


class ReadFormula(_OfBitwuzla):
    """``bitwuzla:read-formula``: the assertions, printed and read by another instance, answer the same."""

    places = (("assert", 0.3),)
    needs = (_UNTOUCHED,)
    likely = (lambda run: any(run.stack.levels),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.solver.print_formula("smt2", 16)  # not read: leading zeros are lost
        text = core.solver.print_formula("smt2", core.random.choice((2, 10)))
        _require_readable(core.stack.terms)
        printed = check(_read(core, text))
        asserted = SecondInstance(core).answer([term.handle for term in core.stack.terms])
        if {printed, asserted} == {Answer.SAT, Answer.UNSAT}:
            raise Misbehaviour("print", f"printed {printed}, asserted {asserted}\n{text[:2000]}")


class PrintCore(_OfBitwuzla):
    """``bitwuzla:print-core``: the core as a script, which another instance does not find satisfiable."""

    places = (("unsat", 1),)
    after = (Answer.UNSAT,)
    likely = (is_on("produce-unsat-cores"),)

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
            require_readable(node)


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
    must("value", bool(parser.statistics()), "a parser without statistics")
    return parser.bitwuzla()


ACTIONS = actions_in(sys.modules[__name__], making, interpolants)
