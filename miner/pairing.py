"""Assigns solver runs to formulas: by file name, by input, else by distance in the text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from miner.commandline import Invocation
from miner.drafts import Draft
from miner.runs import Run, Section


def attach(runs: Sequence[Run], kept: Sequence[tuple[Section, Draft]]) -> list[list[Run]]:
    """The runs of each formula."""
    attached: list[list[Run]] = [[] for _ in kept]
    by_file: dict[str, list[int]] = {}
    by_input: dict[Invocation, int] = {}
    by_section: dict[str, list[int]] = {}
    for number, (section, draft) in enumerate(kept):
        by_section.setdefault(section.where, []).append(number)
        if draft.file:
            by_file.setdefault(draft.file, []).append(number)
        for invocation in draft.invocations:
            by_input[invocation] = number
    starts = {
        where: [kept[number][1].pieces[0].line for number in numbers] for where, numbers in by_section.items()
    }
    for run in runs:
        if run.is_version_query:
            continue
        target = _target(
            run, kept, by_file, by_input, by_section.get(run.where, []), starts.get(run.where, [])
        )
        if target is not None:
            attached[target].append(run)
    for run in runs:
        if run.is_field and run.where in by_section:
            for number in by_section[run.where]:
                if not any(one.invocation for one in attached[number]):
                    attached[number].append(run)
    return attached


def _target(
    run: Run,
    kept: Sequence[tuple[Section, Draft]],
    by_file: dict[str, list[int]],
    by_input: dict[Invocation, int],
    here: Sequence[int],
    starts: Sequence[int],
) -> int | None:
    invocation = run.invocation
    if invocation is not None:
        if invocation in by_input:
            return by_input[invocation]
        for file in invocation.files:
            named = by_file.get(file)
            if named:
                nearby = [number for number in named[-20:] if kept[number][0].where == run.where]
                return (nearby or named)[0]
    if not here:
        # A run in a text without a formula is of the only formula, if that is an attached one or the run is
        # a command line.
        is_alone = len(kept) == 1 and (invocation is not None or kept[0][1].file != "")
        return 0 if is_alone and (invocation is not None or run.where == "body") else None
    # The nearest formula by lines; of two at the same distance, the one above.
    place = bisect_left(starts, run.line)
    candidates: list[tuple[int, int, int]] = []
    for index in range(max(0, place - 3), min(len(here), place + 3)):
        draft = kept[here[index]][1]
        if invocation is not None and invocation.files and draft.file and draft.file not in invocation.files:
            continue
        first, last = draft.pieces[0].line, draft.pieces[-1].line
        same = 0 if draft.block <= run.block <= draft.last_block else 1
        if last <= run.line:
            distance, below = run.line - last, 0
        else:
            distance, below = max(0, first - run.end), 1
        candidates.append((same, distance * 2 + below, here[index]))
    return min(candidates)[2] if candidates else None
