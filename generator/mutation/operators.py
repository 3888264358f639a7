"""Operators that fit: by result sort for new terms, by argument sorts for changed heads.

Every operator comes from the theory files (or a user's file in their syntax) or from the seed: its
declared and defined functions, and the constructors, selectors, testers and updaters of its datatypes.
Only what all target solvers know is offered.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from generator.errors import GenerationError
from generator.mutation.literals import is_value
from generator.mutation.places import CONSTANT_ARGUMENTS
from generator.seedscript import SeedScript
from smtlib import (
    BOOL,
    Declaration,
    Kind,
    Op,
    ReadError,
    Sort,
    Term,
    TermTable,
    TheoryError,
    default_theories,
)
from smtlib.environment import determines, has_parameters, instantiate, unify
from smtlib.theory import Bindings, Signature, SortPattern, Theories

MAX_FILE = 1 << 20
"""Larger files of operators are refused, in bytes."""

GUARDED_THEORIES = frozenset(("Transcendental", "SeparationLogic"))
"""Operators of these theories are offered only to seeds that use the theory: elsewhere they would make most
tests undecidable (``sin`` fits every Real), or wrong without further declarations."""

REFUSED = {"cvc5": frozenset(("const",))}
"""What a solver knows and takes only with an option that tests do not set (cvc5: --arrays-exp)."""

REFUSED_RESULTS = {"cvc5": frozenset((("ite", "RegLan"),))}
"""Operators that a solver does not take at a result sort of this head."""

EXPONENTS = ("0", "1", "2", "3", "4", "5", "8")
"""Larger powers of polynomials take solvers seconds to write out."""

_T = TypeVar("_T")

# A solver's name ends where its release, its options or its command line begin.
_SPEC_END = re.compile(r"[=\[]")

_MAX_SHAPES = 64
_LARGEST_INDEX = 1 << 20


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


class Operators:
    """The theories' operators that all of ``solvers`` know, for new terms and changed heads."""

    def __init__(self, theories: Theories, solvers: Iterable[str]) -> None:
        self.families = frozenset(_SPEC_END.split(solver, maxsplit=1)[0] for solver in solvers)
        refused = frozenset().union(*(REFUSED.get(family, ()) for family in self.families))
        self._refused_results = frozenset().union(*(REFUSED_RESULTS.get(f, ()) for f in self.families))
        self._signatures: dict[str, list[Signature]] = {}
        self._by_result: dict[str, list[Signature]] = {}
        for signature in theories.signatures():
            if signature.name in refused or not self._is_known(signature) or _is_synonym(signature):
                continue
            self._signatures.setdefault(signature.name, []).append(signature)
            head = "" if signature.result.is_parameter else signature.result.name
            self._by_result.setdefault(head, []).append(signature)
        self._shapes: dict[tuple[object, ...], list[list[Shape]]] = {}
        self._heads: dict[tuple[object, ...], list[Signature]] = {}

    def _is_known(self, signature: Signature) -> bool:
        return not signature.only or self.families <= set(signature.only)

    def knows(self, name: str) -> bool:
        """Whether there is an operator of this name."""
        return name in self._signatures

    def guarded_theories(self, names: Iterable[str]) -> frozenset[str]:
        """The guarded theories that operators of these names belong to."""
        theories = {s.theory for name in names for s in self._signatures.get(name, ())}
        return GUARDED_THEORIES & theories

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
            if signature.theory not in GUARDED_THEORIES or signature.theory in guarded:
                yield signature

    # Changed heads

    def alternatives(self, term: Term, guarded: frozenset[str] = frozenset()) -> list[Signature]:
        """Signatures of other operators that take ``term``'s arguments and give its sort."""
        sorts = tuple([a.sort for a in term.args])
        key = (term.op.name, sorts, term.sort, guarded)
        found = self._heads.get(key)
        if found is None:
            found = self._heads[key] = [
                s
                for s in self._giving(term.sort, guarded)
                if s.name != term.op.name and choose_indices(s, sorts, term.sort, None) is not None
            ]
            if len(self._heads) > 50_000:
                self._heads.clear()
        return found


def _is_synonym(signature: Signature) -> bool:
    """Whether this is another spelling for strings (``seq.len`` of a String): each function counts once."""
    strings = any(p.name == "String" for p in (*signature.params, signature.result))
    return signature.theory == "Sequences" and strings


def _shapes_of(signature: Signature, result: Sort, sorts: Sequence[Sort]) -> Iterator[Shape]:
    """The sorts that a signature's arguments can have where its result is to be ``result``."""
    start: Bindings = {}
    # Indices that the result computes from the arguments' stay open; apply() has the last word.
    if _is_plain(signature.result) and not signature.result.match(result, start):
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


def _is_plain(pattern: SortPattern) -> bool:
    """Whether every index in a pattern is a name or a numeral, so that matching can bind it."""
    return all(isinstance(i, str) for i in pattern.indices) and all(map(_is_plain, pattern.args))


def _matches(pattern: SortPattern, sort: Sort, bindings: Bindings) -> bool:
    if _is_plain(pattern):
        return pattern.match(sort, bindings)
    return pattern.name == sort.name and len(pattern.indices) == len(sort.indices)


