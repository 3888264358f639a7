"""What a generated test is, and the one interface behind which every strategy stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class GeneratedTest:
    """One test: SMT-LIB text with its header comment, and where it came from.

    ``known`` holds what is known of the answer of each ``check-sat`` in order
    (``"sat"``, ``"unsat"`` or ``None``); it is empty where nothing is known.
    The id tuples are row ids of the corpus the test was built from.
    """

    index: int
    text: str
    strategy: str
    skeletons: tuple[int, ...] = ()
    atoms: tuple[int, ...] = ()
    rules: tuple[int, ...] = ()
    issues: tuple[str, ...] = ()
    known: tuple[str | None, ...] = ()


class Strategy(Protocol):
    """A way to make tests: deterministic, so that test ``index`` is the same on every machine."""

    name: str

    @property
    def fingerprint(self) -> str:
        """Names the corpus that the tests come from."""
        ...

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """Yield the tests with ``start <= index < stop``, in order."""
        ...
