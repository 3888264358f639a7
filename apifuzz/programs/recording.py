"""The calls that an engine makes on its solver's Python interface, written down as lines of a program.

Before the engine is imported, a proxy takes the place of the solver's module: it passes everything on, writes
down each call, and gives proxies of what comes back. So the program has exactly the calls of the run, and
every line is written before its call is made. An object that no recorded call returned has no name; a line
that needs it cannot be part of a program.

A line is ``v1 = CODE``, a tab, the class of the result (or ``raises``), a tab, and a few words of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import importlib
import inspect
import math
import operator
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

SPEAKER = "Solver"
"""The class by which programs talk to solvers behind a command line (``talking.py``)."""

NO_NAME = "no_name"
"""Stands in a line for an object that has no name."""

RAISES = "raises"
"""Stands for the class of the result of a call that ended in an exception."""

_LONGEST = 60
_TYPES = (bool, int, float, str)
"""Types that a solver gives to say what an option takes: they are compared by identity."""
_WORD = re.compile(r"[\w.-]*\Z")
# These calls depend on when Python deletes objects.
_NOT_RECORDED = re.compile(r"_(?:inc|dec)_ref\Z|\Aclose\Z")
_ACCESSORS = frozenset(("as_ast", "as_func_decl", "ctx_ref", "main_ctx", "ref"))
"""Methods without arguments that only give what an object holds: written where the result is used."""

_SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "pow": "**", "and": "&", "or": "|"},
    **{"xor": "^", "lshift": "<<", "rshift": ">>"},
}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
OPERATORS = {
    **{name: f"({{}}) {sign} ({{}})" for name, sign in (_SIGNS | _COMPARISONS).items()},
    **{"neg": "-({})", "pos": "+({})", "invert": "~({})", "abs": "abs({})", "getitem": "{}[{}]"},
    **{"contains": "({1}) in ({0})", "setitem": "{}.__setitem__({}, {})", "iadd": "{}.__iadd__({})"},
}
"""How a program writes what the methods of that name, and the functions of ``operator``, do."""

Spell = Callable[[Sequence[str]], str]


class Recorder:
    """Gives proxies; while it ``is_on`` their calls are written down with ``write``."""

    def __init__(self, write: Callable[[str], None] = lambda text: None) -> None:
        self.write = write
        self.is_on = False
        self._is_inside = False
        self._count = 0
        # By identity: the objects are kept, so that no identity is used twice.
        self._proxies: dict[int, Proxy] = {}
        self._variables: dict[int, tuple[Any, str]] = {}
        self._texts: deque[tuple[str, str]] = deque(maxlen=20)

    def stand_in(self, modules: Sequence[str]) -> None:
        """Put proxies in the place of modules, and of the class that talks to solvers behind a command line.
        Engines must not have been imported yet.
        """
        from solvers.running import conversation

        for name in modules:
            if name == SPEAKER:
                conversation.Conversation = self.proxy(conversation.Conversation, name)  # type: ignore[misc]
            else:
                module = self.proxy(importlib.import_module(name), name)
                sys.modules[name] = module

    def proxy(self, value: Any, text: str | None) -> Any:
        """A proxy of what a program writes as ``text``; what is plain Python is given back as it is."""
        if isinstance(value, str) and text is not None and not _WORD.match(value):
            self._texts.appendleft((value, text))
        if _is_plain(value):
            return value
        if isinstance(value, (list, tuple)):
            return type(value)([self.proxy(held, text and f"{text}[{n}]") for n, held in enumerate(value)])
        if isinstance(value, (type, ctypes.c_void_p)) or type(value).__module__ == "builtins":
            # A method is a new object at each lookup; a pointer is held by what returns it.
            return Proxy(self, value, text)
        known = self._proxies.get(id(value))
        if known is None:
            known = self._proxies[id(value)] = Proxy(self, value, text)
        elif known._exhume_text is None:
            known._exhume_text = text
        return known

    def call(
        self,
        spell: Spell,
        function: Callable[..., Any],
        args: Sequence[Any],
        keywords: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make a call. It is written down unless it is one that a recorded call makes (a callback)."""
        real, named = [_real(arg) for arg in args], {key: _real(v) for key, v in (keywords or {}).items()}
        if not self.is_on or self._is_inside:
            return self.proxy(function(*real, **named), None)
        texts = [self.text(arg) for arg in args]
        texts += [f"{key}={self.text(value)}" for key, value in (keywords or {}).items()]
        name = self._begin(spell(texts))
        self._is_inside = True
        try:
            result = function(*real, **named)
            # Printing makes calls, too.
            said = _short(result) if _is_telling(result) else ""
            kind = "enum" if isinstance(result, enum.Enum) else type(result).__name__
            self.write(f"\t{kind}\t{said}\n")
        except Exception as error:
            self.write(f"\t{RAISES}\t{type(error).__name__}: {_short(error)}\n")
            raise
        finally:
            self._is_inside = False
        return self.proxy(result, name)

    def _begin(self, code: str) -> str:
        self._count += 1
        self.write(f"v{self._count} = {code}")
        return f"v{self._count}"

    # How a program writes values

    def text(self, value: Any) -> str:
        """How a program writes a value."""
        match value:
            case Proxy():
                return value._exhume_text or NO_NAME
            case enum.Enum():
                return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}.{value.name}"
            case str():
                return self._quoted(value)
            case float():
                return repr(value) if math.isfinite(value) else f"float('{value}')"
            case list():
                return f"[{', '.join(map(self.text, value))}]"
            case tuple():
                return f"({''.join(self.text(element) + ', ' for element in value)})"
            case dict():
                pairs = (f"{self.text(key)}: {self.text(held)}" for key, held in value.items())
                return f"{{{', '.join(pairs)}}}"
            case ctypes.Array():
                made = f"(ctypes.{value._type_.__name__} * {len(value)})"
                return self._variable(value, f"{made}({', '.join(map(repr, value))})")
        if type(value).__name__ == "CArgObject":
            return f"ctypes.byref({self._variable(value._obj, f'ctypes.{type(value._obj).__name__}()')})"
        return repr(value) if _is_plain(value) else NO_NAME

    def _quoted(self, value: str) -> str:
        """A text, made of one that was returned where that is most of it. A name stands as it is: what gives
        it may give another one in another release.
        """
        found = ((text, name) for text, name in self._texts if text in value and 2 * len(text) >= len(value))
        text, name = next(found, ("", ""))
        before, _, after = value.partition(text) if text else ("", "", value)
        return " + ".join(filter(None, (before and repr(before), name, after and repr(after)))) or "''"

    def _variable(self, value: Any, made: str) -> str:
        """A variable of C by its name; it may be read after a call, so it is made on a line of its own."""
        if id(value) not in self._variables:
            self._variables[id(value)] = value, self._begin(made)
            self.write(f"\t{type(value).__name__}\t\n")
        return self._variables[id(value)][1]


