"""The JSON objects of a file, one by one: in arrays, arrays of arrays, one after another, a line each."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from miner.errors import BadInput

_CHUNK = 1 << 20
# In characters: an issue with all its comments takes less.
LARGEST_OBJECT = 64 << 20
_BETWEEN = re.compile(r"[\s,\[\]]*")
_DECODER = json.JSONDecoder(strict=False)


def objects_in(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object with the line it begins on (from 1). Raises BadInput, with the place, where the file is cut
    off or not JSON; what came before has been given by then.
    """
    stream = _Stream(file, name)
    while stream.skip_between():
        yield stream.line, stream.take()


class _Stream:
    """A file while it is read: the text that was read and not yet given, and where in the file it is."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.line = 1
        self._file = file
        self._name = name
        self._text = ""
        self._position = 0
        self._depth = 0
        self._at_end = False
        # What is wrong with the bytes after the text, if anything.
        self._not_text = ""
        self._decoder: codecs.IncrementalDecoder | None = None

    def _read(self, count: int) -> None:
        """Add up to ``count`` bytes to the text."""
        data = self._file.read(count)
        if self._decoder is None:
            # PowerShell's ">" writes UTF-16.
            encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
            self._decoder = codecs.getincrementaldecoder(encoding)()
        self._at_end = not data
        try:
            text = self._decoder.decode(data, final=self._at_end)
        except UnicodeDecodeError as error:
            # What comes before is given first.
            text = error.object[: error.start].decode(error.encoding)
            if not self._at_end:
                self._not_text = f" is not {error.encoding.upper()} text ({error.reason}): save it as UTF-8"
            self._at_end = True
        self._text = self._text[self._position :] + text
        self._position = 0

    def skip_between(self) -> bool:
        """Go to the next object; False at the end."""
        while True:
            between = _BETWEEN.match(self._text, self._position)
            assert between is not None
            self._depth += between[0].count("[") - between[0].count("]")
            self.line += between[0].count("\n")
            self._position = between.end()
            if self._position < len(self._text):
                break
            if self._at_end:
                if self._depth > 0 or self._not_text:
                    raise self._cut_off()
                return False
            self._read(_CHUNK)
        if self._text[self._position] != "{":
            begin = self._text[self._position :][:30].split("\n")[0]
            raise BadInput(f"{self._name}, line {self.line}: expected a JSON object, got {begin!r}")
        return True

    def take(self) -> dict[str, Any]:
        """The object that begins here."""
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._position)
                break
            except RecursionError:
                raise BadInput(f"{self._name}, line {self.line}: JSON that is nested too deeply") from None
            except ValueError as error:
                if self._at_end:
                    raise self._damage(error) from None
            if len(self._text) - self._position > LARGEST_OBJECT:
                limit = LARGEST_OBJECT >> 20
                raise BadInput(f"{self._name}, line {self.line}: not JSON, or an object of over {limit} MiB")
            # Twice as much each time: what is not whole yet is parsed again.
            self._read(max(_CHUNK, len(self._text) - self._position))
        self.line += self._text.count("\n", self._position, end)
        self._position = end
        assert isinstance(found, dict)
        return found

    def _damage(self, error: ValueError) -> BadInput:
        is_cut = isinstance(error, json.JSONDecodeError) and (
            error.pos >= len(self._text.rstrip()) - len(r"\u12ab") or error.msg.startswith("Unterminated")
        )
        return self._cut_off() if is_cut else BadInput(f"{self._name}, line {self.line}: not JSON ({error})")

    def _cut_off(self) -> BadInput:
        if self._not_text:
            return BadInput(
                f"{self._name}, line {self.line}, or the object that begins there,{self._not_text}"
            )
        return BadInput(
            f"{self._name} is cut off in the object or list that begins on line {self.line};"
            " what came before it is stored: make the dump again, and run the same command"
        )
