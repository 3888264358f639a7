"""Partial operators made total: what SMT-LIB leaves open becomes a function that is declared and free.

``(div x 0)``, the head of an empty list, the minimum of the two zeros: a model may take any value there, and
does not always say which. A solver that is given the model of another one must not insist on its own choice.
So each application ``(f x)`` of a partial operator becomes ``(ite (defined x) (f x) (f' x))`` with a new
function ``f'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from smtlib.application import Applications
from smtlib.checker import CheckedScript, check_script
from smtlib.environment import Constructor, Environment
from smtlib.script import read_script
from smtlib.sorts import BOOL, INT, REAL, ROUNDING_MODE, Sort
from smtlib.terms import Declaration, Kind, Term, postorder, rewrite
from smtlib.theory import default_theories

# Forms that no theory file declares: open, and hard.
_OPEN_FORMS = frozenset(("choice",))
_HARD_FORMS = frozenset(("@", "map", "rel.aggr", "table.aggr"))
_OF_THEORIES = (Kind.OPERATOR, Kind.BINDER)


@dataclass(slots=True)
class Totaliser:
    """Makes the terms of one checked script total; ``declarations`` are the functions it brought in.

    ``open_operators`` are those met that cannot be made total.
    """

    checked: CheckedScript
    declarations: dict[tuple[str, tuple[Sort, ...], Sort], Declaration] = field(default_factory=dict)
    open_operators: set[str] = field(default_factory=set)
    _apply: Applications = field(init=False)
    _constructors: dict[Declaration, tuple[Constructor, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._apply = Applications(Environment(default_theories()), self.checked.table)
        self._constructors = {
            selector: (constructor, len(datatype.constructors))
            for datatype in self.checked.datatypes.values()
            for constructor in datatype.constructors
            for selector in constructor.selectors
        }

    def total(self, term: Term) -> Term:
        """``term`` without partial operators, and without annotations (names, patterns)."""
        return rewrite(self.checked.table, term, self._change)

    def _change(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        kind = term.op.kind
        if kind is Kind.ANNOTATION:
            return args[0]
        if kind is Kind.SYMBOL:
            declaration = term.op.declaration
            if declaration is not None and declaration.origin == "selector" and term.op.text != "is" and args:
                return self._selector(term, args, declaration)
            return None
        if kind in _OF_THEORIES and term.name in not_total():
            self.open_operators.add(term.name)
        if kind is Kind.OPERATOR and len(args) == 1 and term.name in default_theories().marked(":identity"):
            return args[0]
        if kind is Kind.OPERATOR and term.name in _DEFINED:
            return self._operator(term, args)
        return None

    def _selector(self, term: Term, args: tuple[Term, ...], declaration: Declaration) -> Term | None:
        constructor, number = self._constructors.get(declaration, (None, 1))
        if constructor is None or number == 1 or term.op.name != declaration.name:
            return None
        table = self.checked.table
        name = constructor.declaration.name
        op = table.op(Kind.SYMBOL, "is", f"(_ is {name})", (name,), constructor.declaration)
        return self._guarded(table.make(op, args, BOOL), table.rebuild(term, args), args)

    def _operator(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.name in ("div", "/") and len(args) > 2:
            result = args[0]
            for arg in args[1:]:
                one = self._op(term.name, result, arg)
                result = self._operator(one, (result, arg)) or one
            return result
        if term.name == "seq.nth" and args and args[0].sort.name != "Seq":
            self.open_operators.add(term.name)
            return None
        if len(args) != (1 if term.name == "fp.to_real" else 2):
            # As an argument of another function, or of one argument, as z3 takes it.
            self.open_operators.add(term.name)
            return None
        return _DEFINED[term.name](self, self.checked.table.rebuild(term, args), args)

    def _op(self, name: str, *args: Term, indices: tuple[int | str, ...] = ()) -> Term:
        return self._apply.operator(name, indices, None, args)

    def _fresh(self, stem: str, args: tuple[Term, ...], sort: Sort) -> Term:
        """A free function of this stem and rank, applied."""
        key = (stem, tuple(arg.sort for arg in args), sort)
        declaration = self.declarations.get(key)
        if declaration is None:
            name = f"open!!{len(self.declarations) + 1}"
            declaration = self.declarations[key] = Declaration(name, key[1], sort)
        return self.checked.table.symbol(declaration, args)

    def _guarded(self, defined: Term, term: Term, args: tuple[Term, ...]) -> Term:
        return self._op("ite", defined, term, self._fresh(term.op.text, args, term.sort))

    # Where each is defined

    def divided(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """Division: by anything but zero."""
        divisor = args[1]
        if divisor.op.kind is Kind.LITERAL and divisor.op.text.strip("0."):
            return None
        zero = self.checked.table.literal("0" if divisor.sort is INT else "0.0", divisor.sort)
        return self._guarded(self._op("not", self._op("=", divisor, zero)), term, args)

    def extreme(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The least or greatest of two zeros of different sign is either of them."""
        zeros = self._op("and", self._op("fp.isZero", args[0]), self._op("fp.isZero", args[1]))
        either = self._op("ite", self._fresh(term.op.text, args, BOOL), args[0], args[1])
        return self._op("ite", zeros, either, term)

    def to_bits(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """To a bit vector: of a number that, rounded, fits."""
        mode, number = args
        width = int(term.op.indices[0])
        signed = term.name == "fp.to_sbv"
        rounded = self._op("fp.roundToIntegral", mode, number)
        limit = 1 << (width - 1 if signed else width)
        low = self._number(-limit if signed else 0, number.sort)
        return self._guarded(
            self._op(
                "and",
                self._finite(number),
                self._op("fp.leq", low, rounded),
                self._op("fp.lt", rounded, self._number(limit, number.sort)),
            ),
            term,
            args,
        )

    def to_real(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """To a Real: of a number that is one."""
        return self._guarded(self._finite(args[0]), term, args)

    def nth(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """An element of a sequence: at a place that it has."""
        zero = self.checked.table.literal("0", INT)
        inside = self._op(
            "and", self._op("<=", zero, args[1]), self._op("<", args[1], self._op("seq.len", args[0]))
        )
        return self._guarded(inside, term, args)

    def _finite(self, number: Term) -> Term:
        return self._op(
            "not", self._op("or", self._op("fp.isNaN", number), self._op("fp.isInfinite", number))
        )

    def _number(self, value: int, sort: Sort) -> Term:
        """A power of two (or zero) in a floating-point sort; infinite where the sort has no such number."""
        table = self.checked.table
        real = table.literal(f"{abs(value)}.0", REAL)
        if value < 0:
            real = self._op("-", real)
        mode = table.operator("RNE", (), ROUNDING_MODE)
        return self._op("to_fp", mode, real, indices=sort.indices)


_DEFINED: dict[str, Callable[[Totaliser, Term, tuple[Term, ...]], Term | None]] = {
    "div": Totaliser.divided,
    "mod": Totaliser.divided,
    "/": Totaliser.divided,
    "fp.min": Totaliser.extreme,
    "fp.max": Totaliser.extreme,
    "fp.to_ubv": Totaliser.to_bits,
    "fp.to_sbv": Totaliser.to_bits,
    "fp.to_real": Totaliser.to_real,
    "seq.nth": Totaliser.nth,
}


@cache
def read_differently() -> frozenset[str]:
    """Operators that solvers, and releases of one solver, read differently: each may be right in its way."""
    return _OPEN_FORMS.union(default_theories().marked(":open")).difference(_DEFINED)


@cache
def not_total() -> frozenset[str]:
    """Operators that are open, or hard to work out: a refutation that rests on them proves nothing."""
    return read_differently() | _HARD_FORMS | default_theories().marked(":hard")


def operators_in(roots: Iterable[Term]) -> set[str]:
    """The operators of theories in some terms. A symbol that the script declares may have such a name."""
    return {term.name for term in postorder(roots) if term.kind in _OF_THEORIES}


def left_open(text: str) -> set[str]:
    """The operators of a script that have values which the standard leaves open. Raises ReadError."""
    totaliser = Totaliser(check_script(read_script(text)))
    for command in totaliser.checked.commands:
        for term in (*command.terms, *(definition.body for definition in command.definitions)):
            totaliser.total(term)
    return totaliser.open_operators | {name for name, _, _ in totaliser.declarations}
