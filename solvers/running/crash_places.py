"""The place of a crash, as a name that all tests of one fault share: ``file:line`` or a function.

The solver's own message counts first (a failed assertion names its line), then the stack in the report of a
sanitizer or debugger, then any source line in the output. In a stack the first frame that can distinguish
causes counts; ``plumbing`` lists frames that cannot. Addresses, columns, folders, template arguments and
parameters differ between builds and are left out; line numbers are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import PurePosixPath

from solvers.running.plumbing import is_plumbing_file, is_plumbing_function, is_plumbing_module

# Limits in characters: of a text (half at its beginning, half at its end), a function, and a path.
_MOST_TEXT = 1 << 20
_MOST_NAME = 8000
_MOST_PATH = 1000

NOT_FATAL = re.compile(r": runtime error: |ERROR: LeakSanitizer|WARNING: ThreadSanitizer")
"""Reports after which the program continues: how it ends later says more about the cause."""
_REPORT = re.compile(r": runtime error: |(?:ERROR|WARNING): \w{1,40}Sanitizer\b")

# No part below can match in more than one way, so that time is linear in hostile output.
_SOURCE_LINE = re.compile(
    r"(?<![\w./+-])(?P<file>[\w./+-]+\.(?:cpp|cc|cxx|c|h|hh|hpp|rs)):(?P<line>\d+)", re.ASCII
)
_Z3_FILE = re.compile(r"\s*File: (?P<file>\S+)\s*$")
_Z3_LINE = re.compile(r"\s*Line: (?P<line>\d+)\s*$")
_CVC5_AT = re.compile(r" at (?P<file>[^\s:]+):(?P<line>\d+)")
# A failed assertion as on macOS.
_FILE_COMMA_LINE = re.compile(r", file (?P<file>[^\s,]+), line (?P<line>\d+)")
_PANICKED = re.compile(r"panicked at (?:'[^']*', )?(?P<file>[^\s:]+):(?P<line>\d+)")

# Sanitizers and gdb (#3 0x12 in f ...), Boost ( 3# f ...).
_NUMBERED = re.compile(r"\s*(?:#\d{1,5}|\d{1,5}#)\s+(?P<address>0x[0-9a-fA-F]+(?:\s+in\b)?)?\s*")
_IN_MODULE = re.compile(r"(?P<module>[^()]*)\+0x[0-9a-f]+\)")
_BUILD = re.compile(r"BuildId: [0-9a-f]+\)")
_POSITION = re.compile(r"(?P<file>[^?<].*?):(?P<line>\d+)(?::\d+)?")
# glibc's backtrace(): module(name+0x12) [0x34].
_GLIBC = re.compile(r"\s*(?P<module>[^\s()]*)\((?P<function>[^\s()]*)\+0x[0-9a-f]+\)\s?\[0x[0-9a-f]+\]\s*$")
_JAVA = re.compile(r"\s+at (?P<function>[\w.$/<>]+)\((?P<file>\w+\.(?:java|scala|kt)):(?P<line>\d+)\)")
_OCAML = re.compile(
    r"(?:Raised|Re-raised|Called) \w+ (?P<function>[^\s\"]*)(?: in)? ?file \"(?P<file>[^\"]+)\"[^,]*, "
    r"lines? (?P<line>\d+)"
)
_RUST = re.compile(r"\s+at (?P<file>\S+?):(?P<line>\d+):\d+\s*$")

_GDB_FRAME = re.compile(r"#\d{1,5}\s")
# What gdb prints before the stack of a program that dies.
_GDB_SIGNAL = " received signal "
# Functions of Python, and of Cython's modules, below which nothing is the solver's.
_INTERPRETER = re.compile(r"_?Py|__pyx_|ffi_call|_ctypes|main$|__libc_start")
# Its sources, where it has debug symbols.
_INTERPRETER_FILE = re.compile(r"(?:\./)?(?:Modules|Objects|Python)/(?:\w+/)?\w+\.c(?:\.h)?")

_OPERATOR_OR_BRACKET = re.compile(r"(?<!\w)operator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?)|->|[<>()]")
ANONYMOUS = "{anonymous}"
"""Stands in names for ``(anonymous namespace)``."""
_NAME = re.compile(r"(?!operator\b)[A-Za-z_~${][\w.~$:#{}<>()=!+*/%^&|\[\]-]*( new| delete)?$", re.ASCII)
# One piece of a mangled name: a name's length, a constructor, what stands for an earlier piece, a number.
_MANGLED = re.compile(r"\d{1,4}|[CD]\d|[ST][0-9A-Z]{0,3}_|St|L[a-z]n?\d+E|.", re.ASCII)


class _Weight(IntEnum):
    """How informative a place is, the most informative first."""

    SAID = 0
    DEADLY_REPORT = 1
    FIRST_REPORT = 2
    ANYWHERE = 3


@dataclass(frozen=True, slots=True)
class CrashPlace:
    """``place`` is a ``file:line`` or function that identifies a cause; ``named`` is the ``file:line`` in a
    message that faults of many causes share. None if there is none.
    """

    place: str | None
    named: str | None = None


@dataclass(frozen=True, slots=True)
class _Frame:
    function: str = ""
    file: str | None = None
    line: str = ""
    module: str = ""


@dataclass(slots=True)
class _Reading:
    """State while reading the output line by line."""

    found: dict[_Weight, str] = field(default_factory=dict)
    named: str | None = None
    # Weight of the next frames; None in reports about another crash.
    weight: _Weight | None = _Weight.FIRST_REPORT
    reports: int = 0
    # The file of a failed assertion, from z3's line before.
    z3_file: str | None = None
    # How often each place occurs in an overflown stack.
    overflown: Counter[str] | None = None

    def take(self, weight: _Weight, place: str | None) -> None:
        if place is not None:
            self.found.setdefault(weight, place)

    def said(self, weight: _Weight, match: re.Match[str] | None) -> None:
        """A message that names its place."""
        if match is not None:
            self.at(weight, match["file"], match["line"])

    def at(self, weight: _Weight, file: str, line: str) -> None:
        place = _in_file(file, line)
        self.take(weight, place)
        if place is None and self.named is None:
            self.named = _short(file, line)


def crash_place(text: str) -> str | None:
    """The place of the crash in ``text``, a solver's complete output; None if it names no place."""
    return find_crash_place(text).place


