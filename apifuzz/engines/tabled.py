"""Engines whose calls are rows: the table ``calls`` of ``calls.toml`` says by which calls of the solver each
is made, in Python's syntax.

The words of a row are the call's arguments, the engine's attributes, and what the engine's module has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import Questions, Script, Words, words_of
from apifuzz.interface import Capabilities

_NONE = object()


class TableEngine(Engine):
    """An engine with rows. Calls without a row are made by methods, as in any engine."""

    calls: ClassVar[Mapping[str, Script]]
    """The rows, by the names of the methods that they stand for."""

    words: ClassVar[Mapping[str, Any]]
    """What the rows name beside arguments and attributes of the engine."""

    assumptions: None = None
    """What a check without assumptions assumes."""

    questions: ClassVar[Questions]
    """What sorts and terms are asked."""

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        return profile(self.name).translate(str(error))

    def capabilities(self) -> Capabilities:
        return profile(self.name).capabilities

    def maker(self, call: Call[Any]) -> Callable[..., Any]:
        script = self.calls.get(call.method)
        if script is None:
            return super().maker(call)

        def make(*arguments: Any) -> Any:
            return script.run(Words(dict(zip(call.takes, arguments, strict=True)), self.word))

        return make

    def word(self, name: str) -> Any:
        """What a word means that is no argument. Raises KeyError or AttributeError."""
        found = getattr(self, name, _NONE)
        if found is not _NONE:
            return found
        return self.words[name] if name in self.words else self.own_word(name)

    def own_word(self, name: str) -> Any:
        """A word that is neither an attribute of the engine nor among its ``words``. Raises KeyError."""
        raise KeyError(name)

    def inquire(
        self, script: str, args: Sequence[Any] = (), indices: Sequence[int] = (), /, **known: Any
    ) -> None:
        """Ask what a script of the questions says; ``args`` and ``indices`` are those of a sort."""
        self.questions.run(script, words_of(args, indices, self.word), **known)
