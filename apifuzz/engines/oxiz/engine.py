"""oxiz behind its Python interface: a term manager, with a context or without, and one solver at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import oxiz

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.oxiz.session import BINDERS, QUESTIONS, SOLVER, Session
from apifuzz.engines.oxiz.terms import OxizTerms, lacking, roundings, takes
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import make_by, read_calls
from apifuzz.interface import (
    Answer,
    ApiTerm,
    Capabilities,
    Misbehaviour,
    Option,
    OptionKind,
    Rejected,
    Unsupported,
    must,
)
from smtlib import BOOL, STRING, Signature, Sort, quote_symbol
from smtlib.values import binary_text, escaped

CORES = "produce-unsat-cores"
_FAR_LIMIT = "600000"
"""Milliseconds: no check of a run takes as long."""


class OxizEngine(OxizTerms):
    """oxiz. It has neither functions nor sorts of the user, no assumptions, and no values but a model's."""

    name = "oxiz"
    plan = "apifuzz.engines.oxiz.actions"
    plan_takes_pairs = True
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    exceptions = (ValueError, OverflowError)

    def __init__(self, session: Session | None = None) -> None:
        super().__init__(session or Session())
        self._shared = session
        self.solver: Any = None
        self.given: dict[str, str] = {}
        self._labels = 0

    # What it is

    @property
    def version(self) -> str:
        return str(oxiz.__version__)

    def capabilities(self) -> Capabilities:
        known = profile(self.name).capabilities
        return replace(known, without=lacking(), value_arguments={**known.value_arguments, **roundings()})

    def options(self) -> tuple[Option, ...]:
        """The options that the documentation lists, without the time limit."""
        return (Option(CORES, OptionKind.BOOL, "false"),)

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether oxiz has a call for the operator at these sorts."""
        return takes(signature, sorts)

    # Life

    def new(self) -> None:
        """Make the term manager, of its own or a context's, and the solver."""
        self.session = self._shared or Session(owns=self.random.random() < 0.5)
        self.given = {}
        self.start()
        if self.random.random() < 0.1:
            self.say("limit", value=_FAR_LIMIT)

    def start(self) -> None:
        """Make the solver, with the options that were set."""
        self.solver = oxiz.Solver()
        for name, value in self.given.items():
            self.set_again(name, value)

    def delete(self) -> None:
        """Let go of the solver and the manager, in either order."""
        if self.random.random() < 0.5:
            self.solver = None
        self.session = Session()
        self.solver = None

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        return profile(self.name).translate(str(error))

    def sibling(self) -> Engine:
        """A second solver on the same term manager."""
        other = OxizEngine(self.session)
        other.random.seed(self.random.getrandbits(32))
        other.new()
        other.set_option(CORES, "true")
        return other

    def set_logic(self, logic: str) -> None:
        """Name the logic, in one of two ways."""
        self.given["logic"] = logic
        self.set_again("logic", logic)

    def set_option(self, name: str, value: str) -> None:
        """Set an option."""
        if name != CORES:
            raise Unsupported(f"option {name}")
        if value not in ("true", "false"):
            raise Rejected(f"{value} is neither true nor false")
        self.given[name] = value
        self.set_again(name, value)

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

    # Solving

    def fresh_label(self) -> str:
        """A new label for an assertion; sometimes of two words."""
        self._labels += 1
        return f"label {self._labels}" if self.random.random() < 0.02 else f"a{self._labels}"

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        """``check-sat``; there are no assumptions."""
        if assumptions is not None:
            raise Unsupported("assumptions")
        result = self.say("check")
        answer = next(answer for answer in Answer if getattr(result, f"is_{answer}"))
        if self.random.random() < 0.1:
            words = self.session.words((), (), {"result": result, "answer": str(answer)})
            QUESTIONS.ask("value", f"the answer {answer}", words, "answer")
        return answer

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
                return _signed(str(abs(int(value))), int(value) < 0)
            case "Real":
                number = Fraction(value)
                return _signed(f"(/ {abs(number.numerator)} {number.denominator})", number < 0)
            case "BitVec" if isinstance(value, int) and 0 <= value < 1 << sort.indices[0]:
                return binary_text(value, sort.indices[0])
            case "BitVec" if isinstance(value, str):
                return binary_text(int(value.replace("#", "0"), 0), sort.indices[0])
            case "String" if isinstance(value, str):
                return '"' + escaped(value).replace('"', '""') + '"'
            case "Array" | "FloatingPoint":
                return None
    except (ArithmeticError, TypeError, ValueError):
        pass
    raise Misbehaviour("value", f"{value!r:.200} is no value of sort {sort}")


def _signed(text: str, is_negative: bool) -> str:
    return f"(- {text})" if is_negative else text


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
    **{
        "QUESTIONS": QUESTIONS,
        "BINDERS": BINDERS,
        "CORES": CORES,
        "must": must,
        "quote_symbol": quote_symbol,
    },
    **{"BOOL": BOOL, "STRING": STRING, "Rejected": Rejected, "Unsupported": Unsupported},
}
