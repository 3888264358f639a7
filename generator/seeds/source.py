"""Seeds: formulas that strategies change, and where they come from.

A :class:`SeedSource` is a sequence of :class:`Seed`; it comes from formulas of a corpus, a folder of
SMT-LIB files, or the tests of another strategy. A seed's text is checked when it is first used and
brought into one form, :class:`SeedScript`: what it declares, then the assertions in force at its one
``check-sat``. Options, ``push`` and ``pop``, names of terms and requests for models are left out.

Seeds that cannot be used are skipped, and ``SeedSource.skipped`` has the reason. The limits are sizes, not
times, so that the same seeds are used on every machine.
"""

from __future__ import annotations

import os
import random
import stat
from bisect import bisect
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from corpus.answers import Answer
from corpus.store import Corpus
from generator.errors import GenerationError
from generator.loading import select_usable
from generator.seeds.script import SeedScript, read_seed
from generator.strategy import Strategy
from generator.targets import NO_TARGETS, Targets
from solvers.registry import REFERENCES

MAX_BYTES = 1 << 20
"""Larger seeds are skipped. One of this size is read and checked in about two seconds."""

_DRAWS = 200
_AVOIDED = 0.1

_HELD_TEXT = 8 << 20
"""Characters of a folder's files that are held in memory; the files beyond are read when drawn."""

_KEPT_TEXT = 1 << 20
"""Total characters of the checked seeds that are kept, those used last; as terms they take some hundred
times as much."""


class SeedSkipped(Exception):
    """A seed that cannot be used; the message says why, without names or numbers, to be counted by."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A formula to start from.

    ``origin`` is where it stands: ``z3#2650/z3_2650_0.smt2`` in a corpus, a path below the folder, or
    ``skeletons#17``. ``answer`` is what both reference solvers say of it (see :mod:`corpus.answers`), None
    where that is not known; what the text itself claims is not trusted. ``issues`` are those behind it.
    ``targets`` have to accept it.
    """

    origin: str
    text: str
    answer: Answer | None = None
    issues: tuple[str, ...] = ()
    targets: Targets = field(default=NO_TARGETS, compare=False, repr=False)

    def script(self) -> SeedScript:
        """The seed checked and in its one form. Shared: make new terms in ``script.table.copy()`` only.

        Raises :class:`SeedSkipped`.
        """
        found = _checked.find(self.text)
        if isinstance(found, str):
            raise SeedSkipped(found)
        if not self.targets.accept_script(self.text, found):
            raise SeedSkipped("refused by a target")
        return found


class _CheckedSeeds:
    """The seeds checked last, by their texts; where one cannot be used, why."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, SeedScript | str] = OrderedDict()
        self._characters = 0

    def find(self, text: str) -> SeedScript | str:
        """The seed of this text, checked now or before."""
        found = self._found.get(text)
        if found is not None:
            self._found.move_to_end(text)
            return found
        found = "larger than 1 MiB" if len(text) > MAX_BYTES else read_seed(text)
        self._found[text] = found
        self._characters += len(text)
        while self._characters > _KEPT_TEXT and len(self._found) > 1:
            dropped, _ = self._found.popitem(last=False)
            self._characters -= len(dropped)
        return found


_checked = _CheckedSeeds()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A seed not loaded yet; ``digest`` is the SHA-256 of its text, ``text`` the text or its file."""

    origin: str
    digest: str
    text: str | Path
    answer: Answer | None = None
    issues: tuple[str, ...] = ()


