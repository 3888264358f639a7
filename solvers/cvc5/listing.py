"""How cvc5 is asked what it has: its library reads terms and commands one by one, and lists its kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from solvers.discovery.ranks import DECLARATIONS
from solvers.discovery.scripts import Listing
from solvers.discovery.words import words_of
from solvers.running.runner import Runner
from solvers.running.tasks import NoAnswer, TaskProcess
from solvers.solver import Solver

_SECONDS = 30.0
_PART = 2000
# More than there are.
_KINDS = 400
_NO_COMMAND = "Expected SMT-LIBv2 command"
_UNKNOWN = ("not declared as a variable", "Unknown indexed")


class _Listing(Listing):
    def __init__(self, solver: Solver, runner: Runner) -> None:
        super().__init__(solver, runner)
        self._process = TaskProcess("solvers.cvc5.tasks", ["read", str(solver.loadable)], _SECONDS)

    def words(self) -> set[str]:
        # Its parser is a library of its own. Tokens have names such as GET_MODEL_TOK.
        found = words_of(self.solver, "parser")
        tokens = {word[:-4].lower().replace("_", "-") for word in found if word.endswith("_TOK")}
        return found | tokens | self._heads()

    def _heads(self) -> set[str]:
        """The functions of a term of each of its kinds."""
        asked = [{"what": "kind", "kind": at, "declarations": DECLARATIONS} for at in range(_KINDS)]
        answers = self._process.ask(asked)
        heads = (head for answer in answers if not isinstance(answer, NoAnswer) for head in answer)
        return {head for head in heads if not head.startswith("|")}

    def commands(self, words: Iterable[str]) -> set[str]:
        likely = sorted(word for word in words if word[:1].islower())
        said = self._read("command", [], [f"({word})" for word in likely])
        return {word for word, (_, error) in zip(likely, said, strict=True) if _NO_COMMAND not in error}

    def functions(self, words: Iterable[str]) -> set[str]:
        left, found = sorted(words), set()
        for form in ("({} true)", "((_ {} 1) true)"):
            said = self._read("term", [], [form.format(word) for word in left])
            known = {w for w, (_, error) in zip(left, said, strict=True) if not _is_unknown(error)}
            found |= known
            left = [word for word in left if word not in known]
        return found

    def sorts_of(self, declarations: Sequence[str], terms: Sequence[str]) -> list[str]:
        return [sort for sort, _ in self._read("term", declarations, terms)]

    def close(self) -> None:
        self._process.close()

    def _read(self, what: str, declarations: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
        """For each text what cvc5 makes of it, and the error message of one that it refuses."""
        found: list[tuple[str, str]] = []
        while len(found) < len(texts):
            part = list(texts[len(found) : len(found) + _PART])
            found += self._read_part({"what": what, "declarations": list(declarations)}, part)
        return found

    def _read_part(self, question: dict[str, Any], texts: list[str]) -> list[tuple[str, str]]:
        (answer,) = self._process.ask([{**question, "texts": texts}])
        if not isinstance(answer, NoAnswer):
            return [(made, error) for made, error in answer]
        if len(texts) == 1:
            return [("", answer.detail)]
        # One of them ended the process: look for it.
        half = len(texts) // 2
        return self._read_part(question, texts[:half]) + self._read_part(question, texts[half:])


def _is_unknown(error: str) -> bool:
    return any(part in error for part in _UNKNOWN)


def open_listing(solver: Solver, runner: Runner) -> Listing:
    """How cvc5 is asked."""
    return _Listing(solver, runner)
