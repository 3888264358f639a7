"""oxiz behind its Python interface: a term manager, with a context or without, and one solver at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import oxiz

from apifuzz.engine import Engine
from apifuzz.engines.oxiz.session import (
    BINDERS,
    CONSTANTS,
    OPERATORS,
    QUESTIONS,
    SOLVER,
    VALUES,
    Session,
)
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import make_by, read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Head,
    HeadKind,
    Misbehaviour,
    Option,
    OptionKind,
    Rejected,
    Unsupported,
    head_text,
    must,
)
from apifuzz.values import read_value
from smtlib import BOOL, STRING, Signature, Sort, default_theories, quote_symbol
from smtlib.sorts import ROUNDING_MODE
from smtlib.values import binary_text, integer_text, string_text

CORES = "produce-unsat-cores"
_READABLE = frozenset(("Bool", "Int", "BitVec"))
"""Sorts of values that assertions as text may have."""
_FAR_LIMIT = "600000"
"""Milliseconds: no check of a run takes as long."""


@cache
def lacking() -> frozenset[str]:
    """Operators of the theories that no call makes."""
    theories = profile("oxiz").capabilities.theories
    return frozenset(
        s.name
        for s in default_theories().signatures()
        if s.theory in theories and not OPERATORS.find(s.name, [p.name for p in s.params])
    ) - {name.partition(" ")[0] for name, _ in OPERATORS}


@cache
def roundings() -> dict[str, tuple[int, ...]]:
    """The places of rounding modes, which are values, per operator."""
    return {
        s.name: (0,)
        for s in default_theories().signatures()
        if s.theory == "FloatingPoint" and s.params[:1] and s.params[0].name == "RoundingMode"
    }


class OxizEngine(TableEngine):
    """oxiz. It has neither functions nor sorts of the user, no assumptions, and no values but a model's."""

    name = "oxiz"
    plan = "apifuzz.engines.oxiz.actions"
    plan_takes_pairs = True
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    exceptions = (ValueError, OverflowError)

    def __init__(self, session: Session | None = None) -> None:
        super().__init__()
        self.session = session or Session()
        self._shared = session
        self.solver: Any = None
        self.given: dict[str, str] = {}
        self.labels = 0

    # What it is

    @property
    def version(self) -> str:
        return str(oxiz.__version__)

    def capabilities(self) -> Capabilities:
        known = super().capabilities()
        return replace(known, without=lacking(), value_arguments={**known.value_arguments, **roundings()})

    def options(self) -> tuple[Option, ...]:
        """The options that the documentation lists, without the time limit."""
        return (Option(CORES, OptionKind.BOOL, "false"),)

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether a call makes the operator at these sorts. Rounding modes are first arguments only."""
        if ROUNDING_MODE in sorts[1:] or (ROUNDING_MODE in sorts and signature.name not in roundings()):
            return False
        return bool(OPERATORS.find(signature.name, [sort.name for sort in sorts]))

    # Life

    def new(self) -> None:
        """Make the term manager, of its own or a context's, and the solver."""
        self.session = self._shared or Session(owns=self.random.happens(0.5))
        self.given = {}
        self.start()
        if self.random.happens(0.1):
            self.say("limit", value=_FAR_LIMIT)

    def start(self) -> None:
        """Make the solver, with the options that were set."""
        self.solver = oxiz.Solver()
        for name, value in self.given.items():
            self.set_again(name, value)

    def delete(self) -> None:
        """Let go of the solver and the manager, in either order."""
        if self.random.happens(0.5):
            self.solver = None
        self.session = Session()
        self.solver = None

    def sibling(self) -> Engine:
        """A second solver on the same term manager."""
        other = OxizEngine(self.session)
        other.random.seed(self.random.getrandbits(32))
        other.new()
        other.set_again(CORES, "true")
        return other

    def set_again(self, name: str, value: str) -> None:
        """Set an option, or the logic, of the solver."""
        if name == "logic":
            self.say("logic", name=value)
        else:
            self.say("cores", value=value)

    def say(self, row: str, *args: Any, **words: str) -> Any:
        """One of the solver's calls of a row."""
        word = self.session.words(args, (), {"solver": self.solver, **words})
        return make_by(SOLVER.find(row, [""] * len(args)), word, self.random, row)

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Any:
        """The value that ``text`` writes."""
        own = sort.sort
        try:
            name, words = read_value(own, text)
        except ValueError as error:
            raise Rejected(f"{text} is not a value of sort {own}") from error
        routes = (VALUES if name in VALUES else OPERATORS).find(name)
        made = self.session.make(name, routes, self.session.words((), own.indices, words), self.random)
        if own.name in _READABLE:
            self.session.keep_text(made, text)
        return made

    def named(self, sort: Sort, name: str) -> Any:
        """A free constant."""
        if sort is ROUNDING_MODE:
            raise Unsupported("constants of rounding modes")
        key = sort.name if sort.name in CONSTANTS else "other"
        words = {"name": name, "sort": self.session.sort(sort, self.random)}
        routes = CONSTANTS.find(key)
        return self.session.make(key, routes, self.session.words((), sort.indices, words), self.random)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        """An operator applied."""
        if head.kind is not HeadKind.OPERATOR:
            raise Unsupported("functions and datatypes")
        handles, indices = [a.handle for a in args], head.indices
        routes = OPERATORS.find(head.name, [a.sort.sort.name for a in args])
        words = self.session.words(handles, indices)
        made = self.session.make(head.name, routes, words, self.random)
        texts = [self.session.text(handle) for handle in handles if not isinstance(handle, str)]
        # Its reader takes two arguments only of operators such as bvor, as SMT-LIB did before version 2.7.
        is_read = len(args) in (1, 2) or (args and args[0].sort.sort.name != "BitVec")
        if is_read and len(texts) == len(args) and all(texts):
            self.session.keep_text(made, f"({head_text(head)} {' '.join(texts)})")
        return made

    # Solving

    def model(self) -> Iterator[tuple[str, str]]:
        """The declared constants that the model lists, with their values in SMT-LIB."""
        texts, values = self.solver.get_model(self.session.manager), self.solver.model()
        for name, (_, sort) in self.session.constants.items():
            must("model", (name in texts) == (name in values), f"only one of the two models has {name}")
            if name in values:
                text = in_smtlib(sort, values[name])
                if text is not None:
                    _require_same(sort, texts[name], values[name])
                    yield name, text


