"""Builds of a solver from source: with assertions, sanitizers or coverage, which the wheels do not have.

A build is a folder in the cache: ``z3-5.4.0+debug.address`` for the spec ``z3==5.4.0+debug.address``. It
appears there in one step, by a rename, or, with coverage, as a symbolic link to the folder with its object
files. Until then its source and object files are in a folder beside it, so that an interrupted build
continues where it stopped. The keys ``[build]`` of a solver's profile say how it is configured.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from base.cache import cache_folder
from base.errors import ExhumeError
from base.steps import Tick, nothing
from solvers.errors import EnvironmentProblem, SolverMissing, UnknownSolver
from solvers.profile import Build, Profile
from solvers.releases import fetch_source, make_once

SANITIZERS = ("address", "undefined")
_SOURCE = "source"
# A build with debug information takes about this much while it runs.
_ROOM = 4 << 30
# Ninja prints [12/800] before each step, make [ 12%].
_STEP = re.compile(rb"^\[ *(\d+)(?:/(\d+)|%)\]")
_LAST_LINES = 15
# How GCC and Clang say that a header of the standard library is missing: those have no extension.
_NO_HEADER = re.compile(r"fatal error: '?([a-z_]+)'?(?: file not found|: No such file)")
# Sanitizers read these from the program itself, wherever it is started: leaks at the end are harmless, and
# the report is an error that ends the run.
_SANITIZER_OPTIONS = """
const char *__asan_default_options(void) { return "detect_leaks=0:allocator_may_return_null=1"; }
const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }
"""
_LINKED = "linked.c"
_WRITE_COUNTS = Path(__file__).with_name("write_counts.c")


class BuildFailed(EnvironmentProblem):
    """A build ended with an error; the message has its last lines and names the log."""


@dataclass(frozen=True, slots=True)
class Flavour:
    """How a build differs from a wheel. All parts false: an optimised build of the same source."""

    debug: bool = False
    """With assertions, and line numbers in stacks."""
    coverage: bool = False
    """Counts executed lines (gcov); the folder of object files is kept."""
    sanitizers: tuple[str, ...] = ()
    """Some of ``SANITIZERS``, sorted."""

    @property
    def label(self) -> str:
        """The part of a spec's release after the ``+``."""
        parts = [name for name in ("debug", "coverage") if getattr(self, name)]
        return ".".join([*parts, *self.sanitizers]) or _SOURCE

    @classmethod
    def parse(cls, label: str) -> Flavour:
        """The flavour with this label; ExhumeError names a part that is none."""
        parts = label.split(".")
        for part in parts:
            if part not in ("debug", "coverage", *SANITIZERS, _SOURCE):
                raise ExhumeError(f"{part!r} is not a kind of build")
        return cls("debug" in parts, "coverage" in parts, tuple(name for name in SANITIZERS if name in parts))

    @property
    def command_options(self) -> list[str]:
        """The options of ``exhume solvers build`` that make it."""
        options = [f"--{name}" for name in ("debug", "coverage") if getattr(self, name)]
        return [*options, *(["--sanitize", ",".join(self.sanitizers)] if self.sanitizers else [])]

    @property
    def linked_code(self) -> str:
        """C code that its program gets besides its own, if any. Sanitizers bring handlers of crashes."""
        if self.sanitizers:
            return _SANITIZER_OPTIONS
        return _WRITE_COUNTS.read_text("utf-8") if self.coverage else ""

    @property
    def compiler_flags(self) -> list[str]:
        """What the compiler and the linker get besides the solver's own flags."""
        flags = ["-O1" if self.debug or self.coverage or self.sanitizers else "-O2"]
        if self.debug or self.sanitizers:
            flags += ["-g1", "-fno-omit-frame-pointer"]
        if self.coverage:
            # GCC inlines small functions before it adds counters, and does not count those.
            flags += ["--coverage", "-fno-early-inlining"]
        if self.sanitizers:
            flags += [f"-fsanitize={','.join(self.sanitizers)}", "-fno-sanitize-recover=all"]
        return flags


def make_flavour(debug: bool, coverage: bool, sanitizers: Iterable[str]) -> Flavour:
    """A flavour with checked names of sanitizers; ExhumeError for an unknown one."""
    given = sorted(set(sanitizers))
    for name in given:
        if name not in SANITIZERS:
            raise ExhumeError(f"unknown sanitizer {name!r}: use {' or '.join(SANITIZERS)}")
    return Flavour(debug, coverage, tuple(given))


