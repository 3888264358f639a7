"""Keys: one per cause, the same for every test that triggers it.

A key is ``CLASS|SOLVER|WHERE|THEORIES|OPERATORS``. A crash that names its place needs nothing after that
place. For the rest there are theories and operators (of calls, operators only). A generated test mixes in
others that have nothing to do with the fault, so they are those that are left after a quick reduction, less
the operators that an uninterpreted function of the same rank can stand for: what the fault takes of them is
only that something stands there. A reduction that was cut short leaves too many: then the finding folds into
the known one that shares the most and has no other. Where operators say nothing of the cause
(``FindingClass.keyed_by_operators``), the key has theories only, and folds in the same way.

Keys that differ are still one cause where what differs says nothing (seen in hunts of 20 minutes, where one
fault of a rare operator or of one option made up to sixteen findings): the sorts of an operator's arguments
bring theories along, so for the same operators one theory in common is enough; what fails by default fails
under options, too; an option that makes the solver die does so whatever the formula, and so does one that
makes it err where no operator matters; a sequence of tactics may be an option or a command. A finding never
folds into one that needs more options than itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from difftest.oracles.base import Candidate
from difftest.triage.classes import class_of
from smtlib.mentions import known_theories
from solvers.option_file import split_option
from solvers.options import option_table
from solvers.registry import PROFILES

# Names that say nothing of the operators: no theory at all, or the form of the formula.
_NO_THEORY = frozenset(("Core",))
_FORMS = frozenset(("Nonlinear", "Quantifiers", "UF"))
_TACTIC_SETTINGS = {name for family in PROFILES for name in option_table(family).tactic_settings}

# The options of a solver in its name; a tactic's text may hold blanks and parentheses, but no bracket.
_OPTIONS = re.compile(r"\[[^\]|]*\]")
_RELEASE = re.compile(r"(?:fixed in|still in|since) \S+\Z")


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key, and the formula it was read off; ``complete`` if nothing more could be taken away in time. A key
    with a function from a stack has another one ``by_operators``, as where there is no gdb.
    """

    key: str
    text: str
    complete: bool
    by_operators: str = ""

    def with_function(self, key: str) -> FoundKey:
        """This one, under a ``key`` with a function."""
        return FoundKey(key, self.text, True, self.key)


def needs_reduction(candidate: Candidate) -> bool:
    """Whether the candidate's key depends on what else is in the test."""
    is_quick = class_of(candidate.finding_class, candidate.kind).is_quick
    is_open = candidate.kind != "formula" or bool(Key.read(candidate.key).theories)
    return is_quick and is_open and not candidate.has_final_key


def fold(found: FoundKey, known: Iterable[str]) -> str:
    """The key to count ``found`` under, given the keys that are ``known``."""
    known = list(known)
    mine = Key.read(found.key)
    if found.key in known or mine.release:
        return found.key
    if found.by_operators:
        other = fold(replace(found, key=found.by_operators, by_operators=""), known)
        return other if other in known else found.key
    # Which release fixed it is not asked in a hunt.
    others = {key: read for key in known if not (read := Key.read(key)).release}
    same = next((key for key, other in others.items() if mine.has_the_cause_of(other)), None)
    if same is not None:
        return same
    if found.complete:
        return found.key
    near = [key for key, other in others.items() if mine.holds(other)]
    return max(near, key=lambda key: others[key].size, default=found.key)


def count_under(key: str, known: Iterable[str]) -> str:
    """The key to count a finding under that was filed under ``key`` before, given the keys that are
    ``known``; like ``fold``, for a key whose reduced formula is not at hand.
    """
    read = Key.read(key)
    by_operators = class_of(read.finding_class).keyed_by_operators
    if not by_operators:
        key = str(replace(read, operators=frozenset()))
    return fold(FoundKey(key, "", by_operators and "implied" not in read.where), known)


@dataclass(frozen=True)
class Key:
    """A key, taken apart: ``where`` is the place, or what was said; ``release`` the one that behaves
    otherwise (``fixed in 4.8.9``, ``still in 5.4.0``, ``since 4.8.7``), where only that tells its cause from
    another one.
    """

    finding_class: str
    solver: str
    where: tuple[str, ...] = ()
    theories: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    release: str = ""

    @classmethod
    @lru_cache(1 << 16)
    def read(cls, text: str) -> Key:
        """The opposite of ``str``."""
        finding_class, *parts = text.split("|")
        release = parts.pop() if parts and _RELEASE.match(parts[-1]) else ""
        solver, rest = (parts[0], parts[1:]) if parts else ("", [])
        for place, part in enumerate(rest):
            names = frozenset(part.split("+"))
            if names <= known_theories():
                operators = frozenset(",".join(rest[place + 1 :]).split(",")) - {""}
                return cls(finding_class, solver, tuple(rest[:place]), names, operators, release)
        operators = frozenset(rest[1].split(",")) if len(rest) == 2 else frozenset()
        where = tuple(rest[:1] if operators else rest)
        return cls(finding_class, solver, where, frozenset(), operators, release)

    def __str__(self) -> str:
        parts = [self.finding_class, self.solver, *self.where]
        parts += ["+".join(sorted(self.theories))] if self.theories else []
        parts += [",".join(sorted(self.operators))] if self.operators else []
        return "|".join([*parts, self.release] if self.release else parts)

    @property
    def size(self) -> int:
        """How much it says."""
        return len(self.theories) + len(self.operators) + len(self.options)

    @cached_property
    def options(self) -> frozenset[str]:
        """The options in the solvers' names."""
        rows = _OPTIONS.findall(self.solver)
        return frozenset(_unified(option) for row in rows for option in row[1:-1].split(","))

    @cached_property
    def solver_alone(self) -> str:
        """The solvers without their options."""
        return _OPTIONS.sub("", self.solver)

    def has_place_of(self, other: Key) -> bool:
        """Whether both are of one class, place and solver, options apart."""
        if (self.finding_class, self.where) != (other.finding_class, other.where):
            return False
        return self.solver_alone == other.solver_alone

    def holds(self, other: Key) -> bool:
        """Whether ``other`` has nothing that this one has not."""
        return (
            (self.finding_class, self.solver, self.where) == (other.finding_class, other.solver, other.where)
            and other.theories <= self.theories
            and other.operators <= self.operators
        )

    def grew_from(self, other: Key) -> bool:
        """The same, whatever options it takes in addition."""
        return (
            self.has_place_of(other)
            and other.options <= self.options
            and replace(self, solver=other.solver).holds(other)
        )

    def has_the_cause_of(self, known: Key) -> bool:
        """Whether what differs between this key and a known one says nothing of the cause."""
        if not self.has_place_of(known) or not known.options <= self.options:
            return False
        if self.options and self.options == known.options:
            if class_of(self.finding_class).follows_from_options:
                return True
        if self.operators != known.operators:
            return False
        if not self.operators:
            return self.options == known.options and (bool(self.options) or self.theories == known.theories)
        mine, theirs = self.theories - _NO_THEORY, known.theories - _NO_THEORY
        return mine <= theirs or theirs <= mine or bool((mine & theirs) - _FORMS)


def refined(key: str, release: str) -> str:
    """``key`` with the release that behaves otherwise, instead of the one that it may have."""
    return str(replace(Key.read(key), release=release))


def _unified(option: str) -> str:
    """An option in one spelling: there are two ways to request a sequence of tactics."""
    name, value = split_option(option)
    return f"tactic={value}" if name in _TACTIC_SETTINGS else option
