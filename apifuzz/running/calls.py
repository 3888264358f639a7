"""Makes known the kind ``calls``: findings whose test is a sequence of calls."""

import apifuzz.running.classes  # noqa: F401 (makes its classes known)
from apifuzz.running.folder import CallsFolder
from apifuzz.running.releases import subject_of_calls
from apifuzz.running.report import CallsWriter, typed_of_calls
from difftest.triage.kinds import KINDS, Kind

KINDS[CallsFolder.kind] = Kind(CallsWriter, subject_of_calls, typed_of_calls)