class Proxy:
    """Stands for an object of a solver's library: ``_exhume_text`` is how a program writes it, None without
    a name.
    """

    def __init__(self, recorder: Recorder, real: Any, text: str | None) -> None:
        vars(self).update(_exhume_recorder=recorder, _exhume_real=real, _exhume_text=text)

    def __getattr__(self, name: str) -> Any:
        real, text = self._exhume_real, self._exhume_text
        if name in ("_as_parameter_", "__wrapped__"):
            return real  # for ctypes, and for inspect.signature
        value = getattr(real, name)
        if name.startswith("__") or isinstance(value, dict):
            return value
        return self._exhume_recorder.proxy(value, text and f"{text}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            vars(self)[name] = value
        else:
            setattr(self._exhume_real, name, _real(value))

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        recorder, real = self._exhume_recorder, self._exhume_real
        args, keywords = _without_main_context(real, args, keywords)
        name = getattr(real, "__name__", "")
        callee = self._exhume_text or NO_NAME
        if _NOT_RECORDED.search(name):
            return real(*map(_real, args), **keywords)
        if (name in _ACCESSORS and not args) or (isinstance(real, type) and issubclass(real, ctypes.Array)):
            text = f"{callee}({', '.join(map(recorder.text, args))})"
            return recorder.proxy(real(*map(_real, args)), text)
        return recorder.call(lambda texts: f"{callee}({', '.join(texts)})", real, args, keywords)

    def __iter__(self) -> Iterator[Any]:
        recorder, text = self._exhume_recorder, self._exhume_text
        if hasattr(self._exhume_real, "__next__"):
            # An iterator is read in full at once.
            return iter(recorder.call(lambda texts: f"list({texts[0]})", list, [self]))
        return (
            recorder.proxy(element, text and f"{text}[{place}]")
            for place, element in enumerate(self._exhume_real)
        )

    def __next__(self) -> Any:
        return self._exhume_recorder.call(lambda texts: f"next({texts[0]})", next, [self])

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """A class for our own subclasses: their objects are no proxies, but their arguments may be."""
        return (_unwrapping(self._exhume_real),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(_real(instance), self._exhume_real)

    def __str__(self) -> str:
        text: str = self._exhume_recorder.call(lambda texts: f"str({texts[0]})", str, [self])
        return text

    def __mul__(self, other: Any) -> Any:
        if isinstance(self._exhume_real, type):
            # An array type of C.
            text = f"({self._exhume_text or NO_NAME} * {other})"
            return self._exhume_recorder.proxy(self._exhume_real * other, text)
        return _operated("mul", self, other)


def _without_main_context(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without the process's context, where a call takes that by itself."""
    is_last = bool(args) and _is_main_context(args[-1])
    if is_last or _is_main_context(keywords.get("ctx")):
        with contextlib.suppress(TypeError, ValueError):
            parameters = inspect.signature(function).parameters
            # Some take all their keywords as they come.
            is_optional = "ctx" not in parameters or parameters["ctx"].default is None
            if is_last and is_optional and list(parameters)[len(args) - 1 : len(args)] == ["ctx"]:
                return args[:-1], keywords
            if is_optional and not is_last:
                return args, {key: value for key, value in keywords.items() if key != "ctx"}
    return args, keywords


def _is_main_context(value: Any) -> bool:
    return isinstance(value, Proxy) and str(value._exhume_text).endswith(".main_ctx()")


def _operated(name: str, *args: Any) -> Any:
    recorder: Recorder = next(arg for arg in args if isinstance(arg, Proxy))._exhume_recorder
    function = getattr(operator, f"__{name}__")
    return recorder.call(lambda texts: OPERATORS[name].format(*texts), function, args)


def _add_operators() -> None:
    for name in OPERATORS:
        if name != "mul":
            setattr(Proxy, f"__{name}__", lambda self, *args, name=name: _operated(name, self, *args))
    for name in _SIGNS:
        setattr(Proxy, f"__r{name}__", lambda self, other, name=name: _operated(name, other, self))
    for look in (repr, hash, bool, int, float, len):
        setattr(Proxy, f"__{look.__name__}__", lambda self, look=look: look(self._exhume_real))


_add_operators()


def _real(value: Any) -> Any:
    """What the solver's library is given: the objects that proxies stand for."""
    if isinstance(value, Proxy):
        return value._exhume_real
    if isinstance(value, (list, tuple)):
        return type(value)([_real(element) for element in value])
    if isinstance(value, dict):
        return {_real(key): _real(held) for key, held in value.items()}
    return value


def _unwrapping(base: type) -> type:
    def new(cls: type, *args: Any, **keywords: Any) -> Any:
        make: Any = base.__new__
        return make(cls) if make is object.__new__ else make(cls, *map(_real, args), **_real(keywords))

    def initialise(self: Any, *args: Any, **keywords: Any) -> None:
        base.__init__(self, *map(_real, args), **_real(keywords))  # type: ignore[misc]

    return type(base.__name__, (base,), {"__new__": new, "__init__": initialise})


def _is_plain(value: object) -> bool:
    return (
        value is None
        or isinstance(value, (bool, int, float, str, bytes, enum.Enum))
        or (isinstance(value, type) and (issubclass(value, (enum.Enum, BaseException)) or value in _TYPES))
    )


def _is_telling(result: object) -> bool:
    """Whether a result says something beside what was called."""
    classes = ("Result", "CheckSatResult", "SolverResult", "OptimizationResult", "list")
    return isinstance(result, (bool, int, str, enum.Enum)) or type(result).__name__ in classes


def _short(value: object) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