def is_build(release: str) -> bool:
    """Whether a spec's release names a build: ``5.4.0+debug``."""
    return "+" in release


def find_built(profile: Profile, release: str) -> Path:
    """The program of a build; SolverMissing with the command that makes it if it is not in the cache."""
    version, _, label = release.partition("+")
    try:
        flavour = Flavour.parse(label)
    except ExhumeError as problem:
        raise UnknownSolver(f"{profile.family}=={release}", str(problem)) from None
    program = _folder(profile, f"{version}+{flavour.label}") / profile.program
    if program.is_file():
        return program
    command = " ".join(["exhume solvers build", f"{profile.family}=={version}", *flavour.command_options])
    raise SolverMissing(f"solver '{profile.family}=={release}' is not built yet; build it with: {command}")


def build_release(
    profile: Profile, version: str, flavour: Flavour, jobs: int, progress: Tick = nothing
) -> Path:
    """Build ``version`` from the source package on the index, if it is not built yet; its program.

    ``progress`` gets the steps done and their number (100 for percents). Raises EnvironmentProblem if a
    compiler, CMake, room on the disk or the network is missing, ReleaseNotFound if the index has no source of
    this version, BuildFailed if the build fails.
    """
    build = _require_build(profile)

    def fetch(work: Path) -> Path:
        source = work / "source"
        if not source.is_dir():
            fetch_source(profile.distribution, version, source)
        return _folder_of_cmake(build, source)

    return _build(profile, f"{version}+{flavour.label}", flavour, jobs, fetch, progress)


def build_checkout(
    profile: Profile, checkout: Path, flavour: Flavour, jobs: int, progress: Tick = nothing
) -> tuple[str, Path]:
    """Build the source in a git checkout as it is now: its commit (``+changed`` with local changes), and the
    program.

    The checkout itself is not written to. A checkout with local changes is built again each time, for
    coverage from the object files of the last time. Raises as :func:`build_release`.
    """
    _require_build(profile)
    if not (checkout / "CMakeLists.txt").is_file():
        raise EnvironmentProblem(
            f"{checkout} has no CMakeLists.txt: it is not a checkout of {profile.family}"
        )
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    is_changed = bool(_git(checkout, "status", "--porcelain", "--untracked-files=no"))
    release = f"git-{commit}+{flavour.label}"
    if is_changed:
        # Another checkout of this commit has other changes.
        place = sha256(os.fsencode(checkout.resolve())).hexdigest()[:8]
        release = f"git-{commit}-changed-{place}+{flavour.label}"
        last = _folder(profile, release)
        if last.is_symlink():
            last.unlink()
        else:
            shutil.rmtree(last, ignore_errors=True)
    program = _build(profile, release, flavour, jobs, lambda work: checkout.resolve(), progress)
    return commit + "+changed" * is_changed, program


def _folder(profile: Profile, release: str) -> Path:
    return cache_folder() / "builds" / f"{profile.family}-{release}"


def _require_build(profile: Profile) -> Build:
    if profile.build is None:
        raise UnknownSolver(profile.family, "exhume cannot build it: its profile has no [build]")
    return profile.build


def _build(
    profile: Profile,
    release: str,
    flavour: Flavour,
    jobs: int,
    fetch: Callable[[Path], Path],
    progress: Tick,
) -> Path:
    final = _folder(profile, release)
    work = final.with_name(f".{final.name}.work")
    linked = work / _LINKED
    if final.is_symlink() and linked.is_file() and linked.read_text("utf-8") != flavour.linked_code:
        # An earlier version of exhume built it: it is linked again.
        (work / profile.program).resolve().unlink(missing_ok=True)
        final.unlink()

    def make() -> None:
        work.mkdir(exist_ok=True)
        _require_room(work)
        source = fetch(work)
        run = _Steps(work / "build.log", progress)
        _compile(_require_build(profile), source, work / "objects", flavour, jobs, run)
        _install(work, final, profile.program, keep_objects=flavour.coverage)

    make_once(final, make)
    return final / profile.program


def _require_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _ROOM:
        raise EnvironmentProblem(
            f"{folder}: a build needs {_ROOM >> 30} GB, and {free / (1 << 30):.1f} GB are free;"
            " EXHUME_CACHE names another folder"
        )


