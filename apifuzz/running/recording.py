"""The calls that an engine makes on its solver's Python interface, written down as lines of a program.

The methods and functions of the interface are replaced by ones that write down what is called and then call
it (``hooks.py``). So the program has exactly the calls of the run, and every line stands there before its
call is made. Objects that came about in no recorded way have no name; what needs them is no program.
"""

from __future__ import annotations

import ctypes
import enum
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

RECORDABLE = ("cvc5", "bitwuzla", "z3")
"""Solvers whose interface can be recorded: cvc5's and bitwuzla's are made in C, z3's in Python."""

SPEAKER = "Solver"
"""The class by which programs talk to solvers behind a command line (``talking.py``)."""

NO_NAME = "<no name>"
"""What stands in a program for an object that has no name; such a program is no good."""

# Names, not where they stand in a text.
_QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
VARIABLE = re.compile(r"\bv\d+\b")
VARIABLE_OR_TEXT = re.compile(rf"{_QUOTED}|{VARIABLE.pattern}")
RAISES = "raises "
"""What the comment of a call that ended in an exception begins with."""

_NAME = re.compile(r"[\w.-]*\Z")
_PLAINLY_MADE = ("TermManager", "Options")
_MOST_SHOWN = 60

_BINARY = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "truediv": "/", "mod": "%", "pow": "**"},
    **{"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="},
}
OPERATORS = {
    **{f"__{name}__": f"{{}} {sign} {{}}" for name, sign in _BINARY.items()},
    **{"__neg__": "-{}", "__pos__": "+{}", "__invert__": "~{}", "__abs__": "abs({})"},
    **{"__len__": "len({})", "__getitem__": "{}[{}]"},
}
"""Methods that stand for an operator of Python, by how their calls are written."""


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded line: ``name = code``, and what its comment says of the result."""

    name: str
    code: str
    told: str = ""

    @property
    def raised(self) -> bool:
        """Whether the call ended in an exception."""
        return self.told.startswith(RAISES)

    @property
    def needs(self) -> frozenset[str]:
        """The names that the line uses."""
        return frozenset(found for found in VARIABLE_OR_TEXT.findall(self.code) if found[0] == "v")


class Recorder:
    """Writes a line per call with ``write``, the comment with its result after it."""

    def __init__(self, modules: Sequence[ModuleType], write: Callable[[str], None]) -> None:
        self.modules = {module.__name__: module for module in modules}
        self.write = write
        self.theirs: tuple[type, ...] = ()
        """Classes beside those of the modules whose objects get names."""
        self.names: dict[int, str] = {}
        self.pointers: dict[tuple[str, int], str] = {}
        """What names the pointers of z3's calls, by their type and address."""
        # Names are by identity: nothing that has one may go.
        self.kept: list[Any] = []
        self.said: tuple[str, str] | None = None
        """The last text that was returned, and its name: a later one may be made with it."""
        self.depth = 0
        self.count = 0

    def call(
        self,
        callee: str | Callable[[Sequence[str]], str],
        function: Callable[..., Any],
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        shown: Sequence[Any] | None = None,
        made: Any = None,
    ) -> Any:
        """Make a call, written down unless it is one that a recorded call makes.

        ``callee`` is called with the ``shown`` arguments (all, if not given), or puts their texts together
        itself. What the line is named for is the call's result, or ``made``, an object it completes.
        """
        if self.depth:
            return function(*args, **keywords)
        texts = [self.text(arg) for arg in (args if shown is None else shown)]
        texts += [f"{name}={self.text(value)}" for name, value in keywords.items()]
        line = f"{callee}({', '.join(texts)})" if isinstance(callee, str) else callee(texts)
        name = self._begin(line)
        self.depth += 1
        try:
            result = function(*args, **keywords)
        except Exception as error:
            self.write(f"  # raises {type(error).__name__}: {_short(str(error))}\n")
            raise
        else:
            # Printing calls the interface, too.
            self.write(f"  # {_short(str(result))}\n" if _is_telling(result) else "\n")
        finally:
            self.depth -= 1
        self.name(result if made is None else made, name)
        return result

    def _begin(self, line: str) -> str:
        self.count += 1
        self.write(f"v{self.count} = {line}")
        return f"v{self.count}"

    def name(self, value: Any, name: str) -> None:
        """From now on ``value`` is written as ``name``."""
        if isinstance(value, str):
            self.said = (value, name)
        elif isinstance(value, (list, tuple)):
            self.kept.append(value)
            for place, element in enumerate(value):
                self.name(element, f"{name}[{place}]")
        elif isinstance(value, ctypes.c_void_p):
            self._point(value, name)
        elif not _is_plain(value) and self._is_theirs(value):
            self.kept.append(value)
            self.names[id(value)] = name
            for attribute, held in getattr(value, "__dict__", {}).items():
                if isinstance(held, ctypes.c_void_p):
                    self._point(held, f"{name}.{attribute}")

    def _point(self, pointer: ctypes.c_void_p, name: str) -> None:
        if pointer.value is not None:
            self.kept.append(pointer)
            self.pointers[type(pointer).__name__, pointer.value] = name

    def _is_theirs(self, value: object) -> bool:
        return isinstance(value, self.theirs) or type(value).__module__.partition(".")[0] in self.modules

    def text(self, value: Any) -> str:
        """How a program writes a value."""
        if isinstance(value, enum.Enum):
            return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}.{value.name}"
        if isinstance(value, str):
            return self._quoted(value)
        if _is_plain(value):
            return _number(value) if isinstance(value, float) else repr(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            return f"({''.join(self.text(element) + ', ' for element in value)})"
        if isinstance(value, dict):
            pairs = (f"{self.text(key)}: {self.text(held)}" for key, held in value.items())
            return f"{{{', '.join(pairs)}}}"
        if id(value) in self.names:
            return self.names[id(value)]
        if (pointed := self._pointer_text(value)) is not None:
            return pointed
        if type(value).__name__ in _PLAINLY_MADE and self._is_theirs(value):
            # Made where the class had been looked up before; there is one way to make it.
            name = self._begin(f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}()")
            self.write("\n")
            self.name(value, name)
        return self.names.get(id(value), NO_NAME)

    def _quoted(self, value: str) -> str:
        """A text, made of the last one that was returned where that is most of it. A name stands as it is:
        what gives it may give another one in another release.
        """
        if self.said is None or 2 * len(self.said[0]) < len(value) or self.said[0] not in value:
            return repr(value)
        if _NAME.match(value):
            return repr(value)
        parts = value.partition(self.said[0])
        return " + ".join(
            filter(None, (parts[0] and repr(parts[0]), self.said[1], parts[2] and repr(parts[2])))
        )

    def _pointer_text(self, value: Any) -> str | None:
        """Pointers, arrays of them, and variables of C that a call writes to."""
        if isinstance(value, ctypes.c_void_p):
            return "None" if value.value is None else self.pointers.get((type(value).__name__, value.value))
        if isinstance(value, ctypes.Array):
            if issubclass(value._type_, ctypes.c_void_p):
                held = ", ".join(map(self.text, value))
                return f"(z3.{value._type_.__name__} * {len(value)})({held})"
            return self._variable(value, f"(ctypes.{value._type_.__name__} * {len(value)})")
        if type(value).__name__ == "CArgObject" and isinstance(value._obj, ctypes._SimpleCData):
            variable = value._obj
            return f"ctypes.byref({self._variable(variable, f'ctypes.{type(variable).__name__}')})"
        return None

    def _variable(self, value: Any, made: str) -> str:
        """A variable of C by its name; it may be read after a call, so it is made on a line of its own."""
        if id(value) not in self.names:
            values = list(value) if isinstance(value, ctypes.Array) else [value.value]
            name = self._begin(f"{made}({', '.join(map(repr, values))})")
            self.write("\n")
            self.kept.append(value)
            self.names[id(value)] = name
        return self.names[id(value)]


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, bytes, enum.Enum))


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value}')"


def _is_telling(result: object) -> bool:
    """Whether a result says something beside what was called."""
    told = ("Result", "CheckSatResult", "list")
    return isinstance(result, (bool, int, str, enum.Enum)) or type(result).__name__ in told


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 3] + "..."
