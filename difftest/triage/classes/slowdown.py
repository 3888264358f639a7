"""Slowdown: a release that is far slower than an older one."""

from __future__ import annotations

from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline
from solvers.report_form import Kind


class Slowdown(FindingClass):
    """A solver that takes longer than it did."""

    name = "slowdown"
    rank = 50
    level = "warning"
    reward = 0.05
    colour = 1
    reported_as = Kind.PERFORMANCE
    is_quick = False

    def headline(self, found: FindingFolder) -> str:
        """That it is slower than it was."""
        return "slower than an older release"

    def expected(self, found: FindingFolder, name: str) -> str:
        """The answer, in the time of the older release."""
        better = str(found.better.get("name", ""))
        said = found.answers.get(better) if len(found.better.get("answers") or ()) == 1 else None
        took, takes = found.seconds(better), found.seconds(str(found.data.get("guilty")))
        answer = f"`{said}`" if said in ("sat", "unsat") else "An answer"
        if took is None or takes is None:
            return f"{answer}, in about the time that an older release takes. {found.reason}".rstrip()
        return (
            f"{answer}, in about the time that {inline(better)} takes: {took:.2f} s instead of {takes:.2f} s."
        )


CLASS = Slowdown()
