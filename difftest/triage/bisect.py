"""Bisection: the first release of a solver that a finding affects, and the first that is free of it again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from base.steps import Tick, nothing
from difftest.triage.expectation import observe_file, read_formula
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import kind_of, rewrite_report
from difftest.triage.release_search import BisectReport, search, subject_of
from solvers.solver import Solver


def bisect(
    target: Path,
    solvers: Sequence[Solver] = (),
    again: bool = False,
    on_try: Tick = nothing,
) -> BisectReport:
    """Search the releases of a finding's culprit (``target`` is its folder), or of the one of
    ``solvers`` that is wrong on a file.

    Of a finding, the reduced formula is used where it was confirmed, what was found is kept in its folder,
    and a finished search is not done twice unless ``again``. Raises DifftestError where the solver has no
    releases, NotShown if its own release does not show it.
    """
    if target.is_dir():
        found = FindingFolder.read(target)
        report = search(target, kind_of(found).subject(found), again, on_try)
        rewrite_report(target)
    else:
        text = read_formula(target)
        subject = subject_of(text, target.name, observe_file(target, text, solvers))
        with tempfile.TemporaryDirectory(prefix="exhume-bisect-") as folder:
            report = search(Path(folder), subject, on_try=on_try)
    return report
