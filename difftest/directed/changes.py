"""What changed between two folders of sources: functions, and what is outside of functions.

Files are compared by their bytes, and those that differ are read: C++ with tree-sitter, whose time is limited
for each file, and files that define options as lines. A file that is too large, or no regular file, is left
out. Nothing of the sources is run.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from base.cache import cache_folder, keep_cached, load_cached
from base.documents import from_document, to_document
from base.files import read_at_most
from difftest.errors import DifftestError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

CPP = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp")
MAX_FILES = 20_000
MAX_BYTES = 2 << 20
MAX_TOTAL = 256 << 20
"""Bytes of all files of one folder."""

_SECONDS = 5.0
_CHUNK = 1 << 14
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,99}")
_LITERAL = re.compile(r"\"([^\"\\\n]{1,80})\"|'([^'\\\n]{2,80})'")
_COMMENT = ("//", "/*", "* ", "*/")
# Below other nodes there are no functions, except where the parser found an error.
_CONTAINERS = frozenset(
    "translation_unit namespace_definition declaration_list class_specifier struct_specifier union_specifier"
    " field_declaration_list template_declaration linkage_specification preproc_if preproc_ifdef preproc_else"
    " preproc_elif declaration field_declaration friend_declaration ERROR".split()
)
_CLASSES = frozenset(("class_specifier", "struct_specifier", "namespace_definition"))


@dataclass(frozen=True, slots=True)
class Change:
    """A function of a file that is new, gone or different; without ``function`` what changed outside of
    functions. ``identifiers`` and ``literals`` (strings) are those of the lines that differ.
    """

    file: str
    function: str
    identifiers: frozenset[str]
    literals: frozenset[str]


@dataclass(slots=True)
class Changes:
    """All changes, and how many ``files`` differ; ``left_out`` of them could not be read."""

    found: list[Change] = field(default_factory=list)
    files: int = 0
    left_out: int = 0

    @property
    def functions(self) -> int:
        """How many functions changed."""
        return sum(bool(change.function) for change in self.found)


def find_changes(
    base: Path, new: Path, skip: Sequence[str] = (), lists: Sequence[str] = (), keep: bool = False
) -> Changes:
    """What changed from the folder ``base`` to the folder ``new``.

    The folders ``skip`` (names at the top) are left out; files whose names match a pattern of ``lists`` are
    read as lines, other files that are not C++ are left out. With ``keep`` the result is kept in the cache,
    for files of the same bytes. Raises DifftestError if a folder cannot be read.
    """
    before, after = (source_files(folder, skip, lists) for folder in (base, new))
    if not keep:
        return _find(before, after)
    kept = cache_folder() / "changes" / f"{_digest(before, after)}.json"
    with suppress(ValueError):
        return from_document(load_cached(kept), Changes)
    changes = _find(before, after)
    keep_cached(kept, to_document(changes))
    return changes


def _digest(*trees: Mapping[str, Path]) -> str:
    """A hash of the files of folders, their names, and of the code that compares them."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for tree in trees:
        digest.update(len(tree).to_bytes(8, "big"))
        for name, path in tree.items():
            text = read_source(path)
            part = b"?" if text is None else hashlib.sha256(text).digest()
            digest.update(hashlib.sha256(os.fsencode(name)).digest() + part)
    return digest.hexdigest()


def _find(before: dict[str, Path], after: dict[str, Path]) -> Changes:
    for name, moved in _moved(before, after).items():
        before[moved] = before.pop(name)
    changes = Changes()
    for name in sorted(before.keys() | after.keys()):
        texts = [read_source(files.get(name)) for files in (before, after)]
        if texts[0] == texts[1] and None not in texts:
            continue
        changes.files += 1
        if texts[0] is None or texts[1] is None:
            changes.left_out += 1
            continue
        changes.found += _compare(name, texts[0], texts[1])
    return changes


def source_files(folder: Path, skip: Sequence[str] = (), lists: Sequence[str] = ()) -> dict[str, Path]:
    """The files of a folder that :func:`find_changes` may read, by their paths below it, in a fixed order. No
    link is followed. Raises DifftestError if it is no folder, one of too many files or one of none.
    """
    if not folder.is_dir():
        raise DifftestError(f"{folder}: there is no such folder of sources")
    found: dict[str, Path] = {}
    total = 0
    for parent, inner, names in os.walk(folder, followlinks=False):
        is_top = Path(parent) == folder
        inner[:] = sorted(n for n in inner if not n.startswith(".") and not (is_top and n in skip))
        for name in sorted(names):
            path = Path(parent, name)
            if not name.endswith(CPP) and not any(fnmatch(name, pattern) for pattern in lists):
                continue
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                total += min(status.st_size, MAX_BYTES)
                if len(found) >= MAX_FILES or total > MAX_TOTAL:
                    raise DifftestError(f"{folder}: too many sources to compare ({len(found)} files)")
                found[path.relative_to(folder).as_posix()] = path
    if not found:
        raise DifftestError(f"{folder}: no C++ file there; name the checkout that the solver was built from")
    return found


