"""Tests for one solver alone, among those for all: of what only this one accepts.

A strategy's tests are for all targets, so they have nothing of what only one solver knows (sets, bags,
relations, fields, separation logic, special relations, ...). Of every eight blocks of tests, one is made from
such parts of the corpus, for each kind of solver in turn, and only this kind runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from generator.errors import GenerationError
from generator.strategy import ClassedStrategy, GeneratedTest, Strategy

BLOCK = 8
"""Tests in a block; strategies make tests of one seed formula one after the other."""
EVERY = 8
"""Of this many blocks, one is for a solver alone."""


class WithAlone:
    """The strategy ``shared``; the strategies in ``own`` make tests for one kind of solver each."""

    def __init__(self, shared: Strategy, own: Mapping[str, Strategy]) -> None:
        self.name = shared.name
        self._shared = shared
        self._own = dict(own)

    @property
    def fingerprint(self) -> str:
        """Names the corpus that the tests come from."""
        return self._shared.fingerprint

    def kind_of(self, index: int) -> str:
        """The kind of solver that the test of this index is for; empty: all."""
        turn, place = divmod(index // BLOCK, EVERY)
        return list(self._own)[turn % len(self._own)] if place == EVERY - 1 else ""

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """Yield the tests with ``start <= index < stop``, in order."""
        while start < stop:
            block = start // BLOCK * BLOCK
            end = min(stop, block + BLOCK)
            yield from self._alone(block)[start - block : end - block] or self._shared.generate(start, end)
            start = end

    def _alone(self, start: int) -> list[GeneratedTest]:
        """The tests of a block for a solver alone; none if the block is for all.

        It is made as a whole, so that a test is the same whichever range is requested.
        """
        kind = self.kind_of(start)
        if not kind:
            return []
        try:
            return [replace(t, only=(kind,)) for t in self._own[kind].generate(start, start + BLOCK)]
        except GenerationError:  # it can use nothing of what only this solver accepts
            return []


class ClassedWithAlone(WithAlone):
    """The same of a strategy that tells the class of a test; the tests for a solver alone are a class."""

    def __init__(self, shared: ClassedStrategy, own: Mapping[str, Strategy]) -> None:
        super().__init__(shared, own)
        self._classed = shared
        self.classes = (*shared.classes, *map(_class, own))

    def class_of(self, index: int) -> str:
        """The class of the test of this index, without making the test."""
        kind = self.kind_of(index)
        return _class(kind) if kind else self._classed.class_of(index)


def _class(kind: str) -> str:
    return f"only {kind}"


def with_alone(shared: Strategy, own: Mapping[str, Strategy]) -> Strategy:
    """``shared`` with tests of the strategies in ``own``, by the kind of solver that they are for."""
    if not own:
        return shared
    return ClassedWithAlone(shared, own) if isinstance(shared, ClassedStrategy) else WithAlone(shared, own)
