"""Boolector as a command-line solver: the wheel has no executable, so this has its C library read SMT-LIB.

``python driver.py [--wheel DIR] [--OPTION[=VALUE] | --no-OPTION]... FILE`` (``-`` reads standard input). The
library prints answers and models itself; an error in the text ends the run as ``(error "...")`` with exit
status 1. It calls the library past the Python extension around it, so a wheel for any version of Python does.

``--version`` and ``--options`` (as JSON: name, kind, values, default) are asked alone. It stands alone (no
import from this package) so that the command line in a report can be run as it is printed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_MODULE = "pyboolector"
# The words for an option's numbers, from its least one on; the library does not tell them.
_WORDS = {
    "beta-reduce": ("none", "fun", "all"),
    "engine": ("fun", "sls", "prop", "aigprop", "quant"),
    "fun-dual-prop-qsort": ("just", "asc", "desc"),
    "fun-eager-lemmas": ("none", "conf", "all"),
    "prop-path-sel": ("controlling", "essential", "random"),
    "quant-synth": ("none", "el", "elmc", "elelmc", "elmr"),
    "sat-engine": ("lingeling", "picosat", "minisat", "cadical", "cms"),
}
_TEXT, _NUMBER, _POINTER = ctypes.c_char_p, ctypes.c_uint32, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "new": (_POINTER,),
    "set_opt": (None, _POINTER, ctypes.c_int, _NUMBER),
    "first_opt": (ctypes.c_int, _POINTER),
    "next_opt": (ctypes.c_int, _POINTER, ctypes.c_int),
    "has_opt": (ctypes.c_bool, _POINTER, ctypes.c_int),
    "get_opt_lng": (_TEXT, _POINTER, ctypes.c_int),
    "get_opt_min": (_NUMBER, _POINTER, ctypes.c_int),
    "get_opt_max": (_NUMBER, _POINTER, ctypes.c_int),
    "get_opt_dflt": (_NUMBER, _POINTER, ctypes.c_int),
    "parse_smt2": (ctypes.c_int, _POINTER, _POINTER, _TEXT, _POINTER, _POINTER, _POINTER),
    "version": (_TEXT, _POINTER),
    "git_id": (_TEXT, _POINTER),
}


def load(folder: str | None = None) -> Any:
    """The library of an unpacked wheel, or of the installed one; ImportError if it is not there."""
    installed = importlib.util.find_spec(_MODULE) if folder is None else None
    root = Path(installed.origin).parent if installed and installed.origin else Path(folder or "")
    # Where the wheels of three years put it; what it needs lies beside it.
    beside = [file for name in ("pyboolector.libs", "PyBoolector.libs", ".libspyboolector")
              for file in sorted((root / name).glob("*.so*"))]  # fmt: skip
    found = [file for file in beside if file.name.startswith("libboolector")]
    if not found:
        raise ImportError(f"there is no library of Boolector in {root}")
    try:
        for file in beside:
            if file not in found:
                ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL(str(found[0]))
    except OSError as problem:
        raise ImportError(str(problem)) from problem
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, f"boolector_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def prepare(arguments: Sequence[str]) -> Callable[[Mapping[str, Any], bytes], int]:
    """What a supervisor runs in a forked child on a test, with the library of ``arguments[0]`` loaded."""
    library = load(arguments[0] if Path(arguments[0]).is_dir() else None)
    return lambda head, text: run(library, text, head["options"])


def run(library: Any, text: bytes, options: Sequence[str], name: str = "<text>") -> int:
    """Read ``text`` as the program would a file, print its output, return the exit code."""
    system = ctypes.CDLL(None)
    system.fmemopen.restype = _POINTER
    system.fmemopen.argtypes = [_TEXT, ctypes.c_size_t, _TEXT]
    btor = library.boolector_new()
    try:
        for number, value in _settings(library, btor, options):
            library.boolector_set_opt(btor, number, value)
        file = system.fmemopen(text, len(text), b"r") if text else None
        if file is None:
            return _fail("empty file")
        message, status = _TEXT(), ctypes.c_int()
        printed = _POINTER.in_dll(system, "stdout" if sys.platform != "darwin" else "__stdoutp")
        library.boolector_parse_smt2(
            btor, file, name.encode(), printed, ctypes.byref(message), ctypes.byref(status)
        )
    except ValueError as problem:
        return _fail(str(problem))
    finally:
        # The library prints through buffers that a forked process, which ends at once, would not empty.
        system.fflush(None)
    if message.value:
        return _fail(message.value.decode("utf-8", "replace"))
    return 0


def _settings(library: Any, btor: Any, options: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The numbers of options and values; ValueError for what the library does not take."""
    known = {name: (number, least, most) for number, name, least, most in _options(library, btor)}
    for option in options:
        name, equals, value = option.removeprefix("--").partition("=")
        if not equals:
            name, value = (name[3:], "0") if name.startswith("no-") else (name, "1")
        if not option.startswith("--") or name not in known:
            raise ValueError(f"no such option: {option}")
        number, least, most = known[name]
        if value in _WORDS.get(name, ()):
            value = str(least + _WORDS[name].index(value))
        value = {"true": "1", "false": "0"}.get(value, value)
        if not value.isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"no value of {name}: {value}")
        yield number, int(value)


def _options(library: Any, btor: Any) -> Iterator[tuple[int, str, int, int]]:
    """Number, name, least and greatest value of each option."""
    number = library.boolector_first_opt(btor)
    while library.boolector_has_opt(btor, number):
        name = library.boolector_get_opt_lng(btor, number).decode()
        least, most = (
            get(btor, number) for get in (library.boolector_get_opt_min, library.boolector_get_opt_max)
        )
        yield number, name, least, most
        number = library.boolector_next_opt(btor, number)


def describe_options(library: Any) -> Iterator[dict[str, Any]]:
    """The name, kind, values and default of each option."""
    btor = library.boolector_new()
    for number, name, least, most in _options(library, btor):
        number_of_default = library.boolector_get_opt_dflt(btor, number)
        words = _WORDS.get(name, ())
        kind = "mode" if words else "bool" if (least, most) == (0, 1) else "int"
        if words:
            default = words[number_of_default - least]
        else:
            default = str(number_of_default) if kind == "int" else str(bool(number_of_default)).lower()
        yield {"name": name, "kind": kind, "values": words, "default": default}


def main(arguments: Sequence[str]) -> int:
    """The program: parse ``arguments``, read the file, run it; returns the exit code."""
    rest, folder = list(arguments), None
    if rest[:1] == ["--wheel"]:
        folder, rest = rest[1], rest[2:]
    try:
        library = load(folder)
    except ImportError as problem:
        return _fail(f"Boolector cannot be loaded: {problem}")
    if rest == ["--options"]:
        import json  # Only here: a run should not pay for it.

        _print(json.dumps(list(describe_options(library))) + "\n")
        return 0
    if rest == ["--version"]:
        _print(_version(library))
        return 0
    if not rest:
        return _fail("no input file")
    *options, file = rest
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as problem:
        return _fail(f"{file}: {problem.strerror}")
    return run(library, text, options, file)


def _version(library: Any) -> str:
    """What it says of its version and, in a line of its own, its commit."""
    btor = library.boolector_new()
    commit = library.boolector_git_id(btor).decode().removesuffix("-dirty").rpartition("-")[2]
    return f"Boolector {library.boolector_version(btor).decode()}\n" + (f"git {commit}\n" if commit else "")


def _fail(message: str) -> int:
    _print('(error "' + message.strip().replace('"', '""') + '")\n')
    return 1


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
