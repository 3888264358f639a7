"""oxiz behind its Python interface: a term manager, with a context or without, and one solver at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import oxiz

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.oxiz.session import QUESTIONS, SOLVER, Session
from apifuzz.engines.oxiz.terms import OxizTerms, lacking, roundings, takes
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import make_by
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
from smtlib import Signature, Sort
from smtlib.values import binary_text, escaped

CORES = "produce-unsat-cores"
_FAR_LIMIT = "600000"
"""Milliseconds: no check of a run takes as long."""


class OxizEngine(OxizTerms):
    """oxiz. It has neither functions nor sorts of the user, no assumptions, and no values but a model's."""

    name = "oxiz"
    plan = "apifuzz.engines.oxiz.actions"
    plan_takes_pairs = True
    exceptions = (ValueError, OverflowError)

    def __init__(self, session: Session | None = None) -> None:
        super().__init__(session or Session())
        self._shared = session
        self.solver: Any = None
        self._given: dict[str, str] = {}
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
        self._given = {}
        self._start()
        if self.random.random() < 0.1:
            self._tell("limit", value=_FAR_LIMIT)

    def _start(self) -> None:
        self.solver = oxiz.Solver()
        for name, value in self._given.items():
            self._set(name, value)

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
        self._given["logic"] = logic
        self._set("logic", logic)

    def set_option(self, name: str, value: str) -> None:
        """Set an option."""
        if name != CORES:
            raise Unsupported(f"option {name}")
        if value not in ("true", "false"):
            raise Rejected(f"{value} is neither true nor false")
        self._given[name] = value
        self._set(name, value)

    def _set(self, name: str, value: str) -> None:
        if name == "logic":
            self._tell("logic", name=value)
        else:
            self._tell("cores", value=value)

    def _tell(self, row: str, *args: Any, **words: str) -> Any:
        """One of the solver's calls of a row."""
        word = self.session.words(args, (), {"solver": self.solver, **words})
        return make_by(SOLVER.find(row, [""] * len(args)), word, self.random, row)

    # Solving

    def assert_formula(self, term: ApiTerm) -> str | None:
        """Assert a closed formula: with a label if there are cores, which is returned, or without."""
        handle, text = term.handle, self.session.text(term.handle)
        if self._given.get(CORES) == "true" and self.random.random() < 0.9:
            self._labels += 1
            label = f"label {self._labels}" if self.random.random() < 0.02 else f"a{self._labels}"
            self._tell("track", handle, label=label, text=text if self.random.random() < 0.2 else "")
            return label
        if text and self.random.random() < 0.2:
            self._tell("read", text=text)
        else:
            self._tell("assert", handle)
        return None

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        """``check-sat``; there are no assumptions."""
        if assumptions is not None:
            raise Unsupported("assumptions")
        result = self._tell("check")
        answer = next(answer for answer in Answer if getattr(result, f"is_{answer}"))
        if self.random.random() < 0.1:
            words = self.session.words((), (), {"result": result, "answer": str(answer)})
            QUESTIONS.ask("value", f"the answer {answer}", words, "answer")
        return answer

    def unsat_core(self) -> list[ApiTerm]:
        """The assertions whose labels are listed, and those without a label, which are always meant."""
        listed = list(self._tell("core"))
        labels = {assertion.mark for assertion in self.stack.asserted}
        strange = [label for label in listed if label not in labels]
        must("core", not strange, f"the core has {strange[:3]}, which no assertion is called")
        must("core", len(set(listed)) == len(listed), f"the core has a label twice: {listed[:20]}")
        found = [a.term for a in self.stack.asserted if a.mark is None or a.mark in listed]
        return list(dict.fromkeys(found))

    def get_value(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The values of constants in the model; Unsupported for other terms, and where it has none."""
        values = dict(self.model())
        names = {handle.id: name for name, (handle, _) in self.session.constants.items()}
        found = []
        for term in terms:
            name = None if isinstance(term.handle, str) else names.get(term.handle.id)
            if name not in values:
                raise Unsupported("the value of a term that the model does not list")
            found.append(self.make_value(term.sort, values[name]))
        return found

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

    def equate(self, term: ApiTerm, value: Any) -> Any:
        """That the term has the value."""
        return self.session.manager.mk_eq(term.handle, value)

    def print_model(self) -> str:
        """The model as text."""
        return str(self.solver.get_model(self.session.manager))

    def push(self, levels: int) -> None:
        """Open levels."""
        for _ in range(levels):
            self.solver.push()

    def pop(self, levels: int) -> None:
        """Close levels, at once or one by one."""
        if levels >= len(self.stack.levels):
            raise Rejected(f"pop {levels} of {len(self.stack.levels) - 1} levels")
        if self.random.random() < 0.5:
            for _ in range(levels):
                self.solver.pop()
        else:
            self.solver.pop(levels)

    def reset(self) -> None:
        """Reset the solver, or make another one; its options are set again."""
        if self.random.random() < 0.5:
            self.solver.reset()
            for name, value in self._given.items():
                self._set(name, value)
        else:
            self._start()

    def reset_assertions(self) -> None:
        """Reset the solver, which keeps its options."""
        self.solver.reset()


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
