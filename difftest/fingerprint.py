"""Fingerprints: one key per cause, the same for every test that triggers it.

A crash that names its place needs nothing else. For the rest a key is class, guilty solver, theories and
operators; but a generated test mixes in others that have nothing to do with the fault, so they are those that
are left after a quick reduction by our own passes, less the operators that an uninterpreted function of the
same rank can stand for: what the fault takes of them is only that something stands there. A reduction that
was cut short leaves too many: then the finding folds into the known one that shares the most and has no
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from difftest._reducer_passes import Passes
from difftest.findings import Candidate, FindingClass, theories
from smtlib import (
    CheckedScript,
    Declaration,
    Kind,
    ReadError,
    Term,
    check_script,
    postorder,
    print_command,
    print_term,
    read_script,
    rewrite,
)
from smtlib.printer import sort_text

QUICK_SECONDS = 2.0
# They hold every formula together and tell nothing; of comparisons any will do (measured on what 4.8.5 of z3
# gets wrong: the same division stood below each of <, <=, > and >=).
NEUTRAL = frozenset(
    "= distinct ite and or not => xor true false < <= > >= bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge"
    " fp.lt fp.leq fp.gt fp.geq fp.eq str.< str.<=".split()
)
_MOST_OPERATORS = 12


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A key, and the formula it was read off; ``complete`` if nothing more could be taken away in time."""

    key: str
    text: str
    complete: bool


def needs_reduction(candidate: Candidate) -> bool:
    """Whether the candidate's key holds theories, and so depends on what else is in the formula."""
    # A slow test is not reduced quickly, and a reduced one is no longer implied by its parent.
    return candidate.oracle not in ("slowdown", "implication") and _stem(candidate.key) is not None


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
    operators, told = essential_operators(passes.text, check, deadline)
    left = "+".join(theories(passes.text))
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
    if found.complete or found.key in known:
        return found.key
    stem, mine, operators = _parts(found.key)
    near: list[tuple[int, str]] = []
    for key in known:
        other, theirs, others = _parts(key)
        if other == stem and theirs <= mine and others <= operators:
            near.append((len(theirs) + len(others), key))
    return max(near, default=(0, found.key))[1]


def _key(stem: str, left: str, operators: Iterable[str]) -> str:
    names = ",".join(operators)
    return f"{stem}|{left}|{names}" if names else f"{stem}|{left}"


def _parts(key: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """Stem, theories and operators of a key."""
    *stem, last = key.split("|")
    # Theories begin with a capital letter, operators do not.
    if last[:1].isupper() or len(stem) < 2:
        return "|".join(stem), frozenset(last.split("+")), frozenset()
    return "|".join(stem[:-1]), frozenset(stem[-1].split("+")), frozenset(last.split(","))


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
    return {
        term.name
        for term in postorder(roots)
        if term.kind is Kind.OPERATOR and term.args and term.name not in NEUTRAL
    }


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
            for declaration in list(fresh.values())[known:]:
                params = " ".join(map(sort_text, declaration.params))
                lines.append(f"(declare-fun {declaration.name} ({params}) {sort_text(declaration.result)})")
            lines.append(f"(assert {body})")
        else:
            lines.append(print_command(command))
    return "\n".join(lines) + "\n"
