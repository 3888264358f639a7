"""Questions to the solver: about assertions, options, statistics, proofs, literals, models beyond values."""

from __future__ import annotations

from typing import Annotated, Any, Self

import cvc5

from apifuzz.actions import MAY_CHANGE, Need, option
from apifuzz.call import AnyClosed, Drawn, draw_formula, one_of
from apifuzz.engines.cvc5.actions.base import (
    INCREMENTAL,
    Cvc5Action,
    SecondSolver,
    handles,
    has_assertions,
    has_quantifier,
    has_skolem,
    is_plain,
    kind_named,
    names_of,
)
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.inspection import inspect_value
from apifuzz.engines.cvc5.solving import answer
from apifuzz.engines.walking import walk
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, TermKind, Unsupported, expect, must
from apifuzz.run import Run

_MOST_PROOF_NODES = 300


class GetAssertions(Cvc5Action):
    """``cvc5:get-assertions``: what was asserted is among them; definitions and the like may be, too."""

    places = (("terms", 0.3),)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        found = set(core.session.solver.getAssertions())
        for assertion in core.stack.asserted:
            there = assertion.mark in found
            must("core", there, f"the assertion {assertion.term} is not among the solver's")


class GetOptions(Cvc5Action):
    """``cvc5:get-options``: what was set is reported as set. The value is not compared: other options may
    have changed it.
    """

    places = (("terms", 0.1),)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver = core.session.solver
        for name in core.session.options:
            info = solver.getOptionInfo(name)
            current = str(info.get("current", "")).lower()
            expect("value", info["setByUser"], True, f"the option {name} is set")
            if info["type"] in (bool, "mode"):
                expect("value", solver.getOption(name), current, f"the option {name}")


class GetStatistics(Cvc5Action):
    """``cvc5:get-statistics``: of the solver and of the term manager."""

    places = (("terms", 0.1),)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session = core.session
        for statistics in (session.solver.getStatistics(), session.manager.getStatistics()):
            shown = statistics.get(session.random.happens(0.5), session.random.happens(0.5))
            for name in list(shown)[:20]:
                expect("value", "value" in statistics[name], True, f"the statistic {name} has a value")
            expect("value", len(list(statistics)) >= len(shown), True, "statistics walked through")


class GetInfo(Cvc5Action):
    """``cvc5:get-info``: what the solver says about itself."""

    places = (("terms", 0.3),)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver = core.session.solver
        for flag in ("name", "version", "authors", "error-behavior", "status"):
            solver.getInfo(flag)
        levels = solver.getInfo("assertion-stack-levels").decode().strip("()").split()[-1]
        expect("value", levels, str(len(run.stack.levels) - 1), "the number of levels")
        if run.stack.answer is Answer.UNKNOWN:
            solver.getInfo("reason-unknown")
        solver.setInfo("source", "none")
        is_set = solver.isLogicSet()
        if core.session.logic:
            expect("value", is_set, True, "a logic is set")
            expect("value", solver.getLogic(), core.session.logic, "the logic")
        expect("value", solver.getTermManager() is not None, True, "the term manager is there")


class GetInstantiations(Cvc5Action):
    """``cvc5:get-instantiations``: after a check with quantifiers."""

    places = (("unsat", 0.3), ("unknown", 0.3))
    after = (Answer.UNSAT, Answer.UNKNOWN)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        core.session.solver.getInstantiations()


class GetDifficulty(Cvc5Action):
    """``cvc5:get-difficulty``: a natural number for some of the assertions."""

    places = (("sat", 0.7), ("unsat", 0.7), ("unknown", 0.7))
    needs = (option("produce-difficulty=true"),)
    after = tuple(Answer)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        try:
            difficulties = core.session.solver.getDifficulty()
        except TypeError as error:
            # 1.4.2 makes its answer of the wrong things, unless it is empty.
            raise Unsupported(f"its Python interface cannot answer: {error}") from error
        for formula, difficulty in difficulties.items():
            if not difficulty.isIntegerValue() or difficulty.getIntegerValue() < 0:
                raise Misbehaviour("value", f"{formula!s:.200} is {difficulty} difficult")