class SeedSource(Sequence[Seed]):
    """A sequence of seeds with a fingerprint; the same one gives the same draws on every machine.

    ``skipped`` says, by origin, why seeds were skipped so far. ``answers`` are the known answers
    in the sequence's order. Seeds that one of ``targets`` refuses are skipped.
    """

    targets = NO_TARGETS

    def __init__(self, name: str, entries: Sequence[_Entry], skipped: Mapping[str, str]) -> None:
        if not entries:
            why = f" ({_causes(skipped)})" if skipped else ""
            raise GenerationError(f"there are no seeds in {name}{why}")
        self.name = name
        self.skipped: dict[str, str] = dict(skipped)
        self._entries = tuple(entries)
        hashed = sha256()
        for entry in entries:
            hashed.update(f"{entry.origin}\0{entry.digest}\0{entry.answer}\n".encode("utf-8", "replace"))
        self.fingerprint = hashed.hexdigest()
        self._by_answer: dict[str | None, Sequence[int]] = {None: range(len(entries))}
        for answer in ("sat", "unsat"):
            self._by_answer[answer] = [i for i, e in enumerate(entries) if e.answer == answer]
        self._weights = [1.0] * len(entries)
        # The running sums of the weights of these seeds, where they are not drawn alike.
        self._sums: dict[str | None, list[float]] = {}

    def copy(self) -> SeedSource:
        """The same seeds for another strategy, whose ``targets`` and ``skipped`` are its own."""
        made = copy(self)
        made.skipped = dict(self.skipped)
        return made

    def prefer(self, score: Callable[[str], float]) -> None:
        """Draw seeds as often as the ``score`` of their text says (0 or more). A score below a tenth of the
        average counts as that. Tests of another strategy as seeds stay as they are.
        """
        before = self._weights
        self._weigh([score(text) for text in map(self._text, range(len(self._entries)))])
        if self._weights is not before:
            self.fingerprint = sha256(repr((self.fingerprint, self._weights)).encode()).hexdigest()

    def avoid(self, digests: Collection[str]) -> None:
        """Draw the seeds whose texts have these SHA-256 a tenth as often as the others.

        The fingerprint stays, so that hunts that were stored before resume.
        """
        self._weigh([_AVOIDED if entry.digest in digests else 1.0 for entry in self._entries])

    def _weigh(self, scores: Sequence[float]) -> None:
        """Multiply how often each seed is drawn by its score, or by a tenth of the mean if that is more."""
        least = sum(scores) / max(1, len(scores)) / 10
        if least and len(set(scores)) > 1:
            weights = [max(least, found) for found in scores]
            total = [old * new for old, new in zip(self._weights, weights, strict=True)]
            self._weights = total
            self._sums = {a: list(accumulate(total[p] for p in ps)) for a, ps in self._by_answer.items()}

    def _text(self, index: int) -> str:
        try:
            return self[index].text
        except SeedSkipped:
            return ""

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Seed:  # type: ignore[override]
        """The seed at this place. Raises :class:`SeedSkipped` where its file cannot be read any more."""
        entry = self._entries[index]
        text = entry.text if isinstance(entry.text, str) else _read(entry.text)
        return Seed(entry.origin, text, entry.answer, entry.issues, self.targets)

    def nth(self, number: int, answer: Answer) -> Seed:
        """The seed with this number among those with an answer. Raises :class:`SeedSkipped`."""
        return self[self._by_answer[answer][number]]

    def digest(self, index: int) -> str:
        """The SHA-256 of a seed's text, by which trusted answers are stored."""
        return self._entries[index].digest

    def count(self, answer: Answer | None = None) -> int:
        """How many seeds there are, or how many with this answer."""
        return len(self._by_answer[answer])

    def texts(self) -> Iterator[tuple[str, str]]:
        """Of each usable seed the SHA-256 of its text, and its one form as text, for solvers to answer."""
        for index, entry in enumerate(self._entries):
            try:
                yield entry.digest, self[index].script().text()
            except SeedSkipped as skip:
                self.skipped[entry.origin] = str(skip)

    def origins_of(self, digests: Collection[str]) -> list[str]:
        """Where texts of these SHA-256 stand."""
        return [entry.origin for entry in self._entries if entry.digest in digests]

    def require_answers(self, strategy: str, answers: Sequence[Answer] = ("sat", "unsat")) -> None:
        """Raise :class:`GenerationError` where no seed is known to have one of these answers."""
        if not any(map(self.count, answers)):
            raise GenerationError(
                f"{strategy} needs seeds whose answer is known to be {' or '.join(answers)},"
                f" and {self.name} has none: run 'exhume label'"
            )

    def draw(self, chance: random.Random, answer: Answer | None = None) -> Seed:
        """A usable seed, drawn by ``chance``, with this answer where one is given.

        Seeds that cannot be used are noted in ``skipped`` and another is drawn.
        Raises :class:`GenerationError` where none is found.
        """
        places = self._by_answer[answer]
        for _ in range(_DRAWS if places else 0):
            place = places[self._number(chance.random(), answer)]
            try:
                seed = self[place]
                seed.script()
                return seed
            except SeedSkipped as skip:
                self.skipped[self._origin(place)] = str(skip)
        which = f" whose answer is {answer}" if answer else ""
        why = f": {_causes(self.skipped)}" if self.skipped else ""
        raise GenerationError(f"{self.name} has no seeds{which} that can be used{why}")

    def _number(self, chance: float, answer: Answer | None) -> int:
        """Which of the seeds with this answer a number from 0 to below 1 stands for."""
        last = len(self._by_answer[answer]) - 1
        if sums := self._sums.get(answer):
            return min(last, bisect(sums, chance * sums[-1]))
        return int(chance * (last + 1))

    def _origin(self, index: int) -> str:
        return self._entries[index].origin


