"""Actions that only bitwuzla has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz.actions import Action
from apifuzz.actions.reading import read_count, require_count
from apifuzz.calls import Assert, CheckSat
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes, unreadable
from apifuzz.engines.bitwuzla.interpolants import Interpolants
from apifuzz.engines.bitwuzla.limits import Terminator, translated
from apifuzz.engines.bitwuzla.making import MakeRounded, MakeTerm
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, Unsupported
from apifuzz.run import Run
from smtlib import quote_symbol

_LOGIC = re.compile(r"\A\(set-logic [A-Z_]*\)")


class _Plain(Action):
    """An action without arguments."""

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        self.make(run, cast(BitwuzlaEngine, run.engine.core))
        return ()

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        """Make the call."""
        raise NotImplementedError


class InspectOptions(_Plain):
    """``bitwuzla:inspect-options``: every option, asked all it can be asked."""

    name = "bitwuzla:inspect-options"

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        engine.settings.inspect()


class Statistics(_Plain):
    """``bitwuzla:statistics``: names and values, as text."""

    name = "bitwuzla:statistics"

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        with translated():
            found = engine.solver.statistics()
            engine.solver.term_mgr()
        if not found or not all(found):
            raise Misbehaviour("value", f"statistics: {str(found)[:300]}")


class SimplifyAssertions(_Plain):
    """``bitwuzla:simplify-assertions``: the assertions, in place; the last answer is forgotten."""

    name = "bitwuzla:simplify-assertions"

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        engine.simplify_assertions()
        run.changed()


class LimitCheck(Action):
    """``bitwuzla:limit-check N``: the next check asks its terminator N times only: it ends early, mostly."""

    name = "bitwuzla:limit-check"

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return (str(1 + int(run.random.random() * 20)),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        cast(BitwuzlaEngine, run.engine.core).terminator.limit_next(read_count(args[0]))
        return ()


class Assertions(_Plain):
    """``bitwuzla:assertions``: those that were asserted, in order; before the first check only, which puts
    others in their place.
    """

    name = "bitwuzla:assertions"

    def is_possible(self, run: Run) -> bool:
        return cast(BitwuzlaEngine, run.engine.core).untouched

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        _require_untouched(engine)
        with translated():
            found = engine.solver.get_assertions()
        if [t.id() for t in found] != [t.handle.id() for t in engine.stack.terms]:
            raise Misbehaviour("term", f"assertions: {'; '.join(map(str, found))[:1000]}")


class ReadFormula(_Plain):
    """``bitwuzla:read-formula``: what is asserted, printed and read by another instance, has no other answer;
    before the first check only, for bitwuzla 0.9 prints what that one left.
    """

    name = "bitwuzla:read-formula"

    def is_possible(self, run: Run) -> bool:
        return cast(BitwuzlaEngine, run.engine.core).untouched and bool(run.assertions)

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        _require_untouched(engine)
        with translated():
            engine.solver.print_formula("smt2", 16)  # not read: leading zeros are lost
            text = engine.solver.print_formula("smt2", engine.random.choice((2, 10)))
        _require_readable(engine.stack.terms)
        other = engine.sibling()
        for term in engine.stack.terms:
            other.perform(Assert(term))
        answers = (check(_read(engine, text)), other.perform(CheckSat()))
        if {Answer.SAT, Answer.UNSAT} <= set(answers):
            one, two = answers
            raise Misbehaviour("print", f"printed {one}, asserted {two}\n{text[:2000]}")


class PrintCore(_Plain):
    """``bitwuzla:print-core``: the core as a script, which another instance does not find satisfiable."""

    name = "bitwuzla:print-core"

    def is_possible(self, run: Run) -> bool:
        return run.answer is Answer.UNSAT and cast(BitwuzlaEngine, run.engine.core).settings.is_on(
            "produce-unsat-cores"
        )

    def make(self, run: Run, engine: BitwuzlaEngine) -> None:
        run.require_answer(Answer.UNSAT)
        with translated():
            engine.solver.print_unsat_core("smt2", 16)
            text = engine.solver.print_unsat_core("smt2", engine.random.choice((2, 10)))
        _require_readable((*run.assertions, *(run.assumptions or ())))
        if check(_read(engine, text)) is Answer.SAT:
            raise Misbehaviour("core", f"the printed core is satisfiable\n{text[:2000]}")


def _require_untouched(engine: BitwuzlaEngine) -> None:
    if not engine.untouched:
        raise Unsupported("assertions are not as they were asserted after a check")


def _require_readable(terms: Sequence[ApiTerm]) -> None:
    """Unsupported where bitwuzla's parser does not read what its printer writes."""
    for term in terms:
        for node in nodes(term.handle, MAX_NODES):
            if node.kind() == Kind.LAMBDA:
                raise Unsupported("reading back a lambda: the parser has none")
            if node.kind() == Kind.VALUE and node.sort().is_uninterpreted():
                raise Unsupported("reading back a value of an uninterpreted sort")


def _read(engine: BitwuzlaEngine, text: str) -> Any:
    """An instance that has read the script."""
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    # bitwuzla 0.9 prints formulas without declarations of sorts, and with logics that are too small.
    text = _LOGIC.sub("", text, count=1)
    sorts = "".join(f"(declare-sort {quote_symbol(name)} 0)" for name in engine.session.declared)
    try:
        parser.configure_auto_print_model(False)
        parser.configure_terminator(Terminator())
        parser.parse(sorts + text, True, False)
    except bitwuzla.BitwuzlaException as error:
        raise unreadable(text, error) from error
    if not parser.statistics():
        raise Misbehaviour("value", "a parser without statistics")
    return parser.bitwuzla()


ACTIONS: tuple[Action, ...] = (
    InspectOptions(),
    Statistics(),
    SimplifyAssertions(),
    LimitCheck(),
    Assertions(),
    ReadFormula(),
    PrintCore(),
    Interpolants(),
    MakeTerm(),
    MakeRounded(),
)
"""All of them."""

PLACES = (
    ("options", "bitwuzla:inspect-options", 0.05),
    ("terms", "bitwuzla:make-term", 3),
    ("terms", "bitwuzla:make-rounded", 2),
    ("terms", "bitwuzla:simplify-assertions", 0.5),
    ("terms", "bitwuzla:statistics", 0.1),
    ("assert", "bitwuzla:assertions", 0.2),
    ("assert", "bitwuzla:read-formula", 0.3),
    ("check", "bitwuzla:limit-check", 0.3),
    ("unsat", "bitwuzla:print-core", 1),
    ("unsat", "bitwuzla:interpolants", 3),
)
"""State, action, weight."""
