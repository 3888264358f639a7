"""Differential testing: SMT solvers run against each other; bugs are confirmed and reported.

``find_solvers`` turns specs into solvers, ``hunt`` runs them on generated tests and yields events, ``replay``
runs them on files. ``difftest.triage.reduce`` reduces the formula of a finding, ``difftest.triage.bisect``
finds the releases that it affects. ``difftest.campaign.state`` keeps campaigns and
``difftest.campaign.dask_executor`` runs them on a cluster. ``difftest.audit`` checks rewrite rules.

Folders: ``models`` (a model checked by another solver), ``relations`` (scripts made from a test, and what its
answer says of theirs), ``proofs`` (checked step by step), ``oracles`` (what counts as a bug), ``reduction``
(of texts), ``triage`` (from a candidate to a report), ``campaign`` (hunts), ``directed`` (what changed in the
sources), ``bugs`` (a benchmark of past bugs).
"""

from difftest.campaign.events import (
    CandidateDropped,
    DuplicateSeen,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntSummary,
    Progress,
    TestDone,
    WorkerNotice,
)
from difftest.campaign.executor import Executor, LocalExecutor
from difftest.campaign.hunt import HuntOptions, hunt
from difftest.campaign.stages import DEFAULT_STAGES, Stage
from difftest.errors import BadOutput, DifftestError
from difftest.found_files import FoundFiles
from difftest.oracles.base import Candidate
from difftest.replay import ReplayResult, ReplayRow, replay
from difftest.triage import formulas as _formulas  # makes that kind known
from difftest.triage.filing import FindingRecord
from solvers.errors import EnvironmentProblem, ReleaseNotFound, SolverMissing, UnknownSolver
from solvers.lookup import find_solver, find_solvers
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits
from solvers.solver import Solver
from solvers.specs import SolverSpec, parse_spec
