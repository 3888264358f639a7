"""What the standard leaves open, and what of it keeps a term from being valued.

For a test that is satisfiable by construction it is enough that one interpretation allowed by SMT-LIB 2.7
gives the terms their values. Per function:

- ``div``, ``mod``, ``/`` by zero and selectors on values of another constructor may be any function. z3's
  values are used where they are those of a function: equal arguments, equal value (``is_partial``).
- ``fp.min`` and ``fp.max`` of zeros of opposite sign, ``fp.to_ubv``, ``fp.to_sbv`` out of range,
  ``fp.to_real`` of an infinity or NaN: open in the standard, but solvers fix them in ways of their own;
  ``fp.to_ieee_bv`` of NaN and ``seq.nth`` out of bounds likewise. Terms with these functions are left out.
- ``fp.rem``: fixed, but z3 and cvc5 have had it wrong; left out, for a wrong value is a false alarm.
- Equality of arrays over a finite (or uninterpreted) index sort: z3 compares defaults that no index reads;
  left out, as is all else that compares arrays: function arguments, indices.
- ``^`` and what not all solvers have (transcendental functions, sets, bags ...) are left out.
- Recursive functions are axioms that the model may not meet; left out.

Bit-vector division by zero, ``str.at`` out of bounds and the like are fixed by the standard and used.
"""

from __future__ import annotations

from functools import cache

from generator.scopes import Prelude
from generator.seeds.script import SeedScript, once_per_seed
from smtlib import Kind, Sort, Term, default_theories, postorder
from smtlib.sorts import subsorts
from smtlib.theory import common_functions

_PARTIAL = frozenset(("div", "mod", "/"))

_SORTS = frozenset("Bool Int Real BitVec FloatingPoint RoundingMode String RegLan Array Seq".split())

_INFINITE = frozenset(("Int", "Real", "String", "Seq"))

_READS_ARRAYS = frozenset(("select", "store"))
"""Functions that compare their second argument only, the index."""


