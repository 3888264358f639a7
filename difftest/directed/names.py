"""Which operators, theories, options and tactics the words of sources name.

An identifier is split where a word of it ends (``mk_seq_replaceAll``: mk, seq, replace, all). It names what
is written, without marks, as a row of its words. A name of one word counts only after a prefix such as
``mk``. Constants that stand for an operator are read from the sources. What differs between solvers is data
of their profiles (``solvers.profile.SourceTree``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from difftest.directed.changes import Change, read_source, source_files
from smtlib.mentions import theories_in
from smtlib.scanner import lexemes
from smtlib.theory import default_theories
from solvers.option_file import split_option
from solvers.options import option_table
from solvers.profile import SourceTree
from solvers.registry import PROFILES
from solvers.tactics import read_tactic, tactic_names

Feature = tuple[str, str]
"""``operator``, ``theory``, ``option`` or ``tactic``, and its name."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STRING = re.compile(r'"([^"\\\n]{1,80})"')
_MOST_WORDS = 6
_SHORTEST = 5
"""Letters of a name of several words: bvadd."""
_READ = 1 << 20
"""Characters of a formula that are read."""


class Names:
    """What the sources and the formulas of the solver ``family`` name; ``tree`` is a folder of its sources,
    from which constants are read.
    """

    def __init__(self, family: str, tree: Path | None = None) -> None:
        self.sources = PROFILES[family].sources if family in PROFILES else SourceTree()
        theories = default_theories()
        self._current = {old: names[0] for old, names in theories.spellings.items()}
        self._operators = theories.functions.keys() - theories.marked(":neutral") | {"distinct"}
        table = option_table(family)
        self._options = {known.name for known in table.options if "*" not in known.name} | table.seen
        listed = [*table.first_tactics, *table.last_tactics, *table.left_out]
        self._tactics = {name for tactic in listed for name in tactic_names(read_tactic(tactic))}
        self._strings: dict[str, set[Feature]] = {}
        self._rows: dict[str, set[Feature]] = {}
        self._short: dict[str, set[Feature]] = {}
        self._constants: dict[str, set[Feature]] = {}
        self._operator_rows: dict[str, set[Feature]] = {}
        self._looked: dict[str, tuple[tuple[Feature, bool], ...]] = {}
        for name in sorted(self._operators | self._current.keys()):
            self._name(("operator", self._current.get(name, name)), name)
        for name in sorted(self._options):
            self._name(("option", name), name, name.partition(".")[2])
        for name in sorted(self._tactics):
            self._name(("tactic", name), name)
        if tree is not None:
            self._learn(tree)
        for row, features in self._rows.items():
            if operators := {feature for feature in features if feature[0] == "operator"}:
                self._operator_rows[row] = operators

    def _name(self, feature: Feature, *names: str) -> None:
        for name in filter(None, names):
            self._strings.setdefault(name, set()).add(feature)
            self._rows.setdefault(_joined(name), set()).add(feature)

    def _learn(self, tree: Path) -> None:
        """Read which constants stand for which operators."""
        files = source_files(tree).values()
        read = [path for path in files if any(fnmatch(path.name, p) for p in self.sources.kind_files)]
        for text in map(read_source, read):
            for line in (text or b"").decode("utf-8", "replace").splitlines():
                constants = set(self.sources.kinds.findall(line))
                names = {self._current.get(name, name) for name in _STRING.findall(line)} & self._operators
                if len(constants) != 1 or not names:
                    continue
                (constant,) = constants
                features = {("operator", name) for name in names}
                self._constants.setdefault(constant, set()).update(features)
                words = _words(constant)
                if words and words[0] in self.sources.prefixes:
                    del words[0]
                # OP_SEQ_REPLACE_ALL: seq_replace_all, and replace_all in sources of that theory.
                self._rows.setdefault("".join(words), set()).update(features)
                for start in range(1, len(words) - 1):
                    self._short.setdefault("".join(words[start:]), set()).update(features)

    def of_change(self, change: Change) -> frozenset[Feature]:
        """What a change names: by its identifiers and strings, the name of its function and of its file."""
        path = change.file.rpartition(".")[0]
        words = {*_words(change.function), *_words(path)} & self.sources.words.keys()
        theories = {theory for word in words for theory in self.sources.words[word]}
        found: set[Feature] = {("theory", theory) for theory in theories}
        for literal in change.literals:
            found |= self._strings.get(literal.partition("=")[0], set())
        for identifier in {*change.identifiers, *change.function.split("::"), path.rpartition("/")[2]}:
            if identifier not in self._looked:
                self._looked[identifier] = tuple(self._look(identifier))
            for feature, is_short in self._looked[identifier]:
                if not is_short or self._theories_of(feature) & theories:
                    found.add(feature)
        return frozenset(found)

    @staticmethod
    def _theories_of(feature: Feature) -> set[str]:
        theories = default_theories()
        own = {rank.theory for rank in theories.functions.get(feature[1], ())}
        return own.union(*(theories.theories[name].combines for name in own))

    def _look(self, identifier: str) -> Iterator[tuple[Feature, bool]]:
        """What an identifier names, and whether that takes a theory named beside it."""
        if identifier in self._constants:
            yield from ((feature, False) for feature in self._constants[identifier])
            return
        words = _words(identifier)
        start = 0
        while start < len(words):
            is_after_prefix = start > 0 and words[start - 1] in self.sources.prefixes
            for end in range(min(len(words), start + _MOST_WORDS), start, -1):
                row = "".join(words[start:end])
                if end - start == 1 or len(row) < _SHORTEST:
                    named = self._operator_rows if is_after_prefix else {}
                else:
                    named = self._rows
                if row in named or (row in self._short and end - start > 1):
                    yield from ((feature, False) for feature in named.get(row, ()))
                    yield from ((feature, True) for feature in self._short.get(row, ()))
                    start = end - 1
                    break
            start += 1

    def of_formula(self, text: str, options: Iterable[str] = ()) -> frozenset[Feature]:
        """What a formula uses, and its options."""
        text = text[:_READ]
        tokens = {self._current.get(token, token) for token in lexemes(text)}
        names = {*tokens, *(token[1:] for token in tokens if token.startswith(":"))}
        names |= {part for option in options for part in split_option(option)}
        found: set[Feature] = {("operator", name) for name in tokens & self._operators}
        found |= {("theory", theory) for theory in theories_in(text)}
        found |= {("option", name) for name in names & self._options}
        tactics = names & self._tactics if tokens & {"check-sat-using", "apply"} or options else set()
        return frozenset(found | {("tactic", name) for name in tactics})


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:200])]


def _joined(name: str) -> str:
    return "".join(_words(name))
