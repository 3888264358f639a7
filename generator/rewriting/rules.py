"""Rewrite rules of a solver, as it prints them, and their meaning on values.

The language is that of RARE rules printed for Eunoia (Nötzli et al., "Reconstructing Fine-Grained Proofs of
Rewrites Using a Domain-Specific Language", FMCAD 2022)::

    (declare-rule bv-ult-self ((@n0 Int) (x1 (BitVec @n0)))
      :premises (...)  :args (x1)
      :conclusion (= (bvult x1 x1) false))

A parameter marked ``:list`` stands for any number of arguments of an associative operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from base.nearest import did_you_mean, nearest
from generator.errors import GenerationError
from smtlib import semantics
from smtlib.errors import ReadError
from smtlib.reader import SExp, SExpList, read_sexps, sexp_text
from smtlib.semantics import MEANINGS, NEUTRAL, IllTyped, Value
from smtlib.values import read_string

Assignment: TypeAlias = Mapping[str, Value]
"""A value for each parameter; for a list, a list of values. Parameters for sorts have sorts as values."""
Program: TypeAlias = Callable[[Assignment], Value]

CHARACTER = "Char"
"""The element sort for which a sequence is a string."""
EMPTY_SEQUENCE = "$seq_empty"
SINGLETONS = ("eo::list_singleton_elim", "$singleton_elim")
"""They only remove an associative operator with one argument."""


WRONG_SORTS = (IllTyped, TypeError, AttributeError)
"""What :mod:`smtlib.semantics` raises for a term that is not well sorted."""


class Unknown(Exception):
    """A part of a rule whose meaning is not known here."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a rule: ``sort`` as printed, ``Type`` for a sort."""

    name: str
    sort: SExp
    is_list: bool = False


class Judgement(NamedTuple):
    """``holds`` is None if the rule does not apply: a premise does not hold, or a term is not well sorted.

    ``met`` is the number of premises that hold before the first that does not; one more if the rule applies.
    """

    met: int
    holds: bool | None


@dataclass(frozen=True)
class Rule:
    """A rule: where ``premises`` hold, ``conclusion`` must hold."""

    name: str
    parameters: tuple[Parameter, ...]
    premises: tuple[SExp, ...]
    conclusion: SExp

    @property
    def theory(self) -> str:
        """The first word of the name, by which the solver groups its rules."""
        return self.name.partition("-")[0]

    @cached_property
    def lists(self) -> frozenset[str]:
        """The parameters that stand for lists."""
        return frozenset(parameter.name for parameter in self.parameters if parameter.is_list)

    @cached_property
    def conditions(self) -> tuple[Program, ...]:
        """The premises as functions of an assignment; Unknown as for ``verdict``."""
        return tuple(compiled(premise, self.lists) for premise in self.premises)

    @cached_property
    def verdict(self) -> Program:
        """The conclusion as a function of an assignment; Unknown if an operator has no meaning here."""
        return compiled(self.conclusion, self.lists)

    @cached_property
    def definitions(self) -> dict[str, Program]:
        """Parameters that a premise ``(= PARAMETER TERM)`` defines, each after those that it needs."""
        found: dict[str, tuple[SExp, frozenset[str]]] = {}
        names = frozenset(parameter.name for parameter in self.parameters) - self.lists
        for premise in self.premises:
            for name, term in _defining(premise):
                used = frozenset(_symbols(term)) & names
                if name in names and name not in found and name not in _reached(used, found):
                    found[name] = (term, used)
                    break
        ordered: dict[str, Program] = {}
        while len(ordered) < len(found):
            for name, (term, used) in found.items():
                if name not in ordered and all(other in ordered or other not in found for other in used):
                    ordered[name] = compiled(term, self.lists)
        return ordered

    def judge(self, assignment: Assignment) -> Judgement:
        """Whether the rule is right for an assignment."""
        met = 0
        try:
            for condition in self.conditions:
                if condition(assignment) is not True:
                    return Judgement(met, None)
                met += 1
            return Judgement(met + 1, bool(self.verdict(assignment)))
        except WRONG_SORTS:
            return Judgement(met, None)


def read_rules(text: str) -> list[Rule]:
    """The rules in a solver's output; GenerationError if there is none, or one has another form."""
    start = text.find("(declare-rule ")
    end = text.rfind("\n)")
    if start < 0 or end < start:
        raise GenerationError("the solver prints no rewrite rules: its output has no (declare-rule ...)")
    try:
        return [_rule(sexp) for sexp in read_sexps(text[start : end + 2])]
    except ReadError as problem:
        raise GenerationError(f"the solver's rewrite rules: {problem}") from problem


def select_rules(rules: Sequence[Rule], names: Sequence[str]) -> list[Rule]:
    """The rules named, or all; GenerationError for an unknown name."""
    known = {rule.name: rule for rule in rules}
    for name in names:
        if name not in known:
            raise GenerationError(f"there is no rule {name!r}{did_you_mean(nearest(name, known))}")
    return [known[name] for name in names] or list(rules)


