"""What a solver has that the theory files and its option table do not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from smtlib import check_script, default_theories, read_script
from smtlib.checker import KNOWN_COMMANDS
from smtlib.reader import is_symbol
from solvers.discovery.ranks import DECLARATIONS, Application, ranks_of
from solvers.discovery.scripts import Listing, open_listing
from solvers.options import asked_options, option_table
from solvers.registry import PROFILES
from solvers.running.runner import Runner
from solvers.solver import Solver
from solvers.tactics import read_tactic, tactic_names

_UNKNOWN = re.compile(r"unknown (?:function|symbol) ")
_SORT = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
_SORT_FORMS = ("{}", "({} Int)", "({} Int Int)", "({} String)", "(_ {} 5)", "(_ {} 5 8)")
_EXISTS = "(exists ((it {})) true)"


@dataclass(frozen=True, slots=True)
class NewName:
    """A name that is not known here. ``kind``: operator, sort, command, option, tactic or simplifier.

    ``guess``: the ranks of an operator and the forms of a sort that the solver accepts, or the values of an
    option.
    """

    kind: str
    name: str
    guess: tuple[str, ...] = ()


def discover(solver: Solver, progress: Callable[[str], None] = lambda step: None) -> list[NewName]:
    """The names of a solver that the theory files and its option table lack, by kind."""
    found: list[NewName] = []
    with Runner() as runner:
        listing = open_listing(solver, runner)
        try:
            if PROFILES[solver.family].reads_scripts:
                progress("words")
                words = {word for word in listing.words() if is_symbol(word)}
                for kind, ask in (("operator", _operators), ("sort", _sorts), ("command", _commands)):
                    progress(f"{kind}s")
                    found += sorted(ask(listing, words), key=lambda new: new.name)
            progress("options")
            found += _options(solver)
            found += _tactics(listing, solver.family)
        finally:
            listing.close()
    return found


def _operators(listing: Listing, words: set[str]) -> Iterator[NewName]:
    names = {name for name in listing.functions(words) if not is_known(name)}
    ranks = ranks_of(listing, sorted(names))
    for name in names:
        tried = ranks.get(name, [])
        if not tried or not any(is_checked(application) for application, _ in tried):
            yield NewName("operator", name, tuple(application.rank(sort) for application, sort in tried))


def is_known(name: str) -> bool:
    """Whether a function or constant of this name is read, whatever its ranks."""
    forms = (f"({name} |a Bool|)", f"((_ {name} 1) |a Bool|)")
    return any(not _UNKNOWN.match(_error(form)) for form in forms)


def is_checked(application: Application) -> bool:
    """Whether this application is well sorted by the theory files."""
    return not _error(application.term)


def _error(term: str) -> str:
    """The first error of an assertion about a term; empty if it is well sorted."""
    declared = [line for line in DECLARATIONS if line.split("|")[1] in term]
    checked = check_script(read_script("".join(declared) + f"(assert (= {term} {term}))"))
    return checked.errors[0].message if checked.errors else ""


def _sorts(listing: Listing, words: set[str]) -> Iterator[NewName]:
    theories = default_theories()
    known = theories.sorts.keys() | theories.abbreviations.keys()
    names = sorted(word for word in words if _SORT.fullmatch(word) and word not in known)
    forms = [(name, form.format(name)) for name in names for form in _SORT_FORMS]
    accepted = listing.sorts_of((), [_EXISTS.format(form) for _, form in forms])
    for name in names:
        own = [form for (other, form), sort in zip(forms, accepted, strict=True) if sort and other == name]
        if own and all(_error(_EXISTS.format(form)) for form in own):
            yield NewName("sort", name, tuple(own))


def _commands(listing: Listing, words: set[str]) -> Iterator[NewName]:
    return (NewName("command", name) for name in listing.commands(words) if name not in KNOWN_COMMANDS)


def _options(solver: Solver) -> Iterator[NewName]:
    table = option_table(solver.family)
    for option in asked_options(solver.family, solver.argv).values():
        if not table.mentions(option.name):
            values = "|".join(option.values) or option.kind
            yield NewName("option", option.name, (f"{values}, default {option.default or 'none'}",))


def _tactics(listing: Listing, family: str) -> Iterator[NewName]:
    table = option_table(family)
    rows = (*table.first_tactics, *table.last_tactics)
    known = {name for row in rows for name in tactic_names(read_tactic(row))} | table.left_out.keys()
    yield from _others("tactic", listing.tactics(), known)
    yield from _others("simplifier", listing.simplifiers(), {*table.simplifiers, *table.left_out})


def _others(kind: str, names: Iterable[str], known: set[str]) -> Iterator[NewName]:
    return (NewName(kind, name) for name in sorted(names) if name not in known)
