"""Finds the solvers that specs name, and starts them once: their options and programs are tried."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from solvers.errors import SolverMissing, UnknownSolver
from solvers.locating import locate
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, judge
from solvers.running.process import Limits, Supervisor
from solvers.running.script import Script
from solvers.solver import Solver, run_file
from solvers.specs import SolverSpec, parse_spec, release_hint

_OPTION_LIMITS = Limits(seconds=30.0)
_TRIVIAL_LIMITS = Limits(seconds=5.0)
# Some programs take only some logics.
_LOGICS = ("ALL", "QF_UF", "QF_BV", "QF_LIA", "QF_LRA", "QF_NIA", "QF_NRA", "QF_S", "QF_FP", "LIA", "HORN")


def find_solver(spec: str | SolverSpec) -> Solver:
    """The solver that a spec names, ready to run; its release is fetched if necessary.

    Raises UnknownSolver for a bad spec; SolverMissing, ReleaseNotFound or EnvironmentProblem if it is not
    available.
    """
    if isinstance(spec, str):
        spec = parse_spec(spec)
    if spec.family in PROFILES:
        return _find_known(spec)
    if shutil.which(spec.command[0]) is None:
        missing = f"no program {spec.command[0]!r} on this machine"
        raise SolverMissing(f"solver {spec.text!r}: {missing}{release_hint(spec.text)}")
    return Solver(spec.text, spec.name, "other", absolute(spec.command))


def find_solvers(specs: Iterable[str], texts: bool = False) -> list[Solver]:
    """``find_solver`` for each spec, then start each solver.

    UnknownSolver if two have the same name, or, with ``texts``, if one known by name reads no scripts;
    SolverMissing if a program refuses the most trivial of them.
    """
    parsed = [parse_spec(spec) for spec in specs]
    for spec in parsed:
        if texts and spec.family in PROFILES and not PROFILES[spec.family].reads_scripts:
            raise UnknownSolver(
                spec.text, f"reads no SMT-LIB text: use 'exhume apifuzz run --solver {spec.text}'"
            )
    solvers = [find_solver(spec) for spec in parsed]
    for solver in solvers:
        solver.check_starts()
    seen: set[str] = set()
    for solver in solvers:
        if solver.name in seen:
            raise UnknownSolver(solver.spec, f"two solvers are called {solver.name!r}: use different names")
        seen.add(solver.name)
        if texts and solver.family not in PROFILES:
            _try_program(solver)
    return solvers


def _find_known(spec: SolverSpec) -> Solver:
    profile = PROFILES[spec.family]
    located = locate(profile, spec.release)
    options = tuple(profile.prefix + option for option in spec.options)
    checks = (*options, *profile.checks)
    solver = Solver(spec.text, spec.name, spec.family, located.argv, checks, located.loadable, spec.options)
    if options:
        _try_options(replace(solver, checks=options))
    return solver


def _try_options(solver: Solver) -> None:
    """Run the solver on a trivial script; UnknownSolver if it does not accept the options."""
    script = Script(b"(set-logic QF_BV)\n(check-sat)\n")
    with Supervisor() as supervisor:
        done = run_file(supervisor, solver, script, "trivial.smt2", _OPTION_LIMITS)
    # Many tactics do not solve so small a formula.
    answers = ("sat",) if solver.tactic is None else ("sat", "unknown")
    if done.stdout.strip() not in answers or done.code != 0:
        first = (done.stdout + done.stderr).strip().partition("\n")[0][:200]
        raise UnknownSolver(solver.spec, f"it does not accept these options: {first}")


def _try_program(solver: Solver) -> None:
    """Run a program on a trivial script of each logic until it takes one; SolverMissing if it takes none.
    A crash is a bug, and no refusal.
    """
    first = ""
    with Supervisor() as supervisor:
        for logic in _LOGICS:
            script = Script(f"(set-logic {logic})\n(assert true)\n(check-sat)\n".encode())
            done = run_file(supervisor, solver, script, "trivial.smt2", _TRIVIAL_LIMITS)
            verdict = judge(script, done)
            if verdict.outcome is not Outcome.REFUSED:
                return
            first = first or verdict.detail
    raise SolverMissing(
        f"solver {solver.spec!r} does not answer (check-sat), even in a trivial script: {first}"
    )


def absolute(command: Sequence[str]) -> tuple[str, ...]:
    """A command line with absolute paths: solvers run in working folders of their own."""
    program, *rest = command
    found = shutil.which(program)
    files = (str(Path(part).resolve()) if _is_file(part) else part for part in rest)
    return (str(Path(found).absolute()) if found else program, *files)


def _is_file(word: str) -> bool:
    with suppress(OSError):  # longer than a path may be
        return Path(word).is_file()
    return False


def families_to_ask() -> list[str]:
    """The solvers that can be asked about a script: those that read scripts and are installed like exhume's
    other packages, so that none is fetched. The reference solvers come first.
    """
    profiles = sorted(PROFILES.values(), key=lambda p: (not p.reference, p.rank))
    return [p.family for p in profiles if p.reads_scripts and not p.apart]


def independent_of(own: Solver) -> list[Solver]:
    """The installed solvers of other kins than ``own`` that read scripts; the reference solvers first."""
    found = []
    for family in families_to_ask():
        if PROFILES[family].kin != own.kin:
            with suppress(SolverMissing):
                found.append(find_solver(family))
    return found
