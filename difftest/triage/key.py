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
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from difftest.oracles.base import Candidate
from difftest.reduction._passes import Passes
from difftest.triage.classes import class_of
from smtlib import (
    CheckedScript,
    Declaration,
    Kind,
    ReadError,
    Sort,
    Term,
    check_script,
    default_theories,
    postorder,
    print_command,
    print_declaration,
    print_term,
    read_script,
    rewrite,
)
from smtlib.labels import known_labels, theories_in
from solvers.options import option_table, split_option
from solvers.registry import PROFILES
from solvers.running.script import Script

QUICK_SECONDS = 2.0
_MOST_OPERATORS = 12
# Labels that name no theory of the operators: nothing at all, or the form of the formula.
_NO_THEORY = frozenset(("Core",))
_FORMS = frozenset(("Nonlinear", "Quantifier", "UF"))
_TACTIC_SETTINGS = {name for family in PROFILES for name in option_table(family).tactic_settings}

# The options of a solver in its name; a tactic's text may hold blanks and parentheses, but no bracket.
_OPTIONS = re.compile(r"\[[^\]|]*\]")
_RELEASE = re.compile(r"(?:fixed in|still in|since) \S+\Z")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A key, and the formula it was read off; ``complete`` if nothing more could be taken away in time."""

    key: str
    text: str
    complete: bool


def needs_reduction(candidate: Candidate) -> bool:
    """Whether the candidate's key depends on what else is in the test."""
    if candidate.has_final_key or not class_of(candidate.finding_class, candidate.kind).is_quick:
        return False
    return candidate.kind != "formula" or bool(Key.read(candidate.key).theories)


def fingerprint(
    candidate: Candidate, text: str, check: Callable[[str], bool], seconds: float = QUICK_SECONDS
) -> Fingerprint:
    """The key of ``candidate`` by what is left of ``text``, reduced for ``seconds`` at most."""
    key = Key.read(candidate.key)
    if not key.theories:
        return Fingerprint(candidate.key, text, True)
    deadline = time.monotonic() + seconds
    finding_class = class_of(candidate.finding_class)
    form: Callable[[str], str] = str
    if finding_class.outlasts_falsehood and check(_with_falsehood(text)):
        # Then operators that only make the formula unsatisfiable say nothing.
        form = _with_falsehood

    def shows(trial: str) -> bool:
        return check(form(trial))

    passes = Passes(text, shows, deadline, names=False)
    complete = passes.run(max_rounds=3)
    left, reduced = frozenset(theories_in(passes.text)), form(passes.text)
    if not finding_class.keyed_by_operators:
        return Fingerprint(str(replace(key, theories=left)), reduced, False)
    operators, essential = essential_operators(passes.text, shows, deadline)
    # Where a formula follows from another one, no function can stand for an operator: it would in one only.
    essential &= candidate.oracle != "implication"
    found = replace(key, theories=left, operators=frozenset(operators))
    return Fingerprint(str(found), reduced, complete and essential)


def _with_falsehood(text: str) -> str:
    """The script with ``false`` asserted first, which makes all its questions unsatisfiable."""
    script = Script.of(text)
    first = next((c.start for c in script.commands if not c.name.startswith("set-")), len(script.data))
    data = script.data[:first] + b"(assert false)\n" + script.data[first:]
    return data.decode("utf-8", "surrogateescape")


def essential_operators(
    text: str, check: Callable[[str], bool], deadline: float
) -> tuple[tuple[str, ...], bool]:
    """The theory operators of ``text`` for which no uninterpreted function can stand while ``check`` holds,
    sorted; and whether there was time to try them all. None for a text that is not well sorted.
    """
    found: set[str] = set()
    tried: set[str] = set()
    while True:
        checked = _checked(text)
        if checked is None:
            return tuple(sorted(found)), True
        names = _operators(checked)
        left = sorted(names - tried)
        if not left:
            return tuple(sorted(names)), True
        if len(left) > _MOST_OPERATORS or time.monotonic() >= deadline:
            return tuple(sorted(names)), False
        found = names
        tried.add(left[0])
        abstract = _abstracted(checked, left[0], len(tried))
        if check(abstract):
            text = abstract


