"""From s-expressions to terms, with an explicit stack, so that deep terms need no recursion.

Each step of the work list is a method and its operand. Results are pushed on a stack of terms: an application
schedules itself, then its arguments, and finds their terms on top of the stack when its turn comes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from base.nearest import did_you_mean, nearest
from smtlib.application import INDEXED_BY_FUNCTION, Applications, describe
from smtlib.environment import Environment, instantiate, unify
from smtlib.errors import SortError
from smtlib.reader import SExp, SExpList, is_symbol, sexp_text, with_ending
from smtlib.sorts import BOOL, INT, REAL, Sort, bit_vector, make_sort, read_index
from smtlib.terms import Kind, Term, TermTable, free_in, postorder, without_annotations
from smtlib.values import read_bits, read_literal

_BV_CONSTANT = re.compile(r"bv[0-9]+\Z")
_NEGATIVE = re.compile(r"-[0-9]+(?:[./][0-9]+)?\Z")
_RATIONAL = re.compile(r"([0-9]+)/([0-9]+)\Z")
_REAL_ONLY_LOGIC = re.compile(r"(?:QF_)?[A-Z]*?(?:LRA|NRA|RDL)T?\Z")

_BINDERS = frozenset(("forall", "exists", "lambda", "choice", "set.comprehension"))

# The number of terms in patterns, each counted where it stands: they are printed without lets.
_MOST_IN_PATTERNS = 10_000

_NO_VARIABLES: Mapping[str, Term] = MappingProxyType({})

_Task = tuple[Callable[..., None], Any]


class Elaborator:
    """Turns s-expressions into terms in an environment. One per script."""

    def __init__(self, environment: Environment, table: TermTable) -> None:
        self.environment = environment
        self.table = table
        self.applications = Applications(environment, table)
        self.local: dict[str, Term] = {}
        self.numeral_sort = INT
        self._tasks: list[_Task] = []
        self._terms: list[Term] = []
        self._at: SExp = ""
        self._renamed: set[str] = set()
        self._renamings: dict[str, int] = {}
        self._has_hinted = False
        self._free: dict[Term, frozenset[Term]] = {}
        self._searched: set[Term] = set()

    def start(self, command: SExpList) -> None:
        """Discard what a failed command may have left."""
        self.local.clear()
        self._tasks.clear()
        self._terms.clear()
        self.applications.has_open = False
        self._at = command

    def use_logic(self, logic: str) -> None:
        """In a logic of reals only, numerals are Reals (SMT-LIB 2.7, theory Reals)."""
        self.numeral_sort = REAL if _REAL_ONLY_LOGIC.match(logic) and "I" not in logic else INT

    def position(self, command: SExpList) -> int:
        """Offset of the innermost list being elaborated, for error messages."""
        return self._at.position if isinstance(self._at, SExpList) else command.position

    # Entry points

    def term(self, sexp: SExp) -> Term:
        """The term that ``sexp`` denotes. Raises :class:`SortError`."""
        tasks = self._tasks
        self._visit(sexp)
        while tasks:
            step, operand = tasks.pop()
            step(operand)
        return self._terms.pop()

    def term_of_sort(self, sexp: SExp, sort: Sort, variables: Mapping[str, Term] = _NO_VARIABLES) -> Term:
        """The term of ``sexp`` with these variables in scope. Raises SortError if it has another sort."""
        self.local.update(variables)
        term = self.term(sexp)
        self.local.clear()
        # Older solvers accepted an integer as the body of a function to Real.
        converted = term if term.sort is sort else self.applications.convert(term, sort)
        if converted is None or (sort is INT and term.sort is REAL):
            raise SortError(f"{describe(term)} has sort {term.sort}, expected {sort}")
        return converted

    def parameters(self, sexp: SExp) -> tuple[tuple[Term, ...], dict[str, Term]]:
        """The variables of ``((x S) ...)`` in a definition: in order, and by the name that the body uses.

        They are renamed only if the script has named terms, which may use the same name with another meaning.
        """
        make = self._bound_variable if self.environment.named else self.table.variable
        return self._variables(sexp, make)

    def _variables(
        self, sexp: SExp, make: Callable[[str, Sort], Term]
    ) -> tuple[tuple[Term, ...], dict[str, Term]]:
        """The variables of ``((x S) ...)`` in order, and by name. If a name occurs twice, the last one counts
        and the others are renamed.
        """
        if isinstance(sexp, str):
            raise SortError(f"expected ((VARIABLE SORT) ...), found {sexp}")
        pairs: list[tuple[str, Sort]] = []
        for entry in sexp:
            if isinstance(entry, str) or len(entry) != 2 or not is_symbol(entry[0]):
                raise SortError(f"expected (VARIABLE SORT), found {sexp_text(entry, 60)}")
            pairs.append((entry[0], self.environment.sort(entry[1])))
        by_name = {name: make(name, sort) for name, sort in pairs}
        last = {name: position for position, (name, _) in enumerate(pairs)}
        in_order = tuple(
            by_name[name] if last[name] == position else self._renamed_variable(name, sort)
            for position, (name, sort) in enumerate(pairs)
        )
        return in_order, by_name

    # Steps

    def _visit(self, sexp: SExp) -> None:
        if isinstance(sexp, str):
            self._terms.append(self._atom(sexp))
            return
        self._at = sexp
        if not sexp:
            raise SortError("() is not a term")
        head = sexp[0]
        if isinstance(head, str):
            special = _SPECIAL.get(head)
            # Some of them are no reserved words: a script may declare ``choice``.
            if special is not None and head not in self.local and head not in self.environment.symbols:
                special(self, sexp)
                return
            if len(sexp) == 1:
                raise SortError(f"({head[:60]}): an application without arguments; write {head[:60]}")
        elif not head or head[0] not in ("_", "as"):
            self._tasks.append((self._apply_term, sexp))
            self._visit_all(sexp)
            return
        self._tasks.append((self._apply, sexp))
        self._visit_all(sexp[1:])

    def _visit_all(self, sexps: Sequence[SExp]) -> None:
        """Schedule ``sexps`` so that their terms are pushed in order."""
        tasks = self._tasks
        visit = self._visit
        for sexp in reversed(sexps):
            tasks.append((visit, sexp))

    def _take(self, count: int) -> tuple[Term, ...]:
        """Pop the last ``count`` terms."""
        place = len(self._terms) - count
        taken = tuple(self._terms[place:])
        del self._terms[place:]
        return taken

    def _apply(self, sexp: SExpList) -> None:
        self._at = sexp
        args = self._take(len(sexp) - 1)
        terms = self._terms
        head = sexp[0]
        if isinstance(head, str):
            if head in self.local:
                terms.append(self.applications.higher_order(self.local[head], args))
            else:
                terms.append(self.applications.apply(head, args))
        elif head[0] == "_":
            terms.append(self._apply_indexed(head, args))
        else:
            name, sort = self._qualified(head)
            terms.append(self.applications.qualified(name, sort, args))

    def _apply_term(self, sexp: SExpList) -> None:
        """``((f x) y)``: the head is a term itself."""
        self._at = sexp
        function, *args = self._take(len(sexp))
        if not args:
            raise SortError(f"{sexp_text(sexp, 60)}: an application without arguments")
        self._terms.append(self.applications.higher_order(function, tuple(args), "()"))

    def _apply_indexed(self, head: SExpList, args: tuple[Term, ...]) -> Term:
        if len(head) == 3 and isinstance(head[1], str) and head[2]:
            index = head[2]
            if head[1] == "is":
                # z3 also writes the constructor with its rank: (_ is (cons (Int List) List)).
                name = index if isinstance(index, str) else index[0]
                if isinstance(name, str):
                    return self.applications.tester(name, args)
            if isinstance(index, str) and head[1] in ("update", "update-field"):
                return self.applications.updater(index, args)
            if head[1] in INDEXED_BY_FUNCTION:
                return self.applications.indexed_by_function(head[1], index, args)
        if len(head) == 4 and head[1] == "fmf.card" and is_symbol(head[2]):
            self.environment.sort(head[2])
            op = self.table.op(Kind.OPERATOR, head[1], sexp_text(head), (head[2], sexp_text(head[3])))
            return self.table.make(op, (), BOOL)
        name, indices = self._indexed(head)
        return self.applications.operator(name, indices, None, args)

    def _indexed(self, head: SExpList) -> tuple[str, tuple[int | str, ...]]:
        if len(head) < 2 or not all(isinstance(part, str) for part in head):
            raise SortError(f"{sexp_text(head, 60)} is not an indexed function")
        return head[1], tuple(i if (number := read_index(i)) is None else number for i in head[2:])

    def _qualified(self, head: SExpList) -> tuple[str, Sort]:
        if len(head) != 3 or not isinstance(head[1], str):
            raise SortError(f"expected (as NAME SORT), found {sexp_text(head, 60)}")
        return head[1], self.environment.sort(head[2])

    # Leaves

    def _atom(self, token: str) -> Term:
        found = self.local.get(token)
        if found is not None:
            return found
        first = token[0]
        if first in '0123456789#"':
            if "/" in token and (parts := _RATIONAL.match(token)):
                over, under = (self.table.literal(number, REAL) for number in parts.groups())
                return self.applications.operator("/", (), None, (over, under))
            try:
                return self.table.literal(*read_literal(token, self.numeral_sort))
            except ValueError as error:
                raise SortError(str(error)) from None
        if first == ":":
            raise SortError(f"expected a term, found the keyword {token}")
        return self._name(token)

    def _name(self, token: str) -> Term:
        environment = self.environment
        if token in environment.symbols:
            return self.applications.constant(token)
        named = environment.named.get(token)
        if named is not None:
            return named
        found = self.applications.theory_constant(token)
        if found is None and _NEGATIVE.match(token):
            # Not SMT-LIB, but both solvers read -5 as (- 5).
            return self.applications.operator("-", (), None, (self._atom(token[1:]),))
        if found is None:
            raise SortError(f"unknown symbol {token[:60]}{self._near(token)}")
        return found

    def _near(self, token: str) -> str:
        """A hint for the first unknown symbol of a script: to look for one takes milliseconds."""
        if self._has_hinted:
            return ""
        self._has_hinted = True
        names = [*self.environment.symbols, *self.local, *self.environment.theories.functions]
        return did_you_mean(nearest(token[:60], names, least=0.8)) if len(names) < 5000 else ""

    # Special forms

    def _visit_underscore(self, sexp: SExpList) -> None:
        if len(sexp) == 3 and isinstance(sexp[1], str) and _BV_CONSTANT.match(sexp[1]):
            try:
                value, width = read_bits(sexp)
            except ValueError:
                raise SortError(
                    f"{sexp_text(sexp, 60)}: expected at most 4000 digits and a positive width below 10^9"
                ) from None
            if value.bit_length() > width:
                value %= 1 << width
            self._terms.append(self.table.literal(f"(_ bv{value} {width})", bit_vector(width)))
            return
        self._terms.append(self._apply_indexed(sexp, ()))

    def _visit_as(self, sexp: SExpList) -> None:
        name, sort = self._qualified(sexp)
        self._terms.append(self.applications.qualified(name, sort, ()))

    def _visit_root(self, sexp: SExpList) -> None:
        """z3's ``(root-obj POLYNOMIAL NUMERAL)``: a root of a polynomial in ``x``."""
        op = self.table.op(Kind.OPERATOR, "root-obj", sexp_text(sexp))
        self._terms.append(self.table.make(op, (), REAL))

    def _visit_let(self, sexp: SExpList) -> None:
        if len(sexp) != 3 or isinstance(sexp[1], str):
            raise SortError("expected (let ((NAME TERM) ...) TERM)")
        values = []
        for binding in sexp[1]:
            if isinstance(binding, str) or len(binding) != 2 or not is_symbol(binding[0]):
                raise SortError(f"expected (NAME TERM), found {sexp_text(binding, 60)}")
            values.append(binding[1])
        self._tasks.append((self._bind_let, sexp))
        self._visit_all(values)

    def _bind_let(self, sexp: SExpList) -> None:
        names = [binding[0] for binding in sexp[1]]
        self._enter(dict(zip(names, self._take(len(names)), strict=True)))
        self._tasks.append((self._visit, sexp[2]))

    def _enter(self, bindings: dict[str, Term]) -> None:
        """Bind names now and schedule their release after the steps that are scheduled next."""
        local = self.local
        self._tasks.append((self._leave, [(name, local.get(name)) for name in bindings]))
        local.update(bindings)

    def _leave(self, before: list[tuple[str, Term | None]]) -> None:
        for name, term in before:
            if term is None:
                del self.local[name]
            else:
                self.local[name] = term

    def _visit_binder(self, sexp: SExpList) -> None:
        if len(sexp) != 3:
            if not (sexp[0] == "set.comprehension" and len(sexp) == 4):
                raise SortError(f"expected ({sexp[0]} ((VARIABLE SORT) ...) TERM)")
        in_order, by_name = self._variables(sexp[1], self._bound_variable)
        if not in_order:
            raise SortError(f"{sexp[0]} without variables")
        self._tasks.append((self._close_binder, (sexp, in_order)))
        self._enter(by_name)
        self._visit_all(sexp[2:])

    def _bound_variable(self, name: str, sort: Sort) -> Term:
        """The variable for this name, renamed if it would shadow another.

        Terms bound by ``let`` are shared without copying, so a variable that shadows another could capture a
        name in one of them.
        """
        return (self._renamed_variable if self._is_taken(name) else self.table.variable)(name, sort)

    def _is_taken(self, name: str) -> bool:
        environment = self.environment
        return (
            name in self.local
            or name in self._renamed
            or name in environment.symbols
            or name in environment.named
            or name in environment.theories.functions
        )

    def _renamed_variable(self, name: str, sort: Sort) -> Term:
        """A variable whose name is not used yet: ``x!1`` for ``x``, ``|a b!1|`` for ``|a b|``."""
        for number in itertools.count(self._renamings.get(name, 1)):
            new = with_ending(name, f"!{number}")
            if not self._is_taken(new):
                break
        self._renamings[name] = number + 1
        self._renamed.add(new)
        return self.table.variable(new, sort)

    def _close_binder(self, operand: tuple[SExpList, tuple[Term, ...]]) -> None:
        sexp, variables = operand
        self._at = sexp
        head = sexp[0]
        args = self._take(len(sexp) - 2)
        body = args[0]
        if head in ("forall", "exists", "choice", "set.comprehension") and body.sort is not BOOL:
            raise SortError(f"the body of {head} has sort {body.sort}, expected Bool")
        sort = BOOL
        if head == "lambda":
            sort = self.environment.function_sort(tuple(v.sort for v in variables), body.sort)
        elif head == "choice":
            sort = variables[0].sort
        elif head == "set.comprehension":
            sort = make_sort("Set", (), (args[-1].sort,))
        op = self.table.op(Kind.BINDER, head)
        self._terms.append(self.table.make(op, args, sort, variables))

    def _visit_annotation(self, sexp: SExpList) -> None:
        if len(sexp) < 3:
            raise SortError("expected (! TERM :ATTRIBUTE ...)")
        patterns: list[SExp] = []
        attributes: list[tuple[str, int | str]] = []
        position = 2
        while position < len(sexp):
            key = sexp[position]
            if not isinstance(key, str) or key[0] != ":":
                raise SortError(f"expected an attribute, found {sexp_text(key, 60)}")
            value = sexp[position + 1] if position + 1 < len(sexp) else None
            if value is None or (isinstance(value, str) and value[0] == ":"):
                attributes.append((key, ""))
                position += 1
                continue
            if key == ":pattern" and isinstance(value, SExpList):
                attributes.append((key, len(value)))
                patterns.extend(value)
            elif key == ":no-pattern":
                attributes.append((key, 1))
                patterns.append(value)
            else:
                attributes.append((key, sexp_text(value)))
            position += 2
        self._tasks.append((self._close_annotation, (sexp, tuple(attributes), len(patterns))))
        self._visit_all([sexp[1], *patterns])

    def _close_annotation(self, operand: tuple[SExpList, tuple[tuple[str, int | str], ...], int]) -> None:
        sexp, attributes, count = operand
        self._at = sexp
        args = self._take(count + 1)
        size: dict[Term, int] = {}
        for term in postorder(args[1:]):
            size[term] = min(1 + sum(size[arg] for arg in term.args), _MOST_IN_PATTERNS + 1)
        if sum(size[arg] for arg in args[1:]) > _MOST_IN_PATTERNS:
            raise SortError(f"patterns of more than {_MOST_IN_PATTERNS} terms")
        for key, value in attributes:
            if key == ":named":
                if not is_symbol(str(value)):
                    raise SortError(f"expected :named SYMBOL, found {key} {value}")
                if self.local and self._free_in(args[0]):
                    raise SortError(f":named {value}: the term has free variables")
                self.environment.name_term(str(value), without_annotations(args[0]))
        op = self.table.op(Kind.ANNOTATION, "!", None, (), None, attributes)
        self._terms.append(self.table.make(op, args, args[0].sort))

    def _free_in(self, root: Term) -> frozenset[Term]:
        """The variables that occur free in a term; no term is searched twice."""
        for term in postorder([root], self._searched):
            self._free[term] = free_in(term, self._free)
        return self._free[root]

    def _visit_match(self, sexp: SExpList) -> None:
        if len(sexp) != 3 or isinstance(sexp[2], str) or not sexp[2]:
            raise SortError("expected (match TERM ((PATTERN TERM) ...))")
        self._tasks.append((self._match_cases, sexp))
        self._tasks.append((self._visit, sexp[1]))

    def _match_cases(self, sexp: SExpList) -> None:
        scrutinee = self._terms[-1]
        patterns = []
        cases = []
        for case in sexp[2]:
            if isinstance(case, str) or len(case) != 2:
                raise SortError(f"expected (PATTERN TERM), found {sexp_text(case, 60)}")
            head, variables, bindings = self._pattern(case[0], scrutinee.sort)
            patterns.append((head, variables))
            cases.append((bindings, case[1]))
        self._require_all_cases(scrutinee.sort, patterns)
        self._tasks.append((self._close_match, (sexp, tuple(patterns))))
        for bindings, body in reversed(cases):
            self._tasks.append((self._visit_case, (bindings, body)))

    def _visit_case(self, operand: tuple[dict[str, Term], SExp]) -> None:
        bindings, body = operand
        self._enter(bindings)
        self._tasks.append((self._visit, body))

    def _pattern(self, sexp: SExp, sort: Sort) -> tuple[str, tuple[Term, ...], dict[str, Term]]:
        """Constructor (empty for a variable), variables and bindings of a pattern.

        Each ``_`` is a variable with a name of its own: z3 reads ``_``, cvc5 does not.
        """
        if not isinstance(sexp, str) and not (sexp and all(is_symbol(s) or s == "_" for s in sexp)):
            raise SortError(f"{sexp_text(sexp, 60)} is not a pattern")
        name = sexp if isinstance(sexp, str) else sexp[0]
        declaration = self.environment.constructor(name) if isinstance(name, str) else None
        if declaration is None:
            if sexp == "_":
                return "", (self._renamed_variable("_", sort),), {}
            if not is_symbol(sexp):
                raise SortError(f"{sexp_text(name, 60)} is neither a constructor nor a variable")
            variable = self._bound_variable(sexp, sort)
            return "", (variable,), {sexp: variable}
        sort_bindings: dict[Sort, Sort] = {}
        names = [] if isinstance(sexp, str) else list(sexp[1:])
        fits = unify(declaration.result, sort, sort_bindings) and len(names) == len(declaration.params)
        named = [n for n in names if n != "_"]
        if not fits or len(set(named)) < len(named):
            raise SortError(f"pattern {sexp_text(sexp, 60)} does not fit sort {sort}")
        bindings = {}
        variables = []
        for variable_name, param in zip(names, declaration.params, strict=True):
            part = instantiate(param, sort_bindings)
            if variable_name == "_":
                variables.append(self._renamed_variable("_", part))
                continue
            variable = self._bound_variable(variable_name, part)
            bindings[variable_name] = variable
            variables.append(variable)
        return declaration.name, tuple(variables), bindings

    def _require_all_cases(self, sort: Sort, patterns: list[tuple[str, tuple[Term, ...]]]) -> None:
        datatype = self.environment.datatypes.get(sort.name)
        if datatype is None:
            raise SortError(f"match on sort {sort}, which is not a datatype")
        heads = {head for head, _ in patterns}
        missing = [c.declaration.name for c in datatype.constructors if c.declaration.name not in heads]
        if missing and "" not in heads:
            raise SortError(f"match has no case for {missing[0]}")

    def _close_match(self, operand: tuple[SExpList, tuple[tuple[str, tuple[Term, ...]], ...]]) -> None:
        sexp, patterns = operand
        self._at = sexp
        args = self._take(len(patterns) + 1)
        sort = args[1].sort
        for body in args[2:]:
            if body.sort is not sort:
                raise SortError(f"match cases of sorts {sort} and {body.sort}")
        op = self.table.op(Kind.MATCH, "match")
        self._terms.append(self.table.make(op, args, sort, (), patterns))


_SPECIAL: dict[str, Callable[[Elaborator, SExpList], None]] = {
    "let": Elaborator._visit_let,
    "!": Elaborator._visit_annotation,
    "_": Elaborator._visit_underscore,
    "as": Elaborator._visit_as,
    "match": Elaborator._visit_match,
    "root-obj": Elaborator._visit_root,
    **dict.fromkeys(_BINDERS, Elaborator._visit_binder),
}
