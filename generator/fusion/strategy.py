"""The strategy ``fusion``: two formulas of one answer joined into a formula of that answer.

Source: Winterer, Zhang, Su, "Validating SMT Solvers via Semantic Fusion" (PLDI 2020), Section 3. A variable x
of the one formula and y of the other are tied to a new variable z = f(x, y); some occurrences of x become
g(y, z), some of y h(x, z), where g and h give x and y back. Satisfiable formulas are joined by
conjunction: models of both, with f's value for z, satisfy it. Unsatisfiable ones are joined by
disjunction, and the ties are asserted: under them each side means what it meant.

Two things the paper leaves to its seeds are checked here. What SMT-LIB leaves open (x/0, say) is one function
for both halves of a conjunction, so no two satisfiable seeds are joined that may want it differently. And all
names of the second formula, bound ones too, get an ending of their own: nothing clashes, no binder catches.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from generator.errors import GenerationError
from generator.fusion.functions import (
    Fusion,
    FusionFunction,
    choose_constants,
    functions_for,
    instantiate,
)
from generator.limits import refusal
from generator.scopes import Endings, Prelude, free_ending, names_of
from generator.seeded import Mutant, SeedStrategy
from generator.seeds import Answer, Seed, SeedSource
from generator.seedscript import SeedScript
from generator.settings import Setting, Value, integer
from generator.storm.openness import open_functions
from generator.text import comment
from smtlib import BOOL, Declaration, Kind, Term, TermTable, declarations_in, postorder, print_term
from smtlib.reader import sexp_text

PER_PAIR = 10
"""So many tests in a row come from one pair of seeds."""

SETTINGS = (
    Setting("pairs", 2, "how many pairs of variables are fused at most", 1, 100),
    Setting("answer", "both", "which formulas are joined", choices=("both", "sat", "unsat")),
)

MAX_TERMS = 10_000
"""Formulas with more distinct terms are not fused: each test would take a tenth of a second to print, and
solvers rarely decide it."""

_PARTNERS = 20
"""So many partners are tried for a seed."""

_SHARES = (0.25, 0.5, 0.75, 1.0)
"""How many of a variable's occurrences are replaced; drawn per variable."""

_Occurrence = tuple[Term, int]
"""An argument: the term and the argument's place."""


@dataclass(frozen=True)
class _Half:
    """One of the two formulas: where its variables occur, which assertions hold each, how it is printed.

    ``names`` are all it uses, as printed.
    """

    seed: Seed
    script: SeedScript
    naming: Endings
    prelude: Prelude
    texts: Mapping[Term, str]
    occurrences: Mapping[Declaration, Sequence[_Occurrence]]
    holders: Mapping[Declaration, frozenset[Term]]
    names: frozenset[str]

    @classmethod
    def of(cls, seed: Seed, script: SeedScript, ending: str) -> _Half:
        naming = Endings(script, ending)
        roots = tuple(dict.fromkeys(script.assertions))
        texts = {t: print_term(t, naming) for t in roots} if ending else script.assertion_texts
        holders: defaultdict[Declaration, set[Term]] = defaultdict(set)
        for root in roots:
            for declaration in declarations_in([root]):
                holders[declaration].add(root)
        names = frozenset(map(naming.symbol, names_of(script)))
        frozen = {d: frozenset(found) for d, found in holders.items()}
        prelude = Prelude(script, naming)
        return cls(seed, script, naming, prelude, texts, _occurrences(roots), frozen, names)


@dataclass(frozen=True, slots=True)
class _Tie:
    """One fused pair: the variables, the new one's name, and the terms of the function."""

    x: Declaration
    y: Declaration
    z: Declaration
    fusion: Fusion


