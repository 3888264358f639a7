"""Horn clauses as rules: the goal is derived if, and only if, the clauses are unsatisfiable.

A predicate becomes a relation, a clause a rule, one without a conclusion a rule for the goal, which a
``query`` asks about. The other way round, a script with rules becomes one that asserts clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from difftest.models.model_reader import NotCheckable
from difftest.models.state import SILENCED, State
from difftest.relations.base import QUESTION, Case, Claim, Relation, Rule
from difftest.relations.horn import ARGUMENT, clauses_of, other_commands, premises_of
from smtlib.commands import declaration_text, print_command
from smtlib.horn import Clause, NotHorn, read_clauses
from smtlib.printer import all_of, print_term, quantified, sort_text
from smtlib.terms import Declaration, Term, declarations_in
from solvers.report_form import Kind
from solvers.running.script import Script

WHY = (
    "The second script has the clauses as rules, and asks the engine {} whether they derive false: sat if "
    "the clauses are unsatisfiable, else unsat."
)
GOAL = "goal!"
"""The relation that holds where a clause without a conclusion fails."""
_MOST_BITS = 10
_SCOPES = ("push", "pop", "reset", "reset-assertions")


class Rules:
    """The clauses of a case as rules. NotCheckable if it has anything else."""

    def __init__(self, case: Case) -> None:
        case.require_free(GOAL, ARGUMENT)
        case.require_exact()
        self.predicates, self._clauses = clauses_of(case)
        self.formulas = list(map(_formula, self._clauses))
        self.others = other_commands(case, self.predicates)

    def text(self, settings: Sequence[str], more: str = "") -> str:
        """The script that asks for the goal, with settings instead of those of its own; ``more`` stands
        behind the goal's name.
        """
        names = tuple(f"{' '.join(line.split()[:2])} " for line in settings)
        lines = [
            *settings,
            *(line for line in self.others if not line.startswith(names)),
            *(f"(declare-rel {d.name} ({' '.join(map(sort_text, d.params))}))" for d in self.predicates),
            f"(declare-rel {GOAL} ())",
            *(f"(rule {formula})" for formula in self.formulas),
            f"(query {GOAL}{more})",
        ]
        return "\n".join(lines) + "\n"

    @property
    def is_finite(self) -> bool:
        """Whether all variables and arguments have sorts with few values."""
        sorts = {variable.sort for clause in self._clauses for variable in clause.variables}
        sorts |= {sort for predicate in self.predicates for sort in predicate.params}
        return all(s.name == "Bool" or (s.name == "BitVec" and s.indices[0] <= _MOST_BITS) for s in sorts)


def _formula(clause: Clause) -> str:
    head = GOAL if clause.head is None else print_term(clause.head)
    variables = ((print_term(v), v.sort) for v in clause.variables)
    return quantified("forall", variables, f"(=> {all_of(premises_of(clause))} {head})")


def as_clauses(script: Script, check: int) -> Script:
    """The script that asserts the rules of another as clauses, if question number ``check`` of that is a
    query: one is sat where the other is unsat. NotCheckable if there is more than relations and rules.
    """
    if any(command.name in _SCOPES for command in script.commands):
        # Rules stay when their scope is left.
        raise NotCheckable("rules in scopes")
    state, question = State.of_query(script, check)
    relations = {d.name: d for c in state.commands if c.name == "declare-rel" for d in c.declarations}
    asked, options = relations.get(str(question.sexp[1])), question.sexp[2::2]
    if asked is None or not all(str(option).startswith(":print") for option in options):
        raise NotCheckable("a query of another form")
    try:
        # A negated relation holds where nothing derives it, which no clause says.
        read_clauses((c.terms[0] for c in state.commands if c.name == "rule"), set(relations.values()))
    except NotHorn as problem:
        raise NotCheckable("no Horn clauses", str(problem)) from problem
    variables = {d: c for c in state.commands if c.name == "declare-var" for d in c.declarations}
    lines = ["(set-logic HORN)"]
    for command in state.commands:
        if command.name == "rule":
            lines.append(f"(assert {_closed(command.terms[0], list(variables))})")
        elif command.name == "declare-rel" and len(command.sexp) == 3:
            relation = command.declarations[0]
            lines.append(declaration_text(relation.name, map(sort_text, relation.params), "Bool"))
        elif command.name.startswith("define-") or command.datatypes or command.name == "set-option":
            lines.append(print_command(command))
        elif command.name not in ("declare-var", "set-logic", "set-info", *SILENCED):
            raise NotCheckable("more than relations and rules")
    names = [f"asked!{n}" for n in range(len(asked.params))]
    failed = f"(not ({asked.name} {' '.join(names)}))" if names else f"(not {asked.name})"
    lines.append(f"(assert {quantified('forall', zip(names, asked.params, strict=True), failed)})")
    # Asked as often as there are questions, so that the number of this one is the same.
    return Script.of("\n".join([*lines, *[QUESTION] * (check + 1)]) + "\n")


def _closed(rule: Term, variables: Sequence[Declaration]) -> str:
    """The rule for all values of the variables that are declared."""
    used = ((d.name, d.result) for d in declarations_in([rule]) if d in variables)
    return quantified("forall", used, print_term(rule))


def _claims(case: Case) -> Iterator[Claim]:
    rules = Rules(case)
    if case.answer == "sat":
        case.require_total()
    engines = ["spacer"] + ["datalog"] * rules.is_finite + ["bmc"] * (case.answer == "unsat")
    rule = Rule.SAT if case.answer == "unsat" else Rule.UNSAT
    for engine in case.in_order(engines):
        yield Claim((rules.text([f"(set-option :fp.engine {engine})"]),), rule, WHY.format(engine))


RELATION = Relation(
    "fixedpoint",
    "rules are answered differently from the same Horn clauses",
    _claims,
    place="fixedpoint",
    kind=Kind.ANSWER,
    command="query",
)
