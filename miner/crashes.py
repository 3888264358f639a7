"""Finds where a solver crashed, and what it said: file, line, function and message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from solvers.running.crash_places import find_crash_place, plain_name

_READ = 60_000
_LONG = 300

# A place in words, such as a title.
_NAMED = re.compile(
    r"\b(?P<file>[\w+-]{1,80}\.(?:cpp|cc|cxx|c|h|hh|hpp|rs|java|scala|ml))"
    r"(?::|\"?,? [Ll]ine:? )(?P<line>\d{1,6})\b"
)
_FILE_AND_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)")
# "Fatal failure within FUNCTION at FILE:LINE", "FILE:LINE: FUNCTION: Assertion `...' failed",
# "#3 0x12 in FUNCTION FILE:LINE"
_WITHIN = re.compile(r"Fatal failure within (?P<function>[^\n]{1,2000}?) at [^\s:]+:\d+")
_ASSERTING = re.compile(r":\d+: (?P<function>[^\n]{1,2000}?): Assertion ")
_IN_FRAME = re.compile(r"#\d{1,5}\s+(?:0x[0-9a-fA-F]+ in )?(?P<function>[^\n]{1,2000}?) (?:at )?\S*$")
_MESSAGES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"Assertion [`'](?P<message>[^\n]{1,2000})' failed",
        r"^Line: \d+\s*\n(?!\(C\)ontinue)(?P<message>[^\n]{1,2000})",
        r"^(?:Check failure|Unhandled case|Unreachable code)[^\n]*\n\s*(?P<message>\S[^\n]{0,2000})",
        r"Failed to verify: (?P<message>[^\n]{1,2000})",
        r"(?:ERROR|WARNING): \w+Sanitizer: (?P<message>[\w-]+(?: [\w-]+){0,3})",
        r": runtime error: (?P<message>[^\n]{1,2000})",
        r"^(?P<message>(?:terminate called|UNEXPECTED CODE|Unhandled|Unreachable|Internal)[^\n]{0,2000})",
        r"(?P<message>Segmentation fault|Illegal instruction|Bus error|Aborted)",
    )
)


@dataclass(frozen=True, slots=True)
class Crash:
    """The place and message of a crash, as far as the output shows them. ``line``: 0 if unknown."""

    file: str = ""
    line: int = 0
    function: str = ""
    message: str = ""


def crash_of(text: str) -> Crash | None:
    """The crash that a solver's output shows; None if it shows neither a place nor a message."""
    # Blocks of output lose the spaces before each line; frames of Java start with some.
    text = re.sub(r"^at (?=[\w.$/<>]+\()", " at ", text[:_READ], flags=re.MULTILINE)
    found = find_crash_place(text)
    place = found.place or found.named or ""
    if not place and (match := _NAMED.search(text)):
        place = f"{match['file']}:{match['line']}"
    named = _FILE_AND_LINE.fullmatch(place)
    function = _function(text, place) if named else place
    message = next((m["message"] for pattern in _MESSAGES if (m := pattern.search(text))), "")
    if not place and not message:
        return None
    file, line = (re.split(r"[\\/]", named["file"])[-1], int(named["line"])) if named else ("", 0)
    return Crash(file, line, function[:_LONG], " ".join(message.split())[:_LONG])


def _function(text: str, place: str) -> str:
    """The function at a place, by the line of the output that names both."""
    for line in text.split("\n"):
        if place in line:
            found = _WITHIN.search(line) or _ASSERTING.search(line)
            found = found or _IN_FRAME.search(line.rstrip().partition(place)[0] + place)
            if found is not None:
                return plain_name(found["function"])
    return ""
