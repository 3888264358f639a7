"""cvc5 as a command-line solver: the wheel has no executable, so this reads SMT-LIB through its Python
interface.

``python driver.py [--wheel DIR] [--OPTION[=VALUE] | --no-OPTION | -i]... FILE`` (``-`` reads standard
input) prints what the ``cvc5`` program would: answers, models, ``(error "...")`` and, from the library
itself, warnings and fatal failures on standard error. A crash of the library is a crash of this process. It
stops at the first error as the program does, except after a ``get-`` command, where cvc5 continues. Exit
codes: 0; 1 after an error.

``--version`` and ``--options`` (as JSON: name, kind, values, default, category) are asked alone. It stands
alone (no import from this package) so that the command line in a report can be run as it is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_SHORT = {"-i": ("incremental", "true"), "-m": ("produce-models", "true")}


def parse_options(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Turn ``--a``, ``--no-b``, ``--c=d`` and ``-i`` into pairs for ``setOption``; ValueError for others."""
    pairs = []
    for argument in arguments:
        if argument in _SHORT:
            pairs.append(_SHORT[argument])
        elif not argument.startswith("--"):
            raise ValueError(f"not an option: {argument}")
        else:
            name, equals, value = argument[2:].partition("=")
            if not equals:
                name, value = (name[3:], "false") if name.startswith("no-") else (name, "true")
            pairs.append((name, value))
    return pairs


def prepare(arguments: Sequence[str]) -> Callable[[Mapping[str, Any], bytes], int]:
    """What a supervisor runs in a forked child on a test, with the library of ``arguments[0]`` loaded: the
    folder of an unpacked wheel, or the installed package's name.
    """
    if Path(arguments[0]).is_dir():
        sys.path.insert(0, arguments[0])
    version()
    return lambda head, text: run(text, head["options"], _print)


def run(text: bytes, options: Sequence[str], write: Callable[[str], object], name: str = "<text>") -> int:
    """Read ``text`` as cvc5 would a file, ``write`` every printed piece at once, return the exit code."""
    status = 0
    try:
        for verb, printed in execute(text.decode("utf-8", "replace"), options, name):
            if printed:
                write(printed if printed.endswith("\n") else printed + "\n")
            if printed.startswith("(error") and verb != "echo":
                status = 1
                if not verb.startswith("get-"):
                    break
        return status
    except MemoryError:
        write('(error "out of memory")\n')
    except (RuntimeError, ValueError) as problem:
        write(_error(str(problem)))
    return 1


def execute(text: str, options: Sequence[str], name: str = "<text>") -> Iterator[tuple[str, str]]:
    """Execute the commands of ``text`` up to ``exit``: the name of each and what it printed.

    Raises RuntimeError at what cvc5 cannot parse or has not, ValueError for an option that is none.
    """
    import cvc5

    if not hasattr(cvc5, "InputParser"):
        raise RuntimeError(f"cvc5 {version()}: this release's Python interface has no SMT-LIB parser")
    manager = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
    solver = cvc5.Solver(manager) if manager is not None else cvc5.Solver()
    # The program turns incremental mode off for a file unless an option sets it; the library's default is on.
    solver.setOption("incremental", "false")
    for option, value in parse_options(options):
        solver.setOption(option, value)
    symbols = cvc5.SymbolManager(manager if manager is not None else solver)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, name)
    verb = ""
    while verb != "exit":
        try:
            command = parser.nextCommand()
        except RuntimeError as problem:
            raise RuntimeError(f"Parse Error: {problem}") from problem
        if command.isNull():
            return
        verb = command.getCommandName()
        yield verb, command.invoke(solver, symbols)


def _error(message: str) -> str:
    return '(error "' + message.strip().replace('"', '""') + '")\n'


def version() -> str:
    """The version of the cvc5 that is imported here."""
    import cvc5

    found = cvc5.Solver(cvc5.TermManager()) if hasattr(cvc5, "TermManager") else cvc5.Solver()
    text = found.getVersion() if hasattr(found, "getVersion") else getattr(cvc5, "__version__", "unknown")
    return text.decode() if isinstance(text, bytes) else str(text)


def describe_options() -> Iterator[dict[str, Any]]:
    """The name, kind, values, default and category of each option."""
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager()) if hasattr(cvc5, "TermManager") else cvc5.Solver()
    for name in solver.getOptionNames():
        info = solver.getOptionInfo(name)
        kind, values = info.get("type"), [str(value) for value in info.get("modes", ())]
        described = {"mode": "mode", bool: "bool", int: "int", float: "float"}.get(kind, "text")
        default = info.get("default", "")
        yield {
            "name": name,
            "kind": described,
            "values": values,
            "default": str(default).lower() if described == "bool" else str(default),
            # COMMON, REGULAR, EXPERT or UNDOCUMENTED; releases before 1.3 do not say.
            "category": getattr(info.get("category"), "name", ""),
        }


def main(arguments: Sequence[str]) -> int:
    """The program: parse ``arguments``, read the file, run it; returns the exit code."""
    rest = list(arguments)
    if rest[:1] == ["--wheel"]:
        sys.path.insert(0, rest[1])
        rest = rest[2:]
    if rest == ["--options"]:
        import json  # Only here: a run should not pay for it.

        _print(json.dumps(list(describe_options())) + "\n")
        return 0
    if rest == ["--version"]:
        _print(f"This is cvc5 version {version()} (Python interface)\n")
        _print_build()
        return 0
    if not rest:
        _print('(error "no input file")\n')
        return 1
    *options, file = rest
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as problem:
        _print(_error(f"Couldn't open file: {file}: {problem.strerror}"))
        return 1
    return run(text, options, _print, file)


def _print_build() -> None:
    """How the library was built, in its own words, with the commit; it can only be made to print it."""
    import ctypes  # Only here: a run should not pay for it.

    import cvc5

    try:
        cvc5.Solver().setOption("show-config", "true")
    except Exception as problem:  # noqa: BLE001 (releases differ in what they raise; the version is printed already)
        _print(f"{problem}\n")
    # This process ends without the library's own end, which would write out what it printed.
    ctypes.CDLL(None).fflush(None)


def _print(text: str) -> None:
    # Written at once: what was answered before a crash must not die in a buffer.
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    code = main(sys.argv[1:])
    # The order in which Python drops the library's objects at exit is not the solver's business.
    os._exit(code)
