"""A solver that can be run here, with what its options and its release mean for its scripts and answers."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from packaging.version import Version

from base.errors import ExhumeError
from solvers.errors import SolverMissing, UnknownSolver
from solvers.locating import installed_release
from solvers.option_file import OptionClass, split_option
from solvers.options import option_table
from solvers.registry import DISTRIBUTIONS, PROFILES, family_of_program
from solvers.running.process import Limits, Run, Supervisor, run
from solvers.running.script import Script
from solvers.specs import is_asked, kin_of_spec, parse_spec, without_options

# z3 (built from its repository), cvc5, bitwuzla (through our driver) and yices.
_COMMIT = re.compile(r"(?:\bbuild hashcode |\bgit |^Revision: )(tag [\w.-]+|[0-9a-f]{7,40}\b)", re.M)
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_VERSION_LIMITS = Limits(seconds=30.0)


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

    @property
    def kin(self) -> str:
        """The solver whose input language and bugs it shares; see ``SolverSpec.kin``."""
        return kin_of_spec(self.family, self.name, self.argv)

    @property
    def release(self) -> str | None:
        """The release of its wheel; None for a program without a wheel."""
        if self.family not in DISTRIBUTIONS:
            return None
        return parse_spec(self.spec).release or installed_release(PROFILES[self.family])

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
        spec = parse_spec(without_options(self.spec) + (f"[{','.join(options)}]" if options else ""))
        prefix = PROFILES[self.family].prefix
        now = tuple(prefix + option for option in self.spec_options)
        kept = tuple(check for check in self.checks if check not in now)
        checks = (*(prefix + option for option in options), *kept)
        return replace(self, spec=spec.text, name=spec.name, checks=checks, spec_options=options, mode=mode)

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
    def _has_old_escapes(self) -> bool:
        """Whether this release reads escapes in strings differently from the standard."""
        since = PROFILES[self.family].standard_escapes_since if self.family in PROFILES else ""
        return bool(since) and self.release is not None and Version(self.release) < Version(since)

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

    def printed_rules(self) -> str:
        """The rewrite rules that its proofs rely on, as it prints them; UnknownSolver if it cannot."""
        rules = PROFILES[self.family].ask_rules(self.argv) if self.family in PROFILES else ""
        if not rules:
            able = ", ".join(families_with_rules())
            raise UnknownSolver(self.spec, f"it does not print its rewrite rules; {able} can")
        return rules


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


def run_file(supervisor: Supervisor, solver: Solver, script: Script, name: str, limits: Limits) -> Run:
    """Write ``script`` to the file ``name`` in the supervisor's folder and run the solver on it in a fresh
    process, with the command line that reports show.
    """
    file = supervisor.folder / solver.given_file(script, name)
    file.write_bytes(solver.given(script).data)
    stdin = file if solver.reads_stdin else None
    return supervisor.execute(solver.command(script, name), limits, stdin=stdin)


def families_with_rules() -> list[str]:
    """The solvers that print the rewrite rules of their proofs."""
    return [family for family, profile in PROFILES.items() if hasattr(profile.code, "ask_rules")]
