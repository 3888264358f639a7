"""Terms are printed, and read back by cvc5's own parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import cvc5
from cvc5 import Kind

from apifuzz.engines.walking import first_difference
from apifuzz.interface import Misbehaviour, Rejected

_UNREADABLE = re.compile(r"@[a-z]|__cvc5_record|fmf\.card")
"""In texts that cvc5 prints and cannot read: internal operators, cardinalities, records' constructors."""

_LARGEST = 200_000
"""Longer texts are not read back, in characters."""


def reads_alike(one: Any, two: Any) -> bool:
    """Whether two terms are alike from the outside: in kinds, indices and children, down to the leaves.

    Bound variables and some symbols are new ones of the same name after reading, and some kinds that differ
    inside are one from the outside. What is printed as ``(- 5)`` is read as a negation: numbers are compared
    by value. A constant sequence is printed as units and read as a term of these: sequences are compared by
    their elements. An application of ``fp`` to values is read as a value: both are compared by their bits.
    """
    return first_difference(one, two, _shape) is None


def _shape(term: Any) -> tuple[tuple[Any, ...], Sequence[Any]]:
    """Sort's text and number; or kind, sort's text, indices, and what a leaf is printed as; and children."""
    if term.getKind() is Kind.INTERNAL_KIND:
        # Constructors of parametric datatypes, as they are at their sorts: nothing more can be asked of them.
        return (Kind.INTERNAL_KIND, str(term)), ()
    if (number := _number(term)) is not None:
        return (str(term.getSort()), number), ()
    if (elements := _elements(term)) is not None:
        return (Kind.SEQ_CONCAT, str(term.getSort())), elements
    if (bits := _bits(term)) is not None:
        return (str(term.getSort()), bits), ()
    indices: tuple[str, ...] = ()
    if term.hasOp() and term.getOp().isIndexed():
        operator = term.getOp()
        indices = tuple(str(operator[place]) for place in range(operator.getNumIndices()))
    children = list(term)
    return (term.getKind(), str(term.getSort()), indices, "" if children else str(term)), children


def _number(term: Any) -> Fraction | None:
    if term.isRealValue():
        return Fraction(term.getRealValue())
    if term.isIntegerValue():
        return Fraction(term.getIntegerValue())
    if term.getKind() is Kind.NEG:
        inner = _number(term[0])
        return None if inner is None else -inner
    if term.getKind() is Kind.DIVISION and term.getNumChildren() == 2:
        over, under = _number(term[0]), _number(term[1])
        return over / under if over is not None and under else None
    return None


def _elements(term: Any) -> list[Any] | None:
    """Those of a sequence that is made of units; None for other terms and for the empty sequence."""
    if term.isSequenceValue():
        return list(term.getSequenceValue()) or None
    if term.getKind() is Kind.SEQ_UNIT:
        return [term[0]]
    if term.getKind() is Kind.SEQ_CONCAT:
        parts = [_elements(part) for part in term]
        return None if None in parts else [element for part in parts for element in part or ()]
    return None


def _bits(term: Any) -> str | None:
    """Those of a floating-point number; None for other terms."""
    if term.isFloatingPointNaN():
        return "NaN"
    if term.isFloatingPointValue():
        return str(term.getFloatingPointValue()[2].getBitVectorValue())
    if term.getKind() is not Kind.FLOATINGPOINT_FP or not all(part.isBitVectorValue() for part in term):
        return None
    sign, exponent, significand = (part.getBitVectorValue() for part in term)
    return "NaN" if "0" not in exponent and "1" in significand else sign + exponent + significand


class Reader:
    """A parser on a run's term manager that knows what the run has declared."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.solver = cvc5.Solver(manager)
        # Then a declaration finds the function that was declared by that name on this manager.
        self.solver.setOption("fresh-declarations", "false")
        self.symbols = cvc5.SymbolManager(manager)
        self.parser = cvc5.InputParser(self.solver, self.symbols)
        self._run("(set-logic HO_ALL)")
        self._declared = 0

    def declare(self, declarations: list[str]) -> None:
        """Read the declarations that are new since the last time."""
        for text in declarations[self._declared :]:
            self._run(text)
        self._declared = len(declarations)

    def _run(self, text: str) -> None:
        self.parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "declarations")
        while True:
            command = self.parser.nextCommand()
            if command.isNull():
                return
            said = command.invoke(self.solver, self.symbols)
            if "error" in said:
                raise Rejected(f"{command.getCommandName()}: {said[:300]}")

    def compare(self, handle: Any, about: str) -> None:
        """Print a closed term and read it: Misbehaviour where it is another term.

        It may print the same and be built otherwise, as an application of a lambda is, or the reverse.
        """
        text = str(handle)
        if len(text) > _LARGEST or _UNREADABLE.search(text):
            return
        try:
            self.parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "term")
            again = self.parser.nextTerm()
        except RuntimeError as error:
            raise Misbehaviour(
                "print", f"{about} does not read back: {error!s:.300}\nin {text:.300}"
            ) from error
        if again.isNull():
            raise Misbehaviour("print", f"{about} reads back as nothing:\n{text:.300}")
        if str(again) != text and not reads_alike(again, handle):
            raise Misbehaviour(
                "print", f"{about} reads back as another term:\n{again!s:.300}\nnot\n{text:.300}"
            )
