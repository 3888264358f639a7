"""What a solver looks like to the fuzzer: sorts, terms and one solver instance behind one interface.

A wrapper is one file per solver. It makes the solver's own calls and nothing else: which call comes next is
the model's business (``model.py``), what a call is made with is the actions' (``actions/``). Where the solver
offers several calls for one thing (``mk_term(k, a, b)`` and ``mk_term(k, [a, b])``; ``a + b`` and
``z3.Sum``), the wrapper draws among them from :attr:`Wrapper.random`, which is seeded anew for each action
with the number that stands in the trace, so that a trace replays to the same calls.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from smtlib import Signature, Sort, default_theories

if TYPE_CHECKING:
    from apifuzz.actions import Action
    from apifuzz.model import Model


class Rejected(Exception):
    """The solver says that a call was wrong: its message. Either our mistake or a fault of the solver."""


class Unsupported(Exception):
    """The wrapper knows that the solver cannot do this, and did not ask it: the reason, in a few words."""


class LimitReached(Exception):
    """The solver gave up a call for a known limit of its own, and its objects are not safe to use after that:
    the run ends here, without an error. The message says what the limit is.
    """


class Misbehaviour(Exception):
    """The solver did something that it must not do: ``kind`` is a word for the class of it.

    Kinds: ``answer`` (two solvers disagree), ``model`` (a value contradicts the assertions), ``core``,
    ``assumptions``, ``sort`` (a term has another sort than its operator gives), ``term`` (children, operator
    or kind are not those it was made of), ``print`` (a printed term does not read back), ``value``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Answer(StrEnum):
    """What a check ended with."""

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
    """What a solver can be asked for, apart from theories."""

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
    """What a solver knows: theories by the names of the theory files, features, and what it lacks of them."""

    theories: frozenset[str]
    features: frozenset[Feature]
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


