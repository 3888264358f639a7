"""The terms of engines and runs: answers, sorts and terms that a solver made, options, features, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from apifuzz.trace import TraceError, quote_name, split_line, unquote_name
from smtlib import Sort, default_theories


class Rejected(Exception):
    """The solver reports that a call was wrong, by this message: our mistake, or a fault of the solver."""


class Unsupported(Exception):
    """The engine did not make a call, as the solver cannot do this: the reason, in a few words."""


class LimitReached(Exception):
    """The solver gave up a call at a known limit of its own, after which its objects are not safe to use. The
    run ends here, without an error. The message names the limit.
    """


class Misbehaviour(Exception):
    """The solver did something that it must not do; ``kind`` classifies it.

    Kinds: ``answer`` (two solvers disagree), ``model`` (a value contradicts the assertions), ``core``,
    ``assumptions``, ``interpolant``, ``sort`` (a term has another sort than its operator gives), ``term``
    (children, operator or kind are not those it was made of), ``print`` (a printed term does not read back),
    ``value``, ``optimum`` (another value is better, or none is as good), ``levels`` (not those that were
    pushed), ``crash`` (a failed check inside the solver that came as a message).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def expect(kind: str, found: object, expected: object, about: str) -> None:
    """Raise :class:`Misbehaviour` of ``kind`` where the solver returns something else than it should."""
    if found != expected:
        raise Misbehaviour(kind, f"{about}: {found!s:.200} instead of {expected!s:.200}")


def must(kind: str, holds: bool, message: str) -> None:
    """Raise :class:`Misbehaviour` of ``kind`` unless something holds."""
    if not holds:
        raise Misbehaviour(kind, message)


def must_be_given(kind: str, found: Iterable[object], given: Iterable[object]) -> None:
    """Raise :class:`Misbehaviour` of ``kind`` where something in an answer is not among what was given."""
    known = set(given)
    strange = [str(one) for one in found if one not in known]
    must(kind, not strange, f"{' '.join(strange)[:300]} in it was not given")


class Answer(StrEnum):
    """The result of a check."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


class HeadKind(StrEnum):
    """What a term is made with."""

    OPERATOR = "operator"
    """A function of a theory file: ``bvadd``, ``(_ extract 7 0)``, ``(as seq.empty (Seq Int))``."""
    APPLY = "apply"
    """Application of the first argument, a function, to the others."""
    CONSTRUCTOR = "constructor"
    SELECTOR = "selector"
    TESTER = "tester"
    UPDATER = "updater"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a term: an operator with its indices, or a member of a datatype.

    ``name`` is the operator, or the constructor (CONSTRUCTOR, TESTER), or the selector (SELECTOR, UPDATER);
    ``datatype`` the datatype sort, instantiated, of a member.
    """

    kind: HeadKind
    name: str
    indices: tuple[int, ...] = ()
    datatype: Sort | None = None
    qualified: bool = False
    """Whether it is written with ``as``: its result does not follow from its arguments."""


@dataclass(slots=True, eq=False)
class ApiSort:
    """A sort that the solver made. ``handle`` is the solver's own object."""

    id: int
    sort: Sort
    handle: Any

    def __str__(self) -> str:
        return f"s{self.id}"


class TermKind(StrEnum):
    """How a term came to be."""

    VALUE = "value"
    CONSTANT = "constant"
    VARIABLE = "variable"
    """To be bound; usable only in the body of a binder or definition that is still to be made."""
    FUNCTION = "function"
    """A declared or defined function with arguments: of sort ``(-> A B)``, used as the head of ``apply``."""
    TERM = "term"


@dataclass(slots=True, eq=False)
class ApiTerm:
    """A term that the solver made; ``free`` are the variables in it that nothing binds yet."""

    id: int
    sort: ApiSort
    handle: Any
    kind: TermKind
    free: frozenset[ApiTerm] = frozenset()
    uses: int = 0
    head: Head | None = None
    """What a TERM was made with, where it was made by an operator or a member of a datatype."""
    args: tuple[ApiTerm, ...] = ()

    def __str__(self) -> str:
        return f"t{self.id}"


@dataclass(frozen=True, slots=True)
class MadeSort:
    """A field's sort that is made of a parameter of its datatype, or of a datatype of the same group: the
    name of a sort that takes arguments, and these.
    """

    name: str
    args: tuple[FieldSort, ...]


FieldSort = ApiSort | str | MadeSort
"""An ApiSort, or the name of a datatype of the same group or of a parameter, or what is made of these."""


@dataclass(frozen=True, slots=True)
class Field:
    """A selector of a constructor."""

    name: str
    sort: FieldSort


@dataclass(frozen=True, slots=True)
class DatatypeSpec:
    """One datatype of a group: constructors with their fields, and sort parameters (usually none)."""

    name: str
    constructors: tuple[tuple[str, tuple[Field, ...]], ...]
    parameters: tuple[str, ...] = ()


