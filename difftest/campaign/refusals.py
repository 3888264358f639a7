"""Solvers that refuse all tests of a campaign: the user must know, as nothing is compared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from difftest.campaign.stored import StoredCampaign
from solvers.running.outcomes import Outcome

MESSAGE_LENGTH = 160
_ACCEPTED = (Outcome.OK, Outcome.UNKNOWN, Outcome.INVALID_MODEL)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A solver that accepted no test and ``refused`` most of them; ``message`` is its answer to the first."""

    solver: str
    refused: int
    tests: int
    message: str

    def __str__(self) -> str:
        if self.refused < self.tests:
            which = f"{self.refused} of {self.tests} tests and accepted none"
        else:
            which = f"all {self.tests} tests" if self.tests > 1 else "the only test"
        return f"{self.solver} refused {which}: {self.message or 'no message'}"


def find_refusals(
    outcomes: Mapping[str, Mapping[Outcome, int]], messages: Mapping[str, str]
) -> list[Refusal]:
    """The solvers that accepted no test and refused most of them, by the counts of their outcomes.

    ``messages`` are what each solver said to the first test that it refused.
    """
    found = []
    for solver, counts in outcomes.items():
        refused, tests = counts.get(Outcome.REFUSED, 0), sum(counts.values())
        if 2 * refused > tests and not any(counts.get(outcome) for outcome in _ACCEPTED):
            found.append(Refusal(solver, refused, tests, messages.get(solver, "")))
    return found


def refusals_of(campaign: StoredCampaign) -> list[Refusal]:
    """The same of a campaign as it is stored."""
    outcomes: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for row in campaign.outcomes:
        if row.kind == "strategy":
            outcomes[row.solver][Outcome(row.outcome)] += row.count
    return find_refusals(outcomes, campaign.refusals)


def first_words(detail: str) -> str:
    """The first line of what a solver said, cut short."""
    line = next((line.strip() for line in detail.splitlines() if line.strip()), "")
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 3] + "..."
