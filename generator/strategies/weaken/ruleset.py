"""Rules as data: reads ``rules/*.smt2``; ``rules/README.md`` describes the form.

An entry is a law: an implication, an equivalence, or an inclusion of regular expressions. It is used from
left to right, from right to left, or both; each use is a :class:`Rewrite` with its effect.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

from generator.errors import GenerationError
from generator.strategies.weaken.patterns import (
    Application,
    Binding,
    Bits,
    Bound,
    Number,
    Pattern,
    Run,
    Variable,
    variables_of,
)
from smtlib import Theories, load_theories, read_sexps
from smtlib.reader import SExp, SExpList, sexp_text
from smtlib.signature import SortPattern, read_sort_pattern
from smtlib.values import read_number, read_string

WEAKENS, KEEPS, STRENGTHENS = 1, 0, -1
"""The effect of a rewrite on the place where it is done."""

_EQUAL_WEIGHT = 0.5
"""Of rules that change nothing but the form: the others are what weakening is about."""

_ATTRIBUTES = frozenset(
    ":about :paper :for :vars :sorts :with :where :if :use :weight :prove :bounded :law :by".split()
)


@dataclass(frozen=True, slots=True)
class Law:
    """One instance of an entry: both sides, with their variables and conditions.

    ``domains`` says which sorts (by name) a sort parameter stands for; ``ranges`` the least and greatest
    values, as index expressions, of index variables that may be chosen; ``where`` a condition on them;
    ``condition`` one on constants.
    """

    left: Pattern
    right: Pattern
    is_equal: bool
    domains: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[SExp, SExp]] = field(default_factory=dict)
    where: SExp | None = None
    condition: SExp | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One entry. ``by`` names the function that applies it, where the laws do not say all of it;
    ``obligation`` is then the commands that are unsatisfiable if the rule is right.

    ``instances`` and ``bounded`` say with which indices, and which terms, its laws are proved.
    """

    name: str
    theory: str
    about: str
    paper: str
    weight: float
    laws: tuple[Law, ...]
    uses: tuple[str, ...]
    by: str = ""
    obligation: str = ""
    instances: tuple[Mapping[str, int], ...] = ()
    bounded: Mapping[str, tuple[SExp, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Rewrite:
    """One use of a law: ``source`` becomes ``target``, which has the given effect there.

    ``chosen`` are the variables of the target that the source does not bind.
    """

    rule: Rule
    law: Law
    source: Pattern
    target: Pattern
    effect: int
    chosen: tuple[Variable, ...]

    @property
    def needs_drawn_constants(self) -> bool:
        """Whether the law's condition speaks about constants that are chosen."""
        return any(v.constant for v in self.chosen)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules and their rewrites."""

    rules: tuple[Rule, ...]
    rewrites: tuple[Rewrite, ...]


class _Reader:
    """Reads one entry, one choice of its ``:for`` at a time."""

    def __init__(self, theories: Theories, parts: Mapping[str, SExp]) -> None:
        self.theories = theories
        self.parts = parts
        self.variables: dict[str, Variable | Run] = {}
        for entry in parts.get(":vars", ()):
            name, sort, marks = entry[0], self._sort(entry[1]), entry[2:]
            constant = "const" in marks
            self.variables[name] = Run(name, sort) if "*" in marks else Variable(name, sort, constant)

    def _sort(self, sexp: SExp) -> SortPattern:
        return read_sort_pattern(sexp, frozenset(_parameters(sexp, self.theories)))

    def law(self, sexp: SExp, label: str) -> Law:
        """The law ``(=> LEFT RIGHT)`` or ``(<=> LEFT RIGHT)``."""
        if isinstance(sexp, str) or len(sexp) != 3 or sexp[0] not in ("=>", "<=>"):
            raise GenerationError(
                f"expected (=> LEFT RIGHT) or (<=> LEFT RIGHT), found {sexp_text(sexp, 80)}"
            )
        parts = self.parts
        return Law(
            self.pattern(sexp[1], frozenset()),
            self.pattern(sexp[2], frozenset()),
            sexp[0] == "<=>",
            {entry[0]: frozenset(entry[1:]) for entry in parts.get(":sorts", ())},
            {entry[0]: (entry[1], entry[2]) for entry in parts.get(":with", ())},
            parts.get(":where"),
            parts.get(":if"),
            label,
        )

    def pattern(self, sexp: SExp, bound: frozenset[str]) -> Pattern:
        """The pattern that ``sexp`` denotes."""
        if isinstance(sexp, str):
            return self._leaf(sexp, bound)
        head = sexp[0]
        if head in ("forall", "exists"):
            names = tuple((v[0], self._sort(v[1])) for v in sexp[1])
            return Binding(head, names, self.pattern(sexp[2], bound | {n for n, _ in names}))
        if head == "bv":
            return Bits(sexp[1], sexp[2])
        if head in ("_", "as"):
            return self._application(sexp, ())
        args = tuple(self.pattern(a, bound) for a in sexp[1:])
        return self._application(head, args)

    def _leaf(self, token: str, bound: frozenset[str]) -> Pattern:
        if token in bound:
            return Bound(token)
        if token in self.variables:
            return self.variables[token]
        if token[0].isdigit():
            return Number(token, read_number(token))
        if token[0] == '"':
            return Number(token, read_string(token))
        return self._application(token, ())

    def _application(self, head: SExp, args: tuple[Pattern, ...]) -> Application:
        qualifier = None
        if not isinstance(head, str) and head[0] == "as":
            qualifier = self._sort(head[2])
            head = head[1]
        name, indices = (head, ()) if isinstance(head, str) else (head[1], tuple(head[2:]))
        if name not in self.theories.functions:
            raise GenerationError(f"{name} is neither a variable of the rule nor a function of a theory")
        return Application(name, indices, qualifier, args, any(isinstance(a, Run) for a in args))


def _parameters(sexp: SExp, theories: Theories) -> Iterator[str]:
    if isinstance(sexp, str):
        if sexp not in theories.sorts and sexp not in theories.abbreviations:
            yield sexp
    elif sexp[0] != "_":
        for part in sexp[1:]:
            yield from _parameters(part, theories)


def _substituted(sexp: SExp, values: Mapping[str, SExp]) -> SExp:
    if isinstance(sexp, str):
        return values.get(sexp, sexp)
    return SExpList([_substituted(part, values) for part in sexp])


def _choices(sexp: SExp) -> Iterator[dict[str, SExp]]:
    """Every choice of the variables of ``:for``; ``((R S) (< <=) (> >=))`` chooses two together."""
    groups: list[list[dict[str, SExp]]] = []
    for entry in sexp:
        names = entry[0]
        if isinstance(names, str):
            groups.append([{names: value} for value in entry[1:]])
        else:
            groups.append([dict(zip(names, values, strict=True)) for values in entry[1:]])
    for chosen in itertools.product(*groups):
        yield {name: value for part in chosen for name, value in part.items()}


def _attributes(items: Sequence[SExp], name: str) -> dict[str, SExp]:
    found: dict[str, SExp] = {}
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str) or key not in _ATTRIBUTES:
            raise GenerationError(f"rule {name}: unknown attribute {sexp_text(key, 40)}")
        found[key] = value
    return found


def read_rule(sexp: SExp, theory: str, theories: Theories) -> Rule:
    """The rule of one entry ``(rule NAME LAW :attribute value ...)``. Raises :class:`GenerationError`."""
    name = str(sexp[1])
    has_law = not isinstance(sexp[2], str)
    parts = _attributes(sexp[3 if has_law else 2 :], name)
    laws = []
    try:
        if has_law:
            for values in _choices(parts.get(":for", SExpList())):
                chosen = {key: _substituted(part, values) for key, part in parts.items()}
                label = " ".join(sexp_text(value) for value in values.values())
                laws.append(_Reader(theories, chosen).law(_substituted(sexp[2], values), label))
    except (GenerationError, KeyError, ValueError, IndexError) as error:
        raise GenerationError(f"rule {name}: {error}") from error
    use = str(parts.get(":use", "both"))
    return Rule(
        name,
        theory,
        str(parts.get(":about", '""')).strip('"'),
        str(parts.get(":paper", '""')).strip('"'),
        float(str(parts.get(":weight", _EQUAL_WEIGHT if has_law and sexp[2][0] == "<=>" else 1))),
        tuple(laws),
        ("->", "<-") if use == "both" else (use,),
        str(parts.get(":by", "")),
        "\n".join(sexp_text(c) for c in parts.get(":law", ())),
        tuple({n: int(str(v)) for n, v in c.items()} for c in _choices(parts.get(":prove", SExpList()))),
        {entry[0]: tuple(entry[1:]) for entry in parts.get(":bounded", ())},
    )


def rewrites_of(rule: Rule) -> Iterator[Rewrite]:
    """The uses of a rule's laws. Raises :class:`GenerationError` where one cannot be used so."""
    for law in rule.laws:
        for use in rule.uses:
            source, target = (law.left, law.right) if use == "->" else (law.right, law.left)
            effect = KEEPS if law.is_equal else (WEAKENS if use == "->" else STRENGTHENS)
            bound = {v.name for v in variables_of(source)}
            chosen = {v.name: v for v in variables_of(target) if v.name not in bound}
            unchosen = [v.name for v in chosen.values() if isinstance(v, Run)]
            if unchosen or isinstance(source, Binding | Number | Bits):
                why = f"nothing binds {unchosen[0]}" if unchosen else "there is nothing to match"
                raise GenerationError(f"rule {rule.name} cannot be used {use}: {why}")
            variables = tuple(v for v in chosen.values() if isinstance(v, Variable))
            yield Rewrite(rule, law, source, target, effect, variables)


def read_rules(text: str, source: str, theories: Theories) -> Iterator[Rule]:
    """The rules of one file ``(rules THEORY (rule ...) ...)``. Raises :class:`GenerationError`."""
    for group in read_sexps(text):
        if isinstance(group, str) or len(group) < 2 or group[0] != "rules":
            raise GenerationError(f"{source}: expected (rules THEORY ...), found {sexp_text(group, 60)}")
        for entry in group[2:]:
            try:
                yield read_rule(entry, str(group[1]), theories)
            except GenerationError as error:
                raise GenerationError(f"{source}: {error}") from error


@lru_cache(maxsize=1)
def common_theories() -> Theories:
    """The shipped theories without what not all solvers have: what rules are built of."""
    theories = load_theories()
    for name, signatures in list(theories.functions.items()):
        theories.functions[name] = [s for s in signatures if theories.is_common(s)]
    return theories


@lru_cache(maxsize=1)
def default_rules() -> RuleSet:
    """The shipped rules, read once."""
    rules: list[Rule] = []
    theories = common_theories()
    folder = resources.files("generator.strategies.weaken") / "rules"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".smt2"):
            rules.extend(read_rules(file.read_text(encoding="utf-8"), file.name, theories))
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        raise GenerationError(f"rule named twice: {next(n for n in names if names.count(n) > 1)}")
    return RuleSet(tuple(rules), tuple(r for rule in rules if not rule.by for r in rewrites_of(rule)))
