"""The calls that are made on a solver, as values: one class per call, whose fields are its arguments.

This is the one place that says what there is to call. An engine makes a call by its method of the name
:attr:`Call.method`, which takes the fields in their order and gives what the class says (``Call[Answer]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from apifuzz.interface import Answer, ApiSort, ApiTerm, DatatypeSpec, Head
from smtlib import Sort

ResultT = TypeVar("ResultT", covariant=True)


class Call(Generic[ResultT]):
    """A call on a solver. Iterating gives its arguments."""

    method: ClassVar[str]
    """The name of the methods that make it."""

    changes: ClassVar[bool] = False
    """Whether it changes what is asserted, or what that means."""

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self.__match_args__])  # type: ignore[attr-defined]


# The life of an instance


@dataclass(frozen=True)
class New(Call[None]):
    """Make the solver instance (and its term manager or context, where there is none)."""

    method = "new"
    changes = True


@dataclass(frozen=True)
class Delete(Call[None]):
    """Let go of the instance and of every handle the engine keeps."""

    method = "delete"
    changes = True


@dataclass(frozen=True)
class SetLogic(Call[None]):
    """``(set-logic logic)``, before anything is made."""

    method = "set_logic"
    changes = True
    logic: str


@dataclass(frozen=True)
class SetOption(Call[None]):
    """``(set-option :name value)``."""

    method = "set_option"
    name: str
    value: str


# Sorts: these give handles


@dataclass(frozen=True)
class MakeSort(Call[Any]):
    """A sort of a theory file (``Int``, ``(_ BitVec 8)``, ``(Array A B)`` with ``args`` its arguments), or an
    instance of a declared sort constructor or parametric datatype.
    """

    method = "make_sort"
    sort: Sort
    args: tuple[ApiSort, ...] = ()


@dataclass(frozen=True)
class DeclareSort(Call[Any]):
    """An uninterpreted sort; of arity > 0 a constructor, which ``MakeSort`` applies by its name."""

    method = "declare_sort"
    name: str
    arity: int


@dataclass(frozen=True)
class DeclareDatatypes(Call[list[Any]]):
    """Datatypes, mutually recursive perhaps; a handle for each in order (a parametric one's is used by
    ``MakeSort`` only).
    """

    method = "declare_datatypes"
    group: tuple[DatatypeSpec, ...]


# Terms: these give handles


@dataclass(frozen=True)
class MakeValue(Call[Any]):
    """The value that ``text`` writes in SMT-LIB: ``true``, ``(- 3)``, ``(/ 1 3)``, ``#b01``, ``"a\\u{3}"``,
    ``(fp #b0 #b01 #b1)``, ``(_ +oo 8 24)``, ``RNE``, ``(as ff3 (_ FiniteField 5))``. The engine chooses among
    the ways to say it (numeral, text in base 2, 10 or 16, ...).
    """

    method = "make_value"
    sort: ApiSort
    text: str


@dataclass(frozen=True)
class MakeConstant(Call[Any]):
    """A free constant."""

    method = "make_constant"
    sort: ApiSort
    name: str


@dataclass(frozen=True)
class MakeVariable(Call[Any]):
    """A variable to be bound later."""

    method = "make_variable"
    sort: ApiSort
    name: str


@dataclass(frozen=True)
class MakeFunction(Call[Any]):
    """A declared function of at least one argument."""

    method = "make_function"
    name: str
    params: tuple[ApiSort, ...]
    result: ApiSort


@dataclass(frozen=True)
class MakeTerm(Call[Any]):
    """``(head args...)``."""

    method = "make_term"
    sort: ApiSort
    head: Head
    args: tuple[ApiTerm, ...]


@dataclass(frozen=True)
class MakeBinder(Call[Any]):
    """``forall`` or ``exists`` (``lambda``, ``set.comprehension`` where the solver has them)."""

    method = "make_binder"
    sort: ApiSort
    binder: str
    variables: tuple[ApiTerm, ...]
    body: ApiTerm


@dataclass(frozen=True)
class DefineFunction(Call[Any]):
    """``define-fun``."""

    method = "define_function"
    name: str
    variables: tuple[ApiTerm, ...]
    result: ApiSort
    body: ApiTerm


@dataclass(frozen=True)
class DefineRecursive(Call[None]):
    """``define-fun-rec`` for ``function``, which was declared before."""

    method = "define_recursive"
    function: ApiTerm
    variables: tuple[ApiTerm, ...]
    result: ApiSort
    body: ApiTerm


@dataclass(frozen=True)
class Simplify(Call[Any]):
    """An equivalent term of the same sort."""

    method = "simplify"
    term: ApiTerm


@dataclass(frozen=True)
class Substitute(Call[Any]):
    """``term`` with each of ``replaced`` (constants) replaced at once."""

    method = "substitute"
    term: ApiTerm
    replaced: tuple[ApiTerm, ...]
    by: tuple[ApiTerm, ...]


# Looking at what was made


@dataclass(frozen=True)
class HasSort(Call[bool]):
    """Whether the solver gives the term this sort."""

    method = "has_sort"
    term: ApiTerm
    sort: ApiSort


@dataclass(frozen=True)
class InspectSort(Call[None]):
    """Ask the sort all it can be asked and compare with what it was made of (:class:`Misbehaviour`)."""

    method = "inspect_sort"
    sort: ApiSort


@dataclass(frozen=True)
class InspectTerm(Call[None]):
    """Ask the term for its children, operator, indices, value and hash, and compare with itself."""

    method = "inspect_term"
    term: ApiTerm


@dataclass(frozen=True)
class ReadBack(Call[None]):
    """Print the term, read it with the solver's own parser, and compare."""

    method = "read_back"
    term: ApiTerm


# Solving


@dataclass(frozen=True)
class Assert(Call[Any]):
    """Assert a closed term of sort Bool; gives the mark by which the engine knows the assertion again."""

    method = "assert_formula"
    changes = True
    term: ApiTerm


@dataclass(frozen=True)
class CheckSat(Call[Answer]):
    """``check-sat``, or ``check-sat-assuming`` where assumptions are given."""

    method = "check_sat"
    assumptions: tuple[ApiTerm, ...] | None = None


@dataclass(frozen=True)
class UnsatAssumptions(Call[list[ApiTerm]]):
    """After unsat under assumptions: those that failed, among the ones that were given."""

    method = "unsat_assumptions"


@dataclass(frozen=True)
class UnsatCore(Call[list[ApiTerm]]):
    """After unsat: assertions (of those given) that are unsatisfiable together (with the assumptions)."""

    method = "unsat_core"


@dataclass(frozen=True)
class GetValue(Call[list[Any]]):
    """After sat: the handles of the values of closed terms."""

    method = "get_value"
    terms: tuple[ApiTerm, ...]


@dataclass(frozen=True)
class Equate(Call[Any]):
    """The handle of a formula that says that ``term`` has the value that ``GetValue`` gave."""

    method = "equate"
    term: ApiTerm
    value: Any


@dataclass(frozen=True)
class PrintModel(Call[str]):
    """After sat: the model as text."""

    method = "print_model"


@dataclass(frozen=True)
class Push(Call[None]):
    """Open levels."""

    method = "push"
    changes = True
    count: int


@dataclass(frozen=True)
class Pop(Call[None]):
    """Close levels."""

    method = "pop"
    changes = True
    count: int


@dataclass(frozen=True)
class Reset(Call[None]):
    """``(reset)``: the instance is as new; terms of the manager live on where the solver allows it (else the
    engine says so by lacking the feature RESET).
    """

    method = "reset"
    changes = True


@dataclass(frozen=True)
class ResetAssertions(Call[None]):
    """``(reset-assertions)``."""

    method = "reset_assertions"
    changes = True
