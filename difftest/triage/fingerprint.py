"""Fingerprints: one key per cause, the same for every test that triggers it.

A crash that names its place needs nothing else. For the rest a key is class, guilty solver, theories and
operators; but a generated test mixes in others that have nothing to do with the fault, so they are those that
are left after a quick reduction by our own passes, less the operators that an uninterpreted function of the
same rank can stand for: what the fault takes of them is only that something stands there. A reduction that
was cut short leaves too many: then the finding folds into the known one that shares the most and has no
other. Where a solver says unknown, operators tell nothing: it gives up on theories and their mixtures (a
hunt through quantified tests had 36 sets of operators of one release's). So its key has theories only, and
folds in the same way.

Keys that differ are still one cause where what differs says nothing (seen in hunts of 20 minutes, where one
fault of a rare operator or of one option made up to sixteen findings): the sorts of an operator's arguments
bring theories along; what fails by default fails under options, too; an option that makes the solver die does
so whatever the formula, and so does one that makes it err where no operator matters; a row of tactics may be
an option or a command. A finding never folds into one that needs more options than itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from difftest.profiles.options import option_table, split_option
from difftest.reduction._passes import Passes
from difftest.triage.findings import Candidate, FindingClass
from smtlib import (
    CheckedScript,
    Declaration,
    Kind,
    ReadError,
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
from smtlib.labels import theories_in

QUICK_SECONDS = 2.0
_MOST_OPERATORS = 12

# The options of a solver in its name; a tactic's text may hold blanks and parentheses, but no bracket.
_OPTIONS = re.compile(r"\[[^\]|]*\]")
_REFINED = re.compile(r"\|(?:fixed in|still in|since) [^|\s]+$")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A key, and the formula it was read off; ``complete`` if nothing more could be taken away in time."""

    key: str
    text: str
    complete: bool


def needs_reduction(candidate: Candidate) -> bool:
    """Whether the candidate's key holds theories, and so depends on what else is in the formula."""
    # A slow test is not reduced quickly.
    return candidate.oracle != "slowdown" and _stem(candidate.key) is not None


def fingerprint(
    candidate: Candidate, text: str, check: Callable[[str], bool], seconds: float = QUICK_SECONDS
) -> Fingerprint:
    """The key of ``candidate`` by what is left of ``text``, reduced for ``seconds`` at most."""
    stem = _stem(candidate.key)
    if stem is None:
        return Fingerprint(candidate.key, text, True)
    deadline = time.monotonic() + seconds
    passes = Passes(text, check, deadline, names=False)
    complete = passes.run(max_rounds=3)
    if candidate.finding_class is FindingClass.INCOMPLETENESS:
        return Fingerprint(_key(stem, "+".join(theories_in(passes.text)), ()), passes.text, False)
    operators, told = essential_operators(passes.text, check, deadline)
    left = "+".join(theories_in(passes.text))
    # Where a formula follows from another one, no function can stand for an operator: it would in one only.
    told &= candidate.oracle != "implication"
    return Fingerprint(_key(stem, left, operators), passes.text, complete and told)


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
    if found.key in known or _REFINED.search(found.key):
        return found.key
    mine = _read(found.key)
    # Which release mended it is not asked in a hunt.
    others = [_read(key) for key in known if not _REFINED.search(key)]
    same = next((other for other in others if mine.has_the_cause_of(other)), None)
    if same is not None:
        return same.key
    if found.complete:
        return found.key
    near = [other for other in others if mine.holds(other)]
    return max(near, key=lambda other: len(other.theories) + len(other.operators), default=mine).key


def count_under(key: str, known: Iterable[str]) -> str:
    """The key to count a finding under that was filed under ``key`` before, given the keys that are
    ``known``: as ``fold`` does, which is told how its formula was reduced.
    """
    is_missing = key.startswith(FindingClass.INCOMPLETENESS)
    plain, releases = taken_apart(key)
    if is_missing:
        key = without_operators(plain) + releases
    return fold(Fingerprint(key, "", not is_missing and "|implied|" not in key), known)


def grown(keys: Iterable[str]) -> dict[str, list[str]]:
    """Keys that have all that a smaller one has, and more, by that key: what its operators show, theirs may
    show, too. Keys without operators have none below them, nor have keys that are below others.
    """
    found: dict[str, list[str]] = {}
    roots: list[_Key] = []
    read = [_read(key) for key in keys if not _REFINED.search(key)]
    for key in sorted(read, key=lambda key: (len(key.operators), len(key.theories), len(key.options))):
        below = [root for root in roots if key.grew_from(root)]
        for root in below:
            found.setdefault(root.key, []).append(key.key)
        if key.operators and not below:
            roots.append(key)
    return found


