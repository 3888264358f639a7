"""Contradiction: answers of one solver to a formula and to scripts made from it that exclude each other."""

from __future__ import annotations

from difftest.relations import find_relations
from difftest.relations.base import Relation
from difftest.triage.classes.base import FindingClass, Hearing
from difftest.triage.evidence import Evidence, third_solvers
from difftest.triage.folder import FindingFolder
from solvers.report_form import Kind
from solvers.running.script import Script

_MOST_ASKED = 3


class Contradiction(FindingClass):
    """A solver that contradicts itself, by a relation."""

    name = "contradiction"
    rank = 5
    colour = 6
    reported_as = Kind.ANSWER

    def weigh(self, hearing: Hearing, found: Evidence) -> None:
        """What the relation saw, and what other solvers say to each of the scripts: which answer is wrong."""
        seen, candidate = hearing.seen, hearing.candidate
        violation = next((v for v in seen.violations if v.relation == candidate.oracle), None)
        if violation is None or candidate.culprit is None:
            return
        found.note(violation.said)
        found.blame(candidate.culprit, violation.why)
        texts = {"the formula": seen.text}
        texts |= {f"script {number} made from it": text for number, text in enumerate(violation.texts, 1)}
        for third in list(third_solvers(seen, candidate.solvers, hearing.others))[:_MOST_ASKED]:
            for name, text in texts.items():
                verdict = hearing.runner.judge(third, Script.of(text), hearing.limits)
                found.seconds += verdict.seconds
                if verdict.is_decided:
                    found.note(
                        f"{third.name_and_release} says {' '.join(map(str, verdict.answers))} to {name}"
                    )

    def kind_in_report(self, found: FindingFolder) -> Kind:
        """What its relation says is at fault."""
        relation = _relation_of(found)
        return relation.reported_as if relation is not None else self.reported_as

    def headline(self, found: FindingFolder) -> str:
        """That it contradicts itself, or what else is wrong."""
        relation = _relation_of(found)
        if relation is None or relation.reported_as is Kind.ANSWER:
            return "contradicts itself"
        return relation.about

    def expected(self, found: FindingFolder, name: str) -> str:
        """Answers that are possible together."""
        return f"Answers that can all be right. {found.reason}".rstrip()


def _relation_of(found: FindingFolder) -> Relation | None:
    """The relation that is violated; None if this version does not know it."""
    oracle = found.data.get("oracle")
    return next((relation for relation in find_relations() if relation.name == oracle), None)


CLASS = Contradiction()
