"""Solver specs: what a user writes to name a solver.

``z3``, ``cvc5``, ``bitwuzla``, ``yices``  the installed wheels
``z3==4.8.5``, ``cvc5==V``  a release, fetched once into the cache
``z3==5.4.0+debug``         a build from source that ``exhume solvers build`` made
``z3[smt.arith.solver=2]``  with options, separated by commas; also after a release
``z3[check-sat-using=T]``   with the tactic T: every check-sat becomes ``(check-sat-using T)``
``name=command line``       any program; ``{}`` stands for the file, which otherwise comes last; if ``-`` is
                            last, the file is passed on standard input
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath

from base.nearest import did_you_mean, nearest
from solvers.errors import UnknownSolver
from solvers.option_file import split_option
from solvers.options import option_table
from solvers.registry import BROKEN, PROFILES, empty_folders, kin_of
from solvers.releases import is_version
from solvers.tactics import COMMAND, read_tactic

_WITH_OPTIONS = re.compile(r"([a-z][a-z0-9-]*(?:==[^\[\]]*)?)\[(.*)\]", re.S)
# Commas and brackets end an option; ``+`` and ``|`` separate the names and fields of a finding's key. A value
# may contain blanks and parentheses (a tactic), but only characters that are allowed in a file name.
_OPTION = re.compile(r"[A-Za-z][\w.-]*(?:=[\w(<>=!*.:-](?:[\w ()<>=!*.:-]*[\w()<>=!*.:-])?)?")
_ALMOST_RELEASE = re.compile(r"([a-z][a-z0-9-]*?)[=@: -]v?([0-9]+(?:\.[0-9]+)+)")
_LONGEST_NAME = 120
_NAME = re.compile(r"[A-Za-z][\w.-]*")


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
        return kin_of_spec(self.family, self.name, self.command)


def kin_of_spec(family: str, name: str, command: Sequence[str]) -> str:
    """The ``SolverSpec.kin`` of a spec with these parts."""
    if family in PROFILES:
        return PROFILES[family].kin
    return kin_of(name, PurePath(command[0]).name) or name


def parse_spec(text: str) -> SolverSpec:
    """Parse a spec; UnknownSolver if it is malformed or names none. Does not use the network."""
    text = text.strip()
    optioned = _WITH_OPTIONS.fullmatch(text)
    if optioned:
        return _with_options(text, parse_spec(optioned[1]), optioned[2])
    name, equals, rest = text.partition("=")
    if "[" in name and "]" not in text:
        raise UnknownSolver(text, "the ']' after its options is missing")
    if equals and not rest.startswith("="):
        return _command_spec(text, name.strip(), rest)
    family, _, release = text.partition("==")
    if family in BROKEN:
        raise BROKEN[family]
    if family not in PROFILES:
        near = nearest(family, PROFILES, most=2, least=0.5)
        hint = release_hint(text) or did_you_mean(f"{f}=={release}" if release else f for f in near)
        empty = [
            f" EXHUME_SOLVERS names {folder}, which has no folder of a solver." for folder in empty_folders()
        ]
        raise UnknownSolver(
            text,
            f"unknown{hint or '.'} Use {', '.join(PROFILES)}, a release such as z3==4.8.5,"
            f" or name=command line.{''.join(empty[:1])}",
        )
    if "==" not in text:
        return SolverSpec(text, family, family)
    if not is_version(release):
        raise UnknownSolver(text, f"{release!r} is not a version")
    return SolverSpec(text, f"{family}-{release}", family, release)


def release_hint(text: str) -> str:
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


def is_asked(option: str) -> bool:
    """Whether an option goes into the script instead of the command line."""
    return option.startswith(f"{COMMAND}=")


def without_options(spec: str) -> str:
    """A spec without its options."""
    optioned = _WITH_OPTIONS.fullmatch(spec)
    return optioned[1] if optioned else spec


def specs_by_kin(specs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The specs of each kind of solver (``SolverSpec.kin``), both in the given order."""
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        kin = parse_spec(spec).kin
        found[kin] = (*found.get(kin, ()), spec)
    return found


def with_resource_limit(spec: str, limit: int) -> str:
    """The spec with a limit on the work of each question, in the solver's own unit, so that a run ends at the
    same place on every machine. UnknownSolver for a solver that has no such option.
    """
    parsed = parse_spec(spec)
    option = PROFILES[parsed.family].resource_limit if parsed.family in PROFILES else ""
    if not option:
        able = ", ".join(family for family, profile in PROFILES.items() if profile.resource_limit)
        raise UnknownSolver(spec, f"it has no option that limits work instead of time; {able} have one")
    return f"{without_options(parsed.text)}[{','.join((*parsed.options, f'{option}={limit}'))}]"