class OptionKind(StrEnum):
    """What values an option takes."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    MODE = "mode"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Option:
    """An option as the solver describes it: kind, default, range or choices."""

    name: str
    kind: OptionKind
    default: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


class Feature(StrEnum):
    """What a solver can support, apart from theories."""

    INCREMENTAL = "incremental"
    MODELS = "models"
    ASSUMPTIONS = "assumptions"
    UNSAT_ASSUMPTIONS = "unsat-assumptions"
    UNSAT_CORES = "unsat-cores"
    QUANTIFIERS = "quantifiers"
    FUNCTIONS = "functions"
    """Uninterpreted functions with arguments."""
    DEFINITIONS = "definitions"
    RECURSION = "recursion"
    SORTS = "sorts"
    """Uninterpreted sorts."""
    SORT_CONSTRUCTORS = "sort-constructors"
    """Uninterpreted sorts with arguments."""
    DATATYPES = "datatypes"
    PARAMETRIC_DATATYPES = "parametric-datatypes"
    SIMPLIFY = "simplify"
    SUBSTITUTE = "substitute"
    RESET = "reset"
    RESET_ASSERTIONS = "reset-assertions"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a solver supports: theories by the names of their files, features, and what it lacks of them."""

    theories: frozenset[str]
    features: frozenset[Feature] = frozenset(Feature)
    without: frozenset[str] = frozenset()
    """Operators of those theories that the solver lacks."""
    sorts_without: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per use (``quantifier``, ``array-index``, ``array-element``, ``function``, ``datatype``, ``constant``,
    ``equality``): names of sorts that the solver does not take there."""
    max_width: int = 64
    """The widest bit-vectors to make."""
    required_options: tuple[tuple[str, str], ...] = ()
    """Options that every run sets first, in this order."""
    binders: tuple[str, ...] = ("forall", "exists")
    """The binders the solver has; ``lambda`` and ``set.comprehension`` where it has them."""
    value_arguments: Mapping[str, tuple[int, ...]] = field(
        default_factory=lambda: default_theories().value_arguments
    )
    """Per operator, the places of arguments that must be values."""


# Heads of terms as text: ``bvadd``, ``(_ extract 7 0)``, ``(as seq.empty)``, ``(constructor cons)``


_MEMBERS = {kind.value: kind for kind in HeadKind if kind not in (HeadKind.OPERATOR, HeadKind.APPLY)}
_MAX_INDEX = 10**9

APPLY = Head(HeadKind.APPLY, "apply")
"""The head of an application of the first argument to the others."""


def operator_text(name: str, indices: tuple[int, ...], needs_as: bool) -> str:
    """An operator of a theory file with its indices; ``(as NAME)`` where its sort does not follow."""
    if indices:
        shown = (f"#x{i:x}" if name == "char" else str(i) for i in indices)
        name = f"(_ {name} {' '.join(shown)})"
    return f"(as {name})" if needs_as else name


@lru_cache(maxsize=8192)
def head_text(head: Head) -> str:
    """The head as a trace has it."""
    if head.kind is HeadKind.OPERATOR:
        return operator_text(head.name, head.indices, head.qualified)
    return "apply" if head.kind is HeadKind.APPLY else f"({head.kind.value} {quote_name(head.name)})"


@lru_cache(maxsize=8192)
def read_head(token: str) -> Head:
    """The head that ``token`` writes; members have no datatype yet.

    Raises :class:`apifuzz.trace.TraceError`.
    """
    if token == "apply":
        return APPLY
    if token[0] != "(":
        return Head(HeadKind.OPERATOR, unquote_name(token))
    parts = split_line(token[1:-1])
    if len(parts) == 2 and parts[0] == "as":
        inner = read_head(parts[1])
        if inner.kind is HeadKind.OPERATOR and not inner.qualified:
            return Head(HeadKind.OPERATOR, inner.name, inner.indices, None, True)
    elif len(parts) == 2 and parts[0] in _MEMBERS and parts[1][0] != "(":
        return Head(_MEMBERS[parts[0]], unquote_name(parts[1]))
    elif len(parts) > 2 and parts[0] == "_" and parts[1][0] != "(":
        return Head(HeadKind.OPERATOR, parts[1], tuple(map(_index, parts[2:])))
    raise TraceError(f"{token[:60]} is not the head of a term")


def _index(token: str) -> int:
    try:
        value = int(token[2:], 16) if token.startswith("#x") else int(token)
    except ValueError:
        value = -1
    if not 0 <= value <= _MAX_INDEX or not token.isascii():
        raise TraceError(f"{token[:20]} is not an index: a numeral up to {_MAX_INDEX} expected")
    return value
