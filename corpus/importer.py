"""Imports folders of ``.smt2`` files and decomposes them. Tracker and issue come from paths and names."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from base.steps import Tick, nothing
from corpus.errors import CorpusError
from corpus.intake import Intake
from corpus.learned import refresh_counts
from corpus.records import FormulaSource, Issue, Tracker
from corpus.store import Corpus, storable
from solvers.registry import named_solver

MAX_BYTES = 16 << 20
"""Larger files (in bytes) become rows with an error."""

# Maximum files and bytes per transaction: large enough to be fast, small enough that a killed import loses
# little.
_CHUNK_FILES = 400
_CHUNK_BYTES = 8 << 20

_NAMED = re.compile(
    r"(?P<tracker>[A-Za-z][\w.-]*?)[_-](?:issue|bug|gh)?[_-]?(?P<issue>\d{1,9})(?:[_-](?P<position>\d{1,6}))?"
)
_NUMBERED = re.compile(
    r"(?:(?:issue|bug|gh|pr)[_-]?|#)?(?P<issue>\d{1,9})(?:[_-](?P<position>\d{1,6}))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a file's path says: its tracker, issue number (None without one) and position in the issue."""

    tracker: str
    issue: int | None
    position: int


@dataclass(slots=True)
class ImportReport:
    """The result of an import. ``skipped``: paths that are not regular files, with the reason."""

    files: int = 0
    new: int = 0
    known: int = 0
    well_sorted: int = 0
    read: int = 0
    errors: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    first_errors: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    relative: str
    folder: str


def import_paths(
    corpus: Corpus,
    paths: Iterable[Path | str],
    *,
    tracker: str | None = None,
    progress: Tick = nothing,
) -> ImportReport:
    """Import files and folders in the order of their names, decompose new formulas and refresh the counts;
    known formulas stay unchanged.

    Args:
        tracker: overrides the trackers derived from the paths.
        progress: called with the number of files done and the total.
    """
    report = ImportReport()
    files = list(_walk(paths, report))
    intake = Intake(corpus)
    for chunk in _chunks(files):
        with corpus.transaction():
            for added in intake.add_formulas(_sources(intake, chunk, tracker)):
                report.files += 1
                report.new += added.new
                report.known += not added.new
        progress(report.files, len(files))
    _count_statuses(corpus, report)
    refresh_counts(corpus)
    return report


def require_files(paths: Iterable[Path | str]) -> None:
    """Raise :class:`CorpusError` if there is nothing to import."""
    paths, report = list(paths), ImportReport()
    if next(_walk(paths, report), None) is None:
        why = f"; skipped {report.skipped[0][0]}: {report.skipped[0][1]}" if report.skipped else ""
        names = ", ".join(map(str, paths))
        raise CorpusError(f"there are no .smt2 files in {names}{why}: name files, or folders of them")


def _sources(intake: Intake, files: list[_File], tracker: str | None) -> list[FormulaSource]:
    """The files as formulas; their trackers and issues are added if they are missing."""
    origins = [origin_of(file.relative, file.folder) for file in files]
    if tracker:
        origins = [replace(origin, tracker=tracker) for origin in origins]
    trackers = {
        name: intake.add_tracker(Tracker(name, "folder", None, named_solver(name)))
        for name in dict.fromkeys(origin.tracker for origin in origins)
    }
    issues = {
        name: _issue_ids(
            intake, ident, [o.issue for o in origins if o.tracker == name and o.issue is not None]
        )
        for name, ident in trackers.items()
    }
    sources = []
    for file, origin in zip(files, origins, strict=True):
        where, issue_id = f"{origin.tracker}:{file.relative}", None
        if origin.issue is not None:
            where = f"{origin.tracker}#{origin.issue}/{Path(file.relative).name}"
            issue_id = issues[origin.tracker][origin.issue]
        sources.append(_read(file, where, trackers[origin.tracker], issue_id, origin.position))
    return sources


def _issue_ids(intake: Intake, tracker_id: int, numbers: list[int]) -> dict[int, int]:
    """The ids of a tracker's issues by number, with these among them; stored issues stay unchanged."""
    ids = dict(intake.corpus.rows("select number, id from issue where tracker_id = ?", [tracker_id]))
    missing = [number for number in dict.fromkeys(numbers) if number not in ids]
    added = intake.add_issues(tracker_id, [Issue("", number) for number in missing])
    return ids | {number: a.id for number, a in zip(missing, added, strict=True)}


