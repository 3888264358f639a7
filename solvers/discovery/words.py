"""Words in a solver's program or library: candidates for the names of its language.

No solver lists all of its operators. Its parser compares names with strings, which are constants of the
program. Linkers store a string that is the end of another one inside it, so each end of a string counts.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from solvers.locating import installed_files
from solvers.registry import PROFILES
from solvers.solver import Solver

_STRING = re.compile(rb"[\n -~]+(?=\0)")
# Names of C++ types and symbols, and source files.
_NO_NAME = re.compile(r"[NKPSI]*\d|_|Z\d|St\d|.*\.(?:cpp|cc|c|hpp|h|so)\b")
_END = re.compile(r"[\w.+*/<=>&^!?~-]{1,40}\Z", re.A)
_NAME = re.compile(r"[A-Za-z][\w.+*/<=>!?^-]*|[-+*/<=>&^~]{1,3}0?|[-+][a-z]+", re.A)
_MAGIC = b"\x7fELF\x02\x01"


def words_of(solver: Solver, part: str = "") -> set[str]:
    """The words in the libraries of a solver (those with ``part`` in their names, if there are any), or in
    its program.
    """
    files = list(_libraries(solver))
    chosen = [file for file in files if part in file.name] or files or [Path(solver.argv[0])]
    return set().union(*(words_in(file.read_bytes()) for file in chosen))


def _libraries(solver: Solver) -> Iterator[Path]:
    if solver.loadable is None:
        return
    place = Path(solver.loadable)
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from (file for file in sorted(place.rglob("*.so*")) if solver.family in file.name)
    else:
        files = installed_files(PROFILES[solver.family])
        yield from (file for file in files if ".so" in file.name and solver.family in file.name)


def words_in(data: bytes) -> set[str]:
    """The words that end strings of a program, and all their ends that could be names."""
    found: set[str] = set()
    for string in set(_STRING.findall(_constants(data))):
        text = string.decode("ascii")
        if _NO_NAME.match(text) or not (end := _END.search(text)):
            continue
        word = end[0]
        found.update(word[at:] for at in range(len(word)) if _NAME.fullmatch(word, at))
    return found


def _constants(data: bytes) -> bytes:
    """The section of constants of an ELF file; everything in other files."""
    if not data.startswith(_MAGIC):
        return data
    try:
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQ", data, table + at * size) for at in range(count)]
        start = sections[names][4]
        for name, _, _, _, offset, length in sections:
            if data.startswith(b".rodata\0", start + name):
                return data[offset : offset + length]
    except (struct.error, IndexError):
        pass
    return data