_LITERALS = names_of(cvc5.LearnedLitType)


class GetLearnedLiterals(Cvc5Action):
    """``cvc5:get-learned-literals KIND``: they follow from the assertions."""

    places = (("sat", 0.7), ("unsat", 0.7), ("unknown", 0.7))
    needs = (option("produce-learned-literals=true"),)
    after = tuple(Answer)
    kind: Annotated[str, kind_named(_LITERALS, "kind of literals:")]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver, kind = core.session.solver, _LITERALS[self.kind]
        is_input = kind is cvc5.LearnedLitType.INPUT
        if is_input and core.session.random.happens(0.5):
            literals = solver.getLearnedLiterals()
        else:
            literals = solver.getLearnedLiterals(kind)
        given = [*handles(run.stack.terms), *handles(run.stack.assumptions or ())]
        for literal in literals[:3]:
            # A definition would be made a second time, at which cvc5 aborts.
            if not has_skolem(literal) and not has_quantifier(literal):
                SecondSolver(core).must_follow(given, literal, "a learned literal")


_COMPONENTS = names_of(cvc5.ProofComponent)
_FORMATS = names_of(cvc5.ProofFormat)
_REWRITES = (cvc5.ProofRule.DSL_REWRITE, cvc5.ProofRule.THEORY_REWRITE)


class GetProof(Cvc5Action):
    """``cvc5:get-proof COMPONENT FORMAT``: walked through and printed."""

    places = (("unsat", 2.0),)
    needs = (option("produce-proofs=true"),)
    after = (Answer.UNSAT,)
    component: Annotated[str, kind_named(_COMPONENTS, "component of proofs:")]
    form: Annotated[str, kind_named(_FORMATS, "format of proofs:")]

    @classmethod
    def draw(cls, run: Run) -> Self:
        component = run.random.pick(list(_COMPONENTS))
        return cls(component, run.random.pick(list(_FORMATS) if component == "full" else ["none"]))

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session, component = core.session, _COMPONENTS[self.component]
        session.require_assumptions()
        solver = session.solver
        is_full = component is cvc5.ProofComponent.FULL
        proofs = solver.getProof() if is_full and session.random.happens(0.5) else solver.getProof(component)
        if is_full:
            expect("value", len(proofs), 1, "the number of full proofs")
        for proof in proofs:
            _walk(proof)
            solver.proofToString(proof, _FORMATS[self.form])
        if is_full and proofs[0].getRule() is not cvc5.ProofRule.SCOPE:
            expect("value", proofs[0].getResult(), session.manager.mkFalse(), "what the proof proves")


def _walk(proof: Any) -> None:
    for node in walk([proof], lambda node: node.getChildren(), most=_MOST_PROOF_NODES):
        rule = node.getRule()
        if rule in _REWRITES:
            node.getRewriteRule()
        expect("value", node.getResult().getSort().isBoolean(), True, f"conclusion of {rule}")
        for argument in node.getArguments():
            expect("value", argument.isNull(), False, f"argument of {rule} is null")
        expect("value", node == node, True, f"{rule} against itself")


class GetCoreLemmas(Cvc5Action):
    """``cvc5:get-core-lemmas``: the lemmas of the theories that made the assertions unsatisfiable."""

    places = (("unsat", 1.0),)
    needs = (option("produce-unsat-cores=true"), option("unsat-cores-mode=sat-proof"))
    after = (Answer.UNSAT,)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        core.session.require_assumptions()
        for lemma in core.session.solver.getUnsatCoreLemmas():
            expect("value", lemma.getSort().isBoolean(), True, "a lemma is a formula")