@dataclass(frozen=True, slots=True)
class _Key:
    """A key, taken apart. ``stem`` is all before the theories, ``place`` the same without options."""

    key: str
    stem: str
    place: str
    options: frozenset[str]
    theories: frozenset[str]
    operators: frozenset[str]

    def holds(self, other: _Key) -> bool:
        """Whether ``other`` has nothing that this one has not."""
        return (
            other.stem == self.stem and other.theories <= self.theories and other.operators <= self.operators
        )

    def grew_from(self, other: _Key) -> bool:
        """The same, whatever options it takes in addition."""
        return replace(self, stem=other.stem).holds(other) and (
            self.place == other.place and other.options <= self.options
        )

    def has_the_cause_of(self, known: _Key) -> bool:
        """Whether what differs between this key and a known one says nothing of the cause."""
        if self.place != known.place or not known.options <= self.options:
            return False
        if self.place.startswith(FindingClass.CRASH) and self.options and self.options == known.options:
            return True
        if self.operators != known.operators:
            return False
        if not self.operators:
            return self.options == known.options and (bool(self.options) or self.theories == known.theories)
        return self.theories <= known.theories or known.theories <= self.theories


def _key(stem: str, left: str, operators: Iterable[str]) -> str:
    names = ",".join(operators)
    return f"{stem}|{left}|{names}" if names else f"{stem}|{left}"


def without_operators(key: str) -> str:
    """A key that ends with its theories."""
    coarse, _, last = key.rpartition("|")
    # Theories begin with a capital letter, operators do not.
    return key if last[:1].isupper() or "|" not in coarse else coarse


def refined(key: str, release: str) -> str:
    """``key`` with the release that behaves otherwise (``fixed in 4.8.9``, ``still in 5.4.0``, ``since
    4.8.7``), where only that tells its cause from another one.
    """
    return f"{key}|{release}"


def by_theories(key: str) -> str:
    """A key without what operators and releases say of it; one that names a crash's place stays as it is."""
    plain, _ = taken_apart(key)
    return plain if _stem(plain) is None else without_operators(plain)


def taken_apart(key: str) -> tuple[str, str]:
    """A key without what releases say of it, and that (or nothing)."""
    said = _REFINED.search(key)
    return (key[: said.start()], said.group()) if said else (key, "")


def _read(key: str) -> _Key:
    """Take a key apart."""
    stem, theories_left, operators = _parts(key)
    options = _OPTIONS.findall(stem)
    listed = frozenset(_unified(option) for row in options for option in row[1:-1].split(","))
    return _Key(key, stem, _OPTIONS.sub("", stem), listed, theories_left, operators)


def _unified(option: str) -> str:
    """An option, in the same words for the same thing: a row of tactics is asked for in two ways."""
    name, value = split_option(option)
    return f"tactic={value}" if name in option_table("z3").tactic_settings else option


def _parts(key: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """Stem, theories and operators of a key."""
    coarse = without_operators(key)
    operators = frozenset(key[len(coarse) + 1 :].split(",")) if coarse != key else frozenset()
    stem, _, theories_left = coarse.rpartition("|")
    return stem, frozenset(theories_left.split("+")), operators


def _stem(key: str) -> str | None:
    """A key without its theories, or None if it has none."""
    parts = key.split("|")
    if parts[0] == FindingClass.CRASH and len(parts) < 4:
        return None
    return "|".join(parts[:-1]) if len(parts) > 2 else None


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
    """The script with fresh functions, one per rank, in place of operator ``name`` in its assertions;
    ``number`` keeps their names apart from those of other operators.
    """
    fresh: dict[tuple[object, ...], Declaration] = {}

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.kind is not Kind.OPERATOR or term.name != name or not args:
            return None
        rank = (*(arg.sort for arg in args), term.sort)
        if rank not in fresh:
            sorts = tuple(arg.sort for arg in args)
            fresh[rank] = Declaration(f"abstract!{number}!{len(fresh)}", sorts, term.sort)
        return checked.table.symbol(fresh[rank], args)

    lines = []
    for command in checked.commands:
        if command.name == "assert" and len(command.terms) == 1:
            known = len(fresh)
            body = print_term(rewrite(checked.table, command.terms[0], change))
            lines += [print_declaration(declaration) for declaration in list(fresh.values())[known:]]
            lines.append(f"(assert {body})")
        else:
            lines.append(print_command(command))
    return "\n".join(lines) + "\n"
