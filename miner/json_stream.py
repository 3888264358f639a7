"""Streams the JSON objects of a file: in (nested) arrays, one after another, or one per line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import ijson
from ijson.common import ObjectBuilder

from miner.errors import BadDump

LARGEST_OBJECT = 64 << 20
"""In bytes. An issue with all its comments is smaller."""


def objects_in(file: BufferedReader, name: str) -> Iterator[dict[str, Any]]:
    """Yield each outermost object. Raises BadDump, with the position, if the file is truncated or not JSON,
    after yielding the objects before that.
    """
    source = _Bounded(file)
    builder, depth, count = ObjectBuilder(), 0, 0
    try:
        for event, value in ijson.basic_parse(source, multiple_values=True, use_float=True):
            depth += (event == "start_map") - (event == "end_map")
            if depth or event == "end_map":
                builder.event(event, value)
            elif event not in ("start_array", "end_array"):
                raise BadDump(f"{name} has {value!r} after {count} objects: expected a list of objects")
            if event == "end_map" and not depth:
                source.taken = 0
                count += 1
                yield builder.value
                builder = ObjectBuilder()
    except ijson.JSONError as error:
        if not source.anything:
            return
        text = str(error).partition("\n")[0]  # without what is in the file there
        known = {
            "premature EOF": "is cut off",
            "UTF8": "is not UTF-8 text",
            "overflow": "has a number that is too large",
        }
        why = next((said for sign, said in known.items() if sign in text), "is not JSON")
        stored = "those are stored: " if count else ""
        hint = f"{stored}create the dump again, and repeat the command"
        raise BadDump(f"{name} {why} after {count} objects; {hint}") from None
    except _TooLarge:
        raise BadDump(f"{name} has over {LARGEST_OBJECT >> 20} MiB in one object, after {count}") from None


class _TooLarge(Exception):
    pass


class _Bounded:
    """A file, decoded to UTF-8, that limits the number of bytes read since ``taken`` was set to 0."""

    def __init__(self, file: BufferedReader) -> None:
        mark = file.peek(3)[:3]
        if mark == codecs.BOM_UTF8:
            file.read(3)
        # PowerShell's ">" writes UTF-16.
        is_utf16 = mark[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        # Half a pair becomes U+FFFD: an error would lose the objects before it.
        self._file: Any = codecs.EncodedFile(file, "utf-8", "utf-16", "replace") if is_utf16 else file
        self.anything = bool(mark)
        self.taken = 0

    def read(self, count: int) -> bytes:
        data: bytes = self._file.read(count)
        self.taken += len(data)
        if self.taken > LARGEST_OBJECT:
            raise _TooLarge
        return data
