"""The calls that a wrapper makes on its solver's Python interface, recorded as a program of their own.

The methods of the interface's classes are replaced, in the classes' dictionaries, by ones that write down
what is called and then call it; its classes by what writes down that one is made. So the program has exactly
the calls of the run, but for what operators like ``==`` do, and every line stands there before its call is
made. Objects that came about in no recorded way have no name: then there is no program.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

RECORDABLE = ("cvc5", "bitwuzla")
"""Solvers whose interface is made of classes with methods that can be recorded."""

NO_NAME = "<no name>"
"""What stands in a program for an object that has no name; such a program is no good."""

# Calls on objects of these classes do something; calls on all others only tell, or make what others need.
_SOLVING = frozenset(("Solver", "Bitwuzla", "InputParser", "Parser", "Options.set"))
_MAKING = frozenset(("TermManager", "Grammar", "DatatypeDecl", "DatatypeConstructorDecl", "SymbolManager"))
_PLAINLY_MADE = ("TermManager", "Options")
_MOST_SHOWN = 60
_LINE = re.compile(r"(v\d+) = (.*)\Z")
_VARIABLE = re.compile(r"\bv\d+\b")


class Recorder:
    """Writes a line per call with ``write``, the comment with its result after it."""

    def __init__(self, module: ModuleType, write: Callable[[str], None]) -> None:
        self.module = module
        self.write = write
        self.names: dict[int, str] = {}
        # Names are by identity: nothing that has one may go.
        self.kept: list[Any] = []
        self.depth = 0
        self.count = 0

    def call(
        self, callee: str, function: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]
    ) -> Any:
        """Make a call, written down unless it is one that a recorded call makes."""
        if self.depth:
            return function(*args, **keywords)
        shown = [self.text(arg) for arg in (args if callee.startswith(self.module.__name__) else args[1:])]
        shown += [f"{name}={self.text(value)}" for name, value in keywords.items()]
        self.count += 1
        name = f"v{self.count}"
        self.write(f"{name} = {callee}({', '.join(shown)})")
        self.depth += 1
        try:
            result = function(*args, **keywords)
        except Exception as error:
            self.write(f"  # raises {type(error).__name__}: {_short(str(error))}\n")
            raise
        finally:
            self.depth -= 1
        self.write(f"  # {_short(str(result))}\n" if _is_telling(result) else "\n")
        self.name(result, name)
        return result

    def name(self, value: Any, name: str) -> None:
        """From now on ``value`` is written as ``name``."""
        if isinstance(value, (list, tuple)):
            self.kept.append(value)
            for place, element in enumerate(value):
                self.name(element, f"{name}[{place}]")
        elif type(value).__module__.partition(".")[0] == self.module.__name__ and not _is_plain(value):
            self.kept.append(value)
            self.names[id(value)] = name

    def text(self, value: Any) -> str:
        """How a program writes a value."""
        if isinstance(value, enum.Enum):
            return f"{self.module.__name__}.{type(value).__name__}.{value.name}"
        if _is_plain(value):
            return repr(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            return f"({''.join(self.text(element) + ', ' for element in value)})"
        if id(value) not in self.names and type(value).__name__ in _PLAINLY_MADE:
            # Made where the class had been looked up before; there is one way to make it.
            self.count += 1
            self.write(f"v{self.count} = {self.module.__name__}.{type(value).__name__}()\n")
            self.name(value, f"v{self.count}")
        return self.names.get(id(value), NO_NAME)


class _Maker:
    """Stands for a class in its module: making an object of it is written down."""

    def __init__(self, recorder: Recorder, name: str, made: type) -> None:
        self._recorder, self._name, self._made = recorder, name, made

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        callee = f"{self._recorder.module.__name__}.{self._name}"
        return self._recorder.call(callee, self._made, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._made)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, bytes, enum.Enum))


def _is_telling(result: object) -> bool:
    """Whether a result says something beside what was called."""
    return isinstance(result, (bool, int, str, enum.Enum)) or type(result).__name__ in ("Result", "list")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 3] + "..."


@contextmanager
def recording(module: ModuleType, write: Callable[[str], None]) -> Iterator[None]:
    """Inside, calls of the classes of ``module`` are written down."""
    recorder = Recorder(module, write)
    changed: list[tuple[dict[str, Any], str, Any]] = []
    classes = [
        (name, value)
        for name, value in sorted(vars(module).items())
        if isinstance(value, type)
        and not issubclass(value, enum.Enum)
        and not issubclass(value, BaseException)
    ]
    for name, made in classes:
        if made.__module__.partition(".")[0] != module.__name__:
            continue
        # The classes are of C: their dictionaries are behind a proxy.
        members: dict[str, Any] = gc.get_referents(made.__dict__)[0]
        for method in sorted(members):
            if not method.startswith("_") and callable(members[method]):
                changed.append((members, method, members[method]))
                members[method] = _recorded(recorder, method, members[method])
        changed.append((vars(module), name, made))
        vars(module)[name] = _Maker(recorder, name, made)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))
    try:
        yield
    finally:
        for members, name, original in reversed(changed):
            members[name] = original
        for _, made in classes:
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))


def _recorded(recorder: Recorder, method: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def recorded(*args: Any, **keywords: Any) -> Any:
        callee = f"{recorder.text(args[0]) if args else NO_NAME}.{method}"
        return recorder.call(callee, function, args, keywords)

    return recorded


def programs(module: str, recorded: str) -> Iterator[str]:
    """Programs of what was recorded, the shortest first: with calls on solvers and what these need, and with
    calls that make terms that nothing needs, too. None where something needed has no name.
    """
    for acting in (_SOLVING, _SOLVING | _MAKING):
        lines = list(_chosen(module, recorded.splitlines(), acting))
        if not any(NO_NAME in line.partition("  # ")[0] for line in lines):
            yield f"import {module}\n\n" + "".join(line + "\n" for line in reversed(lines))


def _chosen(module: str, lines: Sequence[str], acting: frozenset[str]) -> Iterator[str]:
    """The lines of a program from its last one on."""
    made = {found[1]: found[2] for line in lines if (found := _LINE.match(line))}
    needed: set[str] = set()
    last = True
    for line in reversed(lines):
        found = _LINE.match(line)
        if found is None:
            continue
        name, text = found.groups()
        code = text.partition("  # ")[0]
        if last or name in needed or (NO_NAME not in code and _class_called(module, code, made) in acting):
            yield f"{name} = {text}" if name in needed else text
            needed.update(_VARIABLE.findall(code))
        last = False


def _class_called(module: str, code: str, made: dict[str, str]) -> str:
    """The class of the object that a line calls a method of; ``Options.set`` for changes of options."""
    owner, _, method = code.partition("(")[0].partition(".")
    made_by, _, made_as = made.get(owner, "").partition("(")[0].partition(".")
    if made_by != module:
        return ""
    return f"{made_as}.set" if made_as == "Options" and method.startswith("set") else made_as