def _moved(before: Mapping[str, Path], after: Mapping[str, Path]) -> dict[str, str]:
    """Where files of ``before`` now are that went to another folder: the only file of its name that is gone,
    and the only one that is new.
    """
    gone, came = (_by_name(one.keys() - other.keys()) for one, other in ((before, after), (after, before)))
    return {
        gone[name][0]: came[name][0]
        for name in gone.keys() & came.keys()
        if len(gone[name]) == len(came[name]) == 1
    }


def _by_name(files: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        found.setdefault(file.rpartition("/")[2], []).append(file)
    return found


def read_source(path: Path | None) -> bytes | None:
    """The bytes of a file, none of a file that is not there; None if it is too large or cannot be read."""
    if path is None:
        return b""
    try:
        return read_at_most(path, MAX_BYTES)
    except OSError:
        return None


def _compare(file: str, before: bytes, after: bytes) -> Iterator[Change]:
    split = functions_of if file.endswith(CPP) else _no_functions
    old, new = split(before), split(after)
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, Counter()), new.get(name, Counter())
        if was != now:
            text = "\n".join([*(was - now), *(now - was)])
            literals = frozenset(one or other for one, other in _LITERAL.findall(text))
            yield Change(file, name, frozenset(_IDENTIFIER.findall(text)), literals)


def _no_functions(text: bytes) -> dict[str, Counter[str]]:
    return {"": _lines(text)}


def _lines(text: bytes) -> Counter[str]:
    """The lines of a text with their numbers of times, without comments of a line and space around."""
    lines = (line.strip() for line in text.decode("utf-8", "replace").splitlines())
    return Counter(line for line in lines if line and not line.startswith(_COMMENT))


def functions_of(text: bytes) -> dict[str, Counter[str]]:
    """The lines of each function of a C++ text by the name of the function (``Class::name``; functions of one
    name are one), and under the empty name those outside of functions.

    A text that tree-sitter does not read in five seconds of processor time is read as far as it came.
    """
    found: dict[str, Counter[str]] = {}
    rest: list[bytes] = []
    end = 0
    for name, start, stop in _outer_definitions(text):
        found.setdefault(name, Counter()).update(_lines(text[start:stop]))
        rest.append(text[end:start])
        end = stop
    found[""] = _lines(b"\n".join([*rest, text[end:]]))
    return found


def function_lines(text: bytes) -> Iterator[tuple[str, int, int]]:
    """The functions of a C++ text in their order, named as by :func:`functions_of`, with the numbers of their
    first and last lines, from 1.
    """
    line, end = 1, 0
    for name, start, stop in _outer_definitions(text):
        first = line + text.count(b"\n", end, start)
        line, end = first + text.count(b"\n", start, stop), stop
        yield name, first, line


def _outer_definitions(text: bytes) -> Iterator[tuple[str, int, int]]:
    """The definitions of functions, less those in a function, which belong to that one."""
    end = 0
    for name, start, stop in _definitions(text):
        if start >= end:
            end = stop
            yield name, start, stop


def _definitions(text: bytes) -> list[tuple[str, int, int]]:
    """Name, first byte and end of the definitions of functions, in their order."""
    tree = _parser().parse(_limited(text))
    if tree is None:
        return []
    found: list[tuple[str, int, int]] = []
    waiting: list[tuple[Node, str]] = [(tree.root_node, "")]
    while waiting:
        node, scope = waiting.pop()
        if node.type == "function_definition":
            name = _name(node)
            found.append((f"{scope}{name}" if name else "", node.start_byte, node.end_byte))
            continue
        if node.type in _CLASSES:
            own = node.child_by_field_name("name")
            scope += f"{_text(own)}::" if own is not None and node.type != "namespace_definition" else ""
        waiting += [(child, scope) for child in node.named_children if child.type in _INSIDE]
    return sorted((entry for entry in found if entry[0]), key=lambda entry: entry[1:])


_INSIDE = _CONTAINERS | {"function_definition"}


def _limited(text: bytes) -> Callable[[int, object], bytes]:
    """Hands a text to the parser in pieces; after some seconds of work the text ends."""
    # Not of the clock: what a busy machine left out would stay in the cache.
    end = time.thread_time() + _SECONDS

    def read(offset: int, point: object) -> bytes:
        return text[offset : offset + _CHUNK] if time.thread_time() < end else b""

    return read


def _name(definition: Node) -> str:
    """The name of a function, with the classes that are written before it."""
    node = definition.child_by_field_name("declarator")
    while node is not None and (inner := node.child_by_field_name("declarator")) is not None:
        node = inner
    if node is not None and node.type == "reference_declarator":
        # Its declarator is no field.
        deeper = [child for child in node.named_children if child.type == "function_declarator"]
        node = deeper[0].child_by_field_name("declarator") if deeper else None
    return _text(node) if node is not None else ""


def _text(node: Node) -> str:
    return "".join((node.text or b"").decode("utf-8", "replace").split())[:200]


@cache
def _parser() -> Parser:
    import tree_sitter_cpp
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cpp.language()))
