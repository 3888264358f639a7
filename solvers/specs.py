"""Solver specs: what a user writes to name a solver, and the solvers that can be run.

``z3``, ``cvc5``, ``bitwuzla``, ``yices``  the installed wheels
``z3==4.8.5``, ``cvc5==V``  a release, fetched once into the cache
``z3==5.4.0+debug``         a build from source that ``exhume solvers build`` made
``z3[smt.arith.solver=2]``  with options, separated by commas; also after a release
``z3[check-sat-using=T]``   with the tactic T: every check-sat becomes ``(check-sat-using T)``
``name=command line``       any program; ``{}`` stands for the file, which otherwise comes last; if ``-`` is
                            last, the file is passed on standard input
"""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePath

from packaging.version import Version

from base.errors import ExhumeError
from base.nearest import did_you_mean, nearest
from solvers.errors import SolverMissing, UnknownSolver
from solvers.locating import installed_release, locate
from solvers.option_file import OptionClass, split_option
from solvers.options import option_table
from solvers.registry import BROKEN, PROFILES, family_of_program, kin_of
from solvers.releases import is_version
from solvers.running.outcomes import Outcome, judge
from solvers.running.process import Limits, Run, Supervisor, run
from solvers.running.script import Script
from solvers.tactics import COMMAND, read_tactic

# The distribution of each solver that has releases.
DISTRIBUTIONS = {family: p.distribution for family, p in PROFILES.items() if p.distribution}
_WITH_OPTIONS = re.compile(r"([a-z][a-z0-9-]*(?:==[^\[\]]*)?)\[(.*)\]", re.S)
# Commas and brackets end an option; ``+`` and ``|`` separate the names and fields of a finding's key. A value
# may contain blanks and parentheses (a tactic), but only characters that are allowed in a file name.
_OPTION = re.compile(r"[A-Za-z][\w.-]*(?:=[\w(<>=!*.:-](?:[\w ()<>=!*.:-]*[\w()<>=!*.:-])?)?")
_ALMOST_RELEASE = re.compile(r"([a-z][a-z0-9-]*?)[=@: -]v?([0-9]+(?:\.[0-9]+)+)")
_LONGEST_NAME = 120
_NAME = re.compile(r"[A-Za-z][\w.-]*")
# z3 (built from its repository), cvc5, bitwuzla (through our driver) and yices.
_COMMIT = re.compile(r"(?:\bbuild hashcode |\bgit |^Revision: )(tag [\w.-]+|[0-9a-f]{7,40}\b)", re.M)
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_VERSION_LIMITS = Limits(seconds=30.0)
_TRIVIAL_LIMITS = Limits(seconds=5.0)
# Some programs take only some logics.
_LOGICS = ("ALL", "QF_UF", "QF_BV", "QF_LIA", "QF_LRA", "QF_NIA", "QF_NRA", "QF_S", "QF_FP", "LIA", "HORN")


@dataclass(frozen=True, slots=True)
class SolverSpec:
    """A parsed spec: ``family`` is that of a profile, or ``other``. ``release``, ``command`` and ``options``
    (without their prefix) are set only if the spec has them.
    """

    text: str
    name: str
    family: str
    release: str | None = None
    command: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def kin(self) -> str:
        """The solver whose input language and bugs it shares.

        For another build of a solver, and for a command line whose name or program begins with a solver's
        alias, that solver; otherwise its own family, or the command line's name.
        """
        return _kin(self.family, self.name, self.command)


