"""Answers that can be trusted: z3 and cvc5 both found them, and agree.

They are found in processes (:mod:`solvers.running.tasks`) under each solver's own resource limit, which
counts the same on every machine; a limit on time is there for what does not heed it. cvc5 is asked first, and
z3 only about what it decided: most of the time would go into what both cannot decide. They are stored by
the text's SHA-256 and the solver's version, in the corpus (table ``answer``) or, for formulas that
are in no corpus, in a file of the user's cache, so that the same text has the same answer each time.
What a text claims of itself (``:status``) is not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

from base.cache import cache_folder
from base.locks import locked
from corpus.acceptance import Prober, version_of
from corpus.probing import solver_id
from corpus.store import Corpus
from solvers import registry

Answer = Literal["sat", "unsat"]

REFERENCES: tuple[str, ...] = tuple(reversed(registry.REFERENCES))
"""The solvers that must agree, in the order in which they are asked."""

SECONDS = 10.0
"""For what does not heed its resource limit. What is decided at all takes two seconds at most, even where ten
processes share a core."""

_CHUNK = 1000
_STORED = 25
"""Answers are stored when so many have come in: a run that is interrupted goes on from there."""

_DECIDED = ("sat", "unsat")


class AnswerStore(Protocol):
    """Where outcomes are kept."""

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """What this solver answered, by the text's SHA-256."""
        ...

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        ...


class CorpusAnswers:
    """Outcomes in the table ``answer`` of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """What this solver answered, by the text's SHA-256."""
        return dict(
            self.corpus.rows(
                "select sha256, outcome from answer join solver on solver.id = solver_id"
                " where spec = ? and version = ?",
                [solver, version],
            )
        )

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        ident = solver_id(self.corpus, solver, version)
        with self.corpus.transaction():
            rows = [(digest, ident, outcome) for digest, outcome in outcomes.items()]
            self.corpus.insert("answer", ("sha256", "solver_id", "outcome"), rows)


class CachedAnswers:
    """Outcomes in a file of the user's cache: a line of JSON each, added at the end."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "answers.jsonl"

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """What this solver answered, by the text's SHA-256. Lines that are no such row are passed over."""
        found: dict[str, str] = {}
        try:
            with self.path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    try:
                        spec, release, digest, outcome = json.loads(line)
                    except (ValueError, TypeError):  # the end of a write that was killed
                        continue
                    if (spec, release) == (solver, version):
                        found[str(digest)] = str(outcome)
        except FileNotFoundError:
            return {}
        return found

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps([solver, version, d, o]) + "\n" for d, o in outcomes.items())
        with locked(self.path) as file:
            # A line that a killed process left unfinished must not swallow the next one.
            file.write("\n" + lines)


def trusted_answers(store: AnswerStore) -> dict[str, Answer]:
    """The answers that the references, in their installed versions, agree on, by SHA-256 of the text."""
    first, *others = [store.outcomes(solver, version_of(solver)) for solver in REFERENCES]
    agreed: dict[str, Answer] = {}
    for digest, outcome in first.items():
        if outcome in ("sat", "unsat") and all(other.get(digest) == outcome for other in others):
            agreed[digest] = "sat" if outcome == "sat" else "unsat"
    return agreed


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What came of asking: texts in all, asked in this run, trusted answers by kind.

    ``contradictions`` are digests of texts on which the references disagree: findings in themselves.
    """

    texts: int
    asked: int
    sat: int
    unsat: int
    contradictions: tuple[str, ...]


def find_answers(
    store: AnswerStore,
    texts: Iterable[tuple[str, str]],
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
    total: int = 0,
) -> LabelReport:
    """Ask the references about each of ``texts``, pairs of the digest to store by and the text to solve.

    One is not asked what the other could not decide. What is stored already is not asked again; what was
    answered is stored as it goes. ``progress`` gets the number of texts done and ``total``. A text
    declares, asserts and ends with its one ``check-sat``: it must be one that we printed.
    """
    versions = {solver: version_of(solver) for solver in REFERENCES}
    known = {solver: dict(store.outcomes(solver, versions[solver])) for solver in REFERENCES}
    probers = {s: Prober(s, jobs, seconds=SECONDS, solve=True) for s in REFERENCES}
    asked: set[str] = set()
    digests: dict[str, None] = {}
    done = 0
    try:
        waiting = iter(texts)
        while chunk := dict(islice(waiting, _CHUNK)):
            digests.update(dict.fromkeys(chunk))
            open_texts = chunk
            for solver, prober in probers.items():
                answers = known[solver]
                unasked = {d: t for d, t in open_texts.items() if d not in answers}
                asked.update(unasked)
                done += _settled([answers[d] for d in open_texts if d in answers], solver)
                for outcomes in _ask(prober, unasked):
                    store.store(solver, versions[solver], outcomes)
                    answers.update(outcomes)
                    done += _settled(outcomes.values(), solver)
                    progress(done, total)
                open_texts = {d: t for d, t in open_texts.items() if answers[d] in _DECIDED}
            progress(done, total)
    finally:
        for prober in probers.values():
            prober.close()
    pairs = [tuple(known[s].get(digest) for s in REFERENCES) for digest in digests]
    return LabelReport(
        len(digests),
        len(asked),
        pairs.count(("sat", "sat")),
        pairs.count(("unsat", "unsat")),
        tuple(d for d, said in zip(digests, pairs, strict=True) if set(said) == {"sat", "unsat"}),
    )


def _ask(prober: Prober, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Outcomes by digest, some at a time, as they come in."""
    answers = zip(texts, prober.probe(texts.values()), strict=True)
    while some := {digest: answer.outcome for digest, answer in islice(answers, _STORED)}:
        yield some


def _settled(outcomes: Iterable[str], solver: str) -> int:
    """How many of a solver's answers are the last that is wanted for their text."""
    return sum(solver == REFERENCES[-1] or outcome not in _DECIDED for outcome in outcomes)
