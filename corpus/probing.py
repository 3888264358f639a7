"""Asks solvers which formulas of the corpus they accept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from base.steps import Tick, nothing
from corpus.acceptance import Acceptance, Prober, version_of
from corpus.examine import WELL_SORTED, examine
from corpus.store import Corpus
from smtlib import print_script
from solvers.registry import REFERENCES

_CHUNK = 500


def solver_id(corpus: Corpus, spec: str, version: str) -> int:
    """The id of a solver in one version, which is added if it is missing."""
    found = corpus.scalar("select id from solver where spec = ? and version = ?", [spec, version])
    if found is not None:
        return int(found)
    with corpus.transaction():
        ident = corpus.new_id("solver")
        corpus.insert("solver", ("id", "spec", "version"), [(ident, spec, version)])
    return ident


def probe_formulas(corpus: Corpus, jobs: int = 1, progress: Tick = nothing) -> None:
    """Ask each reference solver, in its installed version, about every formula it was not asked about yet.

    Well-sorted formulas are printed by exhume first, because their parts are used in this form; others are
    sent as written. Answers are stored during the run.
    """
    ids = {solver: solver_id(corpus, solver, version_of(solver)) for solver in REFERENCES}
    unasked = {solver: _unasked(corpus, ident) for solver, ident in ids.items()}
    everything = sorted(set().union(*unasked.values()))
    with ExitStack() as stack:
        probers = {s: stack.enter_context(Prober(s, jobs)) for s in unasked if unasked[s]}
        for start in range(0, len(everything), _CHUNK):
            chunk = _forms(corpus, everything[start : start + _CHUNK])
            with corpus.transaction():
                for solver, prober in probers.items():
                    entries = [entry for entry in chunk if entry[0] in unasked[solver]]
                    answers = prober.probe(text for _, _, text in entries)
                    rows = [(*entry[:2], answer) for entry, answer in zip(entries, answers, strict=True)]
                    store_acceptance(corpus, ids[solver], rows)
            progress(start + len(chunk), len(everything))


def store_acceptance(corpus: Corpus, solver: int, answers: Sequence[tuple[int, str, Acceptance]]) -> None:
    """Store a solver's answers, each as ``(formula id, form, answer)``."""
    columns = ("formula_id", "solver_id", "form", "accepted", "outcome", "message", "cause")
    rows = [
        (formula, solver, form, a.accepted, a.outcome, a.message or None, a.cause or None)
        for formula, form, a in answers
    ]
    with corpus.transaction():
        corpus.insert("acceptance", columns, rows)


def _unasked(corpus: Corpus, solver: int) -> set[int]:
    found = corpus.values(
        """select id from current_formula where text_id is not null
        and id not in (select formula_id from acceptance where solver_id = ?)""",
        [solver],
    )
    return set(found)


def _forms(corpus: Corpus, formulas: list[int]) -> list[tuple[int, str, str]]:
    """The id, form and text of each formula."""
    rows = corpus.rows(
        """select formula.id, status, body from formula join text on text.id = text_id
        where formula.id in (select unnest(?::integer[])) order by formula.id""",
        [formulas],
    )
    forms = []
    for ident, status, body in rows:
        examined = examine(body) if status == WELL_SORTED else None
        if examined is not None and examined.status == WELL_SORTED and examined.checked is not None:
            forms.append((ident, "printed", print_script(examined.checked)))
        else:
            forms.append((ident, "written", body))
    return forms