class Wrapper(ABC):
    """One solver behind its own interface.

    Handles are the solver's objects and go back and forth untouched. Every method may raise
    :class:`Rejected`, :class:`Unsupported` or :class:`Misbehaviour`; nothing else, unless the wrapper has a
    bug. One wrapper object serves one run: ``new`` to ``delete``, possibly several times.
    """

    name: str
    """``z3``, ``cvc5``, ``bitwuzla``, or what a solver command was called."""

    answers: bool = True
    """Whether there is a solver that answers; where there is none (printing), whatever could be asked after
    some answer can be asked after any, and a run asks as if it had got one that is drawn."""

    def __init__(self) -> None:
        self.random = random.Random()

    # What it is

    @property
    @abstractmethod
    def version(self) -> str:
        """The solver's version, as it says it itself."""

    @property
    def families(self) -> tuple[str, ...]:
        """The solvers whose ``:only`` marks in the theory files hold here; of several, all must know a
        thing.
        """
        return (self.name,)

    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the solver knows. Asked again after each option."""

    @abstractmethod
    def options(self) -> tuple[Option, ...]:
        """The options that may be drawn, asked of the solver; those that are dangerous (time limits, output
        to files, other languages) left out by the wrapper's own list.
        """

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether the solver takes this operator at these sorts; finer than :class:`Capabilities`."""
        return True

    def extra_actions(self) -> tuple[Action, ...]:
        """Actions that only this solver has; their names begin with the solver's and a colon."""
        return ()

    def adjust(self, model: Model) -> None:  # noqa: B027 - most solvers change nothing
        """Change states, transitions and weights of the model to what this solver wants."""

    # Life

    @abstractmethod
    def new(self) -> None:
        """Make the solver instance (and its term manager or context, where there is none)."""

    @abstractmethod
    def delete(self) -> None:
        """Let go of the instance and of every handle the wrapper keeps."""

    @abstractmethod
    def sibling(self) -> Wrapper:
        """Another instance, made, with default options plus models, cores and assumptions, whose sorts and
        terms are shared with this one.
        """

    @abstractmethod
    def set_logic(self, logic: str) -> None:
        """``(set-logic logic)``, before anything is made."""

    @abstractmethod
    def set_option(self, name: str, value: str) -> None:
        """``(set-option :name value)``."""

    # Sorts

    @abstractmethod
    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """A sort of a theory file (``Int``, ``(_ BitVec 8)``, ``(Array A B)`` with ``args`` its arguments),
        or an instance of a declared sort constructor or parametric datatype.
        """

    @abstractmethod
    def declare_sort(self, name: str, arity: int) -> Any:
        """An uninterpreted sort; of arity > 0 a constructor, which ``make_sort`` applies by its name."""

    @abstractmethod
    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        """Datatypes, mutually recursive perhaps; a handle for each in order (a parametric one's is used by
        ``make_sort`` only).
        """

    # Terms

    @abstractmethod
    def make_value(self, sort: ApiSort, text: str) -> Any:
        """The value that ``text`` writes in SMT-LIB: ``true``, ``(- 3)``, ``(/ 1 3)``, ``#b01``,
        ``"a\\u{3}"``, ``(fp #b0 #b01 #b1)``, ``(_ +oo 8 24)``, ``RNE``, ``(as ff3 (_ FiniteField 5))``. The
        wrapper chooses among the ways to say it (numeral, text in base 2, 10 or 16, ...).
        """

    @abstractmethod
    def make_constant(self, name: str, sort: ApiSort) -> Any:
        """A free constant."""

    @abstractmethod
    def make_variable(self, name: str, sort: ApiSort) -> Any:
        """A variable to be bound later."""

    @abstractmethod
    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Any:
        """A declared function of at least one argument."""

    @abstractmethod
    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Any:
        """``(head args...)``, of sort ``sort``."""

    @abstractmethod
    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """``forall`` or ``exists`` (``lambda``, ``set.comprehension`` where the solver has them)."""

    @abstractmethod
    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Any:
        """``define-fun``; or ``define-fun-rec`` for ``recursive``, a function declared before."""

    @abstractmethod
    def sort_of(self, term: ApiTerm) -> Any:
        """The handle of the sort that the solver gives the term."""

    @abstractmethod
    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        """Whether the solver holds ``handle`` to be the sort ``sort``."""

    @abstractmethod
    def inspect_sort(self, sort: ApiSort) -> None:
        """Ask the sort all it can be asked and compare with what it was made of (:class:`Misbehaviour`)."""

    @abstractmethod
    def inspect_term(self, term: ApiTerm) -> None:
        """Ask the term for its children, operator, indices, value and hash, and compare with itself."""

    @abstractmethod
    def read_back(self, term: ApiTerm) -> None:
        """Print the term, read it with the solver's own parser, and compare."""

    @abstractmethod
    def simplify(self, term: ApiTerm) -> Any:
        """An equivalent term of the same sort."""

    @abstractmethod
    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Any:
        """``term`` with each of ``replaced`` (constants) replaced at once."""

    # Solving

    @abstractmethod
    def assert_formula(self, term: ApiTerm) -> None:
        """Assert a closed term of sort Bool."""

    @abstractmethod
    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        """``check-sat``, or ``check-sat-assuming`` where assumptions are given."""

    @abstractmethod
    def unsat_assumptions(self) -> list[ApiTerm]:
        """After unsat under assumptions: those that failed, among the ones that were given."""

    @abstractmethod
    def unsat_core(self) -> list[ApiTerm]:
        """After unsat: assertions (of those given) that are unsatisfiable together (with the assumptions)."""

    @abstractmethod
    def values(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """After sat: the handles of the values of closed terms."""

    @abstractmethod
    def equal(self, term: ApiTerm, value: Any) -> Any:
        """The handle of a formula that says that ``term`` has the value that ``values`` gave."""

    @abstractmethod
    def print_model(self) -> str:
        """After sat: the model as text."""

    @abstractmethod
    def push(self, levels: int) -> None:
        """Open levels."""

    @abstractmethod
    def pop(self, levels: int) -> None:
        """Close levels."""

    @abstractmethod
    def reset(self) -> None:
        """``(reset)``: the instance is as new; terms of the manager live on where the solver allows it (else
        the wrapper says so by lacking the feature RESET).
        """

    @abstractmethod
    def reset_assertions(self) -> None:
        """``(reset-assertions)``."""
