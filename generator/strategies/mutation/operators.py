"""Operators that fit: by result sort for new terms, by argument sorts for changed heads.

Every operator comes from the theory files (or a user's file in their syntax) or from the seed: its
declared and defined functions, and the constructors, selectors, testers and updaters of its datatypes.
Only what all target solvers know is offered.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from generator.errors import GenerationError
from generator.refusals import OPERATORS, RESULTS, constant_arguments, is_value
from generator.seeds.script import SeedScript
from generator.strategies.mutation.indices import choose_indices, is_plain
from smtlib import (
    BOOL,
    Declaration,
    Kind,
    Sort,
    Term,
    TermTable,
    TheoryError,
    default_theories,
)
from smtlib.application import head_text
from smtlib.environment import has_parameters, instantiate, unify
from smtlib.signature import Bindings, Signature, SortPattern
from smtlib.sorts import indexed
from smtlib.theory import Theories
from solvers.specs import specs_by_kin

MAX_FILE = 1 << 20
"""Larger files of operators are refused, in bytes."""

EXPONENTS = ("0", "1", "2", "3", "4", "5", "8")
"""Larger powers of polynomials take solvers seconds to write out."""

_MAX_SHAPES = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to apply an operator: its signature (None: a function of the seed) and its arguments' sorts."""

    signature: Signature | None
    sorts: tuple[Sort, ...]
    declaration: Declaration | None = None
    tester: bool = False

    @property
    def name(self) -> str:
        """The operator's name."""
        if self.signature is not None:
            return self.signature.name
        assert self.declaration is not None
        return f"is {self.declaration.name}" if self.tester else self.declaration.name


@dataclass(frozen=True, slots=True)
class Head:
    """A head that fits somewhere: its name, and how it is written; empty where indices are drawn for it."""

    name: str
    text: str
    signature: Signature | None = None
    sorts: tuple[Sort, ...] = ()
    result: Sort = BOOL
    is_own: bool = False
    """Whether it is a function of the seed."""

    def draw(self, chance: random.Random) -> str | None:
        """How it is written, with indices that fit; None where none do."""
        if self.signature is None:
            return self.text
        indices = choose_indices(self.signature, self.sorts, self.result, chance)
        return None if indices is None else operator_text(self.signature, indices, self.result)


class Operators:
    """The theories' operators that all of ``solvers`` know, for new terms and changed heads."""

    def __init__(self, theories: Theories, solvers: Iterable[str]) -> None:
        self.families = frozenset(specs_by_kin(solvers))
        refused = frozenset().union(*(OPERATORS.get(family, ()) for family in self.families))
        self._refused_results = frozenset().union(*(RESULTS.get(f, ()) for f in self.families))
        # Elsewhere than in seeds that use their theory, operators of these would make most tests undecidable
        # (sin fits every Real), or wrong without further declarations.
        self._guarded = frozenset(t.name for t in theories.theories.values() if t.guarded)
        self._signatures: dict[str, list[Signature]] = {}
        self._by_result: dict[str, list[Signature]] = {}
        for signature in theories.signatures():
            if signature.name in refused or not self._is_known(signature) or signature.is_synonym:
                continue
            self._signatures.setdefault(signature.name, []).append(signature)
            head = "" if signature.result.is_parameter else signature.result.name
            self._by_result.setdefault(head, []).append(signature)
        self._shapes: dict[tuple[object, ...], list[list[Shape]]] = {}
        self._heads: dict[tuple[object, ...], list[Head]] = {}

    def _is_known(self, signature: Signature) -> bool:
        return not signature.only or self.families <= set(signature.only)

    def knows(self, name: str) -> bool:
        """Whether there is an operator of this name."""
        return name in self._signatures

    def guarded_theories(self, names: Iterable[str]) -> frozenset[str]:
        """The guarded theories that operators of these names belong to."""
        return self._guarded & {s.theory for name in names for s in self._signatures.get(name, ())}

    # New terms

    def shapes(
        self, result: Sort, sorts: frozenset[Sort], guarded: frozenset[str] = frozenset()
    ) -> list[list[Shape]]:
        """Ways to make a term of sort ``result`` from arguments of ``sorts``: a list per operator.

        ``guarded`` are the guarded theories that may be drawn on.
        """
        key = (result, sorts, guarded)
        found = self._shapes.get(key)
        if found is None:
            by_name: dict[str, list[Shape]] = {}
            ordered = sorted(sorts, key=str)
            for signature in self._giving(result, guarded):
                for shape in _shapes_of(signature, result, ordered):
                    by_name.setdefault(signature.name, []).append(shape)
            found = self._shapes[key] = list(by_name.values())
            if len(self._shapes) > 20_000:
                self._shapes.clear()
        return found

    def _giving(self, result: Sort, guarded: frozenset[str]) -> Iterator[Signature]:
        """The signatures that may have a result of this sort."""
        for signature in (*self._by_result.get(result.name, ()), *self._by_result.get("", ())):
            if (signature.name, result.name) in self._refused_results:
                continue
            if signature.theory not in self._guarded or signature.theory in guarded:
                yield signature

    # Changed heads

    def heads(self, term: Term, guarded: frozenset[str] = frozenset()) -> Sequence[Head]:
        """The operators that take ``term``'s arguments and give its sort, its own among them."""
        sorts = tuple([a.sort for a in term.args])
        key = (sorts, term.sort, guarded)
        found = self._heads.get(key)
        if found is None:
            signatures: dict[str, Signature] = {}
            for signature in self._giving(term.sort, guarded):
                if signature.name not in signatures and _may_take(signature, sorts):
                    if choose_indices(signature, sorts, term.sort, None) is not None:
                        signatures[signature.name] = signature
            found = self._heads[key] = [_head_of(s, sorts, term.sort) for s in signatures.values()]
            if len(self._heads) > 50_000:
                self._heads.clear()
        if any(constant_arguments(head.name) for head in found):
            return [head for head in found if _takes(head.name, term.args, _stays_value)]
        return found