def fold(found: Fingerprint, known: Iterable[str]) -> str:
    """The key to count ``found`` under, given the keys that are ``known``."""
    known = list(known)
    mine = Key.read(found.key)
    if found.key in known or mine.release:
        return found.key
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
    return fold(Fingerprint(key, "", by_operators and "implied" not in read.where), known)


def grown(keys: Iterable[str]) -> dict[str, list[str]]:
    """Keys that have all that a smaller one has, and more, by that key: what its operators show, theirs may
    show, too. Keys without operators have none below them, nor have keys that are below others.
    """
    found: dict[str, list[str]] = {}
    roots: dict[str, Key] = {}
    read = {key: read for key in keys if not (read := Key.read(key)).release}
    for text, key in sorted(read.items(), key=lambda pair: (len(pair[1].operators), pair[1].size)):
        below = [root for root, other in roots.items() if key.grew_from(other)]
        for root in below:
            found.setdefault(root, []).append(text)
        if key.operators and not below:
            roots[text] = key
    return found


@dataclass(frozen=True, slots=True)
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
    def read(cls, text: str) -> Key:
        """The opposite of ``str``."""
        finding_class, *parts = text.split("|")
        release = parts.pop() if parts and _RELEASE.match(parts[-1]) else ""
        solver, rest = (parts[0], parts[1:]) if parts else ("", [])
        for place, part in enumerate(rest):
            names = frozenset(part.split("+"))
            if names <= known_labels():
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

    @property
    def options(self) -> frozenset[str]:
        """The options in the solvers' names."""
        rows = _OPTIONS.findall(self.solver)
        return frozenset(_unified(option) for row in rows for option in row[1:-1].split(","))

    def has_place_of(self, other: Key) -> bool:
        """Whether both are of one class, place and solver, options apart."""
        mine, theirs = (_OPTIONS.sub("", key.solver) for key in (self, other))
        return (self.finding_class, mine, self.where) == (other.finding_class, theirs, other.where)

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
    """``key`` with the release that behaves otherwise."""
    return f"{key}|{release}"


def _unified(option: str) -> str:
    """An option in one spelling: there are two ways to request a sequence of tactics."""
    name, value = split_option(option)
    return f"tactic={value}" if name in _TACTIC_SETTINGS else option


def _checked(text: str) -> CheckedScript | None:
    try:
        checked = check_script(read_script(text))
    except (ReadError, RecursionError):
        return None
    return checked if checked.is_well_sorted else None


def _operators(checked: CheckedScript) -> set[str]:
    """The names of the theory operators that are applied in the script's terms."""
    roots = [term for command in checked.commands for term in command.terms]
    roots += [definition.body for command in checked.commands for definition in command.definitions]
    applied = {term.name for term in postorder(roots) if term.kind is Kind.OPERATOR and term.args}
    return applied - default_theories().marked(":neutral")


def _abstracted(checked: CheckedScript, name: str, number: int) -> str:
    """The script with fresh functions, one per rank, in place of operator ``name`` in its assertions and
    definitions; ``number`` keeps their names apart from those of other operators.
    """
    fresh: dict[tuple[Sort, ...], Declaration] = {}

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.kind is not Kind.OPERATOR or term.name != name or not args:
            return None
        # Solvers have no functions of regular expressions.
        args = tuple(arg for arg in args if arg.sort.name != "RegLan")
        rank = (*(arg.sort for arg in args), term.sort)
        if rank not in fresh:
            fresh[rank] = Declaration(f"abstract!{number}!{len(fresh)}", rank[:-1], term.sort)
        return checked.table.symbol(fresh[rank], args)

    lines = []
    for command in checked.commands:
        known = len(fresh)
        if command.name == "assert" and len(command.terms) == 1:
            text = f"(assert {print_term(rewrite(checked.table, command.terms[0], change))})"
        elif command.definitions:
            made = (replace(d, body=rewrite(checked.table, d.body, change)) for d in command.definitions)
            text = print_command(replace(command, definitions=tuple(made)))
        else:
            text = print_command(command)
        lines += [print_declaration(declaration) for declaration in list(fresh.values())[known:]]
        lines.append(text)
    return "\n".join(lines) + "\n"
