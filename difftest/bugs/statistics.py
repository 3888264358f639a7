"""Compares fuzzers by their scores: bugs found, time to bug, rank tests and effect size.

A bug that a run does not find is censored at the end of the run's time. Time to bug is pooled over bugs and
runs: the median is Kaplan and Meier's, two fuzzers are compared with the log-rank test (Mantel 1966). Bugs
per run are compared with Mann and Whitney's test and Vargha and Delaney's A12 (2000): the probability that a
run of the first fuzzer finds more than one of the second, ties counted half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from difftest.errors import DifftestError


@dataclass(frozen=True, slots=True)
class Fuzzer:
    """A fuzzer's results: the ``bugs`` that could be found, the ``seconds`` of a run, and for each run the
    seconds after which each bug was found.
    """

    name: str
    bugs: tuple[str, ...]
    seconds: float
    found: tuple[dict[str, float], ...]

    @classmethod
    def of(cls, name: str, document: dict[str, Any]) -> Fuzzer:
        """The results in a ``score.json``."""
        found = tuple({str(k): float(v) for k, v in run["found"].items()} for run in document["runs"])
        return cls(name, tuple(document["bugs"]), float(document["seconds"]), found)

    @property
    def counts(self) -> list[int]:
        """Bugs found, per run."""
        return [len(run) for run in self.found]

    @property
    def times(self) -> Any:
        """Time to bug over bugs and runs, censored at the end of a run."""
        seen = [time for run in self.found for time in run.values()]
        missing = len(self.bugs) * len(self.found) - len(seen)
        return _stats().CensoredData(uncensored=seen, right=[self.seconds] * missing)

    @property
    def median(self) -> float | None:
        """The median time to bug in seconds; None if fewer than half of the bugs are found."""
        if not any(self.counts):
            return None
        survival = _stats().ecdf(self.times).sf
        pairs = zip(survival.quantiles, survival.probabilities, strict=True)
        return next((float(time) for time, share in pairs if share <= 0.5 and time < self.seconds), None)

    def curve(self) -> list[tuple[float, float]]:
        """Seconds and the mean number of bugs found by then, at each find."""
        times = sorted(time for run in self.found for time in run.values())
        return [(time, (n + 1) / len(self.found)) for n, time in enumerate(times)]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two fuzzers: the p-values of both tests (None where nothing was found), and the effect size."""

    one: str
    other: str
    log_rank: float | None
    mann_whitney: float | None
    a12: float


def compare(fuzzers: Sequence[Fuzzer]) -> list[Comparison]:
    """Each two fuzzers, in the order given; DifftestError if they were not measured on the same bugs and
    time.
    """
    for fuzzer in fuzzers[1:]:
        if (fuzzer.bugs, fuzzer.seconds) != (fuzzers[0].bugs, fuzzers[0].seconds):
            raise DifftestError(f"{fuzzers[0].name} and {fuzzer.name} were scored on other bugs or times")
    pairs = [(one, other) for place, one in enumerate(fuzzers) for other in fuzzers[place + 1 :]]
    return [_compared(one, other) for one, other in pairs]


def _compared(one: Fuzzer, other: Fuzzer) -> Comparison:
    log_rank = None
    if any(one.counts) or any(other.counts):
        log_rank = _finite(_stats().logrank(one.times, other.times).pvalue)
    test = _stats().mannwhitneyu(one.counts, other.counts, alternative="two-sided")
    a12 = float(test.statistic) / (len(one.counts) * len(other.counts))
    is_same = len({*one.counts, *other.counts}) == 1
    return Comparison(one.name, other.name, log_rank, None if is_same else _finite(test.pvalue), a12)


def _stats() -> Any:
    """Imported where it is used: that takes a second."""
    from scipy import stats

    return stats


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