def find_crash_place(*texts: str) -> CrashPlace:
    """The place of the crash in the output of several streams, and the place that a message names."""
    reading = _Reading()
    for text in texts:
        if len(text) > _MOST_TEXT:
            text = text[: _MOST_TEXT // 2] + "\n" + text[-_MOST_TEXT // 2 :]
        for line in text.splitlines():
            _read(reading, line)
    if reading.overflown and _Weight.SAID not in reading.found:
        # The innermost frame is arbitrary; the cycle of the recursion is not.
        if max(reading.overflown.values()) > 1:
            return CrashPlace(_of_cycle(reading.overflown))
    return CrashPlace(reading.found[min(reading.found)] if reading.found else None, reading.named)


def stack_of(text: str) -> list[str]:
    """The functions of a stack that gdb prints, the innermost first: without those at its top that only end
    the program or hold data, and without those of Python at its end. Repeated frames come once.
    """
    names: list[str] = []
    for frame in _frames_of(text):
        if not names and _place(frame) is None:
            continue
        name = plain_name(frame.function)
        shown = f"{name} at {_short(frame.file, frame.line)}" if frame.file else name
        shown = shown.replace(ANONYMOUS, "(anonymous namespace)")
        names += [shown] if shown not in ("", "??") and names[-1:] != [shown] else []
    return names


def function_of(text: str, most: int) -> str | None:
    """The function that identifies the cause of a crash in a stack of which gdb printed ``most`` frames at
    most: the innermost one that can, or where there may be more frames (a recursion without end) one that
    the recursion comes by. None if it has no name, as in a program without symbols.
    """
    # What stands before is of the program itself.
    _, is_dead, stack = text.rpartition(_GDB_SIGNAL)
    if not is_dead:
        return None
    names = []
    nameless = 0
    for frame in _frames_of(stack):
        if _place(frame) is not None:
            names.append(plain_name(frame.function))
        elif not names and frame.function.startswith("??"):
            nameless += not is_plumbing_module(frame.module[-_MOST_PATH:])
    # One may be a call through a broken pointer.
    if not names or nameless > 1:
        return None
    return _of_cycle(Counter(names)) if f"\n#{most - 1} " in stack else names[0]


def _frames_of(text: str) -> Iterator[_Frame]:
    """The frames of the solver in a stack that gdb prints."""
    for line in text.splitlines():
        if not _GDB_FRAME.match(line) or (frame := _frame(line)) is None:
            continue
        if _INTERPRETER.match(plain_name(frame.function)) or (
            frame.file and _INTERPRETER_FILE.fullmatch(frame.file[-_MOST_PATH:])
        ):
            return
        yield frame


def _of_cycle(counts: Counter[str]) -> str:
    """One of the places that a recursion comes by in each turn. Its last turn is incomplete."""
    most = max(counts.values())
    return min(place for place, times in counts.items() if 2 * times >= most)


def file_of(place: str) -> str:
    """The file of a ``file:line``; a function is returned unchanged."""
    return re.sub(r":\d+$", "", place)


def _read(reading: _Reading, line: str) -> None:
    z3_file, reading.z3_file = reading.z3_file, None
    if _REPORT.search(line):
        _begin_report(reading, line)
    elif match := _Z3_FILE.match(line):
        reading.z3_file = match["file"]
    elif z3_file is not None and (match := _Z3_LINE.match(line)):
        reading.at(_Weight.SAID, z3_file, match["line"])
    elif "Fatal failure within" in line:
        reading.said(_Weight.SAID, _CVC5_AT.search(line, line.index("Fatal failure within")))
    elif "Assertion" in line and "failed" in line:
        reading.said(_Weight.SAID, _FILE_COMMA_LINE.search(line) or _SOURCE_LINE.search(line))
    elif "panicked at" in line:
        reading.said(_Weight.SAID, _PANICKED.search(line))
    elif (frame := _frame(line)) is not None:
        if reading.weight is not None:
            place = _place(frame)
            reading.take(reading.weight, place)
            if reading.overflown is not None and place is not None:
                reading.overflown[place] += 1
    elif reading.weight is not None:
        for match in _SOURCE_LINE.finditer(line):
            reading.take(_Weight.ANYWHERE, _in_file(match["file"], match["line"]))


def _begin_report(reading: _Reading, line: str) -> None:
    reading.reports += 1
    reading.weight = _Weight.FIRST_REPORT if reading.reports == 1 else None
    if not NOT_FATAL.search(line) and _Weight.DEADLY_REPORT not in reading.found:
        reading.weight = _Weight.DEADLY_REPORT
        if "stack-overflow" in line:
            reading.overflown = Counter()
    elif reading.weight is not None and ": runtime error: " in line:
        before = line[: line.index(": runtime error: ")]
        reading.said(reading.weight, _SOURCE_LINE.search(before))


def _in_file(file: str, line: str) -> str | None:
    return None if is_plumbing_file(file[-_MOST_PATH:]) else _short(file, line)


def _short(file: str, line: str) -> str:
    return f"{PurePosixPath(file[-_MOST_PATH:]).name}:{line}"


def _place(frame: _Frame) -> str | None:
    """The name of a frame, if it identifies a cause."""
    name = plain_name(frame.function)
    if is_plumbing_function(name):
        return None
    if frame.file is not None:
        return _in_file(frame.file, frame.line)
    if is_plumbing_module(frame.module[-_MOST_PATH:]) or not _NAME.match(name):
        return None
    return name


def _frame(line: str) -> _Frame | None:
    """The stack frame in a line; None for any other line."""
    if match := _NUMBERED.match(line):
        return _numbered(line[match.end() :].rstrip(), has_address=match["address"] is not None)
    if match := _GLIBC.match(line):
        return _Frame(match["function"], module=match["module"])
    if match := _JAVA.match(line) or _OCAML.match(line):
        return _Frame(match["function"], match["file"], match["line"])
    if match := _RUST.match(line):
        return _Frame("", match["file"], match["line"])
    return None


def _numbered(rest: str, has_address: bool) -> _Frame | None:
    """A frame without its number and address: ``f FILE:LINE:COLUMN``, ``f at FILE:LINE``,
    ``f (MODULE+0x12)``, ``f from MODULE`` or ``f in MODULE``.
    """
    rest, module = f" {rest}", ""
    for _ in range(2):
        head, bracket, tail = rest.rpartition(" (")
        if bracket and _BUILD.fullmatch(tail):
            rest = head
        elif bracket and (match := _IN_MODULE.fullmatch(tail)):
            rest, module = head, match["module"]
    head, _, tail = rest.rpartition(" ")
    if match := _POSITION.fullmatch(tail[-_MOST_PATH:]):
        return _Frame(head.removesuffix(" at"), match["file"], match["line"])
    if tail in ("<null>", "??:0", "??:?"):
        rest = head
    for word in (" from", " in"):
        if head.endswith(word):
            rest, module = head.removesuffix(word), tail
    # z3 numbers the terms that it prints in the same way.
    return _Frame(rest.strip(), module=module) if has_address or module else None


def plain_name(function: str) -> str:
    """A function's qualified name without return type, template arguments, parameters and suffixes of its
    compiler: ``void f<int>::g(T) const [clone .cold]`` is ``f::g``.
    """
    function = function[:_MOST_NAME]
    if function.startswith("_Z"):
        return _demangled(function)
    name = "".join(_outside_brackets(function.replace("(anonymous namespace)", ANONYMOUS)))
    name = re.sub(
        r"\[(?:abi|clone)[^\[\]]*\]|(?:\.(?:cold|isra|part|constprop|lto_priv)(?:\.\d+)*)+$", "", name
    )
    name = re.sub(r"::(?:::)+", "::", name).strip()
    while (shorter := name.removesuffix(" const").removesuffix(" volatile").rstrip("&: ")) != name:
        name = shorter
    head, operator, tail = name.rpartition("operator ")
    return (head.rpartition(" ")[2] + operator + tail) if operator else name.rpartition(" ")[2]


def _outside_brackets(function: str) -> Iterator[str]:
    """The pieces of a name outside brackets; brackets in an operator's name do not count."""
    depth = at = 0
    for match in _OPERATOR_OR_BRACKET.finditer(function):
        token = match.group()
        if depth == 0:
            yield function[at : match.start()]
            if len(token) > 1:
                yield "".join(token.split())
        if token in "(<":
            depth += 1
        elif token in ")>":
            depth = max(0, depth - 1)
        at = match.end()
    if depth == 0:
        yield function[at:]


def _demangled(name: str) -> str:
    """The names in ``_ZN3smt6solver4mainEv`` or ``_Z4mainv``, without template arguments."""
    nested = name.startswith("_ZN")
    parts: list[str] = []
    at, depth = len("_ZN" if nested else "_Z"), 0
    while match := _MANGLED.match(name, at):
        token, at = match.group(), match.end()
        if token.isdecimal():
            at += int(token)
            parts += [name[match.end() : at]] if depth == 0 else []
        elif token == "St" and depth == 0:
            parts.append("std")
            continue
        elif token == "E":
            depth -= 1
        else:
            depth += token in ("I", "N", "X", "J", "F")
        if depth < 0 or not nested:
            break
    return "::".join(parts).replace("_GLOBAL__N_1", ANONYMOUS)