def in_smtlib(sort: Sort, value: Any) -> str | None:
    """A value of ``Solver.model`` in SMT-LIB; None for a sort whose values oxiz gives in its own words.

    Raises Misbehaviour for what is no value of the sort.
    """
    try:
        match sort.name:
            case "Bool" if isinstance(value, bool):
                return str(value).lower()
            case "Int" if Fraction(value).denominator == 1:
                return integer_text(int(value))
            case "Real":
                number = Fraction(value)
                text = f"(/ {abs(number.numerator)} {number.denominator})"
                return f"(- {text})" if number < 0 else text
            case "BitVec" if isinstance(value, int) and 0 <= value < 1 << sort.indices[0]:
                return binary_text(value, sort.indices[0])
            case "BitVec" if isinstance(value, str):
                return binary_text(int(value.replace("#", "0"), 0), sort.indices[0])
            case "String" if isinstance(value, str):
                return string_text(value)
            case "Array" | "FloatingPoint":
                return None
    except (ArithmeticError, TypeError, ValueError):
        pass
    raise Misbehaviour("value", f"{value!r:.200} is no value of sort {sort}")


def _require_same(sort: Sort, text: str, value: Any) -> None:
    """Misbehaviour where the two models give a constant different values."""
    match sort.name:
        case "Bool":
            same = text == str(value).lower()
        case "Int" | "Real":
            same = Fraction(text) == Fraction(value)
        case "BitVec" if isinstance(value, int):
            same = int(text.replace("#", "0"), 0) == value
        case _:
            return
    must("model", same, f"get_model says {text}, model says {value}")


OxizEngine.words = {
    **{"QUESTIONS": QUESTIONS, "BINDERS": BINDERS, "CORES": CORES, "BOOL": BOOL, "STRING": STRING},
    **{word.__name__: word for word in (Answer, Rejected, Unsupported, must, quote_symbol)},
    "ROUNDING_MODE": ROUNDING_MODE,
}