def _count_statuses(corpus: Corpus, report: ImportReport) -> None:
    if not report.new:
        return
    newest = "from formula where id > (select max(id) from formula) - ?"
    counts = dict(corpus.rows(f"select status, count(*) {newest} group by status", [report.new]))
    report.well_sorted = counts.get("well-sorted", 0)
    report.read = counts.get("read", 0)
    report.errors = counts.get("error", 0)
    failed = f"select source, error {newest} and status = 'error' order by id limit 20"
    report.first_errors = corpus.rows(failed, [report.new])


def origin_of(relative: str, folder: str = "") -> Origin:
    """Derive tracker, issue and position from a path below the imported folder and the folder's name.

    >>> origin_of("z3/z3_1014_0.smt2")
    Origin(tracker='z3', issue=1014, position=0)
    """
    parts = relative.split("/")
    stem = parts[-1].removesuffix(".smt2")
    folders = [f for f in (folder, *parts[:-1]) if f]
    match = _NAMED.fullmatch(stem)
    # Other words before a number count only if a folder of that name contains the file.
    if match and (named_solver(match["tracker"]) or match["tracker"] in folders):
        return Origin(match["tracker"], int(match["issue"]), int(match["position"] or 0))
    match = _NUMBERED.fullmatch(stem)
    if match and folders:
        return Origin(folders[-1], int(match["issue"]), int(match["position"] or 0))
    if match := _NUMBERED.fullmatch(folders[-1] if len(folders) > 1 else ""):
        return Origin(folders[-2], int(match["issue"]), 0)
    return Origin(folder or "files", None, 0)


def _walk(paths: Iterable[Path | str], report: ImportReport) -> Iterator[_File]:
    """The files to import, sorted. Links, pipes and devices inside folders are skipped and reported."""
    for root in map(Path, paths):
        if not root.exists():
            raise CorpusError(f"there is no file or folder {root}")
        # A link that the user names is followed; links inside folders are not.
        real = root.resolve()
        if not real.is_dir():
            yield _File(real, storable(root.name), storable(real.parent.name))
            continue
        folders = [real]
        found: list[_File] = []
        while folders:
            folder = folders.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError as error:
                report.skipped.append((storable(str(folder)), error.strerror or str(error)))
                continue
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.name.endswith(".smt2"):
                    if entry.is_file(follow_symlinks=False):
                        found.append(
                            _File(path, storable(path.relative_to(real).as_posix()), storable(real.name))
                        )
                    else:
                        report.skipped.append((storable(entry.path), "not a regular file"))
        yield from sorted(found, key=lambda file: file.relative)


def _chunks(files: list[_File]) -> Iterator[list[_File]]:
    chunk: list[_File] = []
    size = 0
    for file in files:
        chunk.append(file)
        with contextlib.suppress(OSError):
            size += file.path.lstat().st_size
        if len(chunk) >= _CHUNK_FILES or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _read(file: _File, source: str, tracker_id: int, issue_id: int | None, position: int) -> FormulaSource:
    def made(text: str | None, key: str, size: int, failure: str | None = None) -> FormulaSource:
        return FormulaSource(
            source,
            text,
            tracker_id,
            issue_id,
            position=position,
            path=file.relative,
            sha256=key,
            bytes=size,
            failure=failure,
        )

    try:
        data, size = _bytes_of(file.path)
    except OSError as error:
        return made(None, "size:0", 0, f"cannot be read: {error.strerror or error}")
    if data is None:
        return made(None, f"size:{size}", size, f"{size} bytes, more than the limit of {MAX_BYTES}")
    key = sha256(data).hexdigest()
    try:
        return made(decode(data), key, size)
    except UnicodeError as error:
        return made(None, key, size, str(error))


def _bytes_of(path: Path) -> tuple[bytes | None, int]:
    """The bytes of a regular file (None if there are more than ``MAX_BYTES``) and its size."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if status.st_size > MAX_BYTES:
            return None, status.st_size
        data = file.read(MAX_BYTES + 1)
    return (data, len(data)) if len(data) <= MAX_BYTES else (None, len(data))


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 with a byte order mark. Raises UnicodeError, which says why."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
        if b"\0" in data:
            raise UnicodeError(f"a binary file: byte 0 at offset {data.index(0)}")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnicodeError(f"not {error.encoding} text: {error.reason} at offset {error.start}") from error
