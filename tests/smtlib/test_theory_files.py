"""Every entry of every theory file against z3 and cvc5: who takes it, and with which result sort.

An entry is instantiated (a sort for each parameter, numbers that satisfy its side condition for the
indices), applied to declared constants and compared with a constant of its result sort. Solvers that
``:only`` leaves out must refuse it. Nothing is solved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import cvc5
import pytest
import z3

from smtlib.reader import sexp_text
from smtlib.signature import Bindings, Signature, evaluate_index
from smtlib.sorts import BOOL, INT, REAL, REGLAN, ROUNDING_MODE, STRING, Sort, bit_vector, make_sort, subsorts
from smtlib.theory import Theories, default_theories
from tests.smtlib.strategies import index_names

_ODD_IN_CVC5 = {"fp", "fp.to_ubv", "fp.to_sbv"}
"""cvc5 takes width 0 in fp.to_ubv, and refuses fp with one bit of significand unless it is a literal."""

Accepts = Callable[[str], bool]

_PARAMETER_SORTS = (INT, STRING, REAL, BOOL, bit_vector(8), ROUNDING_MODE)
_INDEX_VALUES = (5, 8, 4, 3, 2, 1, 0, 6, 7)
_WANT_VALUES = {"const": 0, "rel.join_image": 1}
"""Functions that want a value, not any term, at this argument."""
_SETS_OF_BOTH = {"union", "intersection", "setminus", "complement", "subset", "insert"}
"""z3's functions on arrays and lists; the same names were CVC4's for sets."""


@dataclass(frozen=True)
class Application:
    """An instance of a signature: indices, argument sorts, result sort."""

    signature: Signature
    indices: tuple[str, ...]
    sorts: tuple[Sort, ...]
    result: Sort

    def formula(self, name: str | None = None) -> str:
        """A Bool term that is well-sorted where the application has this result sort."""
        term = self.term(name or self.signature.name)
        if self.result is REGLAN:
            return f"(str.in_re {_constant(STRING)} {term})"
        if self.result in (INT, REAL):  # solvers convert between these two
            return f"(= (seq.unit {term}) {_constant(make_sort('Seq', (), (self.result,)))})"
        return f"(= {term} {_constant(self.result)})"

    def term(self, name: str) -> str:
        """The application as text, with ``name`` for its function."""
        head = f"(_ {name} {' '.join(self.indices)})" if self.indices else name
        if self.signature.needs_as:
            head = f"(as {head} {self.result})"
        expected = _WANT_VALUES.get(self.signature.name)
        arguments = [_VALUES[s] if i == expected else _constant(s) for i, s in enumerate(self.sorts)]
        return f"({head} {' '.join(arguments)})" if arguments else head


_VALUES = {INT: "0", STRING: '""', BOOL: "true"}


def _constant(sort: Sort) -> str:
    return f"|a {sort}|"


def _bindings(signature: Signature) -> Iterator[Bindings]:
    """Values for everything that a signature leaves open, different ones where that is possible."""
    patterns = (*signature.params, signature.result)
    parameters = sorted(set().union(*(p.parameters() for p in patterns)))
    names = set(signature.indices).union(*map(index_names, patterns)) - set("0123456789")
    sorts: Bindings = dict(zip(parameters, _PARAMETER_SORTS, strict=False))
    if signature.name == "char":
        yield {**sorts, "c": "#x41"}
        return
    variables = sorted(names)
    for values in itertools.chain(
        itertools.permutations(_INDEX_VALUES, len(variables)),
        itertools.product(_INDEX_VALUES, repeat=len(variables)),
    ):
        yield {**sorts, **dict(zip(variables, values, strict=True))}


def _application(signature: Signature) -> Application:
    theories = default_theories()
    for bindings in _bindings(signature):
        try:
            sorts = tuple(p.instantiate(bindings) for p in signature.params)
            result = signature.result.instantiate(bindings)
        except KeyError:
            continue
        if not all(_is_legal(s, theories) for s in (*sorts, result)):
            continue
        indices = tuple(bindings.get(i, i) for i in signature.indices)
        values = tuple(int(i) if isinstance(i, str) and i.isdigit() else i for i in indices)
        plain = tuple(v for v in values if not isinstance(v, Sort))
        if signature.apply(plain, sorts, result if signature.needs_as else None) is result:
            return Application(signature, tuple(map(str, indices)), sorts, result)
    raise AssertionError(f"no instance of {signature}")


def _is_legal(sort: Sort, theories: Theories) -> bool:
    for part in subsorts(sort):
        minimum = {"BitVec": 1, "FloatingPoint": 2}.get(part.name, 0)
        if any(i < minimum for i in part.indices):
            return False
        assert part.is_function or part.name in theories.sorts, part
    return True


def _variants(signature: Signature) -> tuple[Application, ...]:
    """The plain application, then those that associativity and ``:min`` allow."""
    plain = _application(signature)
    found = [plain]
    shapes = []
    if signature.associativity:
        shapes.append((*plain.sorts, plain.sorts[1]))
    if signature.associativity and 0 < signature.minimum < 2:
        shapes.append(plain.sorts[:1])
    for sorts in shapes:
        result = signature.apply(tuple(map(int, plain.indices)), sorts, None)
        assert result is not None, (signature, sorts)
        found.append(Application(signature, plain.indices, sorts, result))
    return tuple(found)


@cache
def _entries() -> tuple[tuple[Signature, tuple[Application, ...]], ...]:
    """Every signature with its applications."""
    return tuple((s, _variants(s)) for s in default_theories().signatures())


@cache
def _declarations() -> tuple[str, ...]:
    sorts = {STRING, *(make_sort("Seq", (), (s,)) for s in (INT, REAL))}
    for _, variants in _entries():
        for variant in variants:
            sorts.update((*variant.sorts, variant.result))
    return tuple(f"(declare-const {_constant(s)} {s})" for s in sorted(sorts, key=str))


def _z3() -> Accepts:
    context = z3.Context()

    def accepts(command: str) -> bool:
        try:
            output = z3.Z3_eval_smtlib2_string(context.ref(), command)
        except z3.Z3Exception:
            return False
        return "error" not in output

    return accepts


def _cvc5() -> Accepts:
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    symbols = cvc5.SymbolManager(terms)

    def accepts(command: str) -> bool:
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, command, "entry")
        try:
            while not (parsed := parser.nextCommand()).isNull():
                if "error" in parsed.invoke(solver, symbols):
                    return False
        except Exception:  # noqa: BLE001 - cvc5's wheel raises RuntimeError subclasses of its own
            return False
        return True

    assert accepts("(set-logic HO_ALL)")
    return accepts


@cache
def _solver(name: str) -> Accepts:
    accepts = {"z3": _z3, "cvc5": _cvc5}[name]()
    for declaration in _declarations():
        accepts(declaration)  # a sort that the solver lacks leaves its constant undeclared
    return lambda formula: accepts(f"(assert {formula})")


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_solvers_take_the_entries_that_are_said_to_be_theirs(solver: str) -> None:
    accepts = _solver(solver)
    refused = [
        f"{signature.theory}: {signature}: {variant.formula()}"
        for signature, variants in _entries()
        if not signature.only or solver in signature.only
        for variant in variants
        if not accepts(variant.formula())
    ]
    assert not refused, "\n".join([f"{solver} refuses", *refused])


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_solvers_refuse_the_entries_that_only_the_other_knows(solver: str) -> None:
    accepts = _solver(solver)
    taken = [
        f"{signature.theory}: {signature}"
        for signature, variants in _entries()
        if signature.only and solver not in signature.only
        if all(accepts(v.formula()) for v in variants)
    ]
    assert not taken, "\n".join([f"{solver} takes what is not said to be its own", *taken])


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_that_takes_the_old_spelling_takes_the_new_one(solver: str) -> None:
    accepts = _solver(solver)
    for signature, variants in _entries():
        for old in signature.was:
            plain = variants[0]
            if old not in _SETS_OF_BOTH and accepts(plain.formula(old)):
                assert accepts(plain.formula()), f"{solver} takes {old} but not {signature}"


def test_an_old_spelling_is_no_function_of_its_own() -> None:
    theories = default_theories()
    assert set(theories.spellings) & set(theories.functions) == _SETS_OF_BOTH


def test_lookup_finds_the_result_sort_of_every_entry() -> None:
    for signature, variants in _entries():
        for variant in variants:
            indices = tuple(int(i) if i.isdigit() else i for i in variant.indices)
            qualifier = variant.result if signature.needs_as else None
            found = default_theories().find(signature.name, indices, variant.sorts, qualifier)
            assert found is not None, str(signature)
            assert found[0] is variant.result, f"{signature}: {found[1]} comes first"


def _edge_cases(signature: Signature, holds: bool) -> Iterator[Application]:
    """Applications to declared constants with small indices that meet or break the side condition."""
    assert signature.where is not None
    declared = set(_declarations())
    names = sorted(next(_bindings(signature)))
    candidates = (0, 1, 2, 3, 4, 5, 8) if len(names) > 1 else (0, 1, 2, 3, 200_000)
    for values in itertools.product(candidates, repeat=len(names)):
        bindings: Bindings = dict(zip(names, values, strict=True))
        if bool(evaluate_index(signature.where, bindings)) is not holds:
            continue
        sorts = tuple(p.instantiate(bindings) for p in signature.params)
        if all(f"(declare-const {_constant(s)} {s})" in declared for s in sorts):
            yield Application(signature, tuple(str(bindings[i]) for i in signature.indices), sorts, BOOL)


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.parametrize("holds", [True, False])
def test_solvers_agree_with_the_side_conditions(solver: str, holds: bool) -> None:
    accepts = _solver(solver)
    for signature, _ in _entries():
        if signature.where is None or (signature.only and solver not in signature.only):
            continue
        if solver == "cvc5" and signature.name in _ODD_IN_CVC5:
            continue
        cases = list(itertools.islice(_edge_cases(signature, holds), 20))
        assert cases or (not holds and ">= i 0" in sexp_text(signature.where)), signature
        for case in cases:
            term = case.term(signature.name)
            assert accepts(f"(let ((it {term})) true)") is holds, f"{solver}: {term}"


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_solvers_refuse_sorts_that_break_a_side_condition(solver: str) -> None:
    accepts = _solver(solver)
    for symbol in default_theories().sorts.values():
        if symbol.where is None:
            continue
        for values in itertools.product((0, 1, 2), repeat=len(symbol.indices)):
            holds = evaluate_index(symbol.where, dict(zip(symbol.indices, values, strict=True)))
            sort = make_sort(symbol.name, values)
            assert accepts(f"(exists ((it {sort})) true)") == bool(holds), f"{solver}: {sort}"


def test_only_names_known_solvers() -> None:
    assert {s for e, _ in _entries() for s in e.only} == {"z3", "cvc5"}


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_sorts_are_known_to_the_solvers_that_are_said_to_know_them(solver: str) -> None:
    accepts = _solver(solver)
    theories = default_theories()
    sorts = [
        (make_sort(s.name, (5,) * len(s.indices), (INT,) * (2 if s.variadic else s.arity)), s.only)
        for s in theories.sorts.values()
    ]
    sorts += [(make_sort(name), ()) for name in theories.abbreviations]
    for sort, only in sorts:
        assert accepts(f"(exists ((it {sort})) true)") == (not only or solver in only), f"{solver}: {sort}"
