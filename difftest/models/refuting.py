"""Refutes formulas whose assertions are false once each value is written in one form.

The strategy ``congruence`` makes formulas that are unsatisfiable since functions give equal results for equal
arguments. Where one solver alone knows the theory, no other can confirm that its sat is wrong. So constants
and bound variables that an equation defines are replaced by their terms here, and arrays, sequences, sets,
bags and scalars are written in one form: stores and items in order, parts joined, sums added up. All other
functions stay as they are, so that what is refuted is unsatisfiable whatever they mean. What is not refuted
may be unsatisfiable, too. Of Horn clauses, what follows is derived one clause at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from difftest.models.model_reader import NotCheckable
from difftest.models.state import State
from smtlib.horn import Clause, NotHorn, read_clauses
from smtlib.semantics import MEANINGS, Bits, IllTyped
from smtlib.semantics import Value as Meant
from smtlib.sorts import BOOL, INT, REGLAN, STRING, Sort
from smtlib.terms import Declaration, Kind, Term, TermTable, declarations_in, postorder, rewrite, substitute
from smtlib.values import (
    ROUNDING_MODES,
    bits_term,
    float_bits,
    float_term,
    infinite_bits,
    literal_value,
    number_term,
    read_field_element,
    string_text,
)
from solvers.running.script import Script

_MOST_TERMS = 20_000
_MOST_EQUATIONS = 50
_LONGEST_RANGE = 100
_MOST_ROUNDS = 5
_MOST_FACTS = 10

_FOLDED = frozenset(
    "+ - * / < <= > >= abs to_real bvnot bvneg bvadd bvsub bvmul bvand bvor bvxor concat bvult bvule "
    "str.len xor".split()
)
"""Operators of scalars whose meaning the standard does not leave open anywhere but for divisions by zero."""

_SET, _BAG = "set of", "bag of"
"""Functions of no theory: items in order, and what else is joined. The indices count the items."""


def is_refuted(script: Script, check: int) -> bool:
    """Whether what question number ``check`` asks about is false by congruence and the forms of values."""
    try:
        state = State.at(script, check)
    except NotCheckable:
        return False
    if sum(1 for _ in postorder(state.terms)) > _MOST_TERMS:
        return False
    return Refuter(state.table).refutes(state.terms)


class Refuter:
    """Writes terms of one table with one form for each value."""

    def __init__(self, table: TermTable) -> None:
        self._table = table

    def refutes(self, roots: Sequence[Term]) -> bool:
        """Whether one of the assertions is false, given the others' equations."""
        known: dict[Term, Term] = {}
        while len(known) <= _MOST_EQUATIONS:
            formulas = [self.form(substitute(self._table, root, known)) for root in roots]
            formulas = [part for formula in formulas for part in _conjuncts(formula)]
            if any(_head(formula) == "false" for formula in formulas):
                return True
            found = next((e for f in formulas if (e := _equation(f, _is_constant)) is not None), None)
            if found is None:
                return self._derive_false(formulas)
            constant, meant = found
            known = {c: substitute(self._table, term, {constant: meant}) for c, term in known.items()}
            known[constant] = meant
        return False

    def _derive_false(self, formulas: Sequence[Term]) -> bool:
        """Whether Horn clauses with one predicate in their premises derive false, each variable standing for
        the same in all of them.
        """
        predicates = {d for d in declarations_in(formulas) if d.result is BOOL and d.origin == "declare"}
        facts: dict[Declaration, list[tuple[Term, ...]]] = {}
        steps: list[tuple[Term, Clause]] = []
        for formula in formulas:
            with suppress(NotHorn):
                (clause,) = read_clauses([formula], predicates)
                atoms = [term for term, _ in clause.body if term.op.declaration in predicates]
                if clause.head is not None and not clause.body:
                    _add_fact(facts, clause.head)
                elif len(atoms) == 1:
                    steps.append((atoms[0], clause))
        for _ in range(_MOST_ROUNDS):
            for atom, clause in steps:
                assert atom.op.declaration is not None
                for args in facts.get(atom.op.declaration, [])[:_MOST_FACTS]:
                    known = _bindings(atom.args, args)
                    if known is None or not self._hold(clause, atom, known):
                        continue
                    if clause.head is None:
                        return True
                    _add_fact(facts, self.form(substitute(self._table, clause.head, known)))
        return False

    def _hold(self, clause: Clause, atom: Term, known: Mapping[Term, Term]) -> bool:
        """Whether all in the body of a clause but ``atom`` hold with these terms for its variables."""
        return all(
            _head(self.form(substitute(self._table, term, known))) == ("false" if is_negated else "true")
            for term, is_negated in clause.body
            if term is not atom
        )

    def form(self, root: Term) -> Term:
        """``root`` in its one form."""
        return rewrite(self._table, root, self._change)

    def scalar(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The value of ``term`` with these arguments as a literal; None where it is not known."""
        if term.op.kind is not Kind.OPERATOR or (term.op.name == "-" and len(args) == 1):
            return None
        if term.op.name in ("fp", "fp.neg", "to_fp"):
            return self._float(term, args)
        return self._concatenated(term, args) if term.op.name == "str.++" else self._folded(term, args)

    def _change(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        kind = term.op.kind
        if kind is Kind.ANNOTATION:
            return args[0]
        if kind is Kind.BINDER:
            return self._without_defined(self._table.rebuild(term, args))
        if kind is Kind.LITERAL and term.sort.name == "FiniteField":
            return self._field_term(read_field_element(term.op.text), term.sort)
        if kind is Kind.LITERAL:
            value = literal_value(term)
            return term if value is None else self._written(_meant(value, term.sort), term.sort)
        if kind is not Kind.OPERATOR:
            return None
        make = _FORMS.get(_head(term))
        found = make(self, term, args) if make is not None else None
        return found or self._folded(term, args)

    def _apply(self, name: str, sort: Sort, *args: Term) -> Term:
        return self._table.operator(name, args, sort)

    def _truth(self, is_true: bool) -> Term:
        return self._apply("true" if is_true else "false", BOOL)

    # Scalars

    def _folded(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The value of an operator of scalars."""
        if _head(term) not in _FOLDED or term.op.indices or not args:
            return None
        values = [_value_of(arg) for arg in args]
        if any(value is None for value in values) or (_head(term) == "/" and 0 in values[1:]):
            return None
        try:
            return self._written(MEANINGS[_head(term)](*values), term.sort)
        except (IllTyped, TypeError, AttributeError, ValueError):  # the last: of too many digits
            return None

    def _written(self, value: Meant, sort: Sort) -> Term:
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, Bits):
            return bits_term(self._table, value.value, value.width)
        if isinstance(value, str):
            return self._table.literal(string_text(value), STRING)
        return number_term(self._table, Fraction(value), sort)

    def _float(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """A floating-point number of three parts, of its bits, of another sign or with a name."""
        exponent, significand = term.sort.indices
        sign, infinite = 1 << (exponent + significand - 1), infinite_bits(term.sort)
        parts = [_value_of(arg) for arg in args]
        name = _head(term)
        if name == "fp.neg":
            bits = float_bits(args[0])
            if bits is None:
                return args[0] if _head(args[0]) == "NaN" else None
            bits ^= sign
        elif name in ("fp", "to_fp"):
            if not all(isinstance(part, Bits) for part in parts) or (name == "to_fp" and len(parts) != 1):
                return None
            bits = 0
            for part in parts:
                bits = bits << part.width | part.value  # type: ignore[union-attr]
        else:
            bits = float_bits(term)
            assert bits is not None, "it has a name"
        if bits & infinite == infinite and bits & (infinite ^ (sign - 1)):
            return self._table.operator("NaN", (), term.sort, term.sort.indices)
        return float_term(self._table, bits, term.sort)

    def _element(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """A sum of elements of a finite field."""
        if not all(arg.op.kind is Kind.LITERAL for arg in args):
            return None
        return self._field_term(sum(read_field_element(arg.op.text) for arg in args), term.sort)

    def _field_term(self, number: int, field: Sort) -> Term:
        """The element of a finite field that a number stands for."""
        order = field.indices[0]
        return self._table.literal(f"#f{number % order}m{order}", field)

    # Formulas

    def _not(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        name = _head(args[0])
        return self._truth(name == "false") if name in ("true", "false") else None

    def _connected(self, term: Term, args: tuple[Term, ...]) -> Term:
        """A conjunction or disjunction: each part once, without what is neutral there."""
        is_and = _head(term) == "and"
        neutral, other = self._truth(is_and), self._truth(not is_and)
        kept = [arg for arg in dict.fromkeys(args) if arg is not neutral]
        if other in kept or not kept:
            return other if kept else neutral
        return kept[0] if len(kept) == 1 else self._apply(term.name, BOOL, *kept)

    def _implies(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        if _head(args[-1]) == "true" or any(_head(arg) == "false" for arg in args[:-1]):
            return self._truth(True)
        kept = [arg for arg in args[:-1] if _head(arg) != "true"]
        return self._apply("=>", BOOL, *kept, args[-1]) if kept else args[-1]

    def _equal(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        if len(set(args)) == 1:
            return self._truth(True)
        return self._truth(False) if any(_differ(args[0], arg) for arg in args[1:]) else None

    def _distinct(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        if len(set(args)) < len(args):
            return self._truth(False)
        pairs = ((one, other) for place, one in enumerate(args) for other in args[:place])
        return self._truth(True) if all(_differ(*pair) for pair in pairs) else None

    def _choice(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        condition, one, other = args
        if _head(condition) in ("true", "false"):
            return one if _head(condition) == "true" else other
        return one if one is other else None

    def _without_defined(self, term: Term) -> Term:
        """A quantifier without the variables that its body defines."""
        (body, *rest) = term.args
        if not term.is_quantifier or rest or body.op.kind is Kind.ANNOTATION:
            return term
        parts = _conjuncts(body) if _head(term) == "exists" else body.args[:-1] if _head(body) == "=>" else ()
        for part in parts:
            found = _equation(part, term.variables.__contains__)
            if found is not None:
                variable, meant = found
                inner = self.form(substitute(self._table, body, {variable: meant}))
                left = tuple(v for v in term.variables if v is not variable)
                made = self._table.make(term.op, (inner,), BOOL, left) if left else inner
                return self._without_defined(made) if left else made
        return body if _head(body) in ("true", "false") else term

    # Arrays

    def _select(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        array, index = args
        base, entries = _stores(array)
        if index in entries:
            return entries[index]
        if not all(_differ(index, known) for known in entries):
            return None
        if _head(base) == "const":
            return base.args[0]
        return self._apply("select", term.sort, base, index)

    def _store(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The stores in the order of their indices, without those that change nothing."""
        array, index, element = args
        base, entries = _stores(array)
        if any(known is not index and not _differ(index, known) for known in entries):
            return None
        entries[index] = element
        every = self._indices(index.sort)
        if every and _head(base) == "const" and all(map(_is_scalar, entries)):
            entries = {i: entries.get(i, base.args[0]) for i in every}
        if every and len(entries) == len(every):
            # It makes no difference what is below.
            least = min(entries.values(), key=_order)
            base = self._table.operator("const", (least,), term.sort, qualifier=term.sort)
        made = base
        for i in sorted(entries, key=_order):
            is_const = _head(base) == "const"
            there = base.args[0] if is_const else self._apply("select", element.sort, base, i)
            if entries[i] is not there:
                made = self._apply("store", term.sort, made, i, entries[i])
        return made

    def _indices(self, sort: Sort) -> list[Term]:
        """All values of a sort that has few."""
        if sort is BOOL:
            return [self._truth(False), self._truth(True)]
        if sort.name == "BitVec" and sort.indices[0] <= 2:
            return [bits_term(self._table, number, sort.indices[0]) for number in range(1 << sort.indices[0])]
        return []

    # What is joined

    def _concatenated(self, term: Term, args: tuple[Term, ...]) -> Term:
        """Parts in one list, without empty ones; neighbours that are strings, or their languages, are one."""
        name, sort = _head(term), term.sort
        parts: list[Term] = []
        for part in args:
            for piece in part.args if _head(part) == name else (part,):
                text = _text_of(piece)
                if _head(piece) == "seq.empty" or text == "":
                    continue
                before = _text_of(parts[-1]) if parts else None
                if text is not None and before is not None:
                    parts[-1] = self._text(before + text, sort)
                else:
                    parts.append(piece)
        if len(parts) > 1:
            return self._apply(name, sort, *parts)
        if parts:
            return parts[0]
        if sort in (STRING, REGLAN):
            return self._text("", sort)
        return self._table.operator("seq.empty", (), sort, qualifier=sort)

    def _text(self, characters: str, sort: Sort) -> Term:
        literal = self._table.literal(string_text(characters), STRING)
        return literal if sort is STRING else self._apply("str.to_re", REGLAN, literal)

    def _union(self, term: Term, args: tuple[Term, ...]) -> Term:
        """A union of languages: each once, in order."""
        parts = [piece for arg in args for piece in (arg.args if _head(arg) == "re.union" else (arg,))]
        kept = sorted(dict.fromkeys(parts), key=_order)
        return kept[0] if len(kept) == 1 else self._apply("re.union", REGLAN, *kept)

    def _set(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The items of a set in order, then the sets that it is joined with."""
        items: list[Term] = []
        others: list[Term] = []
        name = _head(term)
        if name == "set.range":
            low, high = (_value_of(arg) for arg in args)
            if not isinstance(low, int) or not isinstance(high, int) or high - low > _LONGEST_RANGE:
                return None
            items = [number_term(self._table, Fraction(number), INT) for number in range(low, high + 1)]
        elif name == "set.singleton":
            items = [args[0]]
        else:
            items = list(args[:-1]) if name == "set.insert" else []
            for part in args[-1:] if name == "set.insert" else args:
                count = part.op.indices[0] if _head(part) == _SET else 0
                assert isinstance(count, int)
                items += part.args[:count]
                others += part.args[count:] if _head(part) == _SET else [part]
        items, others = (sorted(dict.fromkeys(parts), key=_order) for parts in (items, others))
        if others and not items and len(others) == 1:
            return others[0]
        return self._table.operator(_SET, (*items, *others), term.sort, (len(items),))

    def _bag(self, term: Term, args: tuple[Term, ...]) -> Term | None:
        """The items of a bag in order, each once, with how often it is there."""
        counts: dict[Term, int] = {}
        if _head(term) == "bag":
            count = _value_of(args[1])
            if not isinstance(count, int) or count < 1:
                return None
            counts[args[0]] = count
        elif _head(term) == "bag.union_disjoint":
            for part in args:
                if _head(part) != _BAG:
                    return None
                for item, count in zip(part.args, part.op.indices, strict=True):
                    assert isinstance(count, int)
                    counts[item] = counts.get(item, 0) + count
        items = sorted(counts, key=_order)
        return self._table.operator(_BAG, tuple(items), term.sort, tuple(counts[item] for item in items))


_Form = Callable[[Refuter, Term, tuple[Term, ...]], "Term | None"]

_FORMS: dict[str, _Form] = {
    "not": Refuter._not,
    "and": Refuter._connected,
    "or": Refuter._connected,
    "=>": Refuter._implies,
    "=": Refuter._equal,
    "distinct": Refuter._distinct,
    "ite": Refuter._choice,
    "select": Refuter._select,
    "store": Refuter._store,
    "re.union": Refuter._union,
    "ff.add": Refuter._element,
    "bag": Refuter._bag,
    "bag.empty": Refuter._bag,
    "bag.union_disjoint": Refuter._bag,
    **dict.fromkeys(("fp", "to_fp", "fp.neg", "+oo", "-oo", "+zero", "-zero"), Refuter._float),
    **dict.fromkeys(("str.++", "seq.++", "re.++"), Refuter._concatenated),
    **dict.fromkeys(("set.empty", "set.singleton", "set.insert", "set.union", "set.range"), Refuter._set),
}


def _head(term: Term) -> str:
    """The name of a theory's function or a quantifier; empty for the script's own symbols and variables."""
    return term.op.name if term.op.kind in (Kind.OPERATOR, Kind.BINDER) else ""


def _order(term: Term) -> int:
    return term.id


def _conjuncts(formula: Term) -> tuple[Term, ...]:
    return formula.args if _head(formula) == "and" else (formula,)


def _add_fact(facts: dict[Declaration, list[tuple[Term, ...]]], atom: Term) -> None:
    assert atom.op.declaration is not None
    found = facts.setdefault(atom.op.declaration, [])
    if atom.args not in found:
        found.append(atom.args)


def _bindings(args: Sequence[Term], given: Sequence[Term]) -> dict[Term, Term] | None:
    """What the variables among ``args`` stand for, if all are as ``given``."""
    known: dict[Term, Term] = {}
    for arg, other in zip(args, given, strict=True):
        is_variable = arg.op.kind is Kind.VARIABLE
        if (known.setdefault(arg, other) if is_variable else arg) is not other:
            return None
    return known


def _is_constant(term: Term) -> bool:
    declaration = term.op.declaration
    return declaration is not None and declaration.origin == "declare" and not term.args


def _equation(formula: Term, is_unknown: Callable[[Term], bool]) -> tuple[Term, Term] | None:
    """An unknown and what it is equal to, which it does not occur in."""
    if _head(formula) != "=" or len(formula.args) != 2:
        return None
    for one, other in (formula.args, formula.args[::-1]):
        if is_unknown(one) and one not in postorder([other]):
            return one, other
    return None


def _meant(value: object, sort: Sort) -> Meant:
    """The value of a literal, as operators take it."""
    if isinstance(value, Fraction):
        return int(value) if sort is INT else value
    return Bits(value, sort.indices[0]) if isinstance(value, int) else value


def _value_of(term: Term) -> Meant | None:
    """The value of a scalar in its one form."""
    if _head(term) in ("true", "false"):
        return _head(term) == "true"
    value = literal_value(term)
    return None if value is None else _meant(value, term.sort)


def _text_of(term: Term) -> str | None:
    """The characters of a string literal, or of the language of one."""
    value = literal_value(term.args[0] if _head(term) == "str.to_re" else term)
    return value if isinstance(value, str) else None


def _stores(array: Term) -> tuple[Term, dict[Term, Term]]:
    """What the stores of an array in its one form are over, and the stores, as far as their indices are
    known to differ: the base may begin with a store that one of them may overwrite.
    """
    entries: dict[Term, Term] = {}
    composed: list[Term] = []
    while _head(array) == "store":
        below, index, element = array.args
        if index not in entries:
            # Two scalars differ: comparing all of them takes long in a long chain.
            is_scalar = _is_scalar(index)
            if not all(_differ(index, known) for known in (composed if is_scalar else entries)):
                break
            entries[index] = element
            composed += [] if is_scalar else [index]
        array = below
    return array, entries


def _differ(one: Term, other: Term) -> bool:
    """Whether two terms of one sort, in their one form, are different values for certain."""
    if one is other:
        return False
    if _is_scalar(one) and _is_scalar(other):
        return True
    name = one.sort.name
    if name == "Seq":
        items, others = _units(one), _units(other)
        if items is None or others is None:
            return False
        return len(items) != len(others) or any(map(_differ, items, others))
    if name in ("Set", "FiniteSet"):
        is_known = all(_head(term) == _SET and term.op.indices == (len(term.args),) for term in (one, other))
        return is_known and (_has_more(one.args, other.args) or _has_more(other.args, one.args))
    if name == "Bag":
        counts = [term.op.indices for term in (one, other) if _head(term) == _BAG]
        return len(counts) == 2 and sum(map(int, counts[0])) != sum(map(int, counts[1]))
    return name == "Array" and (_has_other_element(one, other) or _has_other_element(other, one))


def _is_scalar(term: Term) -> bool:
    is_float = float_bits(term) is not None or _head(term) == "NaN"
    is_element = term.op.kind is Kind.LITERAL and term.sort.name == "FiniteField"
    return is_float or is_element or _head(term) in ROUNDING_MODES.values() or _value_of(term) is not None


def _units(sequence: Term) -> list[Term] | None:
    """The items of a sequence; None where they are not all known."""
    parts = sequence.args if _head(sequence) == "seq.++" else (sequence,)
    if _head(sequence) == "seq.empty":
        return []
    return [part.args[0] for part in parts] if all(_head(part) == "seq.unit" for part in parts) else None


def _has_more(some: Sequence[Term], others: Sequence[Term]) -> bool:
    return any(all(_differ(one, other) for other in others) for one in some)


def _has_other_element(array: Term, other: Term) -> bool:
    """Whether a store of ``array`` has another element than ``other`` has there."""
    base, known = _stores(other)
    for index, element in _stores(array)[1].items():
        there = known.get(index)
        if there is None and _head(base) == "const" and all(_differ(index, stored) for stored in known):
            there = base.args[0]
        if there is not None and _differ(element, there):
            return True
    return False
