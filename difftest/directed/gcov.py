"""Reads what a program built with ``--coverage`` counted: which lines it ran.

GCC writes a ``.gcno`` file beside each object file (the blocks of its functions, the arcs between them, and
their lines), and a program that ends writes a ``.gcda`` file for each (how often some arcs were taken). Both
forms are those of GCC 12 and later (gcc/gcov-io.h). ``gcov`` reads the same files, but spends its time on all
functions of an object file, run or not; here only those that a run entered are looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from struct import error as struct_error

from difftest.errors import DifftestError

NOTES = ".gcno"
RECORDED = "counts"
"""The file that a program which exhume has built writes into the folder of a run."""

_COUNTS = ".gcda"
_OLDEST = 12
_MAX_FILES = 20_000
_MAX_BYTES = 64 << 20
_MAX_RECORDED = 1 << 30
_HEAD = Struct("<4sIII")
_RECORD = Struct("<Ii")
_WORD = Struct("<I")
_PAIR = Struct("<II")
_FUNCTION, _BLOCKS, _ARCS, _LINES, _ARC_COUNTS = 0x01000000, 0x01410000, 0x01430000, 0x01450000, 0x01A10000
_ON_TREE = 1
_ENTRY, _EXIT = 0, 1


class BadCounts(DifftestError):
    """A file of counts, or of an object file's blocks, that cannot be used; the message names it."""


