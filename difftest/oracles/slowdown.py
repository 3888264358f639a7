"""Slowdown: at least twenty times slower than an older release of the same solver, and at least five seconds.

Needs a run of five seconds, so only tests that got such a limit can show it. Confirmed by three measurements
of both in turn, in fresh processes: the fastest of the newer release against the slowest of the older one.
"""

from __future__ import annotations

from msgspec.structs import replace

from difftest.oracles.base import Candidate, Observation, Oracle
from difftest.oracles.releases import timed_pairs
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script

FACTOR = 20.0
SECONDS = 5.0
MEASUREMENTS = 3
# What starting a process takes at most; below it, times of runs are not compared.
_START = 0.05


def look(seen: Observation) -> list[Candidate]:
    """For each solver the first older release that is so much faster."""
    found: dict[str, Candidate] = {}
    for newer, older in timed_pairs(seen.trusted):
        now, before = seen.verdicts[newer.name], seen.verdicts[older.name]
        if newer.name not in found and is_slow(now, before):
            reason = f"{now.seconds:.1f} s ({now.outcome}); {older.name} takes {before.seconds:.2f} s"
            found[newer.name] = seen.accuse("slowdown", newer.name, reason, beside=older.name)
    return list(found.values())


def is_slow(now: Verdict, before: Verdict) -> bool:
    """Whether the times say so: the older release decided it, the newer one did too, or ran out of time."""
    late = now.outcome is Outcome.TIMEOUT or now.is_decided
    return (
        before.is_decided
        and late
        and now.seconds >= SECONDS
        and now.seconds >= FACTOR * max(before.seconds, _START)
    )


def promises(seen: Observation, seconds: float) -> bool:
    """Whether a newer release ran out of time where an older one was so fast that ``seconds`` are slow."""
    return any(
        seen.verdicts[newer.name].outcome is Outcome.TIMEOUT
        and is_slow(replace(seen.verdicts[newer.name], seconds=seconds), seen.verdicts[older.name])
        for newer, older in timed_pairs(seen.trusted)
    )


def measure(candidate: Candidate, seen: Observation, runner: Runner, limits: Limits) -> bool:
    """Whether it is so in every one of three measurements."""
    newer = seen.solver(candidate.culprit or "")
    older = next(seen.solver(name) for name in candidate.solvers if name != newer.name)
    script = Script.of(seen.text)
    fastest, slowest = seen.verdicts[newer.name], seen.verdicts[older.name]
    for _ in range(MEASUREMENTS - 1):
        now = runner.judge_file(newer, script, "formula.smt2", limits)[0]
        before = runner.judge_file(older, script, "formula.smt2", limits)[0]
        if not is_slow(now, before):
            return False
        fastest = min(fastest, now, key=lambda verdict: verdict.seconds)
        slowest = max(slowest, before, key=lambda verdict: verdict.seconds)
    return is_slow(fastest, slowest)


ORACLE = Oracle(
    "slowdown",
    "20 times slower than its own older release and 5 s at least, measured three times",
    look,
    lambda solvers: any(timed_pairs(solvers)),
    measure=measure,
    promises=promises,
    has_own_runs=True,
    rank=7,
)
