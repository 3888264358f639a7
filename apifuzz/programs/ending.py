"""What a program says of its error at its end, and whether a program that has ended did so by it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from textwrap import indent

from apifuzz.programs.lines import ANSWERS, Line, only_looks
from apifuzz.programs.recording import RAISES
from apifuzz.programs.talking import Ended
from apifuzz.running import faults
from apifuzz.running.faults import LEAK, Fault, shape_of

REPEATS = 8
"""How often a trace is repeated in one process to see whether it leaks."""
_SETTLING = 3
_LEAST_KIB = 256

_MEASURED = f"""

def resident():
    \"\"\"The memory of this process in KiB, without what is free.\"\"\"
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 10


sizes = []
for _ in range({REPEATS}):
    once()
    sizes.append(resident())
print(sizes)
# The first ones load and fill what stays.
grown = [after - before for before, after in zip(sizes[{_SETTLING}:], sizes[{_SETTLING + 1}:])]
assert min(grown) < {_LEAST_KIB}, f"each time at least {{min(grown)}} KiB more are not given back"
"""


def leak_of(resident: Sequence[int]) -> Fault | None:
    """A fault where each repetition, once memory has settled, takes some more; ``resident`` is the memory
    after each of them, in bytes.
    """
    settled = resident[_SETTLING:]
    grown = [after - before for before, after in pairwise(settled)]
    if not grown or min(grown) < _LEAST_KIB << 10:
        return None
    mean = sum(grown) // len(grown)
    return Fault(LEAK, "delete", f"each repetition of the run takes {mean >> 10} KiB more memory")


def repeating(text: str) -> str:
    """A program that repeats the calls of the program ``text`` (imports, an empty line, a call a line), and
    ends in an ``assert`` that fails where memory grows each time.
    """
    imports, _, calls = text.partition("\n\n")
    others = [line for line in imports.splitlines() if line != "import ctypes"]
    head = "".join(f"{line}\n" for line in ("import ctypes", "import gc", "import os", "", *others))
    return f"{head}\n\ndef once():\n{indent(calls.strip() or 'pass', '    ')}\n{_MEASURED}"


_TRUTH = ("True", "False")
_ABOUT_ANSWERS = ("answer", "model", "core", "assumptions")
_ANSWERED = re.compile(r"\banswers? (sat|unsat)\b")
_EXPECTED = re.compile(r"(?::| is) (\S+)(?: instead of|, should be) (\S+)\Z")


def what_is_wrong(lines: Sequence[Line], fault: Fault) -> tuple[str, ...]:
    """Statements that say what is wrong, where the last call does not end the program by itself; none where
    it is not known which of the results is wrong.
    """
    if fault.kind == faults.LEAK or ends_by_itself(lines[-1], fault):
        return ()
    said = " ".join(fault.detail.split())
    what = repr(said[:300])
    if lines[-1].function == "ask" and lines[-1].said.startswith("(error"):
        return _last_answer(lines[-1], what)
    answers = [line for line in lines if line.said in ANSWERS]

    def is_quoted(line: Line) -> bool:
        text = line.said.removesuffix("...")
        return text not in ("", *_TRUTH, *ANSWERS) and text in said

    if fault.kind == "answer" and len(answers) > 1 and answers[-1].said != answers[-2].said:
        one, two = (line.name for line in answers[-2:])
        return f"print({one}, {two})", f"assert str({one}) == str({two}), {what}"
    if answered := _ANSWERED.search(said):
        is_it = bool(answers) and answers[-1].said == answered[1]
        return _must_not_be(answers[-1].name, answered[1], what) if is_it else ()
    if (expected := _EXPECTED.search(said)) and expected[1] not in _TRUTH:
        shown = [line.name for line in lines if line.said == expected[1]]
        if not shown:
            return ()
        return f"print({shown[-1]})", f"assert str({shown[-1]}) == {expected[2]!r}, {what}"
    # What a message quotes was asked after what is wrong, and what only looks says little.
    unquoted = [line for line in lines if not is_quoted(line)] or lines
    last = next((line for line in reversed(unquoted) if not only_looks(line)), unquoted[-1])
    if fault.kind in _ABOUT_ANSWERS and last.said in ANSWERS:
        return _must_not_be(last.name, last.said, what)
    if unquoted[-1].said in _TRUTH:
        return (f"assert {'not ' * (unquoted[-1].said == 'True')}{unquoted[-1].name}, {what}",)
    return _last_answer(lines[-1], what)


def _must_not_be(name: str, answer: str, what: str) -> tuple[str, ...]:
    return f"print({name})", f"assert str({name}) != {answer!r}, {what}"


def _last_answer(last: Line, what: str) -> tuple[str, ...]:
    """What a solver behind a command line answered at last is wrong."""
    if last.function != "ask" or not last.said:
        return ()
    if last.said.endswith("..."):
        return (f"assert not {last.name}.startswith({last.said[:-3]!r}), {what}",)
    return (f"assert {last.name} != {last.said!r}, {what}",)


def ends_by_itself(last: Line, fault: Fault) -> bool:
    """Whether the last call is what fails: it crashes, or is rejected. Solvers behind a command line answer
    that it is.
    """
    if last.function == "ask":
        return last.raised or not last.said
    return fault.kind in (faults.CRASH, faults.REJECTED) or last.raised


def shows(fault: Fault, text: str, code: int | None, printed: str) -> bool:
    """Whether a program that exits by an exception does so by the fault: by its message, or by what the
    program itself says of it at the end.
    """
    if code != 1:
        return False
    last = text.rstrip().rpartition("\n")[2]
    # What Python says after its stack, whose lines are indented.
    lines = reversed(printed.rstrip().splitlines())
    raised = list(takewhile(lambda line: not line.startswith("  "), lines))
    kind, _, said = (raised or [""])[-1].partition(": ")
    if last.startswith("assert "):
        return kind == "AssertionError"
    if fault.kind in (faults.REJECTED, faults.CRASH):
        said = re.sub(r"\Ab(['\"])(.*?)(?:\\n)?\1\Z", r"\2", said)
        # In lockstep the second solver's name stands in front.
        shape = shape_of(said)
        if kind.rpartition(".")[2] == Ended.__name__:
            # How it ended, and the first line of what it said of that.
            return said.partition(")")[0] in fault.detail and shape in fault.shape
        if not shape:
            # All of it is quoted: then it counts as it is.
            return not fault.shape and " ".join(said.split()) in " ".join(fault.detail.split())
        return shape == fault.shape or fault.shape.endswith(f": {shape}")
    expected = last.rpartition(f"# {RAISES} ")[2].partition(": ")
    return kind.rpartition(".")[2] == expected[0] and " ".join(said.split())[:20] == expected[2][:20]
