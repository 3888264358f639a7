"""The page of one bug."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from difftest.bugs.describing import Span, command_of, spans_of, states_of, title_of
from difftest.bugs.learning import Learned
from difftest.bugs.likeness import Like
from difftest.bugs.records import Bug
from difftest.triage.classes import class_of
from difftest.triage.kinds import State
from exhume.pages.rendering import render
from exhume.pages.site.highlighting import highlight

LONGEST = 4 << 20
"""Characters of a formula that its page shows."""
# A sign, a word for the style sheet and one for people, so that nothing rests on colour alone.
STATES = {
    State.AFFECTED: ("✗", "bad", "shows the bug"),
    State.FREE: ("✓", "good", "does not show it"),
    State.SKIPPED: ("?", "open", "undecided"),
    None: ("·", "none", "was not run"),
}
_LONGEST_CELL = 500


def bug_page(
    bug: Bug,
    releases: Mapping[str, Sequence[str]],
    likes: Sequence[Like],
    learned: Learned | None,
    option: str,
) -> bytes:
    """The page of a bug. ``releases``: all of each solver; ``option``: how ``exhume bugs`` finds the
    benchmark (``--bugs FOLDER``, or nothing for the one that comes with exhume).
    """
    states = states_of(bug, releases)
    ends = (bug.last_bad, bug.first_good)
    return render(
        "site/bug.html",
        root="../",
        bug=bug,
        title=title_of(bug),
        colour=class_of(bug.finding_class).colour,
        facts=_facts(bug),
        command=command_of(bug, "formula.smt2"),
        checkout=f"exhume bugs checkout {bug.id} {bug.id}{option}",
        run=f"exhume bugs run {bug.id}{option}",
        url=bug.url if bug.url and bug.url.startswith(("https://", "http://")) else None,
        strip=[(release, *STATES[state], release in ends) for release, state in states],
        legend=[words for state, words in STATES.items() if state in dict(states).values()],
        spans=[_span(span) for span in spans_of(bug)],
        formula=highlight(bug.text[:LONGEST]),
        left=max(0, len(bug.text) - LONGEST),
        reduced=highlight(bug.reduced[:LONGEST]) if bug.reduced else None,
        likes=[(like, title_of(like.bug)) for like in likes],
        learned=learned,
    )  # fmt: skip


def _facts(bug: Bug) -> list[tuple[str, str]]:
    """What the record has beside formula, answers and releases; what is empty is left out."""
    facts = {
        "reported": bug.reported,
        "days to fix": "" if bug.days_to_fix is None else str(bug.days_to_fix),
        "fixed by": bug.fixed_by,
        "component": ", ".join(bug.component),
        "found with": ", ".join(bug.tools),
        "class in the issue": bug.issue_class,
        "correct according to the issue": bug.expected,
        "options": shlex.join(bug.options),
        "logic": bug.logic,
        "theories": ", ".join(bug.theories),
        "operators": ", ".join(bug.operators),
        "incremental": "yes" if bug.incremental else "no",
        "size": f"{bug.bytes:,} bytes",
        "key": bug.bug_key,
        "sources": ", ".join(bug.sources),
        "licence": bug.licence,
    }
    return [(name, value) for name, value in facts.items() if value]


def _span(span: Span) -> dict[str, Any]:
    """A row of the table of releases."""
    first, last = span.releases[0], span.releases[-1]
    seen = span.seen
    answers = " ".join(answer or "–" for answer in seen.answers)
    detail = ", ".join(filter(None, (seen.location, seen.detail)))
    return {
        "releases": first if first == last else f"{first} to {last}",
        "count": len(span.releases),
        "state": STATES[span.state],
        "outcome": seen.outcome,
        "answers": answers if len(answers) <= _LONGEST_CELL else f"{answers[:_LONGEST_CELL]} …",
        "detail": detail if len(detail) <= _LONGEST_CELL else f"{detail[:_LONGEST_CELL]} …",
    }
