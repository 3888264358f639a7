"""Differential testing: SMT solvers run against each other, and what is wrong confirmed and written up.

``find_solvers`` turns specs into solvers, ``hunt`` runs them on generated tests and yields events, ``replay``
runs them on files. ``difftest.reduce`` makes a finding's formula small, ``difftest.bisect`` finds the
releases it affects. ``difftest.state`` keeps campaigns, ``difftest.dask_executor`` runs them on a cluster.
"""

from difftest.errors import (
    BadOutput,
    DifftestError,
    EnvironmentProblem,
    ReleaseNotFound,
    SolverMissing,
    UnknownSolver,
)
from difftest.events import (
    CandidateDropped,
    DuplicateSeen,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntSummary,
    Progress,
    TestDone,
    WorkersTold,
)
from difftest.executor import Executor, LocalExecutor
from difftest.findings import Candidate, FindingClass
from difftest.folders import FindingRecord
from difftest.hunt import DEFAULT_STAGES, HuntOptions, Stage, hunt
from difftest.outcomes import Outcome, Verdict
from difftest.process import Limits
from difftest.replay import ReplayResult, ReplayRow, find_files, replay
from difftest.solvers import Solver, SolverSpec, find_solver, find_solvers, parse_spec

__all__ = [
    "DEFAULT_STAGES",
    "BadOutput",
    "Candidate",
    "CandidateDropped",
    "DifftestError",
    "DuplicateSeen",
    "EnvironmentProblem",
    "Event",
    "Executor",
    "FindingClass",
    "FindingConfirmed",
    "FindingRecord",
    "HuntFinished",
    "HuntOptions",
    "HuntSummary",
    "Limits",
    "LocalExecutor",
    "Outcome",
    "Progress",
    "ReleaseNotFound",
    "ReplayResult",
    "ReplayRow",
    "Solver",
    "SolverMissing",
    "SolverSpec",
    "Stage",
    "TestDone",
    "UnknownSolver",
    "Verdict",
    "WorkersTold",
    "find_files",
    "find_solver",
    "find_solvers",
    "hunt",
    "parse_spec",
    "replay",
]
