"""Solver specs: what a user writes for a solver, and what can be run in the end.

``z3``, ``cvc5``, ``bitwuzla``, ``yices``  from the wheels installed beside exhume
``z3==4.8.5``, ``cvc5==V``  that release, fetched once into the cache
``z3[smt.arith.solver=2]``  with options, separated by commas; also after a release
``z3[check-sat-using=T]``   every check-sat asked by the tactic T, as ``(check-sat-using T)``
``name=command line``       any program; ``{}`` stands for the file, which else comes last; with ``-`` last it
                            is given on standard input
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from base.errors import ExhumeError
from base.nearest import did_you_mean, nearest
from solvers.errors import SolverMissing, UnknownSolver
from solvers.locating import installed_release, locate
from solvers.options import OptionClass, option_table, split_option
from solvers.registry import BROKEN, PROFILES, kin_of
from solvers.releases import is_version
from solvers.running.process import Limits, run
from solvers.running.script import Script
from solvers.tactics import COMMAND, read_tactic

# The distributions that hold each solver that has releases.
DISTRIBUTIONS = {family: p.distribution for family, p in PROFILES.items() if p.distribution}
_WITH_OPTIONS = re.compile(r"([a-z][a-z0-9-]*(?:==[^\[\]]*)?)\[(.*)\]", re.S)
# Commas and brackets end an option; ``+`` and ``|`` part the names and fields of a finding's key; a value may
# hold blanks and parentheses (a tactic) but nothing that a file's name cannot.
_OPTION = re.compile(r"[A-Za-z][\w.-]*(?:=[\w(<>=!*.:-](?:[\w ()<>=!*.:-]*[\w()<>=!*.:-])?)?")
_LONGEST_NAME = 120
_NAME = re.compile(r"[A-Za-z][\w.+-]*")
# z3 (built from its repository), cvc5, bitwuzla (through our driver) and yices.
_COMMIT = re.compile(r"(?:\bbuild hashcode |\bgit |^Revision: )(tag [\w.-]+|[0-9a-f]{7,40}\b)", re.M)
_VERSION_LIMITS = Limits(seconds=30.0)


@dataclass(frozen=True, slots=True)
class SolverSpec:
    """A spec taken apart: ``family`` is that of a profile, or other; ``release``, ``command`` and ``options``
    (without their prefix) only where it names them.
    """

    text: str
    name: str
    family: str
    release: str | None = None
    command: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def kin(self) -> str:
        """The solver whose language it speaks and whose faults it shares: of another build and of a command
        line whose name or program begins as that solver's do; else its family, or the command line's name.
        """
        return _kin(self.family, self.name, self.command)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a solver says when it is asked for its version; ``problem`` is why that is not known."""

    version: str = "unknown"
    commit: str | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver that can be run here.

    ``argv`` is what starts it; ``checks`` are the spec's options and those that make it check its models
    (with ``check-sat-using=T``, which goes into the script);
    ``loadable`` is set where a supervisor can keep it loaded and fork (z3's file; for cvc5 and bitwuzla the
    unpacked release, or the installed package's name). ``spec_options`` are the spec's options as it has
    them, without their prefix; ``mode`` are those of them that ``with_options`` added to the solver called
    ``base_name``.
    """

    spec: str
    name: str
    family: str
    argv: tuple[str, ...]
    checks: tuple[str, ...] = ()
    loadable: str | None = None
    spec_options: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()
    base_name: str = ""
    _said: list[_Said] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.base_name:
            object.__setattr__(self, "base_name", self.name)

    def with_options(self, options: Sequence[str]) -> Solver:
        """The same solver with ``options`` (``name=value``) more, as its spec would have them. A name that is
        set already gets the new value. UnknownSolver for a solver given by a command line.
        """
        if not options:
            return self
        if self.family not in PROFILES:
            raise UnknownSolver(self.spec, "options can be added to solvers known by name only")
        names = {split_option(option)[0] for option in options}
        mode = (*(o for o in self.mode if split_option(o)[0] not in names), *options)
        own = [o for o in self.spec_options if o not in self.mode and split_option(o)[0] not in names]
        return self._having((*own, *mode), mode)

    def without_option(self, option: str) -> Solver:
        """The same solver without one of its ``spec_options``."""
        left = tuple(o for o in self.spec_options if o != option)
        return self._having(left, tuple(o for o in self.mode if o != option))

    def _having(self, options: tuple[str, ...], mode: tuple[str, ...]) -> Solver:
        spec = parse_spec(_bare(self.spec) + (f"[{','.join(options)}]" if options else ""))
        prefix = PROFILES[self.family].prefix
        now = tuple(prefix + option for option in self.spec_options)
        kept = tuple(check for check in self.checks if check not in now)
        checks = (*(prefix + option for option in options), *kept)
        return replace(self, spec=spec.text, name=spec.name, checks=checks, spec_options=options, mode=mode)

    @property
    def kin(self) -> str:
        """What it has in common with those that may have the same faults; see ``SolverSpec.kin``."""
        return _kin(self.family, self.name, self.argv)

    @property
    def release(self) -> str | None:
        """The release of the wheel that it comes from; None for a program that comes from none."""
        if self.family not in DISTRIBUTIONS:
            return None
        return parse_spec(self.spec).release or installed_release(PROFILES[self.family])

    @property
    def tactic(self) -> str | None:
        """The tactic by which it is asked in the script, if there is one."""
        asked = (check for check in self.checks if is_asked(check))
        return next((split_option(check)[1] for check in asked), None)

    def given(self, script: Script) -> Script:
        """What it is given for ``script``: the same, unless it is asked by a tactic."""
        return script if self.tactic is None else script.asked_by(self.tactic)

    def given_file(self, file: str) -> str:
        """The name of the file that it is given for ``file``: another one where ``given`` is another text."""
        if self.tactic is None:
            return file
        digest = hashlib.sha256(self.tactic.encode()).hexdigest()[:8]
        return f"{file.removesuffix('.smt2')}.asked-{digest}.smt2"

    def options(self, script: Script) -> tuple[str, ...]:
        """The options it is run with on ``script``."""
        options = tuple(check for check in self.checks if not is_asked(check))
        if self.family in PROFILES and script.is_incremental:
            return (*options, *PROFILES[self.family].incremental)
        return options

    def command(self, script: Script, file: str) -> list[str]:
        """The command line that runs it on ``script`` in ``file`` (or what ``given_file`` makes of that); see
        ``reads_stdin`` for who reads it.
        """
        if "{}" in " ".join(self.argv):
            return [part.replace("{}", file) for part in self.argv]
        if self.reads_stdin:
            return [*self.argv, *self.options(script)]
        return [*self.argv, *self.options(script), self.given_file(file)]

    @property
    def reads_stdin(self) -> bool:
        """Whether the command line ends with ``-``, so that it gets the formula on standard input."""
        return self.family == "other" and self.argv[-1] == "-"

    def shown(self, script: Script, file: str) -> str:
        """The command line as one would type it: the plain program name for what the wheels hold."""
        argv = self.command(script, file)
        if self.family != "other":
            argv = [PROFILES[self.family].program, *argv[len(self.argv) :]]
        return shlex.join(argv) + (f" < {shlex.quote(file)}" if self.reads_stdin else "")

    @property
    def answers_are_trusted(self) -> bool:
        """Whether sat and unsat are about the formula as written: False if an option changes its meaning, is
        known to be unsound, or is unfinished by its authors' own words, or if nothing is known about it.
        """
        return all(option_class is not None and option_class.is_trusted for option_class in self._classes())

    @property
    def unknown_is_telling(self) -> bool:
        """Whether an ``unknown`` is the best it can do: False if an option makes it give up earlier."""
        return all(option_class is OptionClass.SOUND for option_class in self._classes())

    def _classes(self) -> Iterator[OptionClass | None]:
        if self.family in PROFILES:
            table = option_table(self.family)
            for option in self.spec_options:
                yield table.class_of(option)
            return
        # A command line of the user's own is trusted, but for what the solvers known by name would not be.
        for part in self.argv[1:]:
            for family in PROFILES:
                known = option_table(family).find(part.removeprefix("--"))
                if known is not None and "*" not in known.name and not known.option_class.is_trusted:
                    yield known.option_class

    def version(self) -> str:
        """What it says of its version (asked once), or ``unknown``."""
        return self._start().version

    def commit(self) -> str | None:
        """The commit or tag that it says it was built from (asked once), or None: release builds of z3 print
        none.
        """
        return self._start().commit

    def check_starts(self) -> None:
        """Raise SolverMissing, with its first words, if a solver known by name does not start."""
        said = self._start()
        if self.family in PROFILES and said.version == "unknown":
            raise SolverMissing(f"solver {self.spec!r} does not start: {said.problem}")

    def _start(self) -> _Said:
        if not self._said:
            self._said.append(_ask_version(self))
        return self._said[0]


def _kin(family: str, name: str, command: Sequence[str]) -> str:
    if family in PROFILES:
        return PROFILES[family].kin
    return kin_of(name, PurePath(command[0]).name) or name


def is_asked(option: str) -> bool:
    """Whether an option goes into the script, not on the command line."""
    return option.startswith(f"{COMMAND}=")


def _bare(spec: str) -> str:
    """A spec without its options."""
    optioned = _WITH_OPTIONS.fullmatch(spec)
    return optioned[1] if optioned else spec


def parse_spec(text: str) -> SolverSpec:
    """Take a spec apart; UnknownSolver if it is none. Neither network nor disk is touched."""
    text = text.strip()
    optioned = _WITH_OPTIONS.fullmatch(text)
    if optioned:
        return _with_options(text, parse_spec(optioned[1]), optioned[2])
    name, equals, rest = text.partition("=")
    if equals and not rest.startswith("="):
        return _command_spec(text, name.strip(), rest)
    family, _, release = text.partition("==")
    if family in BROKEN:
        raise BROKEN[family]
    if family not in PROFILES:
        near = nearest(family, PROFILES, most=2, least=0.5)
        hint = did_you_mean(f"{match}=={release}" if release else match for match in near)
        raise UnknownSolver(
            text,
            f"not known{hint or '.'} Use {', '.join(PROFILES)}, a release such as z3==4.8.5,"
            " or name=command line.",
        )
    if "==" not in text:
        return SolverSpec(text, family, family)
    if not is_version(release):
        raise UnknownSolver(text, f"{release!r} is not a version")
    return SolverSpec(text, f"{family}-{release}", family, release)


def _with_options(text: str, spec: SolverSpec, listed: str) -> SolverSpec:
    options = tuple(part.strip() for part in listed.split(","))
    for option in options:
        if not _OPTION.fullmatch(option):
            raise UnknownSolver(text, f"{option!r} is no option; write {spec.text}[name=value,name=value]")
        if is_asked(option):
            _check_tactic(text, spec, option)
    # The name is also that of files: a long one is cut, and told apart from others by a hash.
    name = f"{spec.name}[{','.join(options)}]"
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name[: _LONGEST_NAME - 12]}..{digest}]"
    return SolverSpec(text, name, spec.family, spec.release, (), options)


def _check_tactic(text: str, spec: SolverSpec, option: str) -> None:
    if COMMAND not in option_table(spec.family).tactic_settings:
        raise UnknownSolver(text, f"{spec.family} cannot be asked by a tactic")
    try:
        read_tactic(split_option(option)[1])
    except ValueError as problem:
        raise UnknownSolver(text, str(problem)) from problem


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
    if spec.family in PROFILES:
        return _find_known(spec)
    program = shutil.which(spec.command[0])
    if program is None:
        raise SolverMissing(f"solver {spec.text!r}: no program {spec.command[0]!r} on this machine")
    # Runs happen in folders of their own, so the paths given relative to here are made absolute.
    rest = [str(Path(part).resolve()) if Path(part).is_file() else part for part in spec.command[1:]]
    return Solver(spec.text, spec.name, "other", (str(Path(program).absolute()), *rest))


def find_solvers(specs: Iterable[str]) -> list[Solver]:
    """``find_solver`` for each spec, and start it; UnknownSolver if two have the same name."""
    solvers = [find_solver(spec) for spec in specs]
    for solver in solvers:
        solver.check_starts()
    seen: set[str] = set()
    for solver in solvers:
        if solver.name in seen:
            raise UnknownSolver(solver.spec, f"two solvers are called {solver.name!r}")
        seen.add(solver.name)
    return solvers


def _find_known(spec: SolverSpec) -> Solver:
    profile = PROFILES[spec.family]
    located = locate(profile, spec.release)
    options = tuple(profile.prefix + option for option in spec.options)
    checks = (*options, *profile.checks)
    solver = Solver(spec.text, spec.name, spec.family, located.argv, checks, located.loadable, spec.options)
    if options:
        _try_options(solver)
    return solver


def _try_options(solver: Solver) -> None:
    """UnknownSolver if the solver itself does not take the options, asked with a script that is trivial."""
    with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
        file = Path(folder) / "trivial.smt2"
        script = Script(b"(set-logic QF_BV)\n(check-sat)\n")
        file = Path(folder) / solver.given_file("trivial.smt2")
        file.write_bytes(solver.given(script).data)
        own = [option for option in solver.options(script) if option not in PROFILES[solver.family].checks]
        said = run([*solver.argv, *own, str(file)], _VERSION_LIMITS)
    # A tactic may have nothing to say to so little.
    answers = ("sat",) if solver.tactic is None else ("sat", "unknown")
    if said.stdout.strip() not in answers or said.code != 0:
        first = (said.stdout + said.stderr).strip().partition("\n")[0][:200]
        raise UnknownSolver(solver.spec, f"it does not take these options: {first}")


def _ask_version(solver: Solver) -> _Said:
    argv = [part for part in solver.argv if part not in ("{}", "-")]
    try:
        said = run([*argv, "--version"], _VERSION_LIMITS)
    except ExhumeError as problem:
        return _Said(problem=str(problem))
    text = (said.stdout or said.stderr).strip()
    first = text.partition("\n")[0][:200]
    if said.code != 0 or not first:
        return _Said(problem=first or f"it says nothing to --version, and ends by {said.ended} {said.code}")
    commit = _COMMIT.search(text)
    return _Said(first, commit[1] if commit else None)