LineOf = Callable[[str, int], int]
"""The number of a line of a source file (its absolute path); -1 for one that is of no interest."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """A function: ``measured`` are the arcs (from, to) that have a counter, ``others`` those whose counts
    follow, in an order in which they do, each with whether it follows from the arcs of the block that it
    leaves; ``lines`` are the numbers of the lines of each block that has any.

    Only arcs beside a spanning tree are measured. As much enters a block as leaves it, so a block all of
    whose arcs but one are known gives that one (Knuth and Stevenson, "Optimal measurement points for program
    frequency counts", 1973). What leaves the last block enters the first.
    """

    blocks: int
    measured: Sequence[tuple[int, int]]
    others: Sequence[tuple[int, int, bool]]
    lines: dict[int, tuple[int, ...]]

    def ran(self, counters: Sequence[int]) -> set[int]:
        """The blocks that ran, by the counts of the measured arcs."""
        found: set[int] = set()
        balance = [0] * self.blocks  # known arcs: what enters less what leaves
        for (source, target), count in zip(self.measured, counters, strict=False):
            if count:
                balance[source] -= count
                balance[target] += count
                found |= {source, target}
        for source, target, leaves in self.others:
            count = balance[source] if leaves else -balance[target]
            if count:
                balance[source] -= count
                balance[target] += count
                found |= {source, target}
        return found


class ObjectFile:
    """The functions of an object file, from its ``.gcno`` file. ``lines`` are the numbers of all lines that
    it has code for.

    Raises BadCounts for a file that is no such file, or one of another compiler.
    """

    def __init__(self, file: Path, line_of: LineOf) -> None:
        self.file = file
        self._line_of = line_of
        data = _read_bytes(file)
        self.stamp = _head(file, data, b"oncg")
        self.lines: set[int] = set()
        self._spans: dict[int, tuple[int, int]] = {}
        self._graphs: dict[int, _Graph] = {}
        ident: int | None = None
        start = 0
        at = _HEAD.size + _WORD.size
        try:
            # The folder of the compiler, and whether it marks blocks that never run, come first.
            first = at + _WORD.unpack_from(data, _HEAD.size)[0]
            self._folder = _name(data[at:first])
            for tag, at, end in _records(data, first + _WORD.size):
                if tag == _FUNCTION:
                    if ident is not None:
                        self._spans[ident] = (start, at - _RECORD.size)
                    # Its number, two checksums, its name, and whether the compiler made it up.
                    after = at + 16 + _WORD.unpack_from(data, at + 12)[0]
                    made_up = _WORD.unpack_from(data, after)[0]
                    ident, start = None if made_up else _WORD.unpack_from(data, at)[0], end
                elif tag == _LINES and ident is not None:
                    self.lines.update(self._lines(data, at)[1])
        except struct_error:
            raise BadCounts(f"{file}: it is cut off") from None
        if ident is not None:
            self._spans[ident] = (start, len(data))
        self.lines.discard(-1)

    def ran(self, ident: int, counters: bytes) -> tuple[int, ...]:
        """The numbers of the lines of a function that ran, by the counts of its measured arcs (8 bytes each).

        A function that the file does not have ran no line.
        """
        graph = self._graphs.get(ident)
        if graph is None:
            if ident not in self._spans:
                return ()
            start, end = self._spans[ident]
            with self.file.open("rb") as opened:
                opened.seek(start)
                graph = self._graphs[ident] = self._graph(opened.read(end - start))
        counts = memoryview(counters).cast("Q")
        found = {line for block in graph.ran(counts) for line in graph.lines.get(block, ())}
        return tuple(sorted(found - {-1}))

    def _graph(self, data: bytes) -> _Graph:
        blocks = 0
        arcs: list[tuple[int, int]] = []
        tree: list[tuple[int, int]] = [(_EXIT, _ENTRY)]
        lines: dict[int, tuple[int, ...]] = {}
        try:
            for tag, at, end in _records(data, 0):
                if tag == _BLOCKS:
                    blocks = _WORD.unpack_from(data, at)[0]
                elif tag == _ARCS:
                    source = _WORD.unpack_from(data, at)[0]
                    for place in range(at + 4, end - 7, 8):
                        target, flags = _PAIR.unpack_from(data, place)
                        (tree if flags & _ON_TREE else arcs).append((source, target))
                elif tag == _LINES:
                    block, found = self._lines(data, at)
                    lines[block] = tuple(found)
        except struct_error:
            raise BadCounts(f"{self.file}: it is cut off") from None
        if blocks > len(data) or any(block >= blocks for arc in (*arcs, *tree[1:]) for block in arc):
            raise BadCounts(f"{self.file}: an arc leads to a block that is not there")
        if blocks <= _EXIT:
            return _Graph(0, (), (), {})
        return _Graph(blocks, arcs, _solved(blocks, tree), lines)

    def _lines(self, data: bytes, at: int) -> tuple[int, list[int]]:
        """A block and the numbers of its lines: words of lines, after a 0 the name of their file."""
        block = _WORD.unpack_from(data, at)[0]
        at += 4
        name = ""
        found = []
        while True:
            word = _WORD.unpack_from(data, at)[0]
            at += 4
            if word:
                found.append(self._line_of(name, word))
                continue
            length = _WORD.unpack_from(data, at)[0]
            at += 4 + length
            if not length:
                return block, found
            name = os.path.join(self._folder, _name(data[at - length : at]))  # noqa: PTH118 (as text)


def counts_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The ``.gcda`` files that a run left in its folder, by their paths from the root folder, and what is in
    them: those in one file (``solvers/write_counts.c``), and those of GCC's own library, whose paths below
    the folder are those of the object files. Raises BadCounts.
    """
    recorded = folder / RECORDED
    if recorded.is_file():
        yield from _recorded(recorded)
    # Also of shared libraries, each of which writes its own.
    for name in _count_files(folder):
        yield name, _read_bytes(folder / name)


def _recorded(file: Path) -> Iterator[tuple[str, bytes]]:
    data = _read_bytes(file, _MAX_RECORDED)
    at = 0
    while at < len(data):
        if at + _PAIR.size > len(data):
            raise BadCounts(f"{file}: it is cut off")
        length, counts = _PAIR.unpack_from(data, at)
        start = at + _PAIR.size + length
        name = os.fsdecode(data[at + _PAIR.size : start])
        at = start + counts
        if at > len(data) or not name.endswith(_COUNTS):
            raise BadCounts(f"{file}: it is cut off")
        yield name, data[start:at]


def _count_files(folder: Path) -> list[str]:
    """The paths of the files of counts below a folder. No link is followed."""
    found = []
    for parent, _, names in os.walk(folder, followlinks=False):
        for name in names:
            path = Path(parent, name)
            if name.endswith(_COUNTS) and stat.S_ISREG(path.lstat().st_mode):
                found.append(path.relative_to(folder).as_posix())
                if len(found) > _MAX_FILES:
                    raise BadCounts(f"{folder}: more than {_MAX_FILES} files of counts")
    return sorted(found)


def read_counts(file: Path, data: bytes) -> tuple[int, dict[int, bytes]]:
    """The stamp of a ``.gcda`` file, and the counts (8 bytes each) of the functions that ran, by their number
    in the object file. ``data`` is what is in it. Raises BadCounts.
    """
    stamp = _head(file, data, b"adcg")
    found: dict[int, bytes] = {}
    ident = 0
    # A program has some 100,000 functions, and a run enters few: this loop is most of the reading.
    words = memoryview(data[: len(data) & ~3]).cast("i")
    at = _HEAD.size // 4
    try:
        while at < len(words) and (tag := words[at]):
            # Of counts that are all 0 there is only the number, negative.
            length = words[at + 1]
            at += 2
            if length <= 0:
                continue
            end = at + length // 4
            if end > len(words) or length % (8 if tag == _ARC_COUNTS else 4):
                raise IndexError
            if tag == _FUNCTION:
                ident = words[at] & 0xFFFFFFFF
            elif tag == _ARC_COUNTS and any(counters := data[4 * at : 4 * end]):
                found[ident] = counters
            at = end
    except IndexError:
        raise BadCounts(f"{file}: it is cut off") from None
    return stamp, found


def _name(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


def _read_bytes(file: Path, most: int = _MAX_BYTES) -> bytes:
    """The bytes of a regular file; no link is followed. Raises BadCounts."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            data = opened.read(most + 1)
    except OSError as problem:
        raise BadCounts(f"{file}: it cannot be read: {problem.strerror}") from problem
    if len(data) > most:
        raise BadCounts(f"{file}: it is larger than {most >> 20} MB")
    return data


def _head(file: Path, data: bytes, magic: bytes) -> int:
    """The stamp of a file, which is the same in the two files of an object file."""
    if len(data) < _HEAD.size or data[:4] != magic:
        raise BadCounts(f"{file}: it is not a gcov file of this machine")
    _, version, stamp, _ = _HEAD.unpack_from(data)
    # B22*: 12.2; clang writes the form of an old GCC.
    major = ((version >> 24) - ord("A")) * 10 + ((version >> 16 & 255) - ord("0"))
    if not _OLDEST <= major < 100:
        raise BadCounts(f"{file}: build with GCC {_OLDEST} or later; other compilers count in another form")
    return int(stamp)


def _records(data: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Tag, first byte and end of the records from a place; struct.error where one is cut off."""
    unpack = _RECORD.unpack_from
    while at + 4 <= len(data):
        if data[at : at + 4] == b"\0\0\0\0":
            return
        tag, length = unpack(data, at)
        at += _RECORD.size
        end = at + max(0, length)
        if end > len(data):
            raise struct_error
        yield tag, at, end
        at = end


def _solved(blocks: int, arcs: Sequence[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """The arcs that are not measured, in an order in which their counts follow, each with whether it is the
    last unknown one of the block that it leaves.
    """
    unknown = [0] * blocks  # how many of a block's arcs are
    one = [0] * blocks  # their numbers, combined by xor: where one is left, its number
    for number, arc in enumerate(arcs):
        for block in arc:
            unknown[block] += 1
            one[block] ^= number
    found = []
    waiting = [block for block in range(blocks) if unknown[block] == 1]
    while waiting:
        block = waiting.pop()
        if unknown[block] != 1:
            continue
        number = one[block]
        source, target = arcs[number]
        found.append((source, target, block == source))
        for end in (source, target):
            unknown[end] -= 1
            one[end] ^= number
            if unknown[end] == 1:
                waiting.append(end)
    return found
