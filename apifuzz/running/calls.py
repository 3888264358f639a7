"""Findings about calls: the kind ``calls``. Who imports this module can read and work on them."""

from __future__ import annotations

from typing import cast

import apifuzz.running.classes  # noqa: F401 (makes its classes known)
from apifuzz.running.folder import CallsFolder
from apifuzz.running.releases import subject_of_calls
from apifuzz.running.report import CallsWriter
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import KINDS, Subject
from difftest.triage.report import form_of_finding


class Calls:
    """Findings whose test is a sequence of calls."""

    def title(self, found: FindingFolder) -> str:
        """The title of a finding's report."""
        return _writer(found).title()

    def report(self, found: FindingFolder) -> str:
        """Its report."""
        return _writer(found).text()

    def subject(self, found: FindingFolder) -> Subject:
        """The program, or the calls in SMT-LIB."""
        return subject_of_calls(cast(CallsFolder, found))


def _writer(found: FindingFolder) -> CallsWriter:
    return CallsWriter(cast(CallsFolder, found), form_of_finding(found))


KINDS[CallsFolder.kind] = Calls()
