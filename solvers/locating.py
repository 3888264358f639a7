"""Finds a solver on this machine: its program, or our driver and the library that it runs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version

from solvers import builds, releases
from solvers.errors import SolverMissing
from solvers.profile import Profile
from solvers.registry import PROFILES

# Some wheels for Linux hold macOS's library, too.
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


@dataclass(frozen=True, slots=True)
class Located:
    """The command that starts a solver, and the library or module that a supervisor can keep loaded."""

    argv: tuple[str, ...]
    loadable: str | None = None


def locate(profile: Profile, release: str | None) -> Located:
    """Locate a release of a solver, fetching it if necessary, or a build; None means the installed one.

    Raises SolverMissing, ReleaseNotFound or EnvironmentProblem.
    """
    if release is None and profile.apart:
        release = installed_release(profile)
    if release is not None and builds.is_build(release):
        return Located((str(builds.find_built(profile, release)),))
    if release is not None:
        return _in_wheel(profile, release)
    if not profile.distribution:
        return Located((_program_beside(profile),))
    if driver := profile.file("driver.py"):
        if importlib.util.find_spec(profile.module) is None:
            raise _not_installed(profile)
        return Located((sys.executable, "-I", str(driver)), profile.module)
    files = installed_files(profile)
    found = [path for path in files if path.name == profile.program and path.parent.name == "bin"]
    program = next(
        (path for path in (*found, Path(sys.prefix) / "bin" / profile.program) if path.is_file()), None
    )
    if program is None:
        raise SolverMissing(
            f"solver {profile.family!r}: the installed {profile.distribution} package has no program"
            f" {profile.program}"
        )
    return Located((str(program),), _library(profile, files))


# Asked about every run; reading a wheel's metadata takes milliseconds.
_version_of = cache(importlib.metadata.version)


def installed_release(profile: Profile) -> str:
    """The release of the installed wheel. For a solver whose wheel is kept apart, the release of the solver
    that it is another build of. SolverMissing if there is none.
    """
    wheel = PROFILES[profile.like] if profile.apart and profile.like in PROFILES else profile
    try:
        return _version_of(wheel.distribution)
    except importlib.metadata.PackageNotFoundError as problem:
        raise _not_installed(wheel) from problem


def is_here(profile: Profile) -> bool:
    """Whether the solver runs without fetching anything."""
    if not profile.apart:
        return True
    return releases.is_fetched(profile.distribution, installed_release(profile))


def _in_wheel(profile: Profile, release: str) -> Located:
    if not profile.distribution:
        raise SolverMissing(f"solver {profile.family!r} has no wheel, so no releases can be fetched")
    if profile.first_release and Version(release) < Version(profile.first_release):
        raise SolverMissing(
            f"solver '{profile.family}=={release}': its Python interface cannot read SMT-LIB"
            f" ({profile.first_release} is the first that can); use the program instead:"
            f" {profile.family}-{release}=/path/to/{profile.program}"
        )
    folder = releases.fetch_release(profile.distribution, release, profile.any_python)
    if driver := profile.file("driver.py"):
        return Located((sys.executable, "-I", str(driver), "--wheel", str(folder)), str(folder))
    program = releases.executable_in(folder, profile.program)
    return Located((str(program),), _library(profile, list(folder.glob(f"*/lib/*{_SUFFIX}"))))


def _library(profile: Profile, files: list[Path]) -> str | None:
    found = (str(path) for path in files if profile.library and path.name == profile.library + _SUFFIX)
    return next(found, None)


def installed_files(profile: Profile) -> list[Path]:
    """The files of the installed wheel; SolverMissing if there is none."""
    try:
        files = importlib.metadata.files(profile.distribution) or []
    except importlib.metadata.PackageNotFoundError as problem:
        raise _not_installed(profile) from problem
    return [Path(str(file.locate())).resolve() for file in files]


def _not_installed(profile: Profile) -> SolverMissing:
    hint = f" (pip install 'exhume[{profile.extra}]')" if profile.extra else ""
    return SolverMissing(
        f"solver {profile.family!r}: the package {profile.distribution} is not installed{hint}"
    )


def _program_beside(profile: Profile) -> str:
    """The program of a solver without a wheel: from its folder, or on the path."""
    program = profile.file(profile.program)
    found = str(program) if program is not None else shutil.which(profile.program)
    if found is None:
        raise SolverMissing(
            f"solver {profile.family!r}: {profile.program} is neither in {profile.folders[0]} nor on the path"
        )
    return found
