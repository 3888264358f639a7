"""From a test's runs to candidates: what oracles see in them, and in the further runs that they need."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from difftest.oracles import ORACLES, look
from difftest.oracles.base import Candidate, Observation
from solvers.running.process import Limits
from solvers.running.runner import Runner


def examine(
    seen: Observation, names: Sequence[str], runner: Runner, limits: Limits
) -> tuple[list[Candidate], Observation, float]:
    """All that is wrong in the eyes of these oracles, once the runs are made that they need beyond the
    test's own; what is known then, and the seconds spent in solvers.
    """
    spent = 0.0
    for name in names:
        if (probe := ORACLES[name].probe) is not None:
            started = time.monotonic()
            seen, seconds = probe(seen, runner, limits)
            spent += seconds
            seen = replace(seen, probed={**seen.probed, name: time.monotonic() - started})
    return look(seen, names), seen, spent
