"""bitwuzla as a command-line solver: the wheel has no executable, so this reads SMT-LIB through its Python
interface.

``python bitwuzla_driver.py [--wheel DIR] [--OPTION[=VALUE]]... FILE`` (``-`` reads standard input). The
library prints the answers itself; an error ends the run as ``(error "...")`` with exit status 1. It stands
alone (no import from this package) so that the command line in a report can be run as it is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def main(arguments: Sequence[str]) -> int:
    """The program: parse ``arguments``, read the file, run it; returns the exit code."""
    rest = list(arguments)
    if rest[:1] == ["--wheel"]:
        sys.path.insert(0, rest[1])
        rest = rest[2:]
    try:
        bitwuzla = import_module("bitwuzla")
    except ImportError as problem:
        return _fail(f"bitwuzla cannot be loaded: {problem}")
    if rest == ["--version"]:
        _print(f"bitwuzla {getattr(bitwuzla, '__version__', None) or bitwuzla.version()}\n")
        return 0
    if not rest:
        return _fail("no input file")
    *options, file = rest
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
        settings = bitwuzla.Options()
        if options:
            settings.set_args(*options)
        bitwuzla.Parser(bitwuzla.TermManager(), settings).parse(text, False, False)
    except MemoryError:
        return _fail("out of memory")
    # The library's own errors have no common base that every release exports.
    except Exception as problem:  # noqa: BLE001
        return _fail(str(problem) or type(problem).__name__)
    return 0


def _fail(message: str) -> int:
    _print('(error "' + message.strip().replace('"', '""') + '")\n')
    return 1


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
