"""Trusted answers: those on which the reference solvers agree.

They are computed in processes (:mod:`solvers.running.tasks`) under the solvers' own resource limits, which
are the same on every machine; a time limit covers cases that ignore them. The second solver is asked only
about texts that the first one decided, as undecided texts take most of the time. Answers are stored by the
text's SHA-256 and the solver's version: in the corpus (table ``answer``) or, for formulas outside of a
corpus, in a file of the user's cache. The ``:status`` of a text is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from base.cache import cache_folder
from base.locks import locked
from base.steps import Tick, nothing
from corpus.acceptance import Prober, version_of
from corpus.probing import solver_id
from corpus.store import Corpus
from solvers import registry

Answer = Literal["sat", "unsat"]

REFERENCES: tuple[str, ...] = tuple(reversed(registry.REFERENCES))
"""The solvers that must agree, in the order in which they are asked."""

SECONDS = 10.0
"""The time limit. Decided texts take at most two seconds, even if ten processes share a core."""

_CHUNK = 1000
_STORED = 25
"""Answers are stored in groups of this size, from which an interrupted run resumes."""

_DECIDED = ("sat", "unsat")
_HARD = ("unknown", "timeout")


class AnswerStore(Protocol):
    """Where outcomes are stored."""

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """The solver's outcomes by the text's SHA-256."""
        ...

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        """Store outcomes of the solver."""
        ...


class CorpusAnswers:
    """Outcomes in the table ``answer`` of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """The solver's outcomes by the text's SHA-256."""
        return dict(
            self.corpus.rows(
                "select sha256, outcome from answer join solver on solver.id = solver_id"
                " where spec = ? and version = ?",
                [solver, version],
            )
        )

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        """Store outcomes of the solver."""
        ident = solver_id(self.corpus, solver, version)
        with self.corpus.transaction():
            rows = [(digest, ident, outcome) for digest, outcome in outcomes.items()]
            self.corpus.insert("answer", ("sha256", "solver_id", "outcome"), rows)


class CachedAnswers:
    """Outcomes in a file of the user's cache: one appended JSON line each."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "answers.jsonl"

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        """The solver's outcomes by the text's SHA-256. Malformed lines are ignored."""
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
        """Store outcomes of the solver."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps([solver, version, d, o]) + "\n" for d, o in outcomes.items())
        with locked(self.path) as file:
            # An incomplete line of a killed process must not merge with the next one.
            file.write("\n" + lines)


class Labels(NamedTuple):
    """What is known of texts, by SHA-256: ``answers`` on which the installed reference solvers agree, and the
    ``hard`` texts, which one of them took and did not decide within its limits.
    """

    answers: Mapping[str, Answer]
    hard: frozenset[str]


def labels_of(store: AnswerStore) -> Labels:
    """What the installed versions of the reference solvers said, as far as it is stored."""
    first, *others = [store.outcomes(solver, version_of(solver)) for solver in REFERENCES]
    agreed: dict[str, Answer] = {}
    for digest, outcome in first.items():
        if outcome in ("sat", "unsat") and all(other.get(digest) == outcome for other in others):
            agreed[digest] = "sat" if outcome == "sat" else "unsat"
    hard = (digest for found in (first, *others) for digest, outcome in found.items() if outcome in _HARD)
    return Labels(agreed, frozenset(hard))


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The numbers of texts in total, texts asked about in this run, and trusted answers by kind.

    ``contradictions``: digests of texts on which the references disagree, each of which is a finding.
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
    progress: Tick = nothing,
    total: int = 0,
) -> LabelReport:
    """Ask the reference solvers about ``texts``, pairs of a digest (to store by) and the text to solve.

    A text must be one that we printed: declarations, assertions and one ``check-sat`` at the end. Stored
    answers are not computed again, and new ones are stored during the run. ``progress`` gets the number of
    texts done and ``total``.
    """
    versions = {solver: version_of(solver) for solver in REFERENCES}
    known = {solver: dict(store.outcomes(solver, versions[solver])) for solver in REFERENCES}
    asked: set[str] = set()
    digests: dict[str, None] = {}
    done = 0
    with ExitStack() as stack:
        probers = {s: stack.enter_context(Prober(s, jobs, seconds=SECONDS, solve=True)) for s in REFERENCES}
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
    pairs = [tuple(known[s].get(digest) for s in REFERENCES) for digest in digests]
    return LabelReport(
        len(digests),
        len(asked),
        pairs.count(("sat", "sat")),
        pairs.count(("unsat", "unsat")),
        tuple(d for d, said in zip(digests, pairs, strict=True) if set(said) == {"sat", "unsat"}),
    )


def all_answered(store: AnswerStore, digests: Iterable[str]) -> bool:
    """Whether :func:`find_answers` would ask nothing about these texts."""
    for solver in REFERENCES:
        known = store.outcomes(solver, version_of(solver))
        outcomes = {digest: known.get(digest) for digest in digests}
        if None in outcomes.values():
            return False
        digests = [digest for digest, outcome in outcomes.items() if outcome in _DECIDED]
    return True


def _ask(prober: Prober, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Outcomes by digest, in groups."""
    answers = zip(texts, prober.probe(texts.values()), strict=True)
    while some := {digest: answer.outcome for digest, answer in islice(answers, _STORED)}:
        yield some


def _settled(outcomes: Iterable[str], solver: str) -> int:
    """How many of a solver's outcomes settle their text, so that no other solver is asked."""
    return sum(solver == REFERENCES[-1] or outcome not in _DECIDED for outcome in outcomes)
