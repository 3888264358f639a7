"""Releases of a solver: pip fetches its wheel, or its source package, once into a cache, separate from
installed packages.

A complete release appears in the cache by one rename; a lock per release keeps two processes from fetching it
twice. The cache is ``EXHUME_CACHE`` or the platform's own cache folder.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from base.cache import cache_folder
from base.locks import locked
from solvers.errors import EnvironmentProblem, ReleaseNotFound, SolverMissing

# Python versions to try, in order; the empty one is the running version.
_PYTHONS = ("", "3.12", "3.13", "3.10", "3.9", "3.8", "3.7", "3.6")
# A solver's wheel unpacks to about 100 MB; anything larger than this is refused.
_MAX_UNPACKED = 2 << 30
_MAX_SOURCE = 1 << 30
# The last one for encryption, and for a compression that Python does not have.
_BROKEN_WHEEL = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)


def is_version(text: str) -> bool:
    """Whether ``text`` may be handed to pip as a version; one has a single spelling here."""
    try:
        Version(text)
    except InvalidVersion:
        return False
    return text[:1].isdigit() and text == text.strip()


def is_fetched(distribution: str, version: str) -> bool:
    """Whether the wheel of a release is in the cache."""
    return _folder(distribution, version).is_dir()


def _folder(distribution: str, version: str) -> Path:
    return cache_folder() / "wheels" / f"{distribution}-{version}"


def fetch_release(distribution: str, version: str, any_python: bool = False) -> Path:
    """The folder of the unpacked wheel of ``distribution==version``, fetched if it is not in the cache.

    With ``any_python`` a wheel for another version of Python is accepted if there is none for this one.
    Raises ReleaseNotFound if the index has none for this machine, EnvironmentProblem if pip or the network
    fails or the cache cannot be written, SolverMissing if the wheel is broken.
    """
    final = _folder(distribution, version)
    pythons = _PYTHONS if any_python else ("",)

    def download(folder: Path) -> Path:
        return _download(distribution, version, folder, pythons)

    make_once(final, lambda: _fetch(final, download, unpack_wheel))
    return final


def fetch_source(distribution: str, version: str, final: Path) -> None:
    """Put the files of the source package (``.tar.gz``) of ``distribution==version`` at ``final``.

    Raises ReleaseNotFound if the index has none, EnvironmentProblem if pip or the network fails,
    SolverMissing if the package is broken.
    """

    def download(folder: Path) -> Path:
        return _ask_pip(distribution, version, folder, [f"--no-binary={distribution}"], "*.tar.gz")

    _fetch(final, download, unpack_source)


def make_once(final: Path, make: Callable[[], None]) -> None:
    """Have ``make`` put the folder ``final`` into the cache if it is not there, in one process at a time.

    EnvironmentProblem if the cache cannot be written.
    """
    if final.is_dir():
        return
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with locked(final.with_name(f".{final.name}.lock")):
            if not final.is_dir():
                make()
    except OSError as problem:
        raise EnvironmentProblem(f"cannot write the cache {cache_folder()}: {problem}") from problem


def _fetch(final: Path, download: Callable[[Path], Path], unpack: Callable[[Path, Path], None]) -> None:
    """Download an archive and unpack it; a complete folder appears at ``final`` by one rename."""
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=".fetch-") as scratch:
        unpacked = Path(scratch) / "unpacked"
        unpack(download(Path(scratch)), unpacked)
        unpacked.rename(final)


def _download(distribution: str, version: str, folder: Path, pythons: Sequence[str]) -> Path:
    problems: list[EnvironmentProblem] = []
    for python in pythons:
        options = ["--only-binary=:all:", *([f"--python-version={python}"] if python else [])]
        try:
            return _ask_pip(distribution, version, folder, options, "*.whl")
        except EnvironmentProblem as problem:
            problems.append(problem)
        if not isinstance(problems[0], ReleaseNotFound):
            break
    raise problems[0]


def _ask_pip(distribution: str, version: str, folder: Path, options: Sequence[str], pattern: str) -> Path:
    # -P: the current folder may hold a stranger's pip.py.
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", *options]
    command += [
        "--disable-pip-version-check",
        "--no-input",
        "--dest",
        str(folder),
        f"{distribution}=={version}",
    ]
    # pip needs its own settings (index, certificates, credentials), so its environment is not cleaned.
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    files = sorted(folder.glob(pattern))
    if done.returncode == 0 and files:
        return files[0]
    raise _download_error(distribution, version, done.stderr)


def _download_error(distribution: str, version: str, message: str) -> EnvironmentProblem:
    if "No module named pip" in message:
        return EnvironmentProblem(f"fetching {distribution}=={version} needs pip; install it beside exhume")
    offered = re.search(r"from versions: ([^)]*)\)", message)
    versions = tuple(v.strip() for v in offered.group(1).split(",")) if offered else ()
    if versions and versions != ("none",):
        return ReleaseNotFound(distribution, version, versions)
    if "No matching distribution" in message and not re.search(
        r"connection|timed out|resolve|network", message, re.I
    ):
        return ReleaseNotFound(distribution, version)
    last = message.strip().rpartition("\n")[2] or "no message"
    return EnvironmentProblem(f"pip could not fetch {distribution}=={version} (no network?): {last}")


def unpack_wheel(wheel: Path, folder: Path) -> None:
    """Unpack ``wheel`` into the new ``folder``; SolverMissing if it is broken or a member lies outside."""
    folder.mkdir(parents=True)
    root = folder.resolve()
    try:
        with zipfile.ZipFile(wheel) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                raise SolverMissing(f"{wheel.name}: unpacks to more than {_MAX_UNPACKED >> 30} GB")
            for member in archive.infolist():
                _unpack_member(archive, member, _member_path(wheel, root, member.filename))
    except _BROKEN_WHEEL as problem:
        raise SolverMissing(f"{wheel.name}: not a wheel: {problem}") from problem


def unpack_source(archive: Path, folder: Path) -> None:
    """Unpack the files of a ``.tar.gz``; links and devices are left out.

    SolverMissing if it is broken, too large, or a member lies outside.
    """
    folder.mkdir(parents=True)
    root = folder.resolve()
    size = 0
    try:
        with tarfile.open(archive, "r:gz") as members:
            for member in members:
                target = _member_path(archive, root, member.name)
                size += member.size
                if size > _MAX_SOURCE:
                    raise SolverMissing(f"{archive.name}: unpacks to more than {_MAX_SOURCE >> 30} GB")
                opened = members.extractfile(member) if member.isfile() else None
                if opened is None:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened, target.open("wb") as sink:
                    shutil.copyfileobj(opened, sink)
                target.chmod(0o755 if member.mode & 0o100 else 0o644)
    except (tarfile.TarError, zlib.error, EOFError, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno:
            raise
        raise SolverMissing(f"{archive.name}: not a source package: {problem}") from problem


def _member_path(archive: Path, root: Path, name: str) -> Path:
    """Where a member of ``archive`` goes below the resolved folder ``root``; SolverMissing if outside."""
    target = (root / name).resolve()
    if not target.is_relative_to(root) or "\\" in name:
        raise SolverMissing(f"{archive.name}: refusing to unpack {name!r} outside its folder")
    return target


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Contents are written as plain files: a link becomes a file that holds the name of its target.
    with archive.open(member) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)
    if target.parent.name == "bin" or (member.external_attr >> 16) & stat.S_IXUSR:
        target.chmod(0o755)


def executable_in(folder: Path, name: str) -> Path:
    """The program ``name`` in an unpacked wheel; SolverMissing if there is none."""
    for pattern in (f"*.data/data/bin/{name}", f"*.data/scripts/{name}", f"bin/{name}", f"*/bin/{name}"):
        found = sorted(folder.glob(pattern))
        if found:
            return found[0]
    raise SolverMissing(f"the wheel in {folder} does not contain the program {name}")
