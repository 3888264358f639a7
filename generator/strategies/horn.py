"""The strategy ``horn``: Horn clauses whose conditions and steps come from a seed formula.

The constants of the seed formula become the variables of the clauses. Some of them are the arguments of each
predicate. Facts, steps and queries take conditions and terms from the seed formula, so that clauses are about
its theory. Of a seed formula that has Horn clauses itself, some clauses are left out. For solvers that know
rules, some tests have rules and a query about them instead.

z3's logic HORN has few theories, and its tactic for Horn clauses has all. Clauses about other theories ask
for the tactic and are for z3 only. Where z3 is not among the solvers, they are in the logic ALL. Clauses in
the logic HORN are for the solvers that have it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from generator.declaring import StrategyEntry, StrategyInputs
from generator.horn_logic import CHECK_BY_HORN, horn_has
from generator.refusals import refused_seed
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.seeds.strategy import TESTS, Mutant, SeedStrategy
from generator.targets import targets_for
from smtlib import BOOL, Declaration, Term, print_command, print_term
from smtlib.horn import NotHorn, read_clauses
from smtlib.printer import all_of, quantified, sort_text
from smtlib.scanner import QUERY
from smtlib.shapes import COMMANDS
from smtlib.sorts import INT
from solvers.specs import specs_by_kin

_EMPTY = "(set-logic HORN)\n(check-sat)\n"
_MOST_VARIABLES = 8
_MOST_ARGUMENTS = 4
_KEPT_SHARE = 0.85
_MOVED_SHARE = 0.5
_RULES_SHARE = 0.3
_JUDGES = ("horn", "own-model")
_JUDGES_OF_RULES = ("horn", "own-model", "fixedpoint", "derivation")
_Way: TypeAlias = Literal["logic", "tactic", "all", "rules"]
"""How a solver is asked: in the logic HORN, by z3's tactic, in the logic ALL, or by rules."""
ONLY = COMMANDS[QUERY].only
"""The solvers that know rules."""


class Horn(SeedStrategy):
    """Horn clauses from parts of seed formulas."""

    name = "horn"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs)
        self._know_rules = not inputs.families.isdisjoint(ONLY)
        kinds = specs_by_kin(inputs.settings.solvers)
        having = tuple(kin for kin, specs in kinds.items() if targets_for(specs).accept(_EMPTY))
        self._some_have = bool(having or not kinds)
        self._having = () if len(having) == len(kinds) else having

    def why_not(self, script: SeedScript) -> str:
        """Why no tests are made from a seed. What only other solvers refuse makes them tests for those that
        know rules."""
        return refused_seed(script, frozenset(ONLY) if self._know_rules else self.families)

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Other clauses each time."""
        script = seed.script()
        is_horn = _is_horn(script)
        maker = None if is_horn else _maker(seed)
        if maker is None and not is_horn:
            return
        way: _Way = "tactic" if self._know_rules else "all"
        is_for_all = horn_has(script, script.assertions) and not refused_seed(script, self.families)
        if is_for_all and self._some_have:
            way = "logic"
        while maker is None:
            yield self._mutant(seed, _subset(script, way, chance), way, chance)
        while True:
            drawn: _Way = "rules" if chance.random() < _RULES_SHARE and self._know_rules else way
            yield self._mutant(seed, maker.text(drawn, chance), drawn, chance)

    def _mutant(self, seed: Seed, text: str, way: _Way, chance: random.Random) -> Mutant:
        judge = chance.choice(_JUDGES_OF_RULES if way == "rules" else _JUDGES)
        only = {"logic": self._having, "all": ()}.get(way, ONLY)
        return Mutant(lambda: text, (seed,), only=only, judged_by=judge)


def _is_horn(script: SeedScript) -> bool:
    declared = script.declared
    if not declared or any(d.result is not BOOL for d in declared) or not any(d.params for d in declared):
        return False
    try:
        return bool(read_clauses(script.assertions, set(declared)))
    except NotHorn:
        return False


def _subset(script: SeedScript, way: _Way, chance: random.Random) -> str:
    """Some of the seed formula's clauses, in another order."""
    kept = [term for term in script.assertions if chance.random() < _KEPT_SHARE] or list(script.assertions)
    chance.shuffle(kept)
    return _script(way, [*map(print_command, script.prelude)], [print_term(term) for term in kept])


def _script(way: _Way, head: list[str], clauses: list[str]) -> str:
    logic = "HORN" if way == "logic" else "ALL"
    check = CHECK_BY_HORN if way == "tactic" else "(check-sat)"
    lines = [f"(set-logic {logic})", *head, *(f"(assert {clause})" for clause in clauses), check]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Predicate:
    """A predicate and the constants of the seed formula that its arguments stand for."""

    name: str
    home: tuple[Declaration, ...]

    @property
    def sorts(self) -> str:
        return f"({' '.join(sort_text(d.result) for d in self.home)})"

    def of(self, args: list[str]) -> str:
        return f"({self.name} {' '.join(args)})"


