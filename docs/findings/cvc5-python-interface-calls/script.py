"""cvc5 1.4.2, Python interface only: calls that raise errors though they are right by their documentation."""

from collections.abc import Callable

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
integer = manager.getIntegerSort()
x, y = manager.mkConst(integer, "x"), manager.mkConst(integer, "y")
solver = cvc5.Solver(manager)
solver.setOption("produce-difficulty", "true")
solver.assertFormula(manager.mkTerm(Kind.LT, x, y))
solver.assertFormula(manager.mkTerm(Kind.LT, y, x))
solver.checkSat()


def attempt(name: str, call: Callable[[], object]) -> None:
    try:
        print(f"{name}: {call()}")
    except (TypeError, ValueError, OverflowError) as error:
        print(f"{name}: {type(error).__name__}: {error}")


attempt("getDifficulty()", solver.getDifficulty)
attempt("mkInteger(2**31)", lambda: manager.mkInteger(2**31))
attempt("mkInteger('2147483648')", lambda: manager.mkInteger("2147483648"))
attempt("mkString(chr(233), False)", lambda: manager.mkString(chr(233), False))
attempt("mkString(chr(233))", lambda: manager.mkString(chr(233)))
attempt("Solver.mkTupleSort(integer, integer)", lambda: solver.mkTupleSort(integer, integer))
attempt("Solver.mkPredicateSort(integer)", lambda: solver.mkPredicateSort(integer))
attempt("Solver.mkRecordSort(('a', integer))", lambda: solver.mkRecordSort(("a", integer)))
attempt("Solver.mkSkolem(DIV_BY_ZERO)", lambda: solver.mkSkolem(cvc5.SkolemId.DIV_BY_ZERO))
