"""Says SMT-LIB commands to a solver, one by one, and shows what it answers."""

from __future__ import annotations

import atexit
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence

SECONDS = 60.0

# Strings and quoted symbols may hold parentheses, comments anything.
_TEXT = re.compile(r'"[^"]*"|\|[^|]*\||;[^\n]*\n')


class Ended(Exception):
    """The solver has ended, by itself or for want of time."""


class Solver:
    """A solver that reads SMT-LIB on its standard input; it may take ``SECONDS`` in all."""

    def __init__(self, command: Sequence[str]) -> None:
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            encoding="utf-8",
            errors="replace",
        )
        atexit.register(self.process.kill)
        self.timer = threading.Timer(SECONDS, self.process.kill)
        self.timer.daemon = True
        self.timer.start()

    def ask(self, command: str) -> str:
        """The answer to a command, on one line."""
        print(command, flush=True)
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{command}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # It may have answered before it ended.
        answer = self.read()
        print(answer, flush=True)
        return answer

    def ask_perhaps(self, command: str) -> str:
        """The answer to a command that some solvers leave without one."""
        answer = self.ask(f'{command}\n(echo "done")')
        if answer.strip('"') == "done":
            return "success"
        self.read()
        return answer

    def read(self) -> str:
        """The next s-expression that it prints, on one line."""
        assert self.process.stdout is not None
        answer = ""
        while not is_whole(answer):
            line = self.process.stdout.readline()
            if not line:
                raise self.ending()
            answer += line
        return " ".join(answer.split())

    def ending(self) -> Ended:
        """How it ended, and the first line of what it said of that."""
        code = self.process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if self.timer.finished.is_set():
            how = f"no answer within {SECONDS:g} seconds"
        self.said.seek(0)
        said = self.said.read().decode("utf-8", "replace")
        print(said, flush=True)
        line = said[-4000:].partition("\n")[0]
        return Ended(f"the solver ended ({how}){': ' + line if said else ''}")


def is_whole(text: str) -> bool:
    """Whether a text that begins with an s-expression has its end."""
    bare = _TEXT.sub(lambda found: "" if found[0].startswith(";") else "x", text)
    return bool(bare.strip()) and not set('"|') & set(bare) and bare.count("(") <= bare.count(")")
