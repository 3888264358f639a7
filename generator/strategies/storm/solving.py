"""Asking z3 and cvc5 about seeds, with answers kept by the hash of the question.

Both count their work (``rlimit``), so an answer is the same on every machine; limits on time and memory are
for what hangs or explodes all the same. Answers are kept in the cache folder under ``valuations``: asking
costs some tens of milliseconds, a test a fraction of one.
"""

from __future__ import annotations

import importlib.metadata
import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from base.cache import cache_folder, keep_cached, load_cached
from generator.errors import GenerationError
from solvers.lookup import find_solver
from solvers.running.tasks import NoAnswer, TaskProcess

SECONDS = 2.0
MEMORY = 3000 << 20

_FORMAT = "1"
_TASKS = "15c11827cbfd7d4399731133d5d35af5d40fdd02cbb6971734ed1cde1bf6f4bb"
"""Names what the tasks do; to be changed with them. (It was the hash of their file once: answers kept then
are still read.)"""
_FAILED = {"timeout": "no answer in time", "memory": "out of memory", "crash": "the solver crashed"}


class SolvingProcess:
    """The processes with the solvers, started when they are first needed; :meth:`ask` may be called from one
    thread.

    A copy in a forked process starts its own.
    """

    def __init__(self) -> None:
        self._processes: dict[str, TaskProcess] = {}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to ``request``: from the cache, else from a solver. ``failed`` says why there is none.

        Raises :class:`GenerationError` or EnvironmentProblem where the solvers cannot be loaded.
        """
        data = json.dumps(request, sort_keys=True).encode("utf-8", "replace")
        kept = _kept_in(sha256(_versions() + data).hexdigest())
        found = load_cached(kept)
        if found is not None:
            return found
        reply = self._ask(request)
        # Failures, too, for every process that makes tests is to make the same.
        keep_cached(kept, reply)
        return reply

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        task = request["task"]
        if task not in self._processes:
            self._processes[task] = TaskProcess(*_task(request), SECONDS, MEMORY)
        question = request if task == "z3" else request["script"]
        (answer,) = self._processes[task].ask([question])
        if isinstance(answer, NoAnswer):
            return {"failed": _FAILED[answer.cause]}
        if task == "z3":
            return dict(answer)
        outcome, problem = answer
        return {"failed": problem[:400]} if outcome == "refused" else {"answer": outcome}


def _task(request: dict[str, Any]) -> tuple[str, list[str]]:
    """The module and the arguments of the task that answers a request."""
    if request["task"] == "z3":
        return "solvers.z3.tasks", ["value"]
    named = {"rlimit": request["rlimit"], **request["options"]}
    options = [f"--{name}={value}" for name, value in named.items()]
    return "solvers.cvc5.tasks", ["answer", find_solver("cvc5").loadable or "", *options]


@cache
def _versions() -> bytes:
    """What the answers depend on besides the question."""
    try:
        wheels = [importlib.metadata.version(name) for name in ("z3-solver", "cvc5")]
    except importlib.metadata.PackageNotFoundError as error:
        raise GenerationError(f"the package {error.name} is not installed") from error
    return " ".join([_FORMAT, *wheels, _TASKS, ""]).encode()


def _kept_in(digest: str) -> Path:
    return cache_folder() / "valuations" / digest[:2] / f"{digest[2:]}.json"
