"""Proof: a proof of ``unsat`` with a step that does not follow from its premises."""

from __future__ import annotations

from difftest.triage.classes.contradiction import Contradiction
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import plain


class Proof(Contradiction):
    """A wrong step of a proof; its rule is in the key."""

    name = "proof"
    rank = 6
    keyed_by_operators = False

    def describe(self, found: FindingFolder, name: str) -> str:
        """The step, and what other solvers say of it."""
        said = plain(found.evidence[0]) if found.evidence else ""
        return f"{name} gives a wrong proof. {said}. {found.reason}"

    def expected(self, found: FindingFolder, name: str) -> str:
        """A proof whose steps all follow."""
        return f"A proof in which the premises of each step imply its conclusion. {found.reason}".rstrip()


CLASS = Proof()
