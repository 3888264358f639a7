"""How the calls of a solver's interface come to a recorder: methods and functions are changed for a while.

Classes of C get other methods in their dictionaries. Functions and methods of Python get another code, for
whoever took hold of one before must come to the recorder, too.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import gc
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from apifuzz.running.recording import NO_NAME, OPERATORS, Recorder
from apifuzz.running.spoken import spoken_hooked

Hook = Callable[..., Any]

# References are taken and given back as objects of Python come and go.
_NOT_RECORDED = re.compile(r"_(?:inc|dec)_ref\Z|\A(?:as_ast|ref|ctx_ref|as_func_decl)\Z")
_SPECIAL = frozenset(("__init__", "__call__", "__setitem__", "__iadd__", *OPERATORS))
_REFLECTED = re.compile(r"__r((?:add|sub|mul|mod|pow|div|truediv|and|or|xor|lshift|rshift)__)\Z")
_HOOKS = "_exhume_hooks"


# Classes of C


class _Maker:
    """Stands for a class in its module: making an object of it is written down."""

    def __init__(self, recorder: Recorder, name: str, made: type) -> None:
        self._recorder, self._name, self._made = recorder, name, made

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._recorder.call(self._name, self._made, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._made)


@contextmanager
def compiled_hooked(recorder: Recorder, module: ModuleType) -> Iterator[None]:
    """Inside, the methods of a module's classes of C come to the recorder, and so does making an object."""
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
        # Their dictionaries are behind a proxy.
        members: dict[str, Any] = gc.get_referents(made.__dict__)[0]
        for method in sorted(members):
            if not method.startswith("_") and callable(members[method]):
                changed.append((members, method, members[method]))
                members[method] = _method(recorder, method, members[method])
        changed.append((vars(module), name, made))
        vars(module)[name] = _Maker(recorder, f"{module.__name__}.{name}", made)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))
    try:
        yield
    finally:
        for members, name, original in reversed(changed):
            members[name] = original
        for _, made in classes:
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))


def _method(recorder: Recorder, name: str, function: Callable[..., Any]) -> Hook:
    @functools.wraps(function)
    def recorded(*args: Any, **keywords: Any) -> Any:
        if recorder.depth:
            return function(*args, **keywords)
        callee = f"{recorder.text(args[0]) if args else NO_NAME}.{name}"
        return recorder.call(callee, function, args, keywords, args[1:])

    return recorded


# Python


@contextmanager
def python_hooked(recorder: Recorder, module: ModuleType) -> Iterator[None]:
    """Inside, the functions of z3's module come to the recorder: those for people, and those of C below."""
    plain, core = module.z3, module.z3core
    hooks: dict[str, Hook] = {}
    saved: list[tuple[FunctionType, CodeType]] = []

    def change(function: FunctionType, key: str, hook: Callable[[FunctionType], Hook]) -> None:
        original = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )
        original.__kwdefaults__ = function.__kwdefaults__
        hooks[key] = hook(original)
        saved.append((function, function.__code__))
        # Who asks which arguments it takes is told those of the original.
        function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        function.__code__ = _code(key)

    for space in (plain, core):
        vars(space)[_HOOKS] = hooks
        for name, value in sorted(vars(space).items()):
            if not (_is_recorded(name, value) and value.__module__ == space.__name__):
                continue
            callee = f"z3.{name}" if space is plain and hasattr(module, name) else f"{space.__name__}.{name}"
            change(value, f"{space.__name__}.{name}", functools.partial(_function, recorder, callee))
    for name, made in sorted(vars(plain).items()):
        if not (isinstance(made, type) and made.__module__ == plain.__name__):
            continue
        for method, value in sorted(vars(made).items()):
            if _is_recorded(method, value) and (not method.startswith("__") or _is_special(method)):
                change(value, f"{name}.{method}", functools.partial(_python_method, recorder, method))
    try:
        yield
    finally:
        for function, code in saved:
            function.__code__ = code
            del function.__signature__  # type: ignore[attr-defined]
        for space in (plain, core):
            del vars(space)[_HOOKS]


def _is_recorded(name: str, value: object) -> bool:
    return (
        isinstance(value, FunctionType) and not _NOT_RECORDED.search(name) and not value.__code__.co_freevars
    )


def _is_special(method: str) -> bool:
    return method in _SPECIAL or _REFLECTED.match(method) is not None


def _template(*args: Any, **keywords: Any) -> Any:
    return _exhume_hooks["key"](*args, **keywords)  # type: ignore[name-defined] # noqa: F821


def _code(key: str) -> CodeType:
    """The code of a function that calls the hook of that key, which stands in its module."""
    code = _template.__code__
    return code.replace(co_consts=tuple(key if const == "key" else const for const in code.co_consts))


def _function(recorder: Recorder, callee: str, function: FunctionType) -> Hook:
    def recorded(*args: Any, **keywords: Any) -> Any:
        return recorder.call(callee, function, args, keywords)

    return recorded


def _python_method(recorder: Recorder, method: str, function: FunctionType) -> Hook:
    if method == "__init__":
        return lambda self, *args, **keywords: recorder.call(
            _class_name(recorder, self), function, (self, *args), keywords, args, made=self
        )
    reflected = _REFLECTED.match(method)
    form = OPERATORS.get(f"__{reflected[1]}" if reflected else method)

    def recorded(*args: Any, **keywords: Any) -> Any:
        if recorder.depth:
            return function(*args, **keywords)
        if form is not None:
            shown: Sequence[Any] = args[::-1] if reflected else args
            return recorder.call(lambda texts: form.format(*texts), function, args, keywords, shown)
        owner = recorder.text(args[0])
        callee = owner if method == "__call__" else f"{owner}.{method}"
        return recorder.call(callee, function, args, keywords, args[1:])

    return recorded


def _class_name(recorder: Recorder, made: object) -> str:
    """What a program calls the class of an object; classes of exhume's own have no name there."""
    space, _, _ = type(made).__module__.partition(".")
    return f"{space}.{type(made).__name__}" if space in recorder.modules else NO_NAME


# All of them


@contextmanager
def recording(modules: Sequence[ModuleType], write: Callable[[str], None]) -> Iterator[None]:
    """Inside, calls on the interfaces of the ``modules`` are written down, and what is said to solvers behind
    a command line.
    """
    recorder = Recorder(modules, write)
    with ExitStack() as stack:
        stack.enter_context(spoken_hooked(recorder))
        for module in modules:
            hooked = python_hooked if module.__name__ == "z3" else compiled_hooked
            stack.enter_context(hooked(recorder, module))
        yield
