from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from base.documents import from_document, to_document


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Inner:
    names: frozenset[str] = frozenset()
    pairs: tuple[tuple[int, str], ...] = ()
    near: str | None = None


@dataclass(slots=True)
class Outer:
    inner: Inner
    seconds: float = 0.0
    done: set[int] = field(default_factory=set)
    colours: tuple[Colour, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


FULL = Outer(
    Inner(frozenset("ba"), ((1, "x"),), "y"),
    1.5,
    {9, 1},
    (Colour.BLUE,),
    {"b": 1, "a": 2},
)


def test_a_dataclass_comes_back_from_its_document() -> None:
    document = json.loads(json.dumps(to_document(FULL)))
    assert document["inner"] == {"names": ["a", "b"], "pairs": [[1, "x"]], "near": "y"}
    assert document["done"] == [1, 9]
    assert list(document["counts"]) == ["a", "b"]
    assert from_document(document, Outer) == FULL


def test_documents_of_other_versions_are_read() -> None:
    assert from_document({"inner": {}, "later": 1}, Outer) == Outer(Inner())
    assert from_document({"inner": {}, "seconds": 2}, Outer).seconds == 2.0


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({}, "inner"),
        ({"inner": 1}, r"\$.inner"),
        ({"inner": {"pairs": [[1, 2]]}}, r"\$.inner.pairs"),
        ({"inner": {}, "seconds": "1"}, r"\$.seconds"),
        ({"inner": {}, "colours": ["green"]}, "green"),
        ({"inner": {}, "counts": {"a": "x"}}, "int"),
        ([], "object"),
        (None, "object"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_where(document: object, where: str) -> None:
    with pytest.raises(ValueError, match=where):
        from_document(document, Outer)