class _Maker:
    """Makes clauses from the parts of one seed formula."""

    def __init__(self, script: SeedScript, prefix: str) -> None:
        self._prefix = prefix
        self._variables = script.constants
        self._head = script.prelude_without(self._variables)
        plain = [term for term in script.closed if not term.variables]
        self._conditions = [term for term in plain if term.sort is BOOL]
        self._terms: dict[str, list[Term]] = {}
        for term in plain:
            self._terms.setdefault(sort_text(term.sort), []).append(term)
        self._bound = [(d.name, d.result) for d in self._variables]

    def text(self, way: _Way, chance: random.Random) -> str:
        """A script of facts, steps and queries."""
        most = min(_MOST_ARGUMENTS, len(self._variables))
        predicates = [
            _Predicate(f"{self._prefix}{n}", tuple(chance.sample(self._variables, chance.randint(1, most))))
            for n in range(chance.randint(1, 3))
        ]
        clauses = [self._fact(chance.choice(predicates), chance) for _ in range(chance.randint(1, 2))]
        clauses += [self._step(predicates, chance) for _ in range(chance.randint(1, 4))]
        goal = f"{self._prefix}-goal" if way == "rules" else "false"
        clauses += [self._query(chance.choice(predicates), goal, chance) for _ in range(chance.randint(1, 2))]
        if way != "rules":
            declared = [f"(declare-fun {p.name} {p.sorts} Bool)" for p in predicates]
            return _script(way, [*self._head, *declared], clauses)
        declared = [f"(declare-rel {p.name} {p.sorts})" for p in predicates]
        rules = [f"(rule {clause})" for clause in clauses]
        lines = [*self._head, *declared, f"(declare-rel {goal} ())", *rules, f"(query {goal})"]
        return "\n".join(lines) + "\n"

    def _clause(self, premises: list[str], conclusion: str) -> str:
        return quantified("forall", self._bound, f"(=> {all_of(premises)} {conclusion})")

    def _fact(self, predicate: _Predicate, chance: random.Random) -> str:
        return self._clause(self._some_conditions(chance), predicate.of(self._moved(predicate, chance)))

    def _step(self, predicates: list[_Predicate], chance: random.Random) -> str:
        premises = [_at_home(chance.choice(predicates))]
        if chance.random() < 0.2:
            other = chance.choice(predicates)
            premises.append(other.of(self._moved(other, chance)))
        target = chance.choice(predicates)
        conclusion = target.of(self._moved(target, chance))
        return self._clause([*premises, *self._some_conditions(chance)], conclusion)

    def _query(self, predicate: _Predicate, goal: str, chance: random.Random) -> str:
        return self._clause([_at_home(predicate), *self._some_conditions(chance)], goal)

    def _some_conditions(self, chance: random.Random) -> list[str]:
        count = min(len(self._conditions), chance.randrange(3))
        texts = [print_term(term) for term in chance.sample(self._conditions, count)]
        return [f"(not {text})" if chance.random() < 0.4 else text for text in texts]

    def _moved(self, predicate: _Predicate, chance: random.Random) -> list[str]:
        """Arguments: the constants themselves, or terms of the same sorts."""
        found = []
        for constant in predicate.home:
            terms = self._terms.get(sort_text(constant.result))
            if chance.random() >= _MOVED_SHARE:
                found.append(constant.name)
            elif constant.result is INT and (not terms or chance.random() < 0.5):
                found.append(f"(+ {constant.name} {chance.choice(('1', '2', '(- 1)'))})")
            else:
                found.append(print_term(chance.choice(terms)) if terms else constant.name)
        return found


def _at_home(predicate: _Predicate) -> str:
    return predicate.of([d.name for d in predicate.home])


def _maker(seed: Seed) -> _Maker | None:
    """None if the seed formula has symbols that cannot become variables."""
    script = seed.script()
    variables = script.constants
    if (
        not 0 < len(variables) <= _MOST_VARIABLES
        or set(script.declared) - set(variables)
        or any(command.name == "declare-sort" for command in script.prelude)
        or variables != script.bindable
    ):
        return None
    prefix = "reach"
    while prefix in seed.text:
        prefix += "!"
    return _Maker(script, prefix)


ENTRY = StrategyEntry(
    name="horn",
    about="Horn clauses whose conditions and steps come from a seed formula",
    takes="seeds",
    knows="nothing",
    make=Horn,
    needs=frozenset(("seeds",)),
    settings=(TESTS,),
)
