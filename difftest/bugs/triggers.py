"""The triggers of a corpus: its formulas, each with the solver and the options of its failing run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from corpus.store import Corpus
from difftest.bugs.components import Clones
from difftest.bugs.records import Trigger
from solvers.registry import PROFILES, kin_of

# Options about limits, input and what is printed: not part of the bug.
_NOT_OF_THE_BUG = re.compile(
    r"(?:t|tlimit\b.*|time-?out|memory|rlimit\b.*|v|verbos\w*|stats?|st|q|quiet|lang\b.*|smt2?|in|i|version|"
    r"h|help|p|model|d|trace\b.*|dump\b.*|seed_dummy|force-logic\b.*|L)$",
    re.I,
)


def triggers_of(
    corpus: Corpus, solvers: Sequence[str] = (), licence: str | None = None, clones: Clones | None = None
) -> list[Trigger]:
    """The triggers of a corpus; equal ones once, with all of their sources. Their order is that of a hash,
    so that the first thousand are like all of them.

    The solver is that of the failing run, else the tracker's; with ``solvers``, their releases run every
    formula instead. ``licence`` is that of the formulas; ``clones`` have the files of
    fixing commits.
    """
    clones = clones or Clones(())
    runs: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    for formula, solver, options in corpus.rows(_RUNS):
        runs.setdefault(formula, []).append((_family(solver), _of_the_bug(solver, options or ())))
    found: dict[str, Trigger] = {}
    for row in corpus.rows(_FORMULAS):
        formula, *rest = row
        for trigger in _triggers_of(rest, runs.get(formula, []), solvers, licence):
            known = found.get(trigger.key)
            if known is not None:
                sources = (*known.sources, *(s for s in trigger.sources if s not in known.sources))
                trigger = msgspec.structs.replace(known, sources=sources)
            tracker = (trigger.issue or "").partition("#")[0]
            files = clones.files(tracker, trigger.solver, trigger.fixed_by)
            found[trigger.key] = msgspec.structs.replace(trigger, component=files)
    return sorted(found.values(), key=lambda trigger: hashlib.sha256(trigger.key.encode()).digest())


def _triggers_of(
    row: Sequence[Any],
    runs: Sequence[tuple[str, tuple[str, ...]]],
    solvers: Sequence[str],
    licence: str | None,
) -> Iterator[Trigger]:
    source, tracker, of_tracker, number, url, created, closed, *rest = row
    tools, fixed_by, bug_class, expected, logic, theories, operators, checks, pushes, body = rest
    own = _family(of_tracker) or _family(tracker.rpartition("/")[2]) or str(of_tracker or tracker)
    targets = [(family or own, options) for family, options in runs] or [(own, ())]
    if solvers:
        targets = [target for target in targets if target[0] in solvers]
        targets += [(family, ()) for family in solvers]
    days = (closed - created).days if created is not None and closed is not None else None
    for family, options in dict.fromkeys(targets):
        yield Trigger(
            solver=family,
            options=options,
            text=body,
            sources=(source,),
            issue=None if number is None else f"{tracker}#{number}",
            url=url,
            reported=None if created is None else f"{created:%Y-%m-%d}",
            days_to_fix=days,
            tools=tuple(tools or ()),
            fixed_by=fixed_by,
            issue_class=bug_class,
            expected=expected,
            logic=logic,
            theories=tuple(theories or ()),
            operators=tuple(operators or ()),
            incremental=(checks or 0) > 1 or bool(pushes),
            bytes=len(body.encode("utf-8", "surrogatepass")),
            licence=licence,
        )


def _family(name: str | None) -> str:
    """The family of a solver as issues and trackers call it; empty if it has no releases."""
    kin = kin_of(name.lower()) if name else None
    return kin if kin is not None and PROFILES[kin].distribution else ""


def _of_the_bug(solver: str | None, options: Iterable[str]) -> tuple[str, ...]:
    """Options of a command line as a spec has them, less those that are not of the bug."""
    family = _family(solver)
    always = PROFILES[family].checks + PROFILES[family].incremental if family else ()
    kept = []
    for given in options:
        option = given.lstrip("-/") if given[:1] in "-/" else given
        name = re.split(r"[=:]", option)[0]
        is_setting = given.startswith("--") or ("=" in option and family and not PROFILES[family].prefix)
        if is_setting and given not in always and not _NOT_OF_THE_BUG.match(name):
            kept.append(option)
    return tuple(dict.fromkeys(kept))


_RUNS = """
select formula_id, solver, options from formula_run where failing order by formula_id, position
"""

_FORMULAS = """
select
    formula.id, formula.source, tracker.name,
    coalesce(formula.solver, tracker.solver, max(formula.solver) over (partition by formula.issue_id)),
    issue.number,
    issue.url, issue.created_at, issue.closed_at, issue.tools, issue.fixed_by,
    coalesce(formula.bug_class, issue.bug_class), formula.expected, formula.logic, formula.theories,
    formula.operators, formula.check_sats, formula.pushes, body
from current_formula as formula
join tracker on tracker.id = formula.tracker_id
left join issue on issue.id = formula.issue_id
join text on text.id = coalesce(script_text_id, formula.text_id)
where commands > 0
order by formula.id
"""
