"""The strategy ``transplant``: atoms of past bugs put into formulas of past bugs.

A skeleton filled with atoms keeps the connectives of a formula, and loses what its atoms said about each
other's variables. Here a formula stays as it is but for one of its atoms: one of the corpus takes its place,
or joins it where it is the whole assertion. The slots of the new atom are filled with terms of the formula,
of the slots' sorts and with their variables bound at the place, but with no literals; where there are none,
with new symbols. The result is the next formula of the chain, as in Park, Winterer, Zhang, Su (OOPSLA 2021);
what may stand where is their Definition 2.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType

from generator.declaring import StrategyEntry, StrategyInputs
from generator.refusals import constant_arguments, is_value
from generator.scopes import free_prefix, names_of
from generator.seeds.source import Seed
from generator.settings import Setting
from generator.strategies.mutation.chain import Chain
from generator.strategies.mutation.literals import is_literal, one_of
from generator.strategies.mutation.operators import Operators, apply_declaration
from generator.strategies.mutation.places import Place
from generator.strategies.mutation.strategy import COMMON_SETTINGS, TermStrategy
from generator.templates import AtomTemplate
from smtlib import (
    BOOL,
    Declaration,
    Kind,
    Sort,
    Term,
    TermTable,
    check_script,
    postorder,
    read_script,
    rewrite,
)
from smtlib.commands import print_declaration

NO_PLACE = "attempts that found no place for an atom"
GUARDED = "attempts with an atom of a theory that only formulas of this theory get"

CHAIN = 10
"""Tests made of one seed: after more transplants than the formula has atoms, little of it is left."""

GRAFT_SETTINGS = tuple(
    replace(setting, default=CHAIN) if setting.name == "chain" else setting
    for setting in COMMON_SETTINGS
    if setting.name != "operators"
)

_DRAWS = 6
"""Draws of a term for a slot that is no literal, for ``(< 0 1)`` says nothing, and that is in no other slot
of the atom, for ``(= x x)`` says little."""

_CONJUNCTIONS = 0.7
"""Share of conjunctions where an atom joins another."""

_TRUTH = frozenset(("Bool",))
_TRUTH_SHARE = 0.1
"""Atoms of truth values alone weigh at most this share of all others."""

_MOST = 1_000_000
_KEPT = 256


@dataclass(frozen=True, slots=True)
class Graft:
    """A term, in a table of its own. ``origin`` says what it is; ``slots`` are the symbols that others take
    the place of.
    """

    origin: str
    root: Term
    slots: tuple[Declaration, ...]
    operators: frozenset[str]

    @classmethod
    def of(cls, template: AtomTemplate) -> Graft | None:
        """The atom as a term; None where it cannot stand just anywhere.

        Those are: what declares sorts or functions, binds variables, has functions as values, or has a
        slot where solvers want a value.
        """
        if template.atom.prelude:
            return None
        checked = check_script(read_script(template.atom.script()))
        origin = f"atom {template.id}{f' of {template.issue}' if template.issue else ''}"
        graft = None if checked.errors else cls.of_term(origin, checked.assertions[0])
        # In the order of the signature.
        slots = tuple(d for command in checked.commands for d in command.declarations)
        return graft and replace(graft, slots=slots)

    @classmethod
    def of_term(cls, origin: str, root: Term, binds: bool = False) -> Graft | None:
        """A term whose symbols are slots; None where it cannot stand just anywhere. ``binds``: it may have
        quantifiers.
        """
        terms = list(postorder([root]))
        if not root.args or not all(_is_plain(term) or (binds and _is_of_quantifier(term)) for term in terms):
            return None
        slots = tuple(dict.fromkeys(d for term in terms if (d := term.op.declaration) is not None))
        operators = frozenset(term.op.name for term in terms if term.op.kind is Kind.OPERATOR)
        return cls(origin, root, slots, operators)

    def planted(
        self, table: TermTable, fill: Mapping[Declaration, Term | Declaration], prefix: str
    ) -> list[Term]:
        """The term with ``fill`` in its slots (terms for constants), made in ``table``: its terms but those
        of ``fill``, arguments first, the whole term last. ``prefix`` begins the names of bound variables."""
        made: list[Term] = []
        names: dict[Term, str] = {}

        def renamed(variable: Term) -> Term:
            name = names.setdefault(variable, f"{prefix}{len(names)}")
            return table.variable(name, variable.sort)

        def change(term: Term, args: tuple[Term, ...]) -> Term:
            op = term.op
            if op.kind is Kind.VARIABLE:
                made.append(renamed(term))
                return made[-1]
            if op.declaration is None:
                head = table.op(op.kind, op.name, op.text, op.indices, None, op.attributes)
                made.append(table.make(head, args, term.sort, tuple(map(renamed, term.variables))))
                return made[-1]
            found = fill[op.declaration]
            if isinstance(found, Term):
                return found
            made.append(apply_declaration(table, found, args, term.sort))
            return made[-1]

        rewrite(table, self.root, change)
        return made


class TransplantChain(Chain):
    """A chain, and the symbols that atoms brought along."""

    def __init__(self, seed: Seed, operators: Operators) -> None:
        super().__init__(seed, operators)
        self._weights: dict[Term, int] = {}
        self._grafts = 0
        self._functions = [*self.functions.plain]

    @cached_property
    def _prefix(self) -> str:
        """How the names of new symbols begin."""
        return free_prefix("new", names_of(self.script))

    def next_prefix(self) -> str:
        """How the names of variables that a graft binds begin, different for each: none may be bound twice on
        a way.
        """
        self._grafts += 1
        return f"{self._prefix}_{self._grafts}_"

    def weight(self, root: Term) -> int:
        """How many formulas are below a term through formulas only; counting stops at a million."""
        weights = self._weights
        if root not in weights:

            def below(term: Term) -> list[Term]:
                return [a for a in term.args if a not in weights] if term.sort is BOOL else []

            for term in postorder([root], below=below):
                inside = sum([weights[a] for a in term.args]) if term.sort is BOOL else -1
                weights[term] = min(_MOST, 1 + inside)
        return weights[root]

    def fill(
        self,
        graft: Graft,
        place: Place,
        chance: random.Random,
        known: Mapping[Declaration, Term],
        new: list[Declaration],
    ) -> dict[Declaration, Term | Declaration]:
        """What stands in an atom's slots in this place, ``known`` in those that it names. Symbols that the
        formula does not have are added to ``new``.
        """
        fill: dict[Declaration, Term | Declaration] = dict(known)
        for slot in graft.slots:
            if slot in known:
                continue
            found = (
                self._function(slot, chance) if slot.params else self.other(slot.result, place, fill, chance)
            )
            if found is None:
                name = f"{self._prefix}{len(self.declared) + len(new)}"
                new.append(Declaration(name, slot.params, slot.result))
                found = new[-1] if slot.params else self.table.symbol(new[-1])
            fill[slot] = found
        return fill

    def _function(self, slot: Declaration, chance: random.Random) -> Declaration | None:
        """A function of the slot's rank."""
        fitting = [d for d in self._functions if d.params == slot.params and d.result is slot.result]
        return one_of(fitting, chance) if fitting else None

    def other(
        self, sort: Sort, place: Place, fill: Mapping[Declaration, Term | Declaration], chance: random.Random
    ) -> Term | None:
        """A term of this sort for the place that is no literal, rather one that is in no other slot."""
        found = None
        for _ in range(_DRAWS):
            term = self.pool.pick_argument(sort, place, chance)
            if term is None:
                break
            if not is_literal(term):
                found = term
                if term not in fill.values():
                    break
        return found

    def declare(self, new: Sequence[Declaration]) -> None:
        """Take in symbols that an atom brought: later slots may get them, too."""
        for declaration in new:
            self.declared[declaration] = print_declaration(declaration) + "\n"
            if declaration.params:
                self._functions.append(declaration)
            else:
                self.pool.add(self.table.symbol(declaration))
                self.sorts |= {declaration.result}


