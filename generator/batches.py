"""Batches: the tests of an index range written to a folder, by one process or several.

Whatever the number of processes, the same strategy gives the same files. ``batch.json`` says what the folder
is to hold; running the same batch again writes the same bytes, a different one is refused.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from generator.errors import GenerationError
from generator.seeds.strategy import SeedStrategy
from generator.strategy import Strategy

MANIFEST = "batch.json"
_UNFINISHED = f".{MANIFEST}"

_CHUNK = 250
"""Tests per unit of work and per progress report."""


class OutputFolderError(GenerationError):
    """The folder for a batch cannot be used."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What was written: number of tests, how many differ below the header, wall seconds.

    For a strategy that starts from seeds also: what it counts, and the seeds skipped, with the reason.
    """

    written: int
    distinct: int
    seconds: float
    counts: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Written:
    """A range of tests written: a digest of each below its header, and what the strategy counted."""

    digests: list[bytes]
    counts: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)


def write_batch(
    strategy: Strategy,
    count: int,
    out: Path,
    description: dict[str, object],
    jobs: int = 1,
    progress: Callable[[int], None] = lambda _: None,
    first: int = 0,
) -> BatchReport:
    """Write ``count`` tests from number ``first`` on as ``out/test-000017.smt2``; return how many are
    distinct.

    ``description`` goes into the manifest and identifies the batch. ``progress`` is called with
    the number of tests written so far. Raises :class:`OutputFolderError`.
    """
    started = time.monotonic()
    prepare_folder(out, {**description, "count": count})
    width = max(6, len(str(first + count - 1)))
    seen: set[bytes] = set()
    written = 0
    counts: Counter[str] = Counter()
    skipped: dict[str, str] = {}
    for chunk in _chunks(strategy, range(first, first + count), out, width, jobs):
        seen.update(chunk.digests)
        written += len(chunk.digests)
        counts.update(chunk.counts)
        skipped.update(chunk.skipped)
        progress(written)
    return BatchReport(written, len(seen), time.monotonic() - started, dict(counts), skipped)


def prepare_folder(out: Path, description: dict[str, object]) -> None:
    """Make ``out`` with its manifest; accept an existing one of the same batch. Raises OutputFolderError."""
    text = json.dumps(description, indent=2, sort_keys=True) + "\n"
    manifest = out / MANIFEST
    try:
        if manifest.is_file() and manifest.read_bytes() == text.encode():
            return
        if out.exists() and (not out.is_dir() or any(f.name != _UNFINISHED for f in out.iterdir())):
            raise OutputFolderError(f"{out} exists and holds something else; name an empty or new folder")
        out.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: half a manifest would make the folder another batch's.
        (out / _UNFINISHED).write_text(text, encoding="utf-8")
        (out / _UNFINISHED).replace(manifest)
    except OSError as error:
        raise OutputFolderError(f"cannot write to {out}: {error.strerror}") from error


def _chunks(strategy: Strategy, indices: range, out: Path, width: int, jobs: int) -> Iterator[_Written]:
    starts = range(indices.start, indices.stop, _CHUNK)
    if jobs == 1:
        for start in starts:
            yield _write_range(strategy, start, min(indices.stop, start + _CHUNK), out, width)
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_start_worker, initargs=(strategy,)
    ) as pool:
        tasks = [pool.submit(_write_in_worker, s, min(indices.stop, s + _CHUNK), out, width) for s in starts]
        try:
            for task in tasks:
                yield task.result()
        except BrokenProcessPool as error:
            raise GenerationError(
                "a process that wrote tests was killed, maybe because memory was short;"
                " run the same command again, or with fewer --jobs"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


_worker_strategy: Strategy | None = None


def _start_worker(strategy: Strategy) -> None:
    global _worker_strategy
    _worker_strategy = strategy


def _write_in_worker(start: int, stop: int, out: Path, width: int) -> _Written:
    assert _worker_strategy is not None
    return _write_range(_worker_strategy, start, stop, out, width)


def _write_range(strategy: Strategy, start: int, stop: int, out: Path, width: int) -> _Written:
    """Write the tests of a range."""
    digests = []
    before = Counter(strategy.counts) if isinstance(strategy, SeedStrategy) else Counter()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
    folder = f"{out}/test-"
    try:
        for test in strategy.generate(start, stop):
            data = test.text.encode()
            # os.open rather than open(): a third of the time per file.
            handle = os.open(f"{folder}{test.index:0{width}d}.smt2", flags, 0o644)
            try:
                written = os.write(handle, data)
                while written < len(data):
                    written += os.write(handle, data[written:])
            finally:
                os.close(handle)
            digests.append(hashlib.blake2b(data[data.find(b"\n(") :], digest_size=12).digest())
    except OSError as error:
        raise OutputFolderError(f"cannot write to {out}: {error.strerror}") from error
    if not isinstance(strategy, SeedStrategy):
        return _Written(digests)
    return _Written(digests, strategy.counts - before, dict(strategy.seeds.skipped))