class FusionStrategy(SeedStrategy):
    """Fusion over seeds with known answers. ``counts`` has the pairs that could not be joined, by cause."""

    name = "fusion"

    def __init__(
        self,
        seeds: SeedSource,
        seed: int,
        settings: Mapping[str, Value] | None = None,
        solvers: Sequence[str] = ("z3", "cvc5"),
    ) -> None:
        values = {s.name: s.default for s in SETTINGS} | dict(settings or {})
        super().__init__(seeds, seed, values, PER_PAIR)
        self.solvers = tuple(solvers)
        self.pairs = integer(values, "pairs")
        self._fusions: dict[tuple[object, ...], Fusion] = {}
        wanted = values["answer"]
        known: tuple[Answer, ...] = ("sat", "unsat")
        self.answers = [a for a in known if wanted in ("both", a) and seeds.count(a)]
        if not self.answers:
            raise GenerationError(f"fusion: {seeds.name} has no seeds whose answer is known to be {wanted}")

    def draw(self, chance: random.Random) -> Seed:
        """A seed with a known answer; both answers equally often."""
        return self.seeds.draw(chance, self.answers[int(chance.random() * len(self.answers))])

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """So many fusions of ``seed`` with one partner as stand in a row; none where no partner fits."""
        script = seed.script()
        unusable = _unusable(script, self.solvers)
        if unusable:
            self.counts[f"seed: {unusable}"] += 1
            return
        first = _Half.of(seed, script, "")
        if not first.occurrences:
            self.counts["seed: no variables"] += 1
            return
        for _ in range(_PARTNERS):
            partner = self.seeds.draw(chance, seed.answer)
            why = _unusable(partner.script(), self.solvers) or _unfit(
                script, partner.script(), seed.answer == "sat"
            )
            if not why:
                second = _Half.of(partner, partner.script(), free_ending(first.names))
                if _fusible(first, second):
                    yield from self._distinct(first, second, chance)
                    return
                why = "no variables that a function takes"
            self.counts[f"pair: {why}"] += 1

    def _distinct(self, first: _Half, second: _Half, chance: random.Random) -> Iterator[Mutant]:
        """Fusions of a pair, each once; fewer where small formulas allow no more."""
        seen = set()
        for _ in range(2 * PER_PAIR):
            mutant = self._mutant(first, second, chance)
            text = mutant.text()
            if text not in seen:
                seen.add(text)
                yield replace(mutant, text=partial(str, text))
            if len(seen) == PER_PAIR:
                return

    def _mutant(self, first: _Half, second: _Half, chance: random.Random) -> Mutant:
        ties = self._ties(first, second, chance)
        satisfiable = first.seed.answer == "sat"
        left = _replaced(first, second, ties, "x", chance)
        right = _replaced(second, first, ties, "y", chance)
        known = "sat" if satisfiable else "unsat"
        notes = [
            f"{known}: {t.z.name} is {t.fusion.name} of {t.x.name} and {second.naming.symbol(t.y.name)}"
            for t in ties
        ]

        def text() -> str:
            declared = "".join(f"(declare-fun {t.z.name} () {t.z.result})\n" for t in ties)
            if satisfiable:
                asserted = "".join(f"(assert {a})\n" for a in (*left, *right))
            else:
                asserted = f"(assert (or {_conjunction(left)} {_conjunction(right)}))\n"
                asserted += "".join(f"(assert {c})\n" for t in ties for c in _constraints(t, second.naming))
            return (
                f"(set-logic ALL)\n{first.prelude.text(first.prelude.everything)}"
                f"{second.prelude.text(second.prelude.everything)}{declared}{asserted}(check-sat)\n"
            )

        return Mutant(text, (first.seed, second.seed), comment(notes), (known,))

    def _ties(self, first: _Half, second: _Half, chance: random.Random) -> list[_Tie]:
        """Pairs of variables with a function each, at least one."""
        xs, ys = list(first.occurrences), list(second.occurrences)
        chance.shuffle(xs)
        taken = set(first.names | second.names)
        ties: list[_Tie] = []
        wanted = 1 + int(chance.random() * self.pairs)
        for x in xs:
            if len(ties) == wanted:
                break
            chance.shuffle(ys)
            for y in ys:
                found = functions_for(x.result, y.result)
                if not found:
                    continue
                function, widths = found[int(chance.random() * len(found))]
                fusion = self._fusion(function, widths, chance)
                z = Declaration(_new_name(f"z{len(ties)}", taken), (), fusion.z.sort)
                ties.append(_Tie(x, y, z, fusion))
                ys.remove(y)
                break
        return ties

    def _fusion(self, function: FusionFunction, widths: Mapping[str, int], chance: random.Random) -> Fusion:
        constants = choose_constants(function, chance)
        key = (function.name, *widths.items(), *((n, sexp_text(v)) for n, v in constants.items()))
        found = self._fusions.get(key)
        if found is None:
            names = {v: v for v in "xyz"}
            found = self._fusions[key] = instantiate(function, widths, names, constants)
        return found


def _unusable(script: SeedScript, solvers: Sequence[str]) -> str:
    """Why a seed is not fused, whatever its partner."""
    if script.logic != "ALL":
        return "higher order"
    for number, term in enumerate(script.terms):
        if number == MAX_TERMS:
            return "too large to fuse"
        found = refusal(term, solvers)
        if found:
            return found
    return ""