class GraftStrategy(TermStrategy[TransplantChain]):
    """Chains of terms from elsewhere, with terms of the formula in their slots."""

    def start(self, seed: Seed) -> TransplantChain:
        """The seed's assertions and the terms in them."""
        return TransplantChain(seed, self.operators)

    def is_known(self, graft: Graft) -> bool:
        """Whether the targets know its operators."""
        return all(map(self.operators.knows, graft.operators))

    def suits(self, chain: TransplantChain, graft: Graft) -> bool:
        """Whether the formula has, or may get, what the graft is about."""
        if self.operators.guarded_theories(graft.operators) <= chain.guarded:
            return True
        self.counts[GUARDED] += 1
        return False

    def instance(
        self,
        chain: TransplantChain,
        place: Place,
        graft: Graft,
        chance: random.Random,
        new: list[Declaration],
        known: Mapping[Declaration, Term] = MappingProxyType({}),
    ) -> list[Term]:
        """The terms of a graft for a place, the whole one last; ``new`` gets the symbols that it needs."""
        for term in known.values():
            # Above an earlier change, a term of an assertion is none of the pool.
            chain.pool.note(term)
        return graft.planted(chain.table, chain.fill(graft, place, chance, known, new), chain.next_prefix())

    def put(
        self,
        chain: TransplantChain,
        number: int,
        place: Place,
        made: Sequence[Term],
        new: Sequence[Declaration],
        what: str,
    ) -> bool:
        """Put the last of the terms ``made``, arguments first, into a place of assertion ``number``; whether
        it fits there.
        """
        for term in made:
            chain.pool.measure(term)
        if not self.fits(chain, number, place, made[-1]):
            return False
        chain.declare(new)
        for term in made:
            chain.pool.add(term)
        chain.replace(number, place, made[-1], what)
        return True


