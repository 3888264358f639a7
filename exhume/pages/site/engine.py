"""The SQL engine of the site: DuckDB-WASM and the library that reads its results, from their npm packages.

Pinned is the last release that reads Parquet by itself: later ones load that part from a host when a page
first needs it. The two tarballs are known by their hashes, wherever they come from.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from base.cache import cache_folder
from base.files import put_bytes
from difftest.errors import DifftestError
from solvers.errors import EnvironmentProblem

FOLDER = "duckdb"
_SECONDS = 300
_MOST_BYTES = 64 << 20
PACKAGES = {
    "@duckdb/duckdb-wasm@1.28.0": "9c3fbcc88b09ffbf31ac80820403e696cf85930b7b03eb42a53dd8a8775a1496",
    "apache-arrow@13.0.0": "0fc8b25fe5e7eda4079ab58d94464aee29697a023fe399da5ad50c75499a15d8",
}
"""The packages by name and version, with the SHA-256 of their tarballs."""

# Where files of the packages go.
_FILES = {
    "package/dist/duckdb-browser.mjs": "duckdb-browser.mjs",
    "package/dist/duckdb-browser-eh.worker.js": "duckdb-browser-eh.worker.js",
    "package/dist/duckdb-eh.wasm": "duckdb-eh.wasm",
    "package/Arrow.es2015.min.js": "arrow.js",
    "package/LICENSE.txt": "LICENSE-arrow.txt",
    "package/NOTICE.txt": "NOTICE-arrow.txt",
}
_IMPORT = b'from"apache-arrow"'
_ARROW = "export const { RecordBatchReader, Table, Type } = globalThis.Arrow;\n"
_ABOUT = "DuckDB-WASM 1.28.0 is under the MIT licence, Apache Arrow 13.0.0 under the Apache licence 2.0.\n"


def find_engine(given: Sequence[Path], say: Callable[[str], None] = lambda line: None) -> list[Path]:
    """The tarballs of the engine: the files given, else those in the cache, which npm fetches once; ``say``
    gets a line before that.

    DifftestError if a file is not one of the two, EnvironmentProblem if they cannot be had.
    """
    if given:
        found = {_name_of(file): file for file in given}
        if missing := [name for name in PACKAGES if name not in found]:
            raise DifftestError(f"the SQL engine also needs the package {missing[0]}: npm pack {missing[0]}")
        return [found[name] for name in PACKAGES]
    folder = cache_folder() / "npm"
    files = {digest: folder / f"{digest}.tgz" for digest in PACKAGES.values()}
    if not all(file.is_file() and _digest(file) == digest for digest, file in files.items()):
        _fetch(folder, say)
    return list(files.values())


def _name_of(file: Path) -> str:
    digest = _digest(file)
    name = next((name for name, known in PACKAGES.items() if known == digest), None)
    if name is None:
        raise DifftestError(f"{file} is not the tarball of {' or '.join(PACKAGES)}: npm pack writes them")
    return name


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.sha256(opened.read(_MOST_BYTES)).hexdigest()
    except OSError as problem:
        raise DifftestError(f"cannot read {file}: {problem.strerror or problem}") from problem


def _fetch(folder: Path, say: Callable[[str], None]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise EnvironmentProblem("npm is not installed; install it, or name the tarballs with --duckdb-wasm")
    say("fetching the SQL engine with npm (17 MB)")
    with tempfile.TemporaryDirectory(prefix="exhume-npm-") as scratch:
        # npm needs its own settings (registry, certificates), so its environment is not cleaned.
        command = [npm, "pack", "--loglevel=error", "--fetch-retries=1", "--ignore-scripts"]
        command += ["--pack-destination", scratch, *PACKAGES]
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentProblem(f"npm did not fetch the packages in {_SECONDS} seconds") from None
        files = sorted(Path(scratch).glob("*.tgz"))
        if done.returncode or len(files) != len(PACKAGES):
            lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise EnvironmentProblem(f"npm could not fetch the packages (no network?): {lines[0][:200]}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in files:
                put_bytes(folder / f"{PACKAGES[_name_of(file)]}.tgz", file.read_bytes())
        except OSError as problem:
            raise EnvironmentProblem(f"cannot write the cache {folder}: {problem}") from problem


def unpack_engine(tarballs: Sequence[Path], folder: Path) -> None:
    """Write the engine's files to a new folder."""
    folder.mkdir()
    for tarball in tarballs:
        with tarfile.open(tarball) as opened:
            for member in opened:
                source = opened.extractfile(member) if member.name in _FILES else None
                if source is not None:
                    data = source.read().replace(_IMPORT, b'from"./arrow.mjs"')
                    (folder / _FILES[member.name]).write_bytes(data)
    (folder / "arrow.mjs").write_text(_ARROW)
    (folder / "LICENCES.txt").write_text(_ABOUT)
