"""bitwuzla as a command-line solver: the wheel has no executable, so this reads SMT-LIB through its Python
interface.

``python driver.py [--wheel DIR] [--OPTION[=VALUE]]... FILE`` (``-`` reads standard input). The
library prints the answers itself; an error ends the run as ``(error "...")`` with exit status 1.

``--version`` and ``--options`` (as JSON: name, kind, values, default) are asked alone. It stands alone (no
import from this package) so that the command line in a report can be run as it is printed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str]) -> int:
    """The program: parse ``arguments``, read the file, run it; returns the exit code."""
    rest = list(arguments)
    if rest[:1] == ["--wheel"]:
        sys.path.insert(0, rest[1])
        rest = rest[2:]
    try:
        bitwuzla = load()
    except ImportError as problem:
        return _fail(f"bitwuzla cannot be loaded: {problem}")
    if rest == ["--options"]:
        import json  # Only here: a run should not pay for it.

        _print(json.dumps(list(describe_options(bitwuzla))) + "\n")
        return 0
    if rest == ["--version"]:
        _print(f"bitwuzla {getattr(bitwuzla, '__version__', None) or bitwuzla.version()}\n")
        if hasattr(bitwuzla, "git_id"):
            _print(f"git {bitwuzla.git_id().rpartition('@')[2]}\n")
        return 0
    if not rest:
        return _fail("no input file")
    *options, file = rest
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as problem:
        return _fail(f"{file}: {problem.strerror}")
    return run(data.decode("utf-8", "replace"), options)


def load() -> Any:
    """The library; ImportError if it is not there."""
    return import_module("bitwuzla")


def prepare(arguments: Sequence[str]) -> Callable[[Mapping[str, Any], bytes], int]:
    """What a supervisor runs in a forked child on a test, with the library of ``arguments[0]`` loaded: the
    folder of an unpacked wheel, or the installed package's name.
    """
    if Path(arguments[0]).is_dir():
        sys.path.insert(0, arguments[0])
    load()
    return lambda head, text: run(text.decode("utf-8", "replace"), head["options"])


def run(text: str, options: Sequence[str]) -> int:
    """Read ``text`` as the program would a file, print its output at once, return the exit code."""
    bitwuzla = load()
    try:
        settings = bitwuzla.Options()
        if options:
            settings.set_args(*options)
        bitwuzla.Parser(bitwuzla.TermManager(), settings).parse(text, False, False)
    except MemoryError:
        return _fail("out of memory")
    # The library's own errors have no common base that every release exports.
    except Exception as problem:  # noqa: BLE001
        return _fail(str(problem) or type(problem).__name__)
    finally:
        # The library prints through buffers that a forked process, which ends at once, would not empty.
        ctypes.CDLL(None).fflush(None)
    return 0


def describe_options(bitwuzla: Any) -> Iterator[dict[str, Any]]:
    """The name, kind, values and default of each option."""
    options = bitwuzla.Options()
    for option in bitwuzla.Option:
        info = bitwuzla.OptionInfo(options, option)
        kind = _asked(info, "kind")
        described = {"BOOL": "bool", "NUMERIC": "int", "MODE": "mode"}.get(getattr(kind, "name", ""), "text")
        default = _asked(info, "dflt")
        yield {
            "name": _asked(info, "lng"),
            "kind": described,
            "values": list(_asked(info, "modes") or ()) if described == "mode" else [],
            "default": str(default).lower() if described == "bool" else str(default),
        }


def _asked(info: Any, name: str) -> Any:
    # Functions in some releases, attributes in others.
    found = getattr(info, name, None)
    return found() if callable(found) else found


def _fail(message: str) -> int:
    _print('(error "' + message.strip().replace('"', '""') + '")\n')
    return 1


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