class Transplant(GraftStrategy):
    """Chains of transplanted atoms."""

    name = "transplant"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs)
        self.library = inputs.library
        self._foreign = float(inputs.values["foreign"])
        self._by_sorts: dict[frozenset[str], list[AtomTemplate]] = defaultdict(list)
        for atom in self.library.atoms:
            # An atom of functions and literals alone would say nothing about the formula.
            if not all(params for params, _ in atom.ranks):
                sorts = frozenset(sort for params, result in atom.ranks for sort in (*params, result))
                self._by_sorts[sorts].append(atom)
        self._choices: dict[tuple[frozenset[Sort], bool], _Choice] = {}
        self._grafts: dict[int, Graft | None] = {}

    @property
    def fingerprint(self) -> str:
        """Names the seeds and the corpus that the tests come from."""
        return f"{self.seeds.fingerprint[:8]}{self.library.fingerprint[:8]}"

    def attempt(self, chain: TransplantChain, chance: random.Random) -> bool:
        """One try to put an atom into the place of another."""
        found = chain.place(chance, _is_atom, chain.weight)
        if found is None:
            self.counts[NO_PLACE] += 1
            return False
        number, place = found
        graft = self._draw(chain, chance)
        if graft is None:
            return False
        new: list[Declaration] = []
        made = self.instance(chain, place, graft, chance, new)
        if not place.edges:
            # An assertion that is one atom would lose all that it says.
            connective = "and" if chance.random() < _CONJUNCTIONS else "or"
            made.append(chain.table.operator(connective, (place.term, made[-1]), BOOL))
        return self.put(chain, number, place, made, new, graft.origin)

    def _draw(self, chain: TransplantChain, chance: random.Random) -> Graft | None:
        """An atom that says something about terms of the formula."""
        foreign = chance.random() < self._foreign
        template = self._choice(chain.sorts, True).draw(chance) if foreign else None
        if template is None:
            template = self._choice(chain.sorts, False).draw(chance)
        if template is None:
            return None
        if template.id not in self._grafts:
            self._grafts[template.id] = Graft.of(template)
        graft = self._grafts[template.id]
        return graft if graft is not None and self.suits(chain, graft) else None

    def _choice(self, sorts: frozenset[Sort], foreign: bool) -> _Choice:
        """The atoms for formulas of these sorts, see the setting ``foreign``."""
        key = (sorts, foreign)
        found = self._choices.get(key)
        if found is None:
            if len(self._choices) >= _KEPT:
                self._choices.clear()
            known = {str(sort) for sort in sorts}
            groups = {
                needed: atoms
                for needed, atoms in self._by_sorts.items()
                if (
                    not needed <= known and not known.isdisjoint(needed - _TRUTH)
                    if foreign
                    else needed <= known
                )
            }
            found = self._choices[key] = _Choice.of(groups)
        return found


@dataclass(frozen=True, slots=True)
class _Choice:
    """Atoms by the sorts of their slots. A group's weight grows slower than its size; that of the atoms of
    truth values, which fit every formula, is bounded by the others'."""

    groups: Sequence[Sequence[AtomTemplate]]
    bounds: Sequence[float]

    @classmethod
    def of(cls, groups: Mapping[frozenset[str], Sequence[AtomTemplate]]) -> _Choice:
        weights = {sorts: len(group) ** 0.5 for sorts, group in groups.items()}
        others = sum(weight for sorts, weight in weights.items() if sorts != _TRUTH)
        if others:
            weights[_TRUTH] = min(weights.get(_TRUTH, 0.0), _TRUTH_SHARE * others)
        return cls([*groups.values()], list(accumulate(weights[sorts] for sorts in groups)))

    def draw(self, chance: random.Random) -> AtomTemplate | None:
        """An atom of one of the groups; None if there is none."""
        if not self.groups:
            return None
        (group,) = chance.choices(self.groups, cum_weights=self.bounds)
        return one_of(group, chance)


def _is_atom(term: Term) -> bool:
    """Whether no part of a formula is a formula."""
    return all(arg.sort is not BOOL for arg in term.args)


def _is_of_quantifier(term: Term) -> bool:
    """Whether a term is a quantified formula or a variable that one binds."""
    return term.op.kind is Kind.VARIABLE or term.is_quantifier


def _is_plain(term: Term) -> bool:
    """Whether a term of an atom can stand anywhere."""
    op = term.op
    if op.kind in (Kind.BINDER, Kind.MATCH, Kind.ANNOTATION, Kind.VARIABLE) or term.sort.is_function:
        return False
    if op.kind is not Kind.OPERATOR:
        return True
    # An array mapped by a function names it in its head.
    return op.declaration is None and all(
        is_value(term.args[position]) for position in constant_arguments(op.name) if position < len(term.args)
    )


ENTRY = StrategyEntry(
    "transplant",
    "atoms of a formula replaced by atoms of past bugs over its own terms, in chains",
    "a learned corpus and seeds",
    "nothing",
    Transplant,
    frozenset(("library", "seeds")),
    (
        *GRAFT_SETTINGS,
        Setting("foreign", 0.1, "share of atoms that also have a sort that the formula does not have", 0, 1),
    ),
)
