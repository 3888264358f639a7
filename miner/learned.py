"""What the words of an issue say of its bug class, learned from labelled threads.

A multinomial logistic regression on a bag of words and of pairs of words (Bishop, Pattern Recognition and
Machine Learning, 2006, section 4.3.4). ``scripts/learn_classes`` makes ``class_weights.tsv`` from
``tests/miner/labelled/threads*.md``: the first row names the classes; each other row has a feature and its
weight for each class, in hundredths. Features of little weight are left out of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import islice, pairwise
from operator import mul

FILE = "class_weights.tsv"
# The feature that every issue has, and the parts of one unit that weights are counted in.
ALWAYS, UNIT = "always", 100
# Characters read of each text. What a solver printed soon repeats.
_READ = {"title": 1_000, "body": 12_000, "comment": 3_000, "output": 2_000}
_TEXTS_READ = 100
# The length of all features of an issue taken as one vector, however many words it has; few words say less.
_LENGTH, _FEW = 4.0, 60
_WORD = re.compile(r"[a-z_']+|[?!]")
# What the features of a place are called: words of a title or comment count as words of any text, too.
_NAMES = {"title": ("title", "any"), "body": ("any",), "comment": ("comment", "any"), "output": ("output",)}


@dataclass(frozen=True, slots=True)
class Weights:
    """The classes, and of each feature the weight for each class. Without any, nothing is said of a class."""

    classes: tuple[str, ...] = ()
    rows: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Weights:
        """The weights that a file has; ValueError for a weight that is no number."""
        head, *rows = (line.split("\t") for line in text.splitlines())
        return cls(tuple(head[1:]), {name: [int(one) / UNIT for one in row] for name, *row in rows})

    def chances(self, features: Mapping[str, float]) -> dict[str, float]:
        """The logarithm of the probability of each class; empty for an issue without a known word."""
        known = features.keys() & self.rows.keys()
        if not known - {ALWAYS}:
            return {}
        # In a fixed order: sums of fractions depend on it.
        values = {name: value for name, value in features.items() if name in known}
        columns = zip(*(self.rows[name] for name in values), strict=True)
        sums = [sum(map(mul, values.values(), column)) for column in columns]
        top = max(sums)  # powers of large numbers overflow
        total = top + math.log(sum(math.exp(one - top) for one in sums))
        return {name: one - total for name, one in zip(self.classes, sums, strict=True)}

    def words_for(self, features: Mapping[str, float], value: str, other: str) -> str:
        """The four words that speak most for a class against another one, those of most weight first."""
        one, two = self.classes.index(value), self.classes.index(other)
        said: dict[str, float] = {}
        for name in features:
            if name in self.rows and name != ALWAYS:
                words, row = name.partition(":")[2], self.rows[name]
                said[words] = said.get(words, 0.0) + row[one] - row[two]
        best = sorted(said, key=lambda words: (-said[words], words))[:4]
        return ", ".join(f'"{words}"' for words in best)


@cache
def default_weights() -> Weights:
    """The weights of the package."""
    return Weights.parse((resources.files("miner") / FILE).read_text(encoding="utf-8"))


def features_of(texts: Iterable[tuple[str, str]]) -> dict[str, float]:
    """The features of an issue, each with its value.

    ``texts`` are pairs of a place (title, body, comment or output) and a text of it. Only the first part of
    the first texts is read. Takes time linear in what is read.
    """
    found: dict[str, None] = {}
    for place, text in islice(texts, _TEXTS_READ):
        words = _WORD.findall(text[: _READ[place]].lower())
        words += map(" ".join, pairwise(words[:]))
        for name in _NAMES[place]:
            found |= dict.fromkeys([f"{name}:{one}" for one in words])
    value = _LENGTH / math.sqrt(max(len(found), _FEW))
    return {ALWAYS: 1.0} | dict.fromkeys(found, value)
