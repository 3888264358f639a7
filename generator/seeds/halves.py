"""One of two formulas to be joined, as text in which its variables can be replaced, one occurrence at a time.

A half is printed once. What a join changes is the text in the places of its variables, so a test costs a
few strings and not a new formula. Where the printer shares a term by ``let``, an occurrence in it is one
place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from generator.scopes import Endings, Prelude, free_ending, names_of
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from smtlib import Declaration, Kind, Term, postorder, print_term
from smtlib.terms import declarations_in

Place = tuple[int, int]
"""An occurrence of a variable: the assertion's number, and which of its pieces."""

_MARK = "\0"

_KEPT = 256
"""Printed halves that are kept."""


@dataclass(frozen=True)
class Half:
    """One of the two formulas.

    ``lines`` are its assertions in pieces of text, every other one an occurrence of a variable;
    ``occurrences`` where each variable stands. ``names`` are all it uses, ``shown`` the variables' names,
    both as printed; ``declared`` are its declarations. ``fixed`` are variables that have other occurrences
    too: in definitions, or in assertions with a pattern. ``sort_names`` are the sorts that it declares.
    """

    seed: Seed
    lines: Sequence[Sequence[str]]
    occurrences: Mapping[Declaration, Sequence[Place]]
    shown: Mapping[Declaration, str]
    fixed: frozenset[Declaration]
    names: frozenset[str]
    declared: str
    sort_names: frozenset[str]

    @classmethod
    def of(cls, seed: Seed, ending: str) -> Half:
        """The half that a seed makes, each of its names with this ``ending``."""
        script = seed.script()
        naming = _Marking(script, ending)
        lines: list[Sequence[str]] = []
        fixed = set(declarations_in(script.bodies))
        for assertion in script.assertions:
            naming.closed = frozenset(_in_patterns(assertion))
            fixed.update(declarations_in(naming.closed))
            lines.append(print_term(assertion, naming).split(_MARK))
        places: dict[Declaration, list[Place]] = {}
        for number, pieces in enumerate(lines):
            assert isinstance(pieces, list)
            for place in range(1, len(pieces), 2):
                variable = naming.variables[int(pieces[place])]
                name = naming.symbol(variable.name)
                pieces[place - 1] = pieces[place - 1].removesuffix(name)
                pieces[place] = name
                places.setdefault(variable, []).append((number, place))
        found = dict(sorted(places.items(), key=lambda item: item[0].name))
        names = frozenset(map(naming.symbol, names_of(script)))
        prelude = Prelude(script, Endings(script, ending))
        shown = {variable: naming.symbol(variable.name) for variable in found}
        text = prelude.text(prelude.everything)
        return cls(seed, lines, found, shown, frozenset(fixed), names, text, script.sort_names)

    @cached_property
    def ending(self) -> str:
        """An ending for the partner's names."""
        return free_ending(self.names)

    def replaced(self, new: Mapping[Place, str]) -> list[str]:
        """The assertions with other text in some places."""
        changed: dict[int, list[str]] = {}
        for (number, place), text in new.items():
            if number not in changed:
                changed[number] = list(self.lines[number])
            changed[number][place] = text
        return ["".join(changed.get(number, line)) for number, line in enumerate(self.lines)]


@lru_cache(maxsize=_KEPT)
def half_of(seed: Seed, ending: str) -> Half:
    """The half that a seed makes, each of its names with this ``ending``."""
    return Half.of(seed, ending)


class _Marking(Endings):
    """Prints variables with a mark behind them. Those in ``closed`` stay as they are."""

    def __init__(self, script: SeedScript, ending: str) -> None:
        super().__init__(script, ending)
        self.closed: frozenset[Term] = frozenset()
        self.variables: list[Declaration] = []
        self._numbers: dict[Declaration, int] = {}

    def head(self, term: Term) -> str:
        """The text of a term's head."""
        declaration = term.op.declaration
        if declaration is None or term.args or term in self.closed or not _is_variable(declaration):
            return super().head(term)
        number = self._numbers.get(declaration)
        if number is None:
            number = self._numbers[declaration] = len(self.variables)
            self.variables.append(declaration)
        return f"{self.symbol(declaration.name)}{_MARK}{number}{_MARK}"


def _is_variable(declaration: Declaration) -> bool:
    return declaration.origin == "declare" and not declaration.params


def _in_patterns(assertion: Term) -> list[Term]:
    """What stands in patterns: to replace it there could leave no pattern."""
    found: list[Term] = []
    for term in postorder([assertion]):
        if term.op.kind is Kind.ANNOTATION and len(term.args) > 1:
            found += postorder(term.args[1:])
    return found
