"""Solver specs: what a user writes for a solver, and what can be run in the end.

``z3``, ``cvc5``            from the wheels installed beside exhume
``z3==4.8.5``, ``cvc5==V``  that release, fetched once into the cache
``name=command line``       any program; ``{}`` stands for the file, which else comes last; with ``-`` last it
                            is given on standard input
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from difftest import cvc5_driver, wheels
from difftest.errors import DifftestError, EnvironmentProblem, SolverMissing, UnknownSolver
from difftest.process import Limits, run
from difftest.script import Script

# The distributions that hold each solver we know by name.
DISTRIBUTIONS = {"z3": "z3-solver", "cvc5": "cvc5"}
_NAME = re.compile(r"[A-Za-z][\w.+-]*")
_VERSION_LIMITS = Limits(seconds=30.0)
# The first release whose Python interface reads SMT-LIB.
_CVC5_WITH_PARSER = (1, 2, 0)


@dataclass(frozen=True, slots=True)
class SolverSpec:
    """A spec taken apart: ``family`` is z3, cvc5 or other; ``release`` and ``command`` only where it names
    them.
    """

    text: str
    name: str
    family: str
    release: str | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver that can be run here.

    ``argv`` is what starts it; ``checks`` are the options that make it check its models; ``library`` is set
    where a supervisor can keep it loaded and fork (the file for z3, the installed package for cvc5).
    """

    spec: str
    name: str
    family: str
    argv: tuple[str, ...]
    checks: tuple[str, ...] = ()
    library: str | None = None
    _versions: list[str] = field(default_factory=list, compare=False, repr=False)

    def options(self, script: Script) -> tuple[str, ...]:
        """The options it is run with on ``script``."""
        if self.family == "cvc5" and script.is_incremental:
            return (*self.checks, "--incremental")
        return self.checks

    def command(self, script: Script, file: str) -> list[str]:
        """The command line that runs it on ``script`` in ``file``; see ``reads_stdin`` for who reads it."""
        if "{}" in " ".join(self.argv):
            return [part.replace("{}", file) for part in self.argv]
        if self.reads_stdin:
            return [*self.argv, *self.options(script)]
        return [*self.argv, *self.options(script), file]

    @property
    def reads_stdin(self) -> bool:
        """Whether the command line ends with ``-``, so that it gets the formula on standard input."""
        return self.family == "other" and self.argv[-1] == "-"

    def shown(self, script: Script, file: str) -> str:
        """The command line as one would type it: the plain program name for what the wheels hold."""
        argv = self.command(script, file)
        if self.family != "other":
            argv = [self.family, *argv[len(self.argv) :]]
        return shlex.join(argv) + (f" < {shlex.quote(file)}" if self.reads_stdin else "")

    def version(self) -> str:
        """What it says of its version (asked once), or ``unknown``."""
        if not self._versions:
            self._versions.append(_ask_version(self))
        return self._versions[0]


def parse_spec(text: str) -> SolverSpec:
    """Take a spec apart; UnknownSolver if it is none. Neither network nor disk is touched."""
    text = text.strip()
    name, equals, rest = text.partition("=")
    if equals and not rest.startswith("="):
        return _command_spec(text, name.strip(), rest)
    family, _, release = text.partition("==")
    if family not in DISTRIBUTIONS:
        near = difflib.get_close_matches(family, DISTRIBUTIONS, n=2, cutoff=0.5)
        offer = tuple(f"{match}=={release}" if release else match for match in near)
        raise UnknownSolver(
            text, "not known. Use z3, cvc5, a release such as z3==4.8.5, or name=command line.", offer
        )
    if "==" not in text:
        return SolverSpec(text, family, family)
    if not wheels.is_version(release):
        raise UnknownSolver(text, f"{release!r} is not a version")
    return SolverSpec(text, f"{family}-{release}", family, release)


def _command_spec(text: str, name: str, rest: str) -> SolverSpec:
    if not _NAME.fullmatch(name):
        raise UnknownSolver(text, "the name before '=' must be letters, digits, '.', '_', '+' or '-'")
    try:
        command = tuple(shlex.split(rest))
    except ValueError as problem:
        raise UnknownSolver(text, f"the command line cannot be read: {problem}") from problem
    if not command:
        raise UnknownSolver(text, "there is no command line after '='")
    return SolverSpec(text, name, "other", None, command)


