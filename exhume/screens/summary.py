"""The summary of a hunt: counts, and a short table of the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from base.text import counted
from difftest import FindingRecord, HuntSummary, Outcome
from difftest.campaign.events import INTERNAL_ERRORS
from difftest.campaign.turns import RELATION
from exhume.screens.console import headline, out, show_table

_ROWS = 12
_CAUSE_WIDTH = 56


def show_summary(summary: HuntSummary) -> None:
    """Print the summary of a hunt."""
    rate = summary.decided / max(summary.seconds, 1e-9)
    out.print(
        f"{counted(summary.tests, 'test')} in {summary.seconds:.1f} s,"
        f" {summary.decided} decided by every solver ({rate:.1f} a second)"
    )
    if calls := sum(summary.statistics.get("calls", {}).values()):
        rate = calls / max(summary.seconds, 1e-9)
        out.print(
            f"API fuzzing: {counted(calls, 'call')} ({rate:.0f} a second): {calls_line(summary.statistics)}"
        )
    show_outcomes(summary.outcomes)
    if summary.cpu_seconds:
        out.print(f"processor time of exhume and the solvers: {summary.cpu_seconds:.1f} s")
    if bugs := sum(summary.statistics.get(INTERNAL_ERRORS, {}).values()):
        was = "was" if bugs == 1 else "were"
        out.print(f"warning: {counted(bugs, 'task')} {was} left out because of bugs in exhume")
    if summary.cross_checks:
        out.print(cross_checks_line(summary.cross_checks))
    if known := known_count(summary.statistics):
        out.print(f"known and not reported: {known}")
    if line := relations_line(summary.statistics):
        out.print(line)
    show_findings(summary.findings)


def known_count(counts: Mapping[str, Mapping[str, int]]) -> int:
    """How often something showed that is known: to the ledger, an earlier hunt or a list of API errors."""
    return sum(counts.get("known", {}).values())


def calls_line(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Answers, limits and errors of API calls, in one line."""
    parts = []
    for kind, words in (("answers", ""), ("runs", ""), ("errors", " errors")):
        found = counts.get(kind, {})
        shown = [f"{count} {name}" for name, count in sorted(found.items()) if name not in ("done", "fault")]
        parts += [", ".join(shown) + words] * bool(shown)
    return "; ".join(parts) or "no answers yet"


def relations_line(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The claims of relations: how many held, were violated or could not be judged; empty where none was
    made.
    """
    claims: Counter[str] = Counter()
    for kind, found in counts.items():
        if kind.startswith(RELATION):
            claims.update(found)
    if not claims:
        return ""
    held, violated = claims.pop("held", 0), claims.pop("violated", 0)
    return f"claims of relations: {held} held, {violated} violated, {claims.total()} not judged"


def cross_checks_line(cross_checks: Mapping[tuple[str, str, str], int]) -> str:
    """The results of the model cross-check: confirmed, refuted, and why others could not be checked."""
    counts: Counter[str] = Counter()
    for (_, _, what), count in cross_checks.items():
        counts[what] += count
    known = [f"{counts.pop(what, 0)} {what}" for what in ("confirmed", "refuted")]
    causes = ", ".join(f"{what} {count}" for what, count in counts.most_common())
    rest = f", {counts.total()} not checked ({causes})" if counts else ""
    return f"models checked by another solver: {', '.join(known)}{rest}"


def show_outcomes(counts: Mapping[str, Mapping[Outcome, int]]) -> None:
    """Print a table of outcomes per solver."""
    outcomes, rows = outcome_rows(counts)
    show_table(["solver", *outcomes], rows, frozenset(range(1, len(outcomes) + 1)))


def outcome_rows(counts: Mapping[str, Mapping[Outcome, int]]) -> tuple[list[str], list[list[str]]]:
    """The outcomes that there are, and for each solver its name with their counts. What ran no texts, as API
    fuzzing, has no row.
    """
    counts = {name: found for name, found in counts.items() if any(found.values())} or counts
    outcomes = [o for o in Outcome if any(of_solver.get(o) for of_solver in counts.values())]
    rows = [[name, *(str(of_solver.get(o, 0)) for o in outcomes)] for name, of_solver in counts.items()]
    return list(map(str, outcomes)), rows


def cause(key: str) -> str:
    """The part of a key after class and solver: the place of a crash, or theories and operators."""
    text = key.split("|", 2)[-1].replace("|", ", ")
    return text if len(text) <= _CAUSE_WIDTH else text[: _CAUSE_WIDTH - 3] + "..."


def finding_line(record: FindingRecord) -> str:
    """A finding in one line."""
    return f"{record.finding_class} of {record.solver}: {cause(record.key)} ({record.path.name})"


def show_findings(findings: Sequence[FindingRecord]) -> None:
    """Print a table of findings; where there are many, the first of each class and solver."""
    if not findings:
        out.print("\nno findings")
        return
    # First one row for each class and solver, so that many findings of one kind do not hide the others; those
    # under young options last.
    seen: dict[tuple[str, str], int] = {}
    ranked = []
    for place, record in enumerate(findings):
        kind = (str(record.finding_class), record.solver)
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((record.is_young, seen[kind], place, record))
    shown = [ranks[-1] for ranks in sorted(ranked)[:_ROWS]]
    old = sum(record.known for record in findings)
    young = sum(record.is_young for record in findings)
    known = f", {old} of them from an earlier hunt" if old else ""
    known += f", {young} under options of young engines, listed last" if young else ""
    rows = [[str(r.finding_class), r.solver, cause(r.key), r.path.name] for r in shown]
    headline(f"\n{counted(len(findings), 'finding')}", known)
    show_table(["class", "solver", "where", "folder"], rows, shrink=2)
    folder = findings[0].path.parent
    if len(findings) > _ROWS:
        out.print(f"and {len(findings) - _ROWS} more in {folder}")
    else:
        out.print(f"all in {folder}")


def show_statistics(summary: HuntSummary) -> None:
    """Print counts of API calls, the most frequent first."""
    counts = {kind: Counter(found) for kind, found in summary.statistics.items()}
    tried, refused, idle = (counts.get(name, Counter()) for name in ("tried", "refused", "idle"))
    actions = sorted({**tried, **idle}, key=lambda name: (-tried[name], name))
    rows = [[name, str(tried[name]), str(refused[name]), str(idle[name])] for name in actions]
    out.print()
    show_table(["action", "calls", "refused", "not possible"], rows, frozenset({1, 2, 3}))
    for title, kind in (
        ("state", "states"),
        ("sort", "sorts"),
        ("operator", "operators"),
        ("option", "options"),
        ("term from the corpus", "fed"),
    ):
        if found := counts.get(kind):
            out.print()
            rows = [[name, str(count)] for name, count in found.most_common()]
            show_table([title, "count"], rows, frozenset({1}))
