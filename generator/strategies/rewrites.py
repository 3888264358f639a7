"""The strategy ``rewrites``: terms that look like the left side of a solver's rewrite rules.

A rewriter changes a term only where one of its rules matches, and few terms drawn at random match any. cvc5
prints the rules that its proofs rely on (Nötzli et al., FMCAD 2022). An instance of a rule is drawn as the
audit of these rules draws it: widths, indices, and most numbers and lists have values with which the premises
hold. Its left side takes the place of a term of its sort in a formula; what the rule leaves open is filled
with terms of the formula. The result is the next formula of the chain, as in Park, Winterer, Zhang, Su
(OOPSLA 2021).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from generator.declaring import StrategyEntry, StrategyInputs
from generator.rewriting.draw import Drawing
from generator.rewriting.rules import Assignment, Parameter, Rule, Unknown, read_rules
from generator.rewriting.script import InstanceText
from generator.seeds.source import SeedSource
from generator.settings import Value
from generator.strategies.mutation.places import Place
from generator.strategies.transplant import GRAFT_SETTINGS, GUARDED, Graft, GraftStrategy, TransplantChain
from smtlib import Sort, check_script, read_script
from solvers.specs import families_with_rules, find_solver

NO_INSTANCE = "attempts with no instance of a rule of the sort"

_INSTANCES = 8
"""Instances of each rule for each width of bit-vectors."""
_DRAWS = 20
"""Draws of values for an instance; the last is taken even where a premise does not hold."""
_USUAL_WIDTH = 8
_OPEN_SHARE = 0.7
"""Share of instances in which numbers and the elements of lists are open, too."""
_KEPT = 20_000
"""Instances that are kept; corpora have hundreds of widths."""
_RULES_DRAWN = 6
"""Draws of a rule until one has an instance over sorts that the formula has."""


class _LeftSide(InstanceText):
    """The left side of a rule with names for what is open: with ``opens`` also the elements of lists, and the
    numbers of rules that are not about widths.
    """

    def __init__(self, rule: Rule, values: Assignment, opens: bool) -> None:
        self._opens = opens and not any(p.name.startswith("@n") for p in rule.parameters)
        self.declared: dict[str, str] = {}
        super().__init__(rule, values)

    def is_inline(self, parameter: Parameter) -> bool:
        if self._opens and parameter.sort == "Int":
            return parameter.is_list
        return super().is_inline(parameter)

    def script(self) -> str:
        """A script whose last assertion compares the left side with itself."""
        for parameter in self._rule.parameters:
            if not self.is_inline(parameter):
                self.declared[parameter.name] = self.sort(parameter.sort)
        left = self.term(self._rule.conclusion[1])
        lines = [f"(declare-const {name} {sort})" for name, sort in self.declared.items()]
        return "\n".join([*lines, f"(assert (= {left} {left}))"])

    def _elements(self, name: str) -> list[str]:
        if not self._opens or self._inline[name] == "RegLan":
            return super()._elements(name)
        names = [f"{name}!{number}" for number in range(len(self._values[name]))]
        self.declared |= dict.fromkeys(names, self._inline[name])
        return names


class Rewrites(GraftStrategy):
    """Chains of instances of rules."""

    name = "rewrites"

    def __init__(
        self,
        seeds: SeedSource,
        seed: int,
        settings: Mapping[str, Value],
        solvers: Sequence[str],
        rules: Sequence[Rule],
    ) -> None:
        super().__init__(seeds, seed, settings, solvers)
        self._instances: dict[tuple[str, int, int], Graft | None] = {}
        self._by_sort: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            if (graft := self._instance(rule, _USUAL_WIDTH, 0)) is not None:
                self._by_sort[graft.root.sort.name].append(rule)
        self._rules = sha256("".join(map(repr, rules)).encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """Names the seeds and the rules that the tests come from."""
        return f"{self.seeds.fingerprint[:8]}{self._rules[:8]}"

    def attempt(self, chain: TransplantChain, chance: random.Random) -> bool:
        """One try to put the left side of a rule into the place of a term."""
        found = chain.place(chance)
        if found is None:
            return False
        number, place = found
        graft = self._draw(chain, place, chance)
        if graft is None:
            self.counts[NO_INSTANCE] += 1
            return False
        return self.plant(chain, number, place, graft, chance)

    def _draw(self, chain: TransplantChain, place: Place, chance: random.Random) -> Graft | None:
        """A left side of the sort of a place, rather one over sorts that the formula has."""
        sort = place.term.sort
        rules = self._by_sort.get(sort.name)
        if not rules:
            return None
        width = _width(sort) or _width_of_some(chain.sorts, chance)
        usable = None
        for _ in range(_RULES_DRAWN):
            rule = rules[int(chance.random() * len(rules))]
            graft = self._instance(rule, width, int(chance.random() * _INSTANCES))
            if graft is None or graft.root.sort is not sort:
                continue
            if not self.operators.guarded_theories(graft.operators) <= chain.guarded:
                self.counts[GUARDED] += 1
                continue
            usable = graft
            if all(slot.result in chain.sorts for slot in graft.slots):
                break
        return usable

    def _instance(self, rule: Rule, width: int, number: int) -> Graft | None:
        """An instance of a rule, always the same for a number; None if there is none that the targets
        know.
        """
        key = (rule.name, width, number)
        if key not in self._instances:
            if len(self._instances) >= _KEPT:
                self._instances.clear()
            graft = _instance(rule, width, random.Random(f"{self.seed}/{rule.name}/{width}/{number}"))
            known = graft is not None and all(map(self.operators.knows, graft.operators))
            self._instances[key] = graft if known else None
        return self._instances[key]


def _width(sort: Sort) -> int:
    return sort.indices[0] if sort.name == "BitVec" else 0


def _width_of_some(sorts: frozenset[Sort], chance: random.Random) -> int:
    widths = sorted(filter(None, map(_width, sorts)))
    return widths[int(chance.random() * len(widths))] if widths else _USUAL_WIDTH


def _instance(rule: Rule, width: int, chance: random.Random) -> Graft | None:
    """An instance whose premises hold, else one whose premises nearly hold; None if there is none."""
    values, most = None, -1
    for _ in range(_DRAWS):
        try:
            drawn = Drawing(chance, width).draw(rule)
            met = -1 if drawn is None else rule.judge(drawn).met
        except Unknown:
            return None
        if met > most:
            values, most = drawn, met
        if most > len(rule.premises):
            break
    if values is None:
        return None
    try:
        script = _LeftSide(rule, values, chance.random() < _OPEN_SHARE).script()
    except Unknown:
        return None
    checked = check_script(read_script(script))
    if checked.errors:
        return None
    return Graft.of_term(f"left side of {rule.name}", checked.assertions[-1].args[0])


@lru_cache(maxsize=1)
def _printed_rules() -> tuple[Rule, ...]:
    """The rules of the first solver that prints any."""
    family = families_with_rules()[0]
    return tuple(read_rules(find_solver(family).printed_rules()))


def _make(inputs: StrategyInputs) -> Rewrites:
    given = inputs.settings
    return Rewrites(inputs.seeds, given.seed, inputs.values, given.solvers, _printed_rules())


ENTRY = StrategyEntry(
    "rewrites",
    "left sides of a solver's rewrite rules in the places of a formula's terms, over its own terms",
    "seeds",
    "nothing",
    _make,
    frozenset(("seeds",)),
    GRAFT_SETTINGS,
)