def find_solver(spec: str | SolverSpec) -> Solver:
    """Make a spec into a solver that can be run, fetching its release if need be.

    Raises UnknownSolver for a bad spec; SolverMissing, ReleaseNotFound or EnvironmentProblem when it cannot
    be had.
    """
    if isinstance(spec, str):
        spec = parse_spec(spec)
    if spec.family == "z3":
        return _find_z3(spec)
    if spec.family == "cvc5":
        return _find_cvc5(spec)
    program = shutil.which(spec.command[0])
    if program is None:
        raise SolverMissing(f"solver {spec.text!r}: no program {spec.command[0]!r} on this machine")
    # Runs happen in folders of their own, so the paths given relative to here are made absolute.
    rest = [str(Path(part).resolve()) if Path(part).is_file() else part for part in spec.command[1:]]
    return Solver(spec.text, spec.name, "other", (str(Path(program).absolute()), *rest))


def find_solvers(specs: Iterable[str]) -> list[Solver]:
    """``find_solver`` for each spec; UnknownSolver if two have the same name."""
    solvers = [find_solver(spec) for spec in specs]
    seen: set[str] = set()
    for solver in solvers:
        if solver.name in seen:
            raise UnknownSolver(solver.spec, f"two solvers are called {solver.name!r}")
        seen.add(solver.name)
    return solvers


def _find_z3(spec: SolverSpec) -> Solver:
    if spec.release is not None:
        folder = wheels.fetch_release(DISTRIBUTIONS["z3"], spec.release)
        program = wheels.executable_in(folder, "z3")
        libraries = sorted(folder.glob("z3/lib/libz3.*"))
    else:
        program, libraries = _installed_z3()
    library = str(libraries[0]) if libraries else None
    return Solver(spec.text, spec.name, "z3", (str(program),), ("model_validate=true",), library)


def _installed_z3() -> tuple[Path, list[Path]]:
    try:
        files = importlib.metadata.files(DISTRIBUTIONS["z3"]) or []
    except importlib.metadata.PackageNotFoundError as problem:
        raise SolverMissing("solver 'z3': the package z3-solver is not installed beside exhume") from problem
    located = [Path(str(file.locate())).resolve() for file in files if file.stem in ("z3", "libz3")]
    programs = [path for path in located if path.parent.name == "bin" and path.is_file()]
    programs = programs or [path for path in [Path(sys.prefix) / "bin" / "z3"] if path.is_file()]
    if not programs:
        raise SolverMissing("solver 'z3': the installed z3-solver package has no program bin/z3")
    return programs[0], [path for path in located if path.name in ("libz3.so", "libz3.dylib")]


def _find_cvc5(spec: SolverSpec) -> Solver:
    argv = [sys.executable, "-I", str(Path(cvc5_driver.__file__).resolve())]
    library: str | None = "cvc5"
    if spec.release is not None:
        numbers = tuple(int(part) for part in re.findall(r"\d+", spec.release)[:3])
        if numbers < _CVC5_WITH_PARSER:
            raise EnvironmentProblem(
                f"solver {spec.text!r}: its Python interface reads no SMT-LIB (1.2.0 is the first to); "
                f"give the program instead: {spec.name}=/path/to/cvc5"
            )
        argv += ["--wheel", str(wheels.fetch_release(DISTRIBUTIONS["cvc5"], spec.release))]
        library = None
    elif importlib.util.find_spec("cvc5") is None:
        raise SolverMissing("solver 'cvc5': the package cvc5 is not installed beside exhume")
    return Solver(spec.text, spec.name, "cvc5", tuple(argv), ("--check-models",), library)


def _ask_version(solver: Solver) -> str:
    argv = [part for part in solver.argv if part not in ("{}", "-")]
    try:
        said = run([*argv, "--version"], _VERSION_LIMITS)
    except DifftestError:
        return "unknown"
    first = (said.stdout or said.stderr).strip().partition("\n")[0][:200]
    return first if said.code == 0 and first else "unknown"