@dataclass(frozen=True, slots=True)
class _Version:
    """A solver's own statement of its version; ``problem`` is why that is unknown."""

    version: str = "unknown"
    commit: str | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver that can be run here.

    ``argv`` starts it. ``checks`` are the spec's options (``check-sat-using=T`` too, which goes into the
    script) and those that make it check its models. ``loadable`` is what a supervisor can keep loaded and
    fork: a library, the folder of an unpacked release, or the name of an installed package. ``spec_options``
    are the options as written in the spec, without their prefix; ``mode`` are those that ``with_options``
    added to the solver named ``base_name``. ``is_base``: what it shows, too, is not new in the others.
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
    is_base: bool = False
    _version: list[_Version] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.base_name:
            object.__setattr__(self, "base_name", self.name)

    def with_options(self, options: Sequence[str]) -> Solver:
        """The same solver with additional ``options`` (``name=value``), written as in a spec.

        An option that is already set gets the new value. UnknownSolver for a solver given by a command line.
        """
        if not options:
            return self
        if self.family not in PROFILES:
            raise UnknownSolver(self.spec, "options can only be added to solvers known by name")
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
        """The solver whose input language and bugs it shares; see ``SolverSpec.kin``."""
        return _kin(self.family, self.name, self.argv)

    @property
    def release(self) -> str | None:
        """The release of its wheel; None for a program without a wheel."""
        if self.family not in DISTRIBUTIONS:
            return None
        return parse_spec(self.spec).release or installed_release(PROFILES[self.family])

    def printed_rules(self) -> str:
        """The rewrite rules that its proofs rely on, as it prints them; UnknownSolver if it cannot."""
        rules = PROFILES[self.family].ask_rules(self.argv) if self.family in PROFILES else ""
        if not rules:
            able = ", ".join(families_with_rules())
            raise UnknownSolver(self.spec, f"it does not print its rewrite rules; {able} can")
        return rules

    @property
    def name_and_release(self) -> str:
        """Its name with what is known of its release."""
        known = self.release or next(iter(_NUMBER.findall(self.version())), "")
        return self.name if known in self.name else f"{self.name} {known}"

    @property
    def tactic(self) -> str | None:
        """The tactic that its scripts use, if there is one."""
        asked = (check for check in self.checks if is_asked(check))
        return next((split_option(check)[1] for check in asked), None)

    @property
    def _has_old_escapes(self) -> bool:
        """Whether this release reads escapes in strings differently from the standard."""
        since = PROFILES[self.family].standard_escapes_since if self.family in PROFILES else ""
        return bool(since) and self.release is not None and Version(self.release) < Version(since)

    @property
    def with_string_functions(self) -> Solver | None:
        """A program of the user's with the option that functions on strings need in programs of its kind;
        None where there is no such option, or it is set.
        """
        profile = None if self.family in PROFILES else PROFILES.get(self.kin)
        option = profile.string_functions if profile is not None else ""
        if not option or any(part.removeprefix("--no-") in (option, option[2:]) for part in self.argv):
            return None
        return replace(self, argv=_added(self.argv, option), _version=[])

    def with_time_limit(self, seconds: float) -> Solver:
        """The same solver with a limit of its own on the time of each question, after which it ends as usual;
        unchanged where no such option is known.
        """
        profile = PROFILES.get(self.kin)
        if profile is None or not profile.time_limit:
            return self
        option = f"{profile.time_limit}={round(1000 * seconds)}"
        if self.family in PROFILES:
            return self.with_options((option,))
        return replace(self, argv=_added(self.argv, profile.prefix + option), _version=[])

    def can_read(self, script: Script) -> bool:
        """Whether this release has a spelling for all characters of the script's strings."""
        return not self._has_old_escapes or script.with_old_escapes is not None

    def given(self, script: Script) -> Script:
        """The script that it gets: another if it has a tactic or its release spells strings differently."""
        if self._has_old_escapes:
            script = script.with_old_escapes or script
        return script if self.tactic is None else script.asked_by(self.tactic)

    def given_file(self, script: Script, file: str) -> str:
        """The file that it gets for ``file``: another one if ``given`` returns another text."""
        if self.given(script) is script:
            return file
        how = "escapes" if self.tactic is None else f"asked-{sha256(self.tactic.encode()).hexdigest()[:8]}"
        return f"{file.removesuffix('.smt2')}.{how}.smt2"

    def options(self, script: Script) -> tuple[str, ...]:
        """Its options for a run on ``script``."""
        options = tuple(check for check in self.checks if not is_asked(check))
        if self.family in PROFILES and script.is_incremental:
            return (*options, *PROFILES[self.family].incremental)
        return options

    def command(self, script: Script, file: str) -> list[str]:
        """The command line that runs it on ``script``, stored in ``given_file(file)`` (or on stdin)."""
        if "{}" in " ".join(self.argv):
            return [part.replace("{}", file) for part in self.argv]
        if self.reads_stdin:
            return [*self.argv, *self.options(script)]
        return [*self.argv, *self.options(script), self.given_file(script, file)]

    @property
    def reads_stdin(self) -> bool:
        """Whether the command line ends with ``-``, so that the formula is passed on standard input."""
        return self.family == "other" and self.argv[-1] == "-"

    def shown(self, script: Script, file: str) -> str:
        """The command line as a person would type it: with the plain program name for known solvers."""
        argv = self.command(script, file)
        if self.family != "other":
            argv = [PROFILES[self.family].program, *argv[len(self.argv) :]]
        elif own := family_of_program(argv):
            argv = [PROFILES[own].program, *argv[1:]]
        return shlex.join(argv) + (f" < {shlex.quote(file)}" if self.reads_stdin else "")

    @property
    def answers_are_trusted(self) -> bool:
        """Whether sat and unsat answers count: False if an option changes the formula's meaning, is known to
        be unsound, is called unfinished by its authors, or is unknown.
        """
        return all(option_class is not None and option_class.is_trusted for option_class in self._classes())

    @property
    def answers_count(self) -> bool:
        """Whether a wrong answer is a finding, which it is under young options, too."""
        return all(option_class is not None and option_class.counts for option_class in self._classes())

    @property
    def unknown_is_telling(self) -> bool:
        """Whether ``unknown`` shows a limit of the solver: False if an option makes it give up earlier."""
        return all(option_class is OptionClass.SOUND for option_class in self._classes())

    def _classes(self) -> tuple[OptionClass | None, ...]:
        if self.family in PROFILES:
            table = option_table(self.family)
            return tuple(table.class_of(option) for option in self.spec_options)
        return _untrusted(tuple(self.argv[1:]))

    def version(self) -> str:
        """The version that it prints (asked once), or ``unknown``."""
        return self._start().version

    def commit(self) -> str | None:
        """The commit or tag that it prints (asked once), or None: release builds of z3 print none."""
        return self._start().commit

    def check_starts(self) -> None:
        """Raise SolverMissing, with its first line of output, if a solver known by name does not start."""
        version = self._start()
        if self.family in PROFILES and version.version == "unknown":
            raise SolverMissing(f"solver {self.spec!r} does not start: {version.problem}")

    def _start(self) -> _Version:
        if not self._version:
            self._version.append(_ask_version(self))
        return self._version[0]


