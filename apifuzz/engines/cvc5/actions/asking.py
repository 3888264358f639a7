"""Questions to the solver that change nothing: about assertions, options, statistics, proofs, literals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvc5

from apifuzz.actions.reading import read_closed, read_name, require_count
from apifuzz.engines.cvc5.actions.base import (
    Cvc5Action,
    draw_formula,
    handles,
    has_quantifier,
    has_skolem,
    must_not_be,
)
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.interface import Answer, Misbehaviour, Unsupported, expect
from apifuzz.run import Run

_MOST_PROOF_NODES = 300


class GetAssertions(Cvc5Action):
    """``cvc5:get-assertions``: what was asserted is among them; definitions and the like may be, too."""

    name = "cvc5:get-assertions"

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        found = set(engine.session.solver.getAssertions())
        for assertion in engine.stack.asserted:
            if assertion.mark not in found:
                raise Misbehaviour("core", f"the assertion {assertion.term} is not among the solver's")
        return ()


class GetOptions(Cvc5Action):
    """``cvc5:get-options``: what was set is told to be set. To what is not compared: other options may have
    changed it.
    """

    name = "cvc5:get-options"

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        solver = engine.session.solver
        for name in engine.session.options:
            info = solver.getOptionInfo(name)
            told = str(info.get("current", "")).lower()
            expect("value", info["setByUser"], True, f"the option {name} is set")
            if info["type"] in (bool, "mode"):
                expect("value", solver.getOption(name), told, f"the option {name}")
        return ()


class GetStatistics(Cvc5Action):
    """``cvc5:get-statistics``: of the solver and of the term manager."""

    name = "cvc5:get-statistics"

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        for statistics in (engine.session.solver.getStatistics(), engine.session.manager.getStatistics()):
            shown = statistics.get(engine.session.chance(0.5), engine.session.chance(0.5))
            for name in list(shown)[:20]:
                expect("value", "value" in statistics[name], True, f"the statistic {name} has a value")
            expect("value", len(list(statistics)) >= len(shown), True, "statistics walked through")
        return ()


class GetInfo(Cvc5Action):
    """``cvc5:get-info``: what the solver tells of itself."""

    name = "cvc5:get-info"

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        solver = engine.session.solver
        for flag in ("name", "version", "authors", "error-behavior", "status"):
            solver.getInfo(flag)
        levels = solver.getInfo("assertion-stack-levels").decode()
        expect(
            "value", levels.strip("()").split()[-1], str(len(run.stack.levels) - 1), "the number of levels"
        )
        if run.answer is Answer.UNKNOWN:
            solver.getInfo("reason-unknown")
        solver.setInfo("source", "none")
        is_set = solver.isLogicSet()
        if engine.session.logic:
            expect("value", is_set, True, "a logic is set")
            expect("value", solver.getLogic(), engine.session.logic, "the logic")
        expect("value", solver.getTermManager() is not None, True, "the term manager is there")
        return ()


class GetInstantiations(Cvc5Action):
    """``cvc5:get-instantiations``: after a check with quantifiers."""

    name = "cvc5:get-instantiations"
    after = (Answer.UNSAT, Answer.UNKNOWN)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        engine.session.solver.getInstantiations()
        return ()


class GetDifficulty(Cvc5Action):
    """``cvc5:get-difficulty``: a natural number for some of the assertions."""

    name = "cvc5:get-difficulty"
    needs = (("produce-difficulty", "true"),)
    after = (Answer.SAT, Answer.UNSAT, Answer.UNKNOWN)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        try:
            difficulties = engine.session.solver.getDifficulty()
        except TypeError as error:
            # 1.4.2 makes its answer of the wrong things, unless it is empty.
            raise Unsupported(f"its Python interface cannot answer: {error}") from error
        for formula, difficulty in difficulties.items():
            if not difficulty.isIntegerValue() or difficulty.getIntegerValue() < 0:
                raise Misbehaviour("value", f"{formula!s:.200} is {difficulty} difficult")
        return ()


_LITERALS = {kind.name.lower().replace("_", "-"): kind for kind in cvc5.LearnedLitType}


class GetLearnedLiterals(Cvc5Action):
    """``cvc5:get-learned-literals KIND``: they follow from the assertions."""

    name = "cvc5:get-learned-literals"
    needs = (("produce-learned-literals", "true"),)
    after = (Answer.SAT, Answer.UNSAT, Answer.UNKNOWN)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        kinds = list(_LITERALS)
        return (kinds[int(run.random.random() * len(kinds))],)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        kind = _LITERALS.get(read_name(args[0]))
        if kind is None:
            raise Unsupported(f"no kind of literals: {args[0]}")
        solver = engine.session.solver
        is_input = kind is cvc5.LearnedLitType.INPUT
        literals = (
            solver.getLearnedLiterals()
            if is_input and engine.session.chance(0.5)
            else solver.getLearnedLiterals(kind)
        )
        given = [*handles(run.assertions), *handles(run.assumptions or ())]
        for literal in literals[:3]:
            # A definition would be made a second time, at which cvc5 aborts.
            if not has_skolem(literal) and not has_quantifier(literal):
                told = f"the assertions and the negation of the learned {literal!s:.200}"
                must_not_be(engine, Answer.SAT, "answer", [*given, literal.notTerm()], told)
        return ()


class GetProof(Cvc5Action):
    """``cvc5:get-proof COMPONENT FORMAT``: walked through and printed."""

    name = "cvc5:get-proof"
    needs = (("produce-proofs", "true"),)
    after = (Answer.UNSAT,)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        component = list(_COMPONENTS)[int(run.random.random() * len(_COMPONENTS))]
        formats = list(_FORMATS) if component == "full" else ["none"]
        return component, formats[int(run.random.random() * len(formats))]

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        component, form = _COMPONENTS.get(read_name(args[0])), _FORMATS.get(read_name(args[1]))
        if component is None or form is None:
            raise Unsupported(f"no component or format of proofs: {args[0]} {args[1]}")
        engine.session.require_assumptions()
        solver = engine.session.solver
        is_full = component is cvc5.ProofComponent.FULL
        proofs = solver.getProof() if is_full and engine.session.chance(0.5) else solver.getProof(component)
        if is_full:
            expect("value", len(proofs), 1, "the number of full proofs")
        for proof in proofs:
            _walk(proof, is_full)
            solver.proofToString(proof, form)
        closed = (engine.session.manager.mkFalse(), cvc5.ProofRule.SCOPE)
        if is_full and proofs[0].getResult() != closed[0] and proofs[0].getRule() is not closed[1]:
            raise Misbehaviour("value", f"the proof proves {proofs[0].getResult()!s:.200}, not false")
        return ()


_COMPONENTS = {c.name.lower().replace("_", "-"): c for c in cvc5.ProofComponent}
_FORMATS = {f.name.lower(): f for f in cvc5.ProofFormat}
_REWRITES = (cvc5.ProofRule.DSL_REWRITE, cvc5.ProofRule.THEORY_REWRITE)


def _walk(proof: Any, is_full: bool) -> None:
    for node in _nodes(proof):
        rule = node.getRule()
        if rule in _REWRITES:
            node.getRewriteRule()
        expect("value", node.getResult().getSort().isBoolean(), True, f"conclusion of {rule}")
        for argument in node.getArguments():
            expect("value", argument.isNull(), False, f"argument of {rule} is null")
        expect("value", node == node, True, f"{rule} against itself")


def _nodes(proof: Any) -> Iterator[Any]:
    todo = [proof]
    seen: set[Any] = set()
    while todo and len(seen) < _MOST_PROOF_NODES:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            yield node
            todo.extend(node.getChildren())


class GetCoreLemmas(Cvc5Action):
    """``cvc5:get-core-lemmas``: the lemmas of the theories that made the assertions unsatisfiable."""

    name = "cvc5:get-core-lemmas"
    needs = (("produce-unsat-cores", "true"), ("unsat-cores-mode", "sat-proof"))
    after = (Answer.UNSAT,)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        engine.session.require_assumptions()
        for lemma in engine.session.solver.getUnsatCoreLemmas():
            expect("value", lemma.getSort().isBoolean(), True, "a lemma is a formula")
        return ()


_SYNTHESIS = ("produce-abducts", "produce-interpolants")


class TimeoutCore(Cvc5Action):
    """``cvc5:timeout-core FORMULA...``: under assumptions, where there are some."""

    name = "cvc5:timeout-core"
    needs = (("produce-unsat-cores", "true"),)

    def is_possible(self, run: Run) -> bool:
        if any(run.options.get(name) == "true" for name in _SYNTHESIS):
            return False
        return super().is_possible(run) and any(run.stack.levels) and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        assumed = draw_formula(run)
        return () if run.random.random() < 0.5 or assumed is None else (str(assumed),)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        if any(run.options.get(name) == "true" for name in _SYNTHESIS):
            raise Unsupported("cores are not with synthesis")
        if not run.may_change:
            raise Unsupported("a second check, without incremental solving")
        assumed = [engine.session.expand(handle) for handle in handles(read_closed(run, args))]
        solver = engine.session.solver
        run.changed()
        # It counts as a check: without incremental solving no other one may follow.
        run.checks += 1
        result, core = solver.getTimeoutCoreAssuming(*assumed) if assumed else solver.getTimeoutCore()
        if result.isUnsat():
            given = handles(run.assertions) if assumed else []
            must_not_be(engine, Answer.SAT, "core", [*given, *core], "a timeout core that is unsat")
        elif result.isSat():
            expect("core", len(core), 0, "the size of a timeout core that is sat")
            formulas = [*handles(run.assertions), *assumed]
            must_not_be(engine, Answer.UNSAT, "answer", formulas, "what a timeout core finds sat")
        return ()


ASKING = (
    GetAssertions(),
    GetOptions(),
    GetStatistics(),
    GetInfo(),
    GetInstantiations(),
    GetDifficulty(),
    GetLearnedLiterals(),
    GetProof(),
    GetCoreLemmas(),
    TimeoutCore(),
)