def _head_of(signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> Head:
    if signature.indices:
        return Head(signature.name, "", signature, sorts, result)
    return Head(signature.name, operator_text(signature, (), result))


def _may_take(signature: Signature, sorts: tuple[Sort, ...]) -> bool:
    """Whether a closer look is worth it: the number of arguments and the first one's sort may fit."""
    # SMT-LIB wants two formulas in a conjunction or disjunction.
    if len(signature.params) != len(sorts) and not (signature.associativity and len(sorts) > 2):
        return False
    if not sorts or not signature.params:
        return not sorts and not signature.params
    first = signature.params[0]
    return first.is_parameter or first.name == sorts[0].name


def _stays_value(term: Term) -> bool:
    """Whether a term is a value whatever heads are changed in it."""
    return not term.args and is_value(term)


def _takes(name: str, args: Sequence[Term], is_constant: Callable[[Term], bool] = is_value) -> bool:
    """Whether solvers take these arguments, whose sorts fit, where the operator ``name`` wants values."""
    for position in constant_arguments(name):
        if position < len(args) and not is_constant(args[position]):
            return False
    if name == "re.range":
        return all(len(a.op.text) == 3 for a in args)
    return name != "^" or args[1].op.text.removesuffix(".0") in EXPONENTS


def _shapes_of(signature: Signature, result: Sort, sorts: Sequence[Sort]) -> Iterator[Shape]:
    """The sorts that a signature's arguments can have where its result is to be ``result``."""
    start: Bindings = {}
    # Indices that the result computes from the arguments' stay open; apply() has the last word.
    if is_plain(signature.result) and not signature.result.match(result, start):
        return
    found = 0
    stack: list[tuple[tuple[Sort, ...], Bindings]] = [((), start)]
    while stack and found < _MAX_SHAPES:
        chosen, bindings = stack.pop()
        if len(chosen) == len(signature.params):
            if choose_indices(signature, chosen, result, None) is not None:
                found += 1
                yield Shape(signature, chosen)
            continue
        pattern = signature.params[len(chosen)]
        for sort in sorts:
            trial = dict(bindings)
            if _matches(pattern, sort, trial):
                stack.append(((*chosen, sort), trial))


def _matches(pattern: SortPattern, sort: Sort, bindings: Bindings) -> bool:
    if is_plain(pattern):
        return pattern.match(sort, bindings)
    return pattern.name == sort.name and len(pattern.indices) == len(sort.indices)


def apply_shape(
    table: TermTable, shape: Shape, args: tuple[Term, ...], result: Sort, chance: random.Random
) -> Term | None:
    """The operator applied to ``args``, with sensible indices; None where it does not fit after all."""
    signature = shape.signature
    if signature is None:
        assert shape.declaration is not None
        return apply_declaration(table, shape.declaration, args, result, shape.tester)
    if not _takes(signature.name, args):
        return None
    indices = choose_indices(signature, tuple([a.sort for a in args]), result, chance)
    if indices is None:
        return None
    return table.operator(signature.name, args, result, indices, result if signature.needs_as else None)


def operator_text(signature: Signature, indices: tuple[int | str, ...], result: Sort) -> str:
    """How the head of an operator's application is written."""
    text = indexed(signature.name, indices)
    return f"(as {text} {result})" if signature.needs_as else text


def apply_declaration(
    table: TermTable, declaration: Declaration, args: tuple[Term, ...], result: Sort, tester: bool = False
) -> Term:
    """A function of the script applied to arguments that fit."""
    text = _function_head(declaration, result, tester)
    name, indices = ("is", (declaration.name,)) if tester else (declaration.name, ())
    return table.make(table.op(Kind.SYMBOL, name, text, indices, declaration), args, result)


def _function_head(declaration: Declaration, result: Sort, tester: bool = False) -> str:
    """How the head of an application of a script's function is written."""
    return f"(_ is {declaration.name})" if tester else head_text(declaration, result)


class SeedFunctions:
    """What a seed declares, as operators: by result sort."""

    def __init__(self, script: SeedScript) -> None:
        self.plain: list[Declaration] = [d for d in script.declarations if not _has_function_sort(d)]
        self.testers: list[Declaration] = []
        for datatype in script.datatypes.values():
            for constructor in datatype.constructors:
                self.plain.append(constructor.declaration)
                self.plain.extend(constructor.selectors)
                self.testers.append(constructor.declaration)
        self.plain = [d for d in self.plain if d.params or d.origin == "constructor"]
        self._shapes: dict[tuple[Sort, frozenset[Sort]], list[list[Shape]]] = {}
        self._heads: dict[tuple[Sort, tuple[Sort, ...]], list[Head]] = {}

    def shapes(self, result: Sort, sorts: frozenset[Sort]) -> list[list[Shape]]:
        """Ways to make a term of sort ``result`` from arguments of ``sorts``: a list per function."""
        key = (result, sorts)
        found = self._shapes.get(key)
        if found is None:
            found = [[s] for d in self.plain for s in self._of(d, result, sorts)]
            if result is BOOL:
                ordered = sorted(sorts, key=str)
                found += [
                    [Shape(None, (sort,), d, True)]
                    for d in self.testers
                    for sort in ordered
                    if unify(d.result, sort, {})
                ]
            self._shapes[key] = found
        return found

    @staticmethod
    def _of(declaration: Declaration, result: Sort, sorts: frozenset[Sort]) -> Iterator[Shape]:
        bindings: dict[Sort, Sort] = {}
        if not unify(declaration.result, result, bindings):
            return
        if declaration.origin == "selector" and has_parameters(declaration.params[0]):
            # Whose field it is does not follow from the field's sort.
            for sort in sorted(sorts, key=str):
                trial: dict[Sort, Sort] = {}
                if unify(declaration.params[0], sort, trial):
                    if instantiate(declaration.result, trial) is result:
                        yield Shape(None, (sort,), declaration)
            return
        params = tuple(instantiate(p, bindings) for p in declaration.params)
        if not any(map(has_parameters, params)) and sorts.issuperset(params):
            yield Shape(None, params, declaration)

    def heads(self, term: Term) -> list[Head]:
        """The functions of the seed that take ``term``'s arguments and give its sort, its own among them."""
        sorts = tuple([a.sort for a in term.args])
        found = self._heads.get((term.sort, sorts))
        if found is None:
            texts = [
                _function_head(shape.declaration, term.sort, shape.tester)
                for group in self.shapes(term.sort, frozenset(sorts))
                for shape in group
                if shape.sorts == sorts and shape.declaration is not None
            ]
            found = self._heads[term.sort, sorts] = [Head(text, text, is_own=True) for text in texts]
        return found


def _has_function_sort(declaration: Declaration) -> bool:
    return any(s.is_function for s in (*declaration.params, declaration.result))


@lru_cache(maxsize=8)
def operators_for(solvers: tuple[str, ...], file: str = "") -> Operators:
    """The operators for these solvers: of the shipped theories, or of a user's file in the same syntax.

    Raises :class:`GenerationError` where the file cannot be used.
    """
    if not file:
        return Operators(default_theories(), solvers)
    path = Path(file)
    try:
        if path.stat().st_size > MAX_FILE:
            raise GenerationError(f"{file} is larger than {MAX_FILE >> 20} MiB: not a file of operators")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise GenerationError(f"cannot read the operators in {file}: {reason}") from error
    theories = Theories()
    try:
        theories.add_file(text, file)
    except TheoryError as error:
        raise GenerationError(str(error)) from error
    if not any(True for _ in theories.signatures()):
        raise GenerationError(f"{file} declares no operators")
    return Operators(theories, solvers)