def choose_indices(
    signature: Signature, sorts: tuple[Sort, ...], result: Sort, chance: random.Random | None
) -> tuple[int | str, ...] | None:
    """Indices with which the operator takes these sorts and gives ``result``; None where there are none.

    Without ``chance`` the first that fit, with it a random choice among sensible ones.
    """
    if not signature.indices:
        found = signature.apply((), sorts, result if signature.needs_as else None)
        return () if found is result else None
    for indices in _candidate_indices(signature, sorts, result, chance):
        if max((i for i in indices if isinstance(i, int)), default=0) > _LARGEST_INDEX:
            continue
        if signature.apply(indices, sorts, None) is result:
            return indices
    return None


def _candidate_indices(
    signature: Signature, sorts: tuple[Sort, ...], result: Sort, chance: random.Random | None
) -> Iterator[tuple[int | str, ...]]:
    name = signature.name
    width = result.indices[0] if result.indices else 0
    inner = sorts[0].indices[0] if sorts and sorts[0].indices else 0
    if name == "extract":
        low = int((chance.random() if chance else 0) * (max(0, inner - width) + 1))
        yield low + width - 1, low
    elif name in ("zero_extend", "sign_extend"):
        yield (width - inner,) if width >= inner else (0,)
    elif name == "repeat":
        yield (max(1, width // inner) if inner else 1,)
    elif name in ("rotate_left", "rotate_right"):
        yield (_of((0, 1, inner - 1, inner, inner + 1, inner // 2), chance),)
    elif name == "char":
        yield (_of(("#x61", "#x30", "#x0", "#xff", "#x2FFFF", "#x7A"), chance),)
    elif name == "re.^":
        yield (_of((0, 1, 2, 3, 5), chance),)
    elif name == "re.loop":
        low = int(_of((0, 1, 2, 3), chance))
        yield (low, low + int(_of((0, 1, 2), chance))) if len(signature.indices) == 2 else (low,)
    else:
        bindings: Bindings = {}
        if _is_plain(signature.result):
            signature.result.match(result, bindings)
        small = _of((1, 2, 3, 5, 8), chance)
        yield tuple(
            int(i) if i.isdigit() else bindings.get(i, small)  # type: ignore[misc]
            for i in signature.indices
        )


def _of(options: Sequence[_T], chance: random.Random | None) -> _T:
    return options[int(chance.random() * len(options))] if chance else options[0]


class Applier:
    """Makes applications of operators for one chain of mutations, in its table."""

    def __init__(self, operators: Operators, table: TermTable) -> None:
        self.operators = operators
        self.table = table

    def apply(self, shape: Shape, args: tuple[Term, ...], result: Sort, chance: random.Random) -> Term | None:
        """The operator applied to ``args``; None where it does not fit after all."""
        if shape.signature is not None:
            return self.apply_signature(shape.signature, args, result, chance)
        assert shape.declaration is not None
        return apply_declaration(self.table, shape.declaration, args, result, shape.tester)

    def apply_signature(
        self, signature: Signature, args: tuple[Term, ...], result: Sort, chance: random.Random
    ) -> Term | None:
        """A theory's operator applied to ``args``, with sensible indices."""
        name = signature.name
        for position in CONSTANT_ARGUMENTS.get(name, ()):
            if position < len(args) and not is_value(args[position]):
                return None
        if name == "re.range" and not all(len(a.op.text) == 3 for a in args):
            return None
        if name == "^" and args[1].op.text.removesuffix(".0") not in EXPONENTS:
            return None
        indices = choose_indices(signature, tuple([a.sort for a in args]), result, chance)
        if indices is None:
            return None
        return self.table.make(self._head(signature, indices, result), args, result)

    def _head(self, signature: Signature, indices: tuple[int | str, ...], result: Sort) -> Op:
        text = name = signature.name
        if indices:
            text = f"(_ {name} {' '.join(map(str, indices))})"
        if signature.needs_as:
            text = f"(as {text} {result})"
        return self.table.op(Kind.OPERATOR, name, text, indices)


def apply_declaration(
    table: TermTable, declaration: Declaration, args: tuple[Term, ...], result: Sort, tester: bool = False
) -> Term:
    """A function of the script applied to arguments that fit."""
    name = declaration.name
    if tester:
        return table.make(table.op(Kind.SYMBOL, "is", f"(_ is {name})", (name,), declaration), args, result)
    text = None
    if has_parameters(declaration.result) and not determines(declaration.params, declaration.result):
        text = f"(as {name} {result})"
    return table.make(table.op(Kind.SYMBOL, name, text, (), declaration), args, result)


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

    def alternatives(self, term: Term) -> list[Shape]:
        """Other functions of the seed that take ``term``'s arguments and give its sort."""
        sorts = tuple(a.sort for a in term.args)
        own, tester = term.op.declaration, term.op.name == "is"
        available = frozenset(sorts)
        return [
            shape
            for group in self.shapes(term.sort, available)
            for shape in group
            if shape.sorts == sorts and (shape.declaration is not own or shape.tester != tester)
        ]


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
            raise GenerationError(f"{file} is larger than {MAX_FILE >> 20} MiB: no file of operators")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no UTF-8 text"
        raise GenerationError(f"cannot read the operators in {file}: {reason}") from error
    theories = Theories()
    try:
        theories.add_file(text, file)
    except (TheoryError, ReadError) as error:
        where = "" if isinstance(error, TheoryError) else f"{file}: "
        raise GenerationError(f"{where}{error}") from error
    if not any(True for _ in theories.signatures()):
        raise GenerationError(f"{file} declares no operators")
    return Operators(theories, solvers)
