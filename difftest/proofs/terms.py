"""Terms of CPC as terms of SMT-LIB.

CPC writes indices as arguments, ``(extract 3 0 x)``, variables as ``(@var "x" Int)``, and skolems by what
defines them. ``(@purify t)`` is a name for ``t``, and ``(@int_div_by_zero t)`` for ``(div t 0)``. A skolem
of a quantifier becomes a constant. A term with another one is ``NotExpressible``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from difftest.proofs.cpc import Proof
from smtlib.datatypes import read_datatypes
from smtlib.elaborator import Elaborator
from smtlib.environment import Environment, SortDefinition
from smtlib.errors import SmtLibError
from smtlib.reader import SExp, SExpList, read_sexps, sexp_text
from smtlib.semantics import MEANINGS
from smtlib.sorts import BOOL, INT, Sort
from smtlib.terms import Declaration, Kind, Term, TermTable, free_in, postorder, substitute
from smtlib.theory import default_theories

_DEEPEST = 150
_INDICES = {
    **dict.fromkeys("repeat zero_extend sign_extend rotate_left rotate_right divisible".split(), 1),
    **dict.fromkeys("int2bv int_to_bv re.^ fp.to_ubv fp.to_sbv iand".split(), 1),
    **dict.fromkeys("extract re.loop to_fp to_fp_unsigned to_fp_bv".split(), 2),
}
"""How many of the arguments are indices."""
_BY_ZERO = {
    **dict.fromkeys(("@int_div_by_zero", "div0"), "(div {} 0)"),
    **dict.fromkeys(("@mod_by_zero", "mod0"), "(mod {} 0)"),
    **dict.fromkeys(("@div_by_zero", "/0"), "(/ {} 0.0)"),
}
_TOTAL = {
    "div_total": "(ite (= {1} 0) 0 (div {0} {1}))",
    "mod_total": "(ite (= {1} 0) {0} (mod {0} {1}))",
    "/_total": "(ite (= {1} 0.0) 0.0 (/ {0} {1}))",
}


_INDEX_OPERATORS = {name: MEANINGS[name] for name in ("+", "-")}
"""Operators in terms that are indices, such as ``(- (@bvsize x) 1)``."""
_LONGEST_INDEX = 9
_WHOLE = re.compile(r"(-?[0-9]+)/1")
"""A whole number of sort Real, as CPC prints it."""


class NotExpressible(Exception):
    """A term that has no form in SMT-LIB, or none that is known here; says why in a word or two."""


class TermReader:
    """The terms of a proof.

    ``types`` are the declarations of its sorts and datatypes, as text; ``introduced`` the names they bring.
    ``free`` has the free variables of the terms in ``seen``.
    """

    def __init__(self, proof: Proof) -> None:
        self.table = TermTable()
        self.types: list[str] = []
        self.introduced: set[str] = set()
        self.free: dict[Term, frozenset[Term]] = {}
        self.seen: set[Term] = set()
        self._environment = Environment(default_theories())
        self._elaborator = Elaborator(self._environment, self.table)
        self._terms: dict[str, Term | NotExpressible] = {}
        self._lists: dict[str, list[Term]] = {}
        self._variables: dict[tuple[str, Sort], Term] = {}
        self._skolems: dict[tuple[Term, int], Term] = {}
        for line in proof.declarations:
            self._declare(line)
        for name, sexp in proof.definitions:
            self._define(name, sexp)

    def term(self, sexp: SExp) -> Term:
        """The term that a proof writes so. Raises NotExpressible."""
        found = self._term(sexp)
        self.note_free([found])
        return found

    def note_free(self, roots: Sequence[Term]) -> None:
        """Find the free variables of terms."""
        for term in postorder(roots, self.seen):
            self.free[term] = free_in(term, self.free)

    def numbered(self, root: Term) -> Term:
        """``root`` with variables of quantifiers named by place: by how deep quantifiers nest below theirs,
        and by number. So it is the same term for all names of variables.
        """
        new: dict[Term, Term] = {}
        heights: dict[Term, int] = {}
        for term in postorder([root]):
            args = tuple(new[arg] for arg in term.args)
            heights[term] = max((heights[arg] for arg in term.args), default=0)
            if term.kind is Kind.BINDER:
                heights[term] += 1
                named = {
                    variable: self.table.variable(f"b!{heights[term]}!{number}", variable.sort)
                    for number, variable in enumerate(term.variables)
                }
                body = substitute(self.table, args[0], named)
                new[term] = self.table.make(term.op, (body,), term.sort, tuple(named.values()))
            else:
                new[term] = self.table.rebuild(term, args)
        return new[root]

    def asserted(self, text: str) -> Term:
        """The term of an assertion of the input, as SMT-LIB text."""
        return self._guarded(lambda: self._elaborator.term(read_sexps(text)[0]))

    def _declare(self, line: SExpList) -> None:
        """Declare; what cannot be read is unknown where it is used."""
        try:
            if line[0] in ("declare-const", "declare-fun"):
                sort = self._environment.sort(line[-1])
                params = tuple(map(self._environment.sort, line[2])) if len(line) == 4 else ()
                if sort.is_function and not params:
                    params, sort = sort.args[:-1], sort.args[-1]
                self._environment.declare(Declaration(line[1], params, sort))
                return
            if line[0] == "declare-sort":
                self._environment.add_sort(SortDefinition(line[1], int(line[2])))
                self.introduced.add(line[1])
            else:
                for datatype in read_datatypes(self._environment, line):
                    self.introduced |= {datatype.name, *(symbol.name for symbol in datatype.symbols)}
            self.types.append(sexp_text(line))
        except (SmtLibError, ValueError, TypeError, IndexError, AttributeError):
            self._elaborator.start(SExpList())

    def _define(self, name: str, sexp: SExp) -> None:
        try:
            if isinstance(sexp, SExpList) and sexp[:1] == ["@list"]:
                self._lists[name] = self._bound(sexp)
            else:
                self._terms[name] = self._term(sexp)
        except NotExpressible as why:
            self._terms[name] = why

    def _term(self, sexp: SExp, depth: int = 0) -> Term:
        if depth > _DEEPEST:
            raise NotExpressible("nested deeply")
        if isinstance(sexp, str):
            known = self._terms.get(sexp)
            if isinstance(known, NotExpressible):
                raise known
            whole = _WHOLE.fullmatch(sexp)
            token = f"{whole[1]}.0" if whole else sexp
            return known or self._guarded(lambda: self._elaborator.term(token))
        if not sexp:
            raise NotExpressible("()")
        head, *rest = sexp
        if not isinstance(head, str):
            if head[:1] == ["_"]:
                return self._indexed(head, rest, depth)
            return self._qualified(head, [self._term(part, depth + 1) for part in rest])
        if head == "_" and all(isinstance(part, str) for part in rest):
            return self._guarded(lambda: self._elaborator.term(sexp))
        if head == "@var":
            return self._variable(sexp)
        if head in ("forall", "exists"):
            return self._quantified(sexp, depth)
        if head == "as" and len(rest) == 2:
            return self._qualified(sexp, [])
        if head in ("let", "lambda", "_", "as") or head in self._terms:
            raise NotExpressible(head if head not in self._terms else "a defined function")
        if head == "@bv" and len(rest) == 2 and all(type(part) is str and part.isdigit() for part in rest):
            return self._guarded(lambda: self._elaborator.term(SExpList(["_", f"bv{rest[0]}", rest[1]])))
        if head in ("is", "update") and len(rest) > 1 and isinstance(rest[0], str):
            return self._guarded(lambda: self._about_constructor(head, rest, depth))
        count = _INDICES.get(head, 0) + (head == "@bit")
        if len(rest) <= count:
            count = 0
        indices = [self._index(part) for part in rest[:count]]
        return self._applied(head, indices, [self._term(part, depth + 1) for part in rest[count:]])

    def _applied(self, head: str, indices: Sequence[int], args: list[Term]) -> Term:
        """An operator of CPC on terms; ``a!0`` and so on stand for these in its meaning."""
        names = [f"a!{number}" for number in range(len(args))]
        if head == "@purify" and len(args) == 1:
            return args[0]
        if head in _BY_ZERO and len(args) == 1:
            return self._meaning(_BY_ZERO[head].format(*names), args)
        if head in _TOTAL and len(args) == 2:
            return self._meaning(_TOTAL[head].format(*names), args)
        if head == "@bit" and len(args) == 1 and indices:
            return self._meaning(f"(= ((_ extract {indices[0]} {indices[0]}) a!0) #b1)", args)
        if head == "@bvsize" and len(args) == 1 and args[0].sort.name == "BitVec":
            return self._meaning(str(args[0].sort.indices[0]), [])
        if head == "@from_bools" and args:
            bits = [f"(ite {name} #b1 #b0)" for name in reversed(names)]
            return self._meaning(bits[0] if len(bits) == 1 else f"(concat {' '.join(bits)})", args)
        if head == "@quantifiers_skolemize" and len(args) == 2:
            return self._skolem(*args)
        if head.startswith(("@", "$", "eo::")):
            raise NotExpressible(head)
        applications = self._elaborator.applications
        if indices:
            return self._guarded(lambda: applications.operator(head, tuple(indices), None, tuple(args)))
        return self._guarded(lambda: applications.apply(head, tuple(args)))

    def _skolem(self, formula: Term, number: Term) -> Term:
        """A constant for the skolem of a variable: what holds for any value holds for the skolem."""
        self.note_free([formula])
        place = int(number.name) if number.name.isdecimal() else len(formula.variables)
        if self.free[formula] or place >= len(formula.variables):
            raise NotExpressible("@quantifiers_skolemize")
        if (formula, place) not in self._skolems:
            own = Declaration(f"s!{len(self._skolems)}", (), formula.variables[place].sort)
            self._skolems[formula, place] = self.table.symbol(own)
        return self._skolems[formula, place]

    def has_skolem(self, roots: Sequence[Term]) -> bool:
        """Whether a skolem occurs in terms, so that only ``unsat`` says something of them."""
        skolems = set(self._skolems.values())
        return bool(skolems) and any(term in skolems for term in postorder(roots))

    def _meaning(self, text: str, args: list[Term]) -> Term:
        local = {f"a!{number}": arg for number, arg in enumerate(args)}

        def read() -> Term:
            self._elaborator.local.update(local)
            return self._elaborator.term(read_sexps(text)[0])

        return self._guarded(read)

    def _qualified(self, head: SExpList, args: list[Term]) -> Term:
        """``((as const S) x)``, or ``(as seq.empty S)``."""
        if len(head) != 3 or head[0] != "as" or not isinstance(head[1], str):
            raise NotExpressible("a function as a term")
        sort = self._sort(head[2])
        return self._guarded(lambda: self._elaborator.applications.qualified(head[1], sort, tuple(args)))

    def _indexed(self, head: SExpList, rest: list[SExp], depth: int) -> Term:
        """``((_ extract 3 0) x)``, or ``((_ is cons) x)``."""
        if len(head) < 3 or not all(isinstance(part, str) for part in head):
            raise NotExpressible("a function as a term")
        if head[1] == "is":
            return self._guarded(lambda: self._about_constructor("is", [head[2], *rest], depth))
        indices = [self._index(part) for part in head[2:]]
        return self._applied(head[1], indices, [self._term(part, depth + 1) for part in rest])

    def _about_constructor(self, head: str, rest: list[SExp], depth: int) -> Term:
        args = tuple(self._term(part, depth + 1) for part in rest[1:])
        applications = self._elaborator.applications
        return (applications.tester if head == "is" else applications.updater)(str(rest[0]), args)

    def _index(self, sexp: SExp) -> int:
        """A numeral, or a term that says how to compute one."""
        values: dict[Term, int] = {}
        root = self._term(sexp)
        for term in postorder([root]):
            if term.kind is Kind.LITERAL and term.name.isdecimal() and len(term.name) < _LONGEST_INDEX:
                values[term] = int(term.name)
            elif term.name in _INDEX_OPERATORS and all(arg in values for arg in term.args):
                values[term] = _INDEX_OPERATORS[term.name](*(values[arg] for arg in term.args))
        if not 0 <= values.get(root, -1) < 10**_LONGEST_INDEX:
            raise NotExpressible("an index that is not a numeral")
        return values[root]

    def _quantified(self, sexp: SExpList, depth: int) -> Term:
        """``(forall (@list v ...) body)``, perhaps with patterns."""
        if len(sexp) < 3:
            raise NotExpressible("a quantifier of another form")
        variables = self._lists.get(sexp[1]) if isinstance(sexp[1], str) else self._bound(sexp[1])
        if not variables or len(set(variables)) != len(variables):
            raise NotExpressible("a quantifier of another form")
        body = self._term(sexp[2], depth + 1)
        if body.sort is not BOOL:
            raise NotExpressible("not well sorted here")
        return self.table.make(self.table.op(Kind.BINDER, sexp[0]), (body,), BOOL, tuple(variables))

    def _bound(self, sexp: SExpList) -> list[Term]:
        found = [self._term(part) for part in sexp[1:]] if sexp[:1] == ["@list"] else []
        if not all(term.kind is Kind.VARIABLE for term in found):
            raise NotExpressible("@list")
        return found

    def _variable(self, sexp: SExpList) -> Term:
        if len(sexp) != 3 or not isinstance(sexp[1], str):
            raise NotExpressible("@var")
        key = (sexp[1], self._sort(sexp[2]))
        if key not in self._variables:
            # By number: two variables may have one name, and any characters in it.
            self._variables[key] = self.table.variable(f"v!{len(self._variables)}", key[1])
        return self._variables[key]

    def _sort(self, sexp: SExp) -> Sort:
        try:
            return self._environment.sort(sexp)
        except (SmtLibError, ValueError, TypeError, IndexError, RecursionError) as problem:
            raise NotExpressible("a sort that is not known") from problem

    def _guarded(self, make: Callable[[], Term]) -> Term:
        """What ``make`` gives; what is not well sorted for us has no form."""
        try:
            return make()
        except (SmtLibError, ValueError, IndexError, RecursionError) as problem:
            raise NotExpressible("not well sorted here") from problem
        finally:
            self._elaborator.start(SExpList())
            self._elaborator.numeral_sort = INT
