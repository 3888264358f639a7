"""Whether a finding of cvc5 shows in its safe mode, which its maintainers ask of those who fuzz.

Its program is run with each solver in that mode from the start: an option or a theory that safe mode refuses
is then refused as it is of a user.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from apifuzz.running.faults import Fault
from apifuzz.running.folder import SCRIPT
from apifuzz.running.runs import ends_in, program_limits
from base.errors import ExhumeError
from difftest.triage.options import in_safe_mode
from solvers.lookup import find_solver
from solvers.running.process import Limits, Run, run

_RUN = """
import runpy, sys, cvc5
class Solver(cvc5.Solver):
    def __init__(self, *args):
        self.setOption("safe-mode", "safe")
cvc5.Solver = Solver
runpy.run_path(sys.argv[1], run_name="__main__")
"""
_REFUSAL = "RuntimeError: "
_LONGEST = 300


def ask_safe_mode(fault: Fault, program: str) -> dict[str, Any]:
    """``safe_mode`` for ``finding.json``: whether ``program`` ends in ``fault`` with cvc5 in its safe mode,
    None if that is not known; and in ``safe_mode_refuses`` what cvc5 says against the program (empty:
    nothing).
    """
    facts: dict[str, Any] = {"safe_mode": None, "safe_mode_refuses": ""}
    try:
        if in_safe_mode(find_solver("cvc5")) is None:
            return facts
    except ExhumeError:
        return facts
    with tempfile.TemporaryDirectory(prefix="exhume-safe-") as folder:
        file = Path(folder, SCRIPT)
        file.write_text(program, "utf-8", "backslashreplace")
        ended = run_in_safe_mode(file, program_limits(fault))
    if ended.ended != "exit":
        return facts
    facts["safe_mode"] = ends_in(fault, program, ended)
    last = ended.stderr.rstrip().rpartition("\n")[2]
    if not facts["safe_mode"] and last.startswith(_REFUSAL):
        facts["safe_mode_refuses"] = last.removeprefix(_REFUSAL)[:_LONGEST]
    return facts


def run_in_safe_mode(file: Path, limits: Limits) -> Run:
    """Run a program of cvc5's Python interface with each of its solvers in safe mode."""
    return run([sys.executable, "-I", "-u", "-c", _RUN, str(file)], limits)