@functools.lru_cache(maxsize=256)
def _untrusted(arguments: tuple[str, ...]) -> tuple[OptionClass, ...]:
    """The classes of those options of a user's own command line that are not trusted in a known solver; all
    others are trusted. Every test needs this, so it is kept.
    """
    found = []
    for part in arguments:
        for family in PROFILES:
            known = option_table(family).find(part.removeprefix("--"))
            if known is not None and "*" not in known.name and not known.option_class.is_trusted:
                found.append(known.option_class)
    return tuple(found)


def _added(argv: tuple[str, ...], option: str) -> tuple[str, ...]:
    """A user's command line with one option more, before the place of the file."""
    at = next((n for n, part in enumerate(argv) if "{}" in part or part == "-"), len(argv))
    return (*argv[:at], option, *argv[at:])


def _kin(family: str, name: str, command: Sequence[str]) -> str:
    if family in PROFILES:
        return PROFILES[family].kin
    return kin_of(name, PurePath(command[0]).name) or name


def is_asked(option: str) -> bool:
    """Whether an option goes into the script instead of the command line."""
    return option.startswith(f"{COMMAND}=")


def _bare(spec: str) -> str:
    """A spec without its options."""
    optioned = _WITH_OPTIONS.fullmatch(spec)
    return optioned[1] if optioned else spec


def parse_spec(text: str) -> SolverSpec:
    """Parse a spec; UnknownSolver if it is malformed or names none. Does not use the network."""
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
        hint = _release_hint(text) or did_you_mean(f"{f}=={release}" if release else f for f in near)
        raise UnknownSolver(
            text,
            f"unknown{hint or '.'} Use {', '.join(PROFILES)}, a release such as z3==4.8.5,"
            " or name=command line.",
        )
    if "==" not in text:
        return SolverSpec(text, family, family)
    if not is_version(release):
        raise UnknownSolver(text, f"{release!r} is not a version")
    return SolverSpec(text, f"{family}-{release}", family, release)


