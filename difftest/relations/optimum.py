"""An optimum is attained and not exceeded: those that the test asks for, else those of terms of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import QUESTION, Case, Claim, Relation, Rule, listed
from smtlib.printer import print_term
from smtlib.reader import SExp, sexp_text
from smtlib.sorts import REAL, Sort
from smtlib.terms import Kind, Term
from smtlib.values import read_number

ATTAINED = "The second script asserts that the term has the {} that the solver gives for it."
TOGETHER = "The second script asserts that all objectives have the optima that the solver gives for them."
EXCEEDED = "The second script asserts that the term is beyond the {} that the solver gives for it{}."
REACHED = "The second script asserts that the term comes close to the bound that the solver gives as its {}."
UNBOUNDED = "The second script asserts that the term is beyond {}, where the solver gives no bound for it."
DOMINATED = "The second script asserts that all objectives are as good as the solver says, and one is better."
_BEYOND = {"Int": (">", "<"), "Real": (">", "<"), "BitVec": ("bvugt", "bvult")}
_FAR, _NEAR = 1_000_000, Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class Objective:
    """A term that is to be as small (``lowest``) or as large as possible; the sum of the weights of a group
    of soft assertions if ``is_cost``.
    """

    text: str
    sort: Sort
    lowest: bool
    is_cost: bool = False

    @property
    def noun(self) -> str:
        """What its optimum is called."""
        return "minimum" if self.lowest else "maximum"

    def beyond(self, value: Fraction) -> str:
        """That it is better than a value."""
        return f"({_BEYOND[self.sort.name][self.lowest]} {self.text} {self.value(value)})"

    def reaches(self, value: Fraction) -> str:
        """That it is as good as a value or better."""
        return f"(or {self.beyond(value)} {self.equals(value)})"

    def equals(self, value: Fraction) -> str:
        """That it has a value."""
        return f"(= {self.text} {self.value(value)})"

    def value(self, value: Fraction) -> str:
        """A value as text of its sort. NotCheckable if the sort has none."""
        if self.sort.name == "BitVec":
            return f"(_ bv{int(value) % 2 ** self.sort.indices[0]} {self.sort.indices[0]})"
        if self.sort is not REAL and value.denominator > 1:
            raise NotCheckable("an optimum of another sort")
        size = abs(value)
        text = f"(/ {size.numerator}.0 {size.denominator}.0)" if self.sort is REAL else str(size)
        return f"(- {text})" if value < 0 else text


@dataclass(frozen=True, slots=True)
class Optimum:
    """What a solver gives for an objective: a value, one that is not reached (``is_open``), or no bound."""

    value: Fraction | None
    is_open: bool = False


def _optimum(printed: SExp) -> Optimum | None:
    """None if it is no single value: z3 gives an interval where it is not sure."""
    if not printed:
        return None
    words = sexp_text(printed)
    if words == "oo" or (printed[0] == "*" and printed[-1] == "oo"):
        return Optimum(None)
    try:
        if "epsilon" not in words:
            return Optimum(read_number(printed))
        if printed[0] in ("+", "*") and len(printed) == 3:
            return Optimum(read_number(printed[1]) if printed[0] == "+" else Fraction(0), is_open=True)
    except ValueError:
        pass
    return None


def objectives_of(case: Case) -> list[Objective]:
    """What the test asks to optimise, in the order in which solvers list it."""
    found: list[Objective | str] = []
    costs: dict[str, list[str]] = {}
    for command in case.state.objectives:
        term = command.terms[0]
        if command.name != "assert-soft":
            if term.sort.name not in _BEYOND:
                raise NotCheckable("an objective of another sort")
            found.append(Objective(print_term(term), term.sort, command.name == "minimize"))
            continue
        settings = dict(zip(command.sexp[2::2], command.sexp[3::2], strict=False))
        if not set(map(str, settings)) <= {":weight", ":id"}:
            raise NotCheckable("a soft assertion with other attributes")
        name = str(settings.get(":id", ""))
        if name not in costs:
            costs[name] = []
            found.append(name)
        costs[name].append(f"(ite {print_term(term)} 0.0 {_weight(settings.get(':weight', '1'))})")
    return [
        item
        if isinstance(item, Objective)
        else Objective(f"(+ 0.0 {' '.join(costs[item])})", REAL, True, True)
        for item in found
    ]


def _weight(printed: SExp) -> str:
    try:
        weight = read_number(printed)
    except ValueError as problem:
        raise NotCheckable("a weight that is not a number") from problem
    if weight <= 0:
        raise NotCheckable("a weight that is not positive")
    return f"(/ {weight.numerator}.0 {weight.denominator}.0)"


def _asked(case: Case, question: str, objectives: int) -> list[Optimum | None]:
    printed = listed(case.printed(case.text(question=question), "sat")[0], "objectives", 1 + objectives)
    return [_optimum(row[-1] if row else row) for row in map(listed, printed[1:])]


def _claims_of(
    case: Case, goals: Sequence[Objective], optima: Sequence[Optimum | None], how: str
) -> Iterator[Claim]:
    """Claims about each objective, those before it at their optima if ``how`` is ``lex``; then about all."""
    fixed: list[str] = []
    for goal, found in zip(goals, optima, strict=True):
        if found is not None and how != "pareto":
            yield from _claims_of_one(case, goal, found, fixed if how == "lex" else [])
        if found is not None and found.value is not None and not found.is_open:
            fixed.append(goal.equals(found.value))
        elif how != "box":
            return
    if how != "box" and len(goals) > 1:
        yield _claim(case, goals, Rule.SAT, TOGETHER, fixed)
    if how == "pareto":
        values = [found.value for found in optima if found is not None and found.value is not None]
        pairs = list(zip(goals, values, strict=True))
        better = " ".join(goal.beyond(value) for goal, value in pairs)
        reached = [goal.reaches(value) for goal, value in pairs]
        yield _claim(case, goals, Rule.UNSAT, DOMINATED, [*reached, f"(or false {better})"])


def _claims_of_one(case: Case, goal: Objective, found: Optimum, before: Sequence[str]) -> Iterator[Claim]:
    others = ", while those before it have theirs" if before else ""
    if found.value is None:
        if goal.sort.name != "BitVec":
            far = Fraction(-_FAR if goal.lowest else _FAR)
            yield _claim(case, [goal], Rule.SAT, UNBOUNDED.format(far), [*before, goal.beyond(far)])
        return
    exceeded = EXCEEDED.format(goal.noun, others)
    if found.is_open:
        near = found.value + (_NEAR if goal.lowest else -_NEAR)
        yield _claim(case, [goal], Rule.SAT, REACHED.format(goal.noun), [*before, goal.beyond(near)])
        yield _claim(case, [goal], Rule.UNSAT, exceeded, [*before, goal.reaches(found.value)])
    else:
        yield _claim(case, [goal], Rule.SAT, ATTAINED.format(goal.noun), [*before, goal.equals(found.value)])
        yield _claim(case, [goal], Rule.UNSAT, exceeded, [*before, goal.beyond(found.value)])


def _claim(case: Case, about: Sequence[Objective], rule: Rule, why: str, asserted: Sequence[str]) -> Claim:
    # How weights are added up has nothing to do with the theories of what is soft.
    place = "assert-soft" if any(goal.is_cost for goal in about) else ""
    return Claim((case.text([*case.asserted, *asserted]),), rule, why, place)


def _claims(case: Case) -> Iterator[Claim]:
    case.require_exact()
    if case.state.objectives:
        goals = objectives_of(case)
        optima = _asked(case, case.question("(get-objectives)"), len(goals))
        claims = _claims_of(case, goals, optima, _priority(case))
        yield from case.in_order(claims, lambda claim: claim.why)
        return
    for term in case.subterms:
        if _can_be_optimised(term):
            goal = Objective(print_term(term), term.sort, bool(case.salt % 2))
            command = "minimize" if goal.lowest else "maximize"
            optima = _asked(case, f"({command} {goal.text}){QUESTION}(get-objectives)", 1)
            claims = _claims_of(case, [goal], optima, "lex")
            yield from case.in_order(claims, lambda claim: claim.why)


def _can_be_optimised(term: Term) -> bool:
    return term.sort.name in _BEYOND and term.kind in (Kind.SYMBOL, Kind.OPERATOR)


def _priority(case: Case) -> str:
    """How objectives are combined: ``lex`` (one after the other), ``box`` (each alone) or ``pareto``."""
    found = [
        line.split()[2].rstrip(")") for line in case.head if line.startswith("(set-option :opt.priority ")
    ]
    return found[-1] if found else "lex"


RELATION = Relation(
    "optimum", "an optimum is not attained, or exceeded", _claims, ("sat",), "optimum", "maximize"
)