def _draw_assumed(run: Run) -> tuple[ApiTerm, ...]:
    assumed = draw_formula(run)
    return () if run.random.happens(0.5) or assumed is None else (assumed,)


class TimeoutCore(Cvc5Action):
    """``cvc5:timeout-core FORMULA...``: under assumptions, where there are some."""

    places = (("assert", 0.03),)
    needs = (
        option("produce-unsat-cores=true"),
        Need(
            lambda run: not (run.is_set("produce-abducts=true") or run.is_set("produce-interpolants=true")),
            "cores are not with synthesis",
        ),
        MAY_CHANGE,
    )
    likely = (has_assertions,)
    assumed: Annotated[AnyClosed, Drawn(_draw_assumed)]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        assumed = [core.session.expand(handle) for handle in handles(self.assumed)]
        solver, second = core.session.solver, SecondSolver(core)
        run.stack.changed()
        # It counts as a check: without incremental solving no other one may follow.
        run.checks += 1
        result, found = solver.getTimeoutCoreAssuming(*assumed) if assumed else solver.getTimeoutCore()
        if result.isUnsat():
            given = handles(run.stack.terms) if assumed else []
            second.must_not_be(Answer.SAT, "core", [*given, *found], "a timeout core that is unsat")
        elif result.isSat():
            expect("core", len(found), 0, "the size of a timeout core that is sat")
            formulas = [*handles(run.stack.terms), *assumed]
            second.must_not_be(Answer.UNSAT, "answer", formulas, "what a timeout core finds sat")


# Models beyond values: domains, cores of models, and models that are blocked


_MOST_MODELS = 3
_MODES = names_of(cvc5.BlockModelsMode)


class InspectModel(Cvc5Action):
    """``cvc5:inspect-model CONSTANT...``: domains of sorts, cores, the model of these constants."""

    places = (("sat", 0.7),)
    needs = (option("produce-models=true"),)
    after = (Answer.SAT,)
    constants: Annotated[AnyClosed, Drawn(lambda run: tuple(run.store.constants()[-3:]))]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver = core.session.solver
        constants = [c for c in self.constants if c.kind is TermKind.CONSTANT]
        sorts = [s for s in core.sorts.declared.values() if s.isUninterpretedSort()]
        for sort in sorts:
            for element in solver.getModelDomainElements(sort):
                expect("model", element.getSort(), sort, f"the sort of an element of {sort}")
                inspect_value(element, f"an element of {sort}")
        for constant in constants:
            solver.isModelCoreSymbol(constant.handle)
        must("model", bool(str(solver.getModel(sorts, handles(constants))).strip()), "an empty text as model")


class BlockModel(Cvc5Action):
    """``cvc5:block-model MODE TERM...``: on a level of its own, models are blocked until there are no more or
    a few were seen. Blocked values must not come again.
    """

    places = (("sat", 0.7),)
    needs = (option("produce-models=true"), INCREMENTAL)
    after = (Answer.SAT,)
    mode: Annotated[str, one_of(*_MODES, "terms")]
    terms: AnyClosed

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if run.random.happens(0.5):
            return cls("literals" if run.random.happens(0.7) else "values", ())
        constants = run.store.constants(is_plain)
        return cls("terms", tuple(constants[:2])) if constants else None

    def act(self, run: Run, core: Cvc5Engine) -> None:
        terms = handles(self.terms)
        if self.mode not in _MODES and not terms:
            raise Unsupported(f"no way to block a model: {self.mode}")
        solver = core.session.solver
        run.stack.changed()
        solver.push(1)
        before: list[Any] = []
        for _ in range(_MOST_MODELS):
            if answer(solver.checkSat()) is not Answer.SAT:
                break
            if terms:
                values = solver.getValue(terms)
                must("model", values not in before, f"the blocked values {values!s:.200} come again")
                before.append(values)
                solver.blockModelValues(terms)
            else:
                solver.blockModel(_MODES[self.mode])
        solver.pop(1)
