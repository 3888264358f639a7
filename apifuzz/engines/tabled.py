"""Engines whose calls are rows: the table ``calls`` of ``calls.toml`` says by which calls of the solver each
is made, in Python's syntax.

The words of a row are the call's arguments, the engine's attributes, and what the engine's module has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.rows import Script

_NONE = object()


class TableEngine(Engine):
    """An engine with rows. Calls without a row are made by methods, as in any engine."""

    calls: ClassVar[Mapping[str, Script]]
    """The rows, by the names of the methods that they stand for."""

    words: ClassVar[Mapping[str, Any]]
    """What the rows name beside arguments and attributes of the engine."""

    def maker(self, call: Call[Any]) -> Callable[..., Any]:
        script = self.calls.get(call.method)
        if script is None:
            return super().maker(call)
        names = [field.name for field in fields(call)]  # type: ignore[arg-type]

        def make(*arguments: Any) -> Any:
            known = dict(zip(names, arguments, strict=True))
            return script.run(lambda name: known[name] if name in known else self.word(name))

        return make

    def word(self, name: str) -> Any:
        """What a word means that is no argument. Raises KeyError."""
        found = getattr(self, name, _NONE)
        return self.words[name] if found is _NONE else found
