"""Learning: decomposes every formula, then mines rules from the signatures.

If one command of a formula has a sort error, the other assertions are still used: many formulas in trackers
are accepted by the reporter's solver but not by others.
"""

from __future__ import annotations

from dataclasses import dataclass

from base.steps import Tick, nothing
from corpus.examine import examine
from corpus.learned import Decompositions, refresh_counts, store_rule_set, transactions
from corpus.store import Corpus
from rules import MAX_RULES, MIN_CONFIDENCE, MIN_SUPPORT, RuleSet, mine

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class LearnReport:
    """The result of learning: the formulas decomposed in this run, and the current rules.

    ``new_rule_sets``: how many of the two rule sets changed. ``complete``: False if rules between many
    signatures were left out because there are too many. ``left_out``: the number of rules
    left out because there were more than MAX_RULES. ``has_pairs``: whether any two full signatures
    occur together in ``min_support`` formulas. ``skipped``: over the whole corpus, the number of
    assertions that were skipped or lost atoms, by reason.
    """

    decomposed: int
    failed: int
    rules: int
    coarse_rules: int
    new_rule_sets: int
    complete: bool
    left_out: int
    has_pairs: bool
    skipped: dict[str, int]


def learn(
    corpus: Corpus,
    min_support: int = MIN_SUPPORT,
    min_confidence: float = MIN_CONFIDENCE,
    *,
    progress: Tick = nothing,
) -> LearnReport:
    """Decompose new formulas, then mine rules over full and over coarse signatures.

    Raises ValueError for a support below 1 or a confidence outside ``[0, 1]``.
    """
    decomposed, failed = decompose_pending(corpus, progress)
    found: dict[bool, RuleSet] = {}
    new = left_out = 0
    for coarse in (False, True):
        baskets = list(transactions(corpus, coarse).values())
        every = mine([frozenset(b) for b in baskets], min_support, min_confidence)
        mined = found[coarse] = every.strongest(MAX_RULES)
        left_out += len(every) - len(mined)
        new += store_rule_set(
            corpus, mined, baskets, coarse=coarse, min_support=min_support, min_confidence=min_confidence
        ).new
    skipped = corpus.rows(
        """select skipped, count(*) from assertion join current_formula as f on f.id = formula_id
        where skipped is not null group by skipped order by skipped"""
    )
    return LearnReport(
        decomposed,
        failed,
        len(found[False]),
        len(found[True]),
        new,
        all(mined.complete for mined in found.values()),
        left_out,
        found[False].has_pairs,
        dict(skipped),
    )


def decompose_pending(corpus: Corpus, progress: Tick = nothing) -> tuple[int, int]:
    """Decompose every current readable formula that is not yet decomposed, and refresh the counts.

    Returns how many were decomposed, and on how many our checker failed; these are skipped.
    """
    pending = corpus.values(
        "select id from current_formula where status <> 'error' and not decomposed order by id"
    )
    learner = Decompositions(corpus)
    decomposed = 0
    for start in range(0, len(pending), _CHUNK):
        chunk = pending[start : start + _CHUNK]
        rows = corpus.rows(
            """select formula.id, body from formula join text on text.id = text_id
            where formula.id in (select unnest(?::integer[])) order by formula.id""",
            [chunk],
        )
        with corpus.transaction():
            for ident, body in rows:
                examined = examine(body)
                if examined.checked is not None:
                    learner.take(ident, examined.checked)
                    decomposed += 1
            learner.flush()
        progress(start + len(chunk), len(pending))
    refresh_counts(corpus)
    return decomposed, len(pending) - decomposed