def specs_by_kin(specs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The specs of each kind of solver (``SolverSpec.kin``), both in the given order."""
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        kin = parse_spec(spec).kin
        found[kin] = (*found.get(kin, ()), spec)
    return found


def _release_hint(text: str) -> str:
    """The spec of a release that ``text`` seems to mean: ``; did you mean z3==4.8.5?`` for ``z3-4.8.5``."""
    found = _ALMOST_RELEASE.fullmatch(text)
    return did_you_mean([f"{found[1]}=={found[2]}"]) if found and found[1] in PROFILES else ""


def _with_options(text: str, spec: SolverSpec, listed: str) -> SolverSpec:
    options = tuple(part.strip() for part in listed.split(","))
    for option in options:
        if not _OPTION.fullmatch(option):
            raise UnknownSolver(
                text, f"{option!r} is not an option; write {spec.text}[name=value,name=value]"
            )
        if is_asked(option):
            _check_tactic(text, spec, option)
    # Files have this name too: a long one is cut and gets a hash.
    name = f"{spec.name}[{','.join(options)}]"
    if len(name) > _LONGEST_NAME:
        digest = sha256(name.encode()).hexdigest()[:8]
        name = f"{name[: _LONGEST_NAME - 12]}..{digest}]"
    return SolverSpec(text, name, spec.family, spec.release, (), options)


def _check_tactic(text: str, spec: SolverSpec, option: str) -> None:
    if COMMAND not in option_table(spec.family).tactic_settings:
        raise UnknownSolver(text, f"{spec.family} has no tactics")
    try:
        read_tactic(split_option(option)[1])
    except ValueError as problem:
        raise UnknownSolver(text, str(problem)) from problem


def _command_spec(text: str, name: str, rest: str) -> SolverSpec:
    if not _NAME.fullmatch(name):
        raise UnknownSolver(text, "the name before '=' may contain only letters, digits, '.', '_' and '-'")
    try:
        # A path with spaces needs no quotes if there is nothing else.
        command = (rest,) if shutil.which(rest) else tuple(shlex.split(rest))
    except ValueError as problem:
        raise UnknownSolver(text, f"the command line cannot be read: {problem}") from problem
    if not command:
        raise UnknownSolver(text, "there is no command line after '='")
    return SolverSpec(text, name, "other", None, command)


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
        raise SolverMissing(f"solver {spec.text!r}: {missing}{_release_hint(spec.text)}")
    return Solver(spec.text, spec.name, "other", absolute(spec.command))


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
            raise UnknownSolver(solver.spec, f"two solvers are called {solver.name!r}")
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


def run_file(supervisor: Supervisor, solver: Solver, script: Script, name: str, limits: Limits) -> Run:
    """Write ``script`` to the file ``name`` in the supervisor's folder and run the solver on it in a fresh
    process, with the command line that reports show.
    """
    file = supervisor.folder / solver.given_file(script, name)
    file.write_bytes(solver.given(script).data)
    stdin = file if solver.reads_stdin else None
    return supervisor.execute(solver.command(script, name), limits, stdin=stdin)


def _try_options(solver: Solver) -> None:
    """Run the solver on a trivial script; UnknownSolver if it does not accept the options."""
    script = Script(b"(set-logic QF_BV)\n(check-sat)\n")
    with Supervisor() as supervisor:
        done = run_file(supervisor, solver, script, "trivial.smt2", _VERSION_LIMITS)
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


def _ask_version(solver: Solver) -> _Version:
    argv = [part for part in solver.argv if part not in ("{}", "-")]
    try:
        done = run([*argv, "--version"], _VERSION_LIMITS)
    except ExhumeError as problem:
        return _Version(problem=str(problem))
    text = (done.stdout or done.stderr).strip()
    first = text.partition("\n")[0][:200]
    if done.code != 0 or not first:
        return _Version(problem=first or f"--version prints nothing ({done.ended} {done.code})")
    commit = _COMMIT.search(text)
    return _Version(first, commit[1] if commit else None)


def families_with_rules() -> list[str]:
    """The solvers that print the rewrite rules of their proofs."""
    return [family for family, profile in PROFILES.items() if hasattr(profile.code, "ask_rules")]


def with_resource_limit(spec: str, limit: int) -> str:
    """The spec with a limit on the work of each question, in the solver's own unit, so that a run ends at the
    same place on every machine. UnknownSolver for a solver that has no such option.
    """
    parsed = parse_spec(spec)
    option = PROFILES[parsed.family].resource_limit if parsed.family in PROFILES else ""
    if not option:
        able = ", ".join(family for family, profile in PROFILES.items() if profile.resource_limit)
        raise UnknownSolver(spec, f"it has no option that limits work instead of time; {able} have one")
    return f"{_bare(parsed.text)}[{','.join((*parsed.options, f'{option}={limit}'))}]"


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