class _StrategySeeds(SeedSource):
    """The tests of another strategy as seeds, made when they are drawn."""

    def __init__(self, strategy: Strategy, count: int) -> None:
        self.name = f"strategy {strategy.name}"
        self.skipped = {}
        self._strategy = strategy
        self._count = count
        self.fingerprint = sha256(f"{strategy.name} {strategy.fingerprint}".encode()).hexdigest()
        self._by_answer = {None: range(count), "sat": (), "unsat": ()}
        self._weights = []
        self._sums = {}
        self._entries = ()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Seed:  # type: ignore[override]
        test = next(iter(self._strategy.generate(index, index + 1)), None)
        if test is None:
            raise SeedSkipped("the strategy has no such test")
        return Seed(self._origin(index), test.text, None, test.issues, self.targets)

    def _origin(self, index: int) -> str:
        return f"{self._strategy.name}#{index}"


def random_for(seed: int, index: int, purpose: str = "") -> random.Random:
    """The source of randomness of test ``index`` of a strategy with this seed."""
    return random.Random(f"{seed}/{index}/{purpose}")


# Where seeds come from


_CORPUS = """
with first as (select min(formula.id) as id from current_formula as formula
    where id in (select formula_id from usable) and check_sats = 1 group by text_id)
select formula.id, formula.source, tracker.name || '#' || issue.number, text.sha256, text.body
from first join formula using (id) join text on text.id = formula.text_id
join tracker on tracker.id = formula.tracker_id left join issue on issue.id = formula.issue_id
where text.bytes <= ? order by formula.id
"""
_TOO_LARGE = """
select source from current_formula as formula join text on text.id = formula.text_id
where formula.id in (select formula_id from usable) and check_sats = 1 and text.bytes > ?
"""


def seeds_of_corpus(
    corpus: Corpus,
    solvers: Sequence[str] = REFERENCES,
    answers: Mapping[str, Answer] | None = None,
    but_not: Sequence[str] = (),
) -> SeedSource:
    """The corpus's formulas that all these solvers accept, each text once: well-sorted, not superseded,
    with one ``check-sat``. ``answers`` are known ones by the text's SHA-256. Those that all of ``but_not``
    accept are left out."""
    known = answers or {}
    left_out: set[str] = set()
    if but_not:
        select_usable(corpus, but_not)
        left_out = {digest for _, _, _, digest, _ in corpus.rows(_CORPUS, [MAX_BYTES])}
    select_usable(corpus, solvers)
    entries = [
        _Entry(source, digest, body, known.get(digest), (issue,) if issue else ())
        for _, source, issue, digest, body in corpus.rows(_CORPUS, [MAX_BYTES])
        if digest not in left_out
    ]
    skipped = {source: "larger than 1 MiB" for (source,) in corpus.rows(_TOO_LARGE, [MAX_BYTES])}
    if not entries and not skipped:
        which = f" that {' and '.join(solvers)} accept" if solvers else ""
        raise GenerationError(
            f"there are no seeds in the corpus {corpus.path}: they are its well-sorted formulas with one"
            f" check-sat{which}"
        )
    return SeedSource(f"the corpus {corpus.path}", entries, skipped)


def seeds_of_folder(folder: Path, answers: Mapping[str, Answer] | None = None) -> SeedSource:
    """The ``.smt2`` files of a folder and the folders in it, or one file, in the order of their names.

    Nothing is followed out of the folder. ``answers`` are known ones by the text's SHA-256.
    """
    known = answers or {}
    skipped: dict[str, str] = {}
    entries = []
    held = 0
    for path, origin in _files(folder):
        try:
            text = _read(path)
        except SeedSkipped as skip:
            skipped[origin] = str(skip)
            continue
        digest = sha256(text.encode()).hexdigest()
        held += len(text)
        kept = text if held <= _HELD_TEXT else path
        entries.append(_Entry(origin, digest, kept, known.get(digest)))
    return SeedSource(str(folder), entries, skipped)


def seeds_of_strategy(strategy: Strategy, count: int = 1 << 20) -> SeedSource:
    """The first ``count`` tests of another strategy."""
    return _StrategySeeds(strategy, count)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    if folder.is_file():
        yield folder, folder.name
        return
    if not folder.is_dir():
        raise GenerationError(f"--seeds {folder}: no such folder; name one, or 'corpus', or a strategy")
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".smt2"):
                path = Path(parent) / name
                yield path, path.relative_to(folder).as_posix()


def _read(path: Path) -> str:
    """The text of a plain file of bearable size. Raises :class:`SeedSkipped`."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise SeedSkipped("not a regular file")
        if found.st_size > MAX_BYTES:
            raise SeedSkipped("larger than 1 MiB")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1).decode()
    except OSError as error:
        raise SeedSkipped(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SeedSkipped("not UTF-8 text") from error


def _causes(skipped: Mapping[str, str]) -> str:
    """Causes with their counts, for people; the most frequent first."""
    return ", ".join(f"{count} {cause}" for cause, count in count_causes(skipped).items())


def count_causes(skipped: Mapping[str, str]) -> dict[str, int]:
    """How many seeds were skipped for each cause, the most frequent first."""
    return dict(sorted(Counter(skipped.values()).items(), key=lambda item: (-item[1], item[0])))