class Openness:
    """What keeps terms of one seed from being valued."""

    def __init__(self, script: SeedScript) -> None:
        self._script = script
        self._codatatypes = any("codatatype" in c.name for c in script.prelude)
        self._sorts: dict[Sort, str] = {}
        self._comparable: dict[Sort, bool] = {}
        self._recursive = {d for d in script.declarations if d.origin == "define-rec"}
        self._spoiled: dict[object, str] = {}
        for command in script.prelude:
            for definition in command.definitions:
                if definition.declaration in self._recursive:
                    self._spoiled[definition.declaration] = "a recursive function"
                    continue
                fault = self._fault_of_body(definition.body)
                if fault:
                    self._spoiled[definition.declaration] = fault
        self._undefinable = self._undefinable_functions()

    def fault(self, term: Term) -> str:
        """Why ``term`` by itself cannot be valued, whatever its arguments; empty where it can."""
        op = term.op
        found = self._sort_fault(term.sort)
        if found:
            return found
        if op.kind is Kind.OPERATOR:
            if op.name in _not_valued():
                return f"open or not standard: {op.name}"
            if op.name not in common_functions():
                return "not in all solvers"
            compared = term.args[1:2] if op.name in _READS_ARRAYS else term.args
            if op.name not in ("const", "ite") and not all(self._is_comparable(a.sort) for a in compared):
                return "compares arrays"
        elif op.kind is Kind.SYMBOL and op.declaration is not None:
            if op.declaration in self._spoiled:
                return self._spoiled[op.declaration]
            if op.declaration.origin == "declare" and not all(self._is_comparable(a.sort) for a in term.args):
                return "compares arrays"
        return ""

    def is_partial(self, term: Term) -> bool:
        """Whether ``term`` applies a function that may be anything for some arguments."""
        op = term.op
        if op.kind is Kind.OPERATOR:
            return op.name in _PARTIAL and not _divides_by_number(term)
        return op.declaration is not None and op.declaration.origin == "selector" and op.name != "update"

    def fault_below(self, root: Term) -> str:
        """Why a quantified term or a match cannot be valued: what is wrong anywhere below it.

        Partial functions are no reason in a quantified term: its value is proved, for all of them.
        """
        nested = root.op.kind is Kind.MATCH
        for term in postorder([root]):
            kind = term.op.kind
            if kind is Kind.BINDER and (nested or not term.is_quantifier):
                return "a binder other than a quantifier" if not nested else "a quantifier in a match"
            if kind in (Kind.BINDER, Kind.MATCH, Kind.ANNOTATION, Kind.VARIABLE, Kind.LITERAL):
                found = self._sort_fault(term.sort)
            else:
                found = self.fault(term)
            if found:
                return found
            if nested and self.is_partial(term):
                return "a partial function in a match"
        return ""

    def is_undefinable(self, term: Term) -> bool:
        """Whether ``term`` cannot even be shown to z3: it uses a recursive function."""
        if term.op.kind in (Kind.BINDER, Kind.MATCH):
            return any(t.op.declaration in self._undefinable for t in postorder([term]))
        return term.op.declaration in self._undefinable

    def recursive(self, prelude: Prelude) -> int:
        """The declarations that z3 is not shown."""
        mask = 0
        for position, command in enumerate(prelude.commands):
            if any(d in self._undefinable for d in command.declarations):
                mask |= 1 << position
        return mask

    def _undefinable_functions(self) -> set[object]:
        found: set[object] = set(self._recursive)
        for command in self._script.prelude:
            for definition in command.definitions:
                if any(t.op.declaration in found for t in postorder([definition.body])):
                    found.add(definition.declaration)
        return found

    def _fault_of_body(self, body: Term) -> str:
        for term in postorder([body]):
            if term.op.kind in (Kind.BINDER, Kind.MATCH):
                return "a binder in a defined function"
            found = self.fault(term)
            if found:
                return found
            if self.is_partial(term):
                return "a partial function in a defined one"
        return ""

    def _sort_fault(self, sort: Sort) -> str:
        found = self._sorts.get(sort)
        if found is None:
            known = _SORTS | self._script.sort_names
            unknown = [s.name for s in subsorts(sort) if s.name not in known]
            found = f"the sort {unknown[0]}" if unknown else ""
            if not found and self._codatatypes:
                found = "codatatypes"
            self._sorts[sort] = found
        return found

    def _is_comparable(self, sort: Sort) -> bool:
        """Whether equality on ``sort`` is valued: no array over a finite index sort is in it."""
        found = self._comparable.get(sort)
        if found is None:
            self._comparable[sort] = True  # for datatypes that hold themselves
            found = self._comparable[sort] = self._decide_comparable(sort)
        return found

    def _decide_comparable(self, sort: Sort) -> bool:
        if sort.name == "Array":
            index, element = sort.args
            return index.name in _INFINITE and self._is_comparable(index) and self._is_comparable(element)
        datatype = self._script.datatypes.get(sort.name)
        if datatype is not None:
            fields = [s for c in datatype.constructors for s in c.declaration.params]
            if not all(self._is_comparable(f) for f in fields if f.name[0] != "'"):
                return False
        return all(self._is_comparable(a) for a in sort.args)


def _divides_by_number(term: Term) -> bool:
    """Whether every divisor is a literal other than zero."""
    return all(a.op.kind is Kind.LITERAL and a.op.text.strip("0.") != "" for a in term.args[1:])


@once_per_seed
def open_functions(script: SeedScript) -> frozenset[str]:
    """The functions in ``script`` that may be chosen: what the standard leaves open, or does not know.

    Two formulas each satisfiable may not be so together where both choose one of these.
    """
    found = set()
    for term in script.all_terms:
        op = term.op
        if op.kind is not Kind.OPERATOR:
            continue
        if op.name in _PARTIAL:
            if not _divides_by_number(term):
                found.add(op.name)
        elif op.name in _not_valued() or op.name not in common_functions():
            found.add(op.name)
    return frozenset(found)


@cache
def _not_valued() -> frozenset[str]:
    """Functions whose applications are not valued: left open, or no solver's value is to be trusted."""
    theories = default_theories()
    return frozenset().union(*map(theories.marked, (":open", ":hard", ":doubtful"))) - _PARTIAL
