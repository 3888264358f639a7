"""Answers that can be trusted: z3 and cvc5 both found them, and agree.

They are found in child processes (:mod:`corpus._probe`) under each solver's own resource limit, which
counts the same on every machine; a limit on time is there for safety only. They are stored by
the text's SHA-256 and the solver's version, in the corpus (table ``answer``) or, for formulas that
are in no corpus, in a file of the user's cache, so that the same text has the same answer each time.
What a text claims of itself (``:status``) is not looked at.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

import platformdirs

from corpus.acceptance import Prober, Solver, version_of
from corpus.probing import solver_id
from corpus.store import Corpus

Answer = Literal["sat", "unsat"]

REFERENCES: tuple[Solver, ...] = ("z3", "cvc5")
"""The solvers that must agree."""

SECONDS = 60.0
"""Safety only: the resource limits end most runs within a second or two."""

_CHUNK = 100


class AnswerStore(Protocol):
    """Where outcomes are kept."""

    def outcomes(self, solver: Solver, version: str) -> Mapping[str, str]:
        """What this solver answered, by the text's SHA-256."""
        ...

    def store(self, solver: Solver, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        ...


class CorpusAnswers:
    """Outcomes in the table ``answer`` of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def outcomes(self, solver: Solver, version: str) -> Mapping[str, str]:
        """What this solver answered, by the text's SHA-256."""
        return dict(
            self.corpus.rows(
                "select sha256, outcome from answer join solver on solver.id = solver_id"
                " where spec = ? and version = ?",
                [solver, version],
            )
        )

    def store(self, solver: Solver, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        ident = solver_id(self.corpus, solver, version)
        with self.corpus.transaction():
            rows = [(digest, ident, outcome) for digest, outcome in outcomes.items()]
            self.corpus.insert("answer", ("sha256", "solver_id", "outcome"), rows)


class CachedAnswers:
    """Outcomes in a file of the user's cache: a line of JSON each, added at the end."""

    def __init__(self, path: Path | None = None) -> None:
        override = os.environ.get("EXHUME_CACHE")
        folder = Path(override) if override else Path(platformdirs.user_cache_dir("exhume"))
        self.path = path or folder / "answers.jsonl"

    def outcomes(self, solver: Solver, version: str) -> Mapping[str, str]:
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

    def store(self, solver: Solver, version: str, outcomes: Mapping[str, str]) -> None:
        """Keep what this solver answered."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps([solver, version, d, o]) + "\n" for d, o in outcomes.items())
        with self.path.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
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
    """Ask both references about each of ``texts``, pairs of the digest to store by and the text to solve.

    What is stored already is not asked again; what was answered is stored as it goes. A text
    declares, asserts and ends with its one ``check-sat``: it must be one that we printed.
    """
    versions = {solver: version_of(solver) for solver in REFERENCES}
    known = {solver: dict(store.outcomes(solver, versions[solver])) for solver in REFERENCES}
    probers = {s: Prober(s, jobs, seconds=SECONDS, solve=True) for s in REFERENCES}
    asked = 0
    digests: dict[str, None] = {}
    try:
        waiting = iter(texts)
        while chunk := list(islice(waiting, _CHUNK)):
            digests.update(dict.fromkeys(digest for digest, _ in chunk))
            unasked = dict(t for t in chunk if any(t[0] not in known[s] for s in REFERENCES))
            asked += len(unasked)
            for solver, prober in probers.items():
                found = _ask(prober, {d: t for d, t in unasked.items() if d not in known[solver]})
                store.store(solver, versions[solver], found)
                known[solver].update(found)
            progress(len(digests), total)
    finally:
        for prober in probers.values():
            prober.close()
    outcomes = [tuple(known[s][digest] for s in REFERENCES) for digest in digests]
    return LabelReport(
        len(digests),
        asked,
        outcomes.count(("sat", "sat")),
        outcomes.count(("unsat", "unsat")),
        tuple(d for d, o in zip(digests, outcomes, strict=True) if set(o) == {"sat", "unsat"}),
    )


def _ask(prober: Prober, texts: Mapping[str, str]) -> dict[str, str]:
    answers: Sequence[str] = [a.outcome for a in prober.probe(texts.values())]
    return dict(zip(texts, answers, strict=True))
