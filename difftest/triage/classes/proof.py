"""Proof: a proof of ``unsat`` with a step that does not follow from its premises."""

from __future__ import annotations

from difftest.triage.classes.contradiction import Contradiction
from difftest.triage.folder import FindingFolder
from solvers.report_form import Kind


class Proof(Contradiction):
    """A wrong step of a proof; its rule is in the key."""

    name = "proof"
    rank = 6
    reported_as = Kind.RESULT
    keyed_by_operators = False
    keeps_place = True

    def headline(self, found: FindingFolder) -> str:
        """That a proof is wrong."""
        return "wrong proof"

    def expected(self, found: FindingFolder, name: str) -> str:
        """A proof whose steps all follow."""
        return f"A proof in which the premises of each step imply its conclusion. {found.reason}".rstrip()


CLASS = Proof()
