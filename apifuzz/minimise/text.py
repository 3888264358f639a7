"""After the trace: its calls as an SMT-LIB script, reduced as hunts do it, where that shows the error too."""

from __future__ import annotations

from pathlib import Path

from apifuzz.running.setup import Setup
from base.errors import ExhumeError
from difftest import find_solvers
from difftest.reduction.reduce import ReductionReport, reduce


def reduce_script(formula: Path, setup: Setup, seconds: float, result: Path) -> ReductionReport | None:
    """Reduce a script that says a trace's calls for at most ``seconds``; what is left goes to ``result``.

    None where the solver, given the text, does not go wrong: then the error needs the interface. A solver
    that is only compared with the first one takes part.
    """
    specs = [setup.solver] + ([setup.cross_check] if setup.cross_check else [])
    try:
        return reduce(formula, find_solvers(specs), seconds, out=result)
    except ExhumeError:
        return None