def _unfit(first: SeedScript, second: SeedScript, satisfiable: bool) -> str:
    if satisfiable and not open_functions(first).isdisjoint(open_functions(second)):
        return "both may want what the standard leaves open"
    return ""


def _fusible(first: _Half, second: _Half) -> bool:
    xs = {d.result for d in first.occurrences}
    ys = {d.result for d in second.occurrences}
    return any(functions_for(x, y) for x in xs for y in ys)


def _new_name(base: str, taken: set[str]) -> str:
    name = base
    while name in taken or f"|{name}|" in taken:
        name += "_"
    taken.add(name)
    return name


def _occurrences(roots: Iterable[Term]) -> dict[Declaration, list[_Occurrence]]:
    """Where the variables stand as arguments. What only a pattern holds does not count: to replace it
    there could leave no pattern."""
    found: defaultdict[Declaration, list[_Occurrence]] = defaultdict(list)
    seen: set[Term] = set()
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        args = term.args[:1] if term.op.kind is Kind.ANNOTATION else term.args
        for place, arg in enumerate(args):
            declaration = arg.op.declaration
            if arg.args or declaration is None:
                stack.append(arg)
            elif declaration.origin == "declare" and not declaration.params:
                found[declaration].append((term, place))
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def _replaced(
    half: _Half, partner: _Half, ties: Sequence[_Tie], variable: str, chance: random.Random
) -> list[str]:
    """The texts of a half's assertions with some occurrences of its tied variables replaced."""
    table = half.script.table.copy()
    chosen: dict[_Occurrence, Term] = {}
    changed: set[Term] = set()
    foreign: set[Declaration] = set()
    for tie in ties:
        if variable not in tie.fusion.inverses:
            continue
        own, other = (tie.x, tie.y) if variable == "x" else (tie.y, tie.x)
        # The other half's variable, as it is named there.
        shown = Declaration(partner.naming.symbol(other.name), (), other.result)
        foreign.update((shown, tie.z))
        x, y = (own, shown) if variable == "x" else (shown, own)
        names = {"x": x, "y": y, "z": tie.z}
        inverse = transplant(table, tie.fusion.inverses[variable], names)
        occurrences = half.occurrences[own]
        share = _SHARES[int(chance.random() * len(_SHARES))]
        some = [o for o in occurrences if chance.random() < share]
        for occurrence in some or [occurrences[int(chance.random() * len(occurrences))]]:
            chosen[occurrence] = inverse
        changed |= half.holders[own]
    naming = Endings(half.script, half.naming.ending, foreign)
    new: dict[Term, Term] = {}
    for term in postorder(a for a in half.script.assertions if a in changed):
        args = tuple([chosen.get((term, i)) or new[a] for i, a in enumerate(term.args)])
        new[term] = table.rebuild(term, args)
    return [
        half.texts[a] if new.get(a, a) is a else print_term(new[a], naming) for a in half.script.assertions
    ]


def transplant(table: TermTable, root: Term, symbols: Mapping[str, Declaration]) -> Term:
    """``root`` in another table, with these declarations for its symbols."""
    new: dict[Term, Term] = {}
    for term in postorder([root]):
        op = term.op
        if op.kind is Kind.SYMBOL:
            new[term] = table.symbol(symbols[op.name])
            continue
        head = table.op(op.kind, op.name, op.text if op.text != op.name else None, op.indices)
        new[term] = table.make(head, tuple([new[a] for a in term.args]), term.sort)
    return new[root]


def _constraints(tie: _Tie, naming: Endings) -> list[str]:
    """The ties that make unsatisfiable halves stay so: z is f(x, y), and the inverses hold."""
    table = TermTable()
    y = Declaration(naming.symbol(tie.y.name), (), tie.y.result)
    names = {"x": tie.x, "y": y, "z": tie.z}
    pairs = [(tie.fusion.z, tie.fusion.of)]
    pairs += [(tie.fusion.x if v == "x" else tie.fusion.y, t) for v, t in tie.fusion.inverses.items()]
    equal = table.op(Kind.OPERATOR, "=")
    return [
        print_term(table.make(equal, (transplant(table, a, names), transplant(table, b, names)), BOOL))
        for a, b in pairs
    ]


def _conjunction(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"


__all__ = ["PER_PAIR", "SETTINGS", "FusionStrategy", "transplant"]
