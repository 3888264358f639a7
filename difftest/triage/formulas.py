"""Findings about a formula: the kind ``formula``."""

from __future__ import annotations

from difftest.triage.bisect import subject_of_formula
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import KINDS, Subject
from difftest.triage.report import FormulaWriter, form_of_finding


class Formula:
    """Findings whose test is a formula that solvers are given."""

    def title(self, found: FindingFolder) -> str:
        """The title of a finding's report."""
        return FormulaWriter(found, form_of_finding(found)).title()

    def report(self, found: FindingFolder) -> str:
        """Its report."""
        return FormulaWriter(found, form_of_finding(found)).text()

    def subject(self, found: FindingFolder) -> Subject:
        """The formula, reduced where it is."""
        return subject_of_formula(found)


KINDS[FindingFolder.kind] = Formula()
