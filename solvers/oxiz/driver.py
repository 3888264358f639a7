"""oxiz at the command line, for its release: its wheel has no program and reads no SMT-LIB scripts.

``python driver.py [--wheel DIR] --version`` prints the release and ``--options`` the options (none); any file
ends as ``(error "...")`` with exit status 1. ``exhume apifuzz`` makes calls to the library
instead. It stands alone (no import from this package) so that the command line in a report can be run as it
is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str]) -> int:
    """The program: parse ``arguments`` and answer them; returns the exit code."""
    rest = list(arguments)
    if rest[:1] == ["--wheel"]:
        sys.path.insert(0, rest[1])
        rest = rest[2:]
    if rest == ["--options"]:
        sys.stdout.write("[]\n")
        return 0
    try:
        oxiz = import_module("oxiz")
    except ImportError as problem:
        return _fail(f"oxiz cannot be loaded: {problem}")
    if rest == ["--version"]:
        sys.stdout.write(f"oxiz {oxiz.__version__}\n")
        return 0
    return _fail("oxiz reads no SMT-LIB scripts: use exhume apifuzz")


def prepare(arguments: Sequence[str]) -> Callable[[Mapping[str, Any], bytes], int]:
    """What a supervisor runs in a forked child on a test: the same error."""
    if Path(arguments[0]).is_dir():
        sys.path.insert(0, arguments[0])
    return lambda head, text: main(["file"])


def _fail(message: str) -> int:
    sys.stdout.write('(error "' + message.replace('"', '""') + '")\n')
    sys.stdout.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
