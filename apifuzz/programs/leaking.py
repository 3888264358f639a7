"""When memory counts as leaked by a run, and the program that shows it: the run's calls, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import indent

from apifuzz.running.faults import LEAK, Fault

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
