"""The theories that a text uses, by the names of the theory files.

Approximate on purpose: it must handle text that no parser reads, and is fast enough for every test of a hunt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from smtlib.scanner import lexemes
from smtlib.shapes import COMMANDS
from smtlib.theory import default_theories

_FORMS = {
    **dict.fromkeys(("forall", "exists"), "Quantifiers"),
    **dict.fromkeys(("declare-datatype", "declare-datatypes"), "Datatypes"),
    **dict.fromkeys(("declare-codatatype", "declare-codatatypes"), "Datatypes"),
    "declare-sort": "UF",
    "^": "Nonlinear",
}
_LITERALS = re.compile(
    r"(?P<FixedSizeBitVectors>#[bx][0-9a-fA-F]|bv\d)|(?P<FiniteFields>#f-?\d)|(?P<Reals>\d+\.\d+\Z)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DECLARING = frozenset(
    "declare-fun declare-const declare-sort declare-datatype declare-codatatype define-fun define-fun-rec"
    " define-const define-sort".split()
)
_CODATATYPES = frozenset(("declare-codatatype", "declare-codatatypes"))
_OF_DATATYPES = _CODATATYPES | {"declare-datatype", "declare-datatypes"}
# It is in the standard, though not all solvers have it.
_RARE = frozenset(("divisible",))
_PRODUCTS = frozenset(("*", "/", "div", "mod"))
# Applied to numbers, they give a number.
_OF_NUMBERS = _PRODUCTS | {"-", "+", "to_real"}


def theories_in(text: str) -> tuple[str, ...]:
    """The theories that a formula's text uses, sorted; ``("Core",)`` if it uses no other.

    Besides those of the theory files there are ``Datatypes``, ``UF`` (uninterpreted functions and sorts),
    ``Quantifiers`` and ``Nonlinear`` (products of terms, powers).
    """
    tokens = lexemes(text)
    found: set[str] = set()
    sorts, functions = _shown_by()
    words = set(tokens)
    for word in words & sorts.keys():
        found |= sorts[word]
    found.update(literal.lastgroup or "" for literal in map(_LITERALS.match, words) if literal)
    heads = {head for before, head in pairwise(tokens) if before in ("(", "_")}
    for head in heads & functions.keys():
        found |= functions[head]
    found.update(_FORMS[head] for head in heads & _FORMS.keys())
    if "declare-fun" in heads and _takes_arguments(tokens):
        found.add("UF")
    if heads & _PRODUCTS and _has_products(tokens):
        found.add("Nonlinear")
    return tuple(sorted(found)) or ("Core",)


@cache
def known_theories() -> frozenset[str]:
    """Every name that :func:`theories_in` can return."""
    return frozenset((*default_theories().theories, *_FORMS.values(), "UF"))


@cache
def _shown_by() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """The theories that the name of a sort shows, and those that the head of a term shows."""
    theories = default_theories()
    of_theory = {t.name: frozenset(t.combines or (t.name,)) for t in theories.theories.values()}
    of_theory["Core"] = frozenset()
    sorts = {symbol.name: of_theory[symbol.theory] for symbol in theories.sorts.values()}
    sorts.update((name, sorts[sort.name]) for name, sort in theories.abbreviations.items())
    functions = {}
    for name, ranks in theories.functions.items():
        common = [rank for rank in ranks if not rank.only] or ranks
        # All ranks must agree: + has ranks for Int and Real, so it shows neither.
        shown = [of_theory[r.theory].union(*(sorts.get(s, ()) for s in r.sort_names())) for r in common]
        functions[name] = frozenset.intersection(*shown)
    # Old names without a dot are too common: scripts have functions insert, member, union of their own.
    for old, names in theories.spellings.items():
        functions[old] = functions[names[0]] if "." in old else frozenset()
    return sorts, functions


def _takes_arguments(tokens: Sequence[str]) -> bool:
    """Whether the text declares a function with arguments."""
    places = (place for place, token in enumerate(tokens) if token == "declare-fun")
    return any(tokens[i + 2 : i + 3] == ["("] and tokens[i + 3 : i + 4] != [")"] for i in places)


def _has_products(tokens: Iterable[str]) -> bool:
    """Whether a product has two factors that are not numbers, or a divisor is not a number."""
    # For each open list: its head, and for each argument so far whether it is not a number.
    open_lists: list[tuple[list[str], list[bool]]] = []
    for token in tokens:
        if token == "(":
            open_lists.append(([], []))
            continue
        varies = not _NUMBER.fullmatch(token)
        if token == ")":
            if not open_lists:
                continue
            heads, arguments = open_lists.pop()
            head = heads[0] if heads else ""
            if (head == "*" and sum(arguments) > 1) or (head in _PRODUCTS - {"*"} and any(arguments[1:])):
                return True
            varies = head not in _OF_NUMBERS or any(arguments)
            token = ""
        if open_lists:
            heads, arguments = open_lists[-1]
            if heads:
                arguments.append(varies)
            else:
                heads.append(token)
    return False


def extensions_in(text: str) -> tuple[str, ...]:
    """The words of a text, sorted, that are in no theory of the standard and no command that all solvers
    have: operators, sorts and commands. What the text declares itself is none.
    """
    tokens = lexemes(text)
    declared = {name for before, name in pairwise(tokens) if before in _DECLARING} | _parts(tokens)
    heads = {head for before, head in pairwise(tokens) if before in ("(", "_")}
    commands = {head for head in heads if head in COMMANDS and COMMANDS[head].only} | (heads & _CODATATYPES)
    constant = {"const"} if ("as", "const") in pairwise(tokens) else set()
    return tuple(sorted(commands | constant | ((set(tokens) & _extensions()) - declared)))


def _parts(tokens: Sequence[str]) -> set[str]:
    """The constructors and selectors that a text declares, and whatever else begins a list where it does."""
    found: set[str] = set()
    depth = 0
    for before, token in pairwise(tokens):
        if depth == 0:
            depth = int(before == "(" and token in _OF_DATATYPES)
        elif token in "()":
            depth += 1 if token == "(" else -1
        elif before == "(":
            found.add(token)
    return found - default_theories().sorts.keys()


@cache
def _extensions() -> frozenset[str]:
    """The operators and sorts that are in no theory of the standard."""
    theories = default_theories()
    sorts = {name for name, sort in theories.sorts.items() if not theories.is_standard(sort)}
    ranks = theories.functions.items()
    functions = {name for name, found in ranks if not any(map(theories.is_standard, found))}
    return frozenset(sorts | functions) - _RARE