def _rule(sexp: SExp) -> Rule:
    if isinstance(sexp, str) or len(sexp) < 5 or sexp[0] != "declare-rule" or isinstance(sexp[2], str):
        raise GenerationError(f"not a rewrite rule: {sexp_text(sexp, 80)}")
    attributes = dict(zip(sexp[3::2], sexp[4::2], strict=False))
    if ":conclusion" not in attributes:
        raise GenerationError(f"rule {sexp[1]} has no conclusion")
    parameters = tuple(Parameter(given[0], given[1], ":list" in given[2:]) for given in sexp[2])
    return Rule(str(sexp[1]), parameters, tuple(attributes.get(":premises", ())), attributes[":conclusion"])


def _defining(premise: SExp) -> Iterator[tuple[str, SExp]]:
    """``(NAME, TERM)`` if the premise, perhaps below lets, is ``(= NAME TERM)`` or ``(= TERM NAME)``."""
    if isinstance(premise, str) or len(premise) != 3:
        return
    head, first, second = premise
    if head == "let":
        for name, term in _defining(second):
            yield name, type(premise)([head, first, term])
    elif head == "=":
        for name, term in ((first, second), (second, first)):
            if isinstance(name, str):
                yield name, term


def _symbols(sexp: SExp) -> Iterator[str]:
    stack = [sexp]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        else:
            stack += part


def _reached(names: frozenset[str], found: Mapping[str, tuple[SExp, frozenset[str]]]) -> frozenset[str]:
    """``names``, and the names that their definitions use."""
    reached, stack = set(names), list(names)
    while stack:
        name = stack.pop()
        new = found[name][1] - reached if name in found else frozenset()
        reached |= new
        stack += new
    return frozenset(reached)


# Terms as functions


def compiled(term: SExp, lists: frozenset[str]) -> Program:
    """A term as a function of an assignment; Unknown for an operator without a meaning here."""
    if isinstance(term, str):
        return _leaf(term)
    head, *rest = term
    if head == "let":
        return _let(rest[0], rest[1], lists)
    if head == "as" or head == EMPTY_SEQUENCE:
        return _empty(term)
    if head in SINGLETONS:
        return compiled(rest[-1], lists)
    meaning = MEANINGS.get(head, _OWN.get(head)) if isinstance(head, str) else None
    if meaning is None:
        raise Unknown(str(head))
    arguments = [(part in lists if isinstance(part, str) else False, compiled(part, lists)) for part in rest]
    if any(is_list for is_list, _ in arguments):
        return _applied_to_list(head, meaning, arguments)
    programs = [program for _, program in arguments]
    if len(programs) == 1:
        (only,) = programs
        return lambda values: meaning(only(values))
    if len(programs) == 2:
        first, second = programs
        return lambda values: meaning(first(values), second(values))
    return lambda values: meaning(*[program(values) for program in programs])


def _applied_to_list(
    head: str, meaning: Callable[..., Value], arguments: list[tuple[bool, Program]]
) -> Program:
    def apply(values: Assignment) -> Value:
        given: list[Value] = []
        for is_list, program in arguments:
            if is_list:
                given += program(values)
            else:
                given.append(program(values))
        if len(given) > 1:
            return meaning(*given)
        if given:
            return given[0]
        if head not in NEUTRAL:
            raise IllTyped
        return NEUTRAL[head]

    return apply


def _leaf(token: str) -> Program:
    if token in ("true", "false"):
        constant: Value = token == "true"
    elif token[0] == '"':
        constant = read_string(token)
    elif token.lstrip("-").isdecimal():
        constant = int(token)
    elif token[0].isdecimal() or (token[0] == "-" and token[1:2].isdecimal()):
        constant = Fraction(token)
    elif token in MEANINGS:
        constant = MEANINGS[token]()
    else:
        return lambda values: values[token]
    return lambda _: constant


def _let(bindings: SExpList, body: SExp, lists: frozenset[str]) -> Program:
    bound = [(name, compiled(term, lists)) for name, term in bindings]
    inner = compiled(body, lists)

    def run(values: Assignment) -> Value:
        return inner({**values, **{name: program(values) for name, program in bound}})

    return run


def _empty(term: Any) -> Program:
    """``($seq_empty (Seq @T0))`` or ``(as set.empty (Set @T0))``."""
    if term[0] == "as":
        if term[1] not in ("set.empty", "seq.empty"):
            raise Unknown(str(term[1]))
        return lambda _: frozenset() if term[1] == "set.empty" else ()
    element = term[1][1]
    return lambda values: "" if values[element] == CHARACTER else ()


_OWN: Mapping[str, Callable[..., Value]] = {
    "div_total": MEANINGS["div"],
    "mod_total": MEANINGS["mod"],
    "/_total": MEANINGS["/"],
    "@bv": semantics.bits,
    "@bvsize": lambda value: value.width,
    "bvite": lambda condition, first, second: MEANINGS["ite"](condition.value == 1, first, second),
}
"""The operators that only rules use; division by zero is zero, and the remainder the dividend."""
