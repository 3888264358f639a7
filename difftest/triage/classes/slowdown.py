"""Slowdown: a release that is far slower than an older one."""

from __future__ import annotations

from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline, plain


class Slowdown(FindingClass):
    """A solver that takes longer than it did."""

    name = "slowdown"
    rank = 50
    level = "warning"
    colour = 1
    is_quick = False

    def describe(self, found: FindingFolder, name: str) -> str:
        """That the solver is slower than an older release, with the times."""
        reason = plain(str(found.data.get("reason", ""))).rstrip(".")
        return f"{name} is far slower on the formula below than an older release: {reason}."

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
