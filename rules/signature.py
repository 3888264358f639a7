"""Signatures: the abstraction of atoms over which rules are mined.

A signature is ``(OP OPERAND...)``. An operand is ``var_SORT`` if it contains a symbol of the script or a
bound variable, else ``const_SORT`` (literals, constants of theories, constructors of such). OP is the
operator with its indices, ``fun`` for a function of the script, ``is`` for a tester, or ``selector``. The
signature of a single symbol is ``var_Bool``.

Sorts are written without blanks: ``BitVec_8``, ``FloatingPoint_8_24``, ``Array<Int,BitVec_8>``. Coarse
signatures omit indices and arguments (``BitVec``, ``Array``), and have ``Datatype`` for every datatype and
``Uninterpreted`` for every uninterpreted sort.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rules._names import AtomNames, ScriptNames
from smtlib import Kind, Sort, Term, postorder, read_sexps
from smtlib.environment import is_parameter
from smtlib.reader import SExp
from smtlib.sorts import indexed


class Signatures:
    """Computes the signatures of one script's atoms."""

    def __init__(self, script: ScriptNames) -> None:
        self.script = script
        self._seen: set[Term] = set()
        self._with_symbols: set[Term] = set()

    def full(self, term: Term, names: AtomNames) -> str:
        """The signature with indices and arguments of sorts. ``names``: the names of the atom."""
        return self._signature(term, _full_head, lambda sort: _flat(names.sort(sort)))

    def coarse(self, term: Term) -> str:
        """The coarse signature."""
        return self._signature(term, _coarse_head, self._coarse_sort)

    def holds_symbol(self, term: Term) -> bool:
        """Whether ``term`` contains a symbol of the script or a variable."""
        for inner in postorder([term], self._seen):
            if _is_symbol(inner) or not self._with_symbols.isdisjoint(inner.args):
                self._with_symbols.add(inner)
        return term in self._with_symbols

    def _signature(self, term: Term, head: Callable[[Term], str], sort: Callable[[Sort], str]) -> str:
        args = term.args
        if not args:
            return self._operand(term, sort)
        if term.op.kind is Kind.OPERATOR and term.op.name == "@":
            args = args[1:]
        return f"({head(term)} {' '.join([self._operand(a, sort) for a in args])})"

    def _operand(self, term: Term, sort: Callable[[Sort], str]) -> str:
        return ("var_" if self.holds_symbol(term) else "const_") + sort(term.sort)

    def _coarse_sort(self, sort: Sort) -> str:
        if sort.name in self.script.groups:
            return "Datatype"
        is_free = sort.name in self.script.user_sorts or is_parameter(sort)
        return "Uninterpreted" if is_free else sort.name


def operator_of(signature: str) -> str:
    """The operator of a signature: ``>`` in ``(> const_Real var_Real)``; empty for a single symbol."""
    if signature[0] != "(":
        return ""
    if signature[1] == "(":
        return signature[1 : signature.index(")") + 1]
    return signature[1:].split(" ", 1)[0]


def _is_symbol(term: Term) -> bool:
    kind = term.op.kind
    if kind is Kind.VARIABLE:
        return True
    if kind is Kind.SYMBOL:
        declaration = term.op.declaration
        return declaration is not None and not declaration.is_of_datatype
    return False


def _coarse_head(term: Term) -> str:
    op = term.op
    if op.kind is Kind.ANNOTATION:
        return _coarse_head(term.args[0])
    if op.kind is not Kind.SYMBOL:
        return "fun" if op.name == "@" else op.name
    if op.indices:
        return op.name
    declaration = op.declaration
    return declaration.origin if declaration is not None and declaration.is_of_datatype else "fun"


def _full_head(term: Term) -> str:
    op = term.op
    if op.kind is Kind.OPERATOR and op.indices and op.name != "map":
        return indexed(op.name, op.indices)
    return _coarse_head(term)


@lru_cache(maxsize=4096)
def _flat(text: str) -> str:
    """A sort without blanks and parentheses: ``(Array Int (_ BitVec 8))`` becomes ``Array<Int,BitVec_8>``."""
    return _flat_sort(read_sexps(text)[0]) if text[0] == "(" else text


def _flat_sort(sexp: SExp) -> str:
    if isinstance(sexp, str):
        return sexp
    if sexp[0] == "_":
        return "_".join(sexp[1:])
    head, *args = map(_flat_sort, sexp)
    return f"{head}<{','.join(args)}>"
