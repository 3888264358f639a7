"""Findings whose test is a formula that solvers are given: the kind ``formula``."""

import shlex
from pathlib import PurePath

from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import KINDS, Kind, Typed
from difftest.triage.release_search import subject_of_formula
from difftest.triage.report import FormulaWriter
from solvers.registry import PROFILES


def typed_of_formula(found: FindingFolder) -> Typed | None:
    """The command line of the accused, as its run was recorded."""
    words = tuple(shlex.split(found.command(str(found.accused.get("name")))))
    known = found.accused.get("family") in PROFILES
    spec = str(found.accused.get("spec", "")).partition("[")[0] if known else ""
    # A solver's own program is shown without its folder.
    program = found.program if words[:1] == (PurePath(found.program).name,) else ""
    return Typed(spec, words, found.shown_file, program) if words else None


KINDS[FindingFolder.kind] = Kind(FormulaWriter, subject_of_formula, typed_of_formula)