def _folder_of_cmake(build: Build, unpacked: Path) -> Path:
    """The folder to configure in an unpacked source package, which has one folder at its top."""
    found = sorted(unpacked.glob("/".join(filter(None, ("*", build.source, "CMakeLists.txt")))))
    if not found:
        raise EnvironmentProblem(f"{unpacked} has no {build.source or '.'}/CMakeLists.txt to build from")
    return found[0].parent


def _compile(build: Build, source: Path, objects: Path, flavour: Flavour, jobs: int, run: _Steps) -> None:
    cmake = _require_program("cmake")
    flags = flavour.compiler_flags
    code = flavour.linked_code
    linked = [*flags, str(_linked_object(objects.parent, code, run))] if code else flags
    # The flags stand in place of those that CMake adds for a type of build.
    kind = "Debug" if flavour.debug else "Release"
    settings = [
        f"-DCMAKE_BUILD_TYPE={kind}",
        *(f"-DCMAKE_{language}_FLAGS_{kind.upper()}={' '.join(flags)}" for language in ("C", "CXX")),
        f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(linked)}",
        # Old releases ask for a CMake that CMake 4 no longer imitates otherwise.
        "-DCMAKE_POLICY_VERSION_MINIMUM=3.5",
        *build.configure,
    ]
    generator = ["-G", "Ninja"] if _find_program("ninja") else []
    # It names the tools of the last time, which may have moved since. Object files stay.
    (objects / "CMakeCache.txt").unlink(missing_ok=True)
    run([cmake, *generator, "-S", str(source), "-B", str(objects), *settings])
    targets = [word for target in build.targets for word in ("--target", target)]
    run([cmake, "--build", str(objects), "--parallel", str(jobs), *targets])


def _linked_object(work: Path, code: str, run: _Steps) -> Path:
    source, made = work / _LINKED, work / "linked.o"
    source.write_text(code, "utf-8")
    run([_require_program("cc"), "-c", str(source), "-o", str(made)])
    return made


def _require_program(name: str) -> str:
    found = _find_program(name)
    if found is None:
        hint = " (pip install 'exhume[build]')" if name == "cmake" else ""
        raise EnvironmentProblem(f"a build needs {name}, which is not on the path{hint}")
    return found


def _find_program(name: str) -> str | None:
    """A program on the path; first one that is installed beside exhume."""
    return shutil.which(name, path=os.pathsep.join((f"{sys.prefix}/bin", os.environ.get("PATH", os.defpath))))


def _install(work: Path, final: Path, program: str, keep_objects: bool) -> None:
    files = (path for path in sorted((work / "objects").rglob(program)) if path.is_file())
    made = next((path for path in files if os.access(path, os.X_OK)), None)
    if made is None:
        raise BuildFailed(f"the build has made no program {program}; its log: {work / 'build.log'}")
    if keep_objects:
        # Links that a build left which was killed here, or whose object files were deleted.
        for link in (work / program, final):
            link.unlink(missing_ok=True)
        (work / program).symlink_to(made.relative_to(work))
        # Object files name their folder: it keeps its name, and the build is a link to it.
        final.symlink_to(work.name, target_is_directory=True)
        return
    draft = work / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    shutil.copy2(made, draft / program)
    draft.rename(final)
    shutil.rmtree(work, ignore_errors=True)


class _Steps:
    """Runs the programs of a build; all they print goes to the log, their steps to ``progress``."""

    def __init__(self, log: Path, progress: Tick) -> None:
        self._log = log
        self._progress = progress

    def __call__(self, command: Sequence[str]) -> None:
        """Run one program; BuildFailed if it fails. It ends with us, its children too."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            last: list[bytes] = []
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    log.write(line)
                    last = [*last[1 - _LAST_LINES :], line]
                    if step := _STEP.match(line):
                        self._progress(int(step[1]), int(step[2] or 100))
                process.wait()
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode:
            said = b"".join(last).decode(errors="replace").rstrip()
            header = _NO_HEADER.search(said)
            hint = f"\nThe compiler has no <{header[1]}>: CXX names a newer one." if header else ""
            raise BuildFailed(f"{Path(command[0]).name} failed:\n{said}{hint}\nThe whole log: {self._log}")


def _git(checkout: Path, *words: str) -> str:
    command = [_require_program("git"), "-C", str(checkout), *words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise EnvironmentProblem(f"{checkout}: {done.stderr.strip().rpartition(chr(10))[2]}")
    return done.stdout.strip()
