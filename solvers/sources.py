"""The sources of a solver: a folder that the user names, or the source package of a release.

A source package is fetched once into the cache. Nothing of it is run here; pip asks it for its name and
version.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from base.cache import cache_folder
from solvers.errors import SolverMissing
from solvers.locating import installed_release
from solvers.profile import Profile
from solvers.registry import PROFILES
from solvers.releases import fetch_source, make_once
from solvers.solver import Solver
from solvers.specs import parse_spec

_HOME = re.compile(rb"^CMAKE_HOME_DIRECTORY:INTERNAL=(/[^\n]{1,4000})$", re.M)
_MAX_CACHE = 4 << 20


def sources_of(spec: str, folder: Path | None = None) -> Path:
    """The folder of the sources of ``spec``: in ``folder``, where it is given, else in the source package of
    its release, which is fetched if it is not in the cache.

    Raises SolverMissing if there are none, ReleaseNotFound or EnvironmentProblem if they cannot be fetched.
    """
    parsed = parse_spec(spec)
    profile = PROFILES.get(parsed.kin)
    if folder is not None:
        return _inside(folder, profile)
    if profile is None or not profile.distribution or parsed.family not in PROFILES:
        raise SolverMissing(f"nothing says where the sources of {spec} are")
    version = (parsed.release or installed_release(profile) or "").partition("+")[0]
    final = cache_folder() / "sources" / f"{profile.family}-{version}"
    make_once(final, lambda: fetch_source(profile.distribution, version, final))
    return _inside(final, profile)


def sources_of_program(solver: Solver, folder: Path | None = None) -> Path:
    """The folder of the sources that a program was built from: in ``folder``, where it is given, else where
    CMake was configured, as the folder of the object files says. Raises SolverMissing if nothing says it.
    """
    program = Path(solver.argv[0]).resolve()
    for parent in program.parents if folder is None else ():
        with suppress(OSError), (parent / "CMakeCache.txt").open("rb") as opened:
            if home := _HOME.search(opened.read(_MAX_CACHE)):
                folder = Path(home[1].decode(errors="replace"))
                break
    if folder is None or not folder.is_dir():
        raise SolverMissing(f"nothing says where the sources of {solver.spec} are: name them with --sources")
    return _inside(folder, PROFILES.get(solver.kin))


def _inside(folder: Path, profile: Profile | None) -> Path:
    """The folder of the sources in a checkout or in an unpacked package, which has one folder at its top."""
    named = profile.sources.folders if profile is not None else ()
    inner = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    tops = [folder, *inner] if len(inner) == 1 else [folder]
    for top in tops:
        found = next((top / name for name in named if (top / name).is_dir()), None)
        if found is not None:
            return found
    return folder
