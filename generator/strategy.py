"""What a generated test is, and the one interface behind which every strategy stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct


class GeneratedTest(Struct, frozen=True):
    """One test: SMT-LIB text with its header comment, and where it came from. Not to be changed.

    ``known`` holds what is known of the answer of each ``check-sat`` in order
    (``"sat"``, ``"unsat"`` or ``None``); it is empty where nothing is known.
    The id tuples are row ids of the corpus the test was built from; ``origin`` is the file that it was read
    from, if it is one's.

    ``implied_by`` and ``implies`` are for strategies that weaken or strengthen: the whole text (commands and
    one ``check-sat``, no header needed) of the formula that this one was made from, in the field that says
    how they stand. ``implied_by=P``: this test is the weaker, so where P is sat it is sat. ``implies=P``:
    this test is the stronger, so where P is unsat it is unsat. Set one of them, give the test one
    ``check-sat``, and name each link of a chain by its direct parent. A solver that decides the parent so
    and answers ``unknown`` here is incomplete, one that answers the opposite is unsound; the oracles run the
    parent themselves, and only where the test's own answer makes it worth the time. A parent whose answer is
    known beforehand is said in ``known`` as well.

    ``options`` (as in a spec) are added to those of every solver known by name, as far as all of them have
    these options. ``only`` are the solvers (``kin``) that it is for; empty: all. ``judged_by`` names the
    oracle in turn that can say most of it, if there is one.
    """

    index: int
    text: str
    strategy: str
    skeletons: tuple[int, ...] = ()
    atoms: tuple[int, ...] = ()
    rules: tuple[int, ...] = ()
    issues: tuple[str, ...] = ()
    known: tuple[str | None, ...] = ()
    implied_by: str | None = None
    implies: str | None = None
    origin: str = ""
    options: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    judged_by: str = ""

    @property
    def listed(self) -> str:
        """The line that names it in a list of tests: its file, or its index."""
        name = self.origin.encode("utf-8", "backslashreplace").decode()
        return name.replace("\n", "\\n") or str(self.index)


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


@runtime_checkable
class ClassedStrategy(Strategy, Protocol):
    """A strategy that tells the class of a test without making it."""

    @property
    def classes(self) -> Sequence[str]:
        """The classes, each of some share of the tests."""
        ...

    def class_of(self, index: int) -> str:
        """The class of the test of this index."""
        ...
