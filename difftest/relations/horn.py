"""Horn clauses unrolled: what can be derived in a few rounds, as definitions without recursion.

If the clauses are satisfiable, no number of rounds derives ``false``. If they are not, no interpretation of
the predicates satisfies all of them, so what is derived in some rounds does not, either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from difftest.models.model_reader import NotCheckable
from difftest.models.state import SILENCED
from difftest.relations.base import Case, Claim, Relation, Rule
from difftest.relations.shuffle import Names
from smtlib.commands import RECURSIVE, definitions_text, print_command
from smtlib.horn import Clause, NotHorn, read_clauses
from smtlib.printer import PLAIN, Naming, all_of, any_of, print_term, quantified, sort_text
from smtlib.sorts import BOOL
from smtlib.terms import Declaration

DERIVED = (
    "The second script asserts that the clauses derive false in {} rounds, which contradicts that they are "
    "satisfiable."
)
CLOSED = (
    "The second script asserts that some clause is false where the predicates hold for what the clauses "
    "derive in {} rounds. If no interpretation satisfies all clauses, this one does not."
)
_ROUNDS = 5
ARGUMENT = "argument!"
"""How the names of the arguments begin where a predicate is defined."""


def clauses_of(case: Case) -> tuple[list[Declaration], list[Clause]]:
    """The predicates of a script and its clauses. NotCheckable if it has anything else."""
    symbols = [d for command in case.state.symbols.values() for d in command.declarations]
    if not symbols or any(d.result is not BOOL for d in symbols) or case.state.uninterpreted:
        raise NotCheckable("no Horn clauses")
    if any(command.name in RECURSIVE for command in case.state.commands):
        # No function may satisfy them, as (g x) = 1 + (g x). Then every formula is unsatisfiable.
        raise NotCheckable("recursive definitions")
    if case.state.is_overloaded:
        # The predicates get new names by their names.
        raise NotCheckable("an overloaded function")
    try:
        return symbols, read_clauses(case.state.terms, set(symbols))
    except NotHorn as problem:
        raise NotCheckable("no Horn clauses", str(problem)) from problem


def other_commands(case: Case, predicates: Sequence[Declaration]) -> list[str]:
    """The commands of a script besides its logic, its predicates and its clauses."""
    own = {d.name for d in predicates}
    return [
        print_command(command)
        for command in case.state.commands
        if command.name not in ("assert", "set-logic", *SILENCED)
        and not own & {d.name for d in command.declarations}
    ]


class Unrolled:
    """The clauses of a script, with the predicates defined by what is derived in some rounds."""

    def __init__(self, case: Case) -> None:
        self._predicates, self.clauses = clauses_of(case)
        self._case = case

    def text(self, rounds: int, question: str) -> str:
        """A script that asserts ``question``, in which the predicates have the names of the last round."""
        head = other_commands(self._case, self._predicates)
        lines = [self._definition(d, number) for number in range(rounds + 1) for d in self._predicates]
        return self._case.text([question], head=["(set-logic ALL)", *head, *lines])

    def names(self, number: int) -> Names:
        """The predicates' names in a round."""
        return Names({d.name: _name(d, number) for d in self._predicates})

    def _definition(self, predicate: Declaration, number: int) -> str:
        cases = []
        for clause in self.clauses:
            if number and clause.head is not None and clause.head.op.declaration == predicate:
                equal = arguments_are(map(print_term, clause.head.args))
                cases.append(_exists(clause, [*premises_of(clause, self.names(number - 1)), *equal]))
        return definition_of(_name(predicate, number), predicate, cases)


def _name(predicate: Declaration, number: int) -> str:
    return f"round!{number}!{predicate.name}"


def definition_of(name: str, predicate: Declaration, cases: Iterable[str]) -> str:
    """The command that defines a predicate, by this name, to hold in these cases of its arguments."""
    params = " ".join(f"({ARGUMENT}{n} {sort_text(s)})" for n, s in enumerate(predicate.params))
    return definitions_text([f"{name} ({params}) Bool"], [any_of(cases)], recursive=False)


def arguments_are(values: Iterable[str]) -> list[str]:
    """That the arguments have these values."""
    return [f"(= {ARGUMENT}{n} {value})" for n, value in enumerate(values)]


def premises_of(clause: Clause, naming: Naming = PLAIN) -> list[str]:
    """What a clause needs for its conclusion, as text."""
    texts = [(print_term(term, naming), negated) for term, negated in clause.body]
    return [f"(not {text})" if negated else text for text, negated in texts]


def _exists(clause: Clause, parts: list[str]) -> str:
    return quantified("exists", ((print_term(v), v.sort) for v in clause.variables), all_of(parts))


def _claims(case: Case) -> Iterator[Claim]:
    case.require_free(ARGUMENT, "round!")
    case.require_exact()
    if case.answer == "sat":
        case.require_total()
    unrolled = Unrolled(case)
    for rounds in case.in_order(range(_ROUNDS + 1)):
        names = unrolled.names(rounds)
        if case.answer == "sat":
            queries = [c for c in unrolled.clauses if c.head is None]
            derived = (_exists(clause, premises_of(clause, names)) for clause in queries)
            rule, why, question = Rule.UNSAT, DERIVED, any_of(derived)
        else:
            terms = (print_term(term, names) for term in case.state.terms)
            rule, why, question = Rule.SAT, CLOSED, f"(not {all_of(terms)})"
        yield Claim((unrolled.text(rounds, question),), rule, why.format(rounds))


RELATION = Relation(
    "horn", "Horn clauses are answered differently from what they derive in a few rounds", _claims
)
