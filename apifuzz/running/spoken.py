"""Conversations with solvers behind a command line, recorded as calls of ``talking.Solver``.

A program made of them has the text of that module, so that it needs the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from apifuzz.engines import pipe
from apifuzz.engines.conversation import Conversation
from apifuzz.running.recording import SPEAKER, Recorder


@contextmanager
def spoken_hooked(recorder: Recorder) -> Iterator[None]:
    """Inside, what is said to solvers behind a command line comes to the recorder."""

    class Recorded(Conversation):
        def __init__(self, argv: Sequence[str]) -> None:
            recorder.call(SPEAKER, super().__init__, (argv,), {}, [list(argv)], made=self)

        def ask(self, command: str) -> str:
            return self._recorded("ask", super().ask, command)

        def ask_perhaps(self, command: str) -> str:
            return self._recorded("ask_perhaps", super().ask_perhaps, command)

        def _recorded(self, method: str, function: Callable[[str], str], command: str) -> str:
            code = f"{recorder.text(self)}.{method}({command!r})"
            answer: str = recorder.call(lambda texts: code, function, (command,), {}, ())
            return answer

    recorder.theirs = (Recorded,)
    vars(pipe)["Conversation"] = Recorded
    try:
        yield
    finally:
        vars(pipe)["Conversation"] = Conversation
