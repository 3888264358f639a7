"""What other releases of a solver do with the program of a finding, each with its own Python package.

When a finding is confirmed, older releases are asked as far as there is time: the one before first, then in
growing steps back to one that does not show it, then between the two. What was tried is kept, so that
``exhume bisect``, which looks at all of them, goes on there.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apifuzz.running.faults import Fault
from apifuzz.running.folder import SCRIPT
from apifuzz.running.runs import ends_in
from base.errors import ExhumeError
from difftest.triage import bisect
from difftest.triage.bisect import State
from solvers.errors import EnvironmentProblem, ReleaseNotFound, SolverMissing
from solvers.releases import fetch_release
from solvers.running.process import Limits, run
from solvers.specs import DISTRIBUTIONS, find_solver

MOST_ASKED = 6
"""How many releases are asked when a finding is confirmed."""
MOST_SECONDS = 60.0
"""When that has taken so long, no further one is."""

# Other releases may be far slower; what has not shown it by then counts as not affected.
_LIMITS = Limits(seconds=20.0, memory=1 << 30, output=8 << 20)
_RUN = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"


def try_program(fault: Fault, text: str, file: Path, family: str, release: str) -> State:
    """What the program ``text``, which ``file`` holds, does with the package of a release.

    A release that cannot be had, or that it is too new for, is skipped. EnvironmentProblem where it cannot be
    fetched.
    """
    try:
        package = fetch_release(DISTRIBUTIONS[family], release)
    except (ReleaseNotFound, SolverMissing):
        return State.SKIPPED
    ended = run([sys.executable, "-I", "-c", _RUN, str(package), str(file)], _LIMITS)
    if ends_in(fault, text, ended, exact=False):
        return State.AFFECTED
    if ended.ended == "timeout" or (ended.ended == "exit" and ended.code == 0):
        return State.FREE
    return State.SKIPPED


@dataclass(slots=True)
class Asked:
    """What came of asking: sentences for the evidence, and the text of ``bisect.json`` (empty: none)."""

    sentences: list[str] = field(default_factory=list)
    kept: str = ""


class _Enough(Exception):
    """No further release is asked."""


def ask_older(
    fault: Fault,
    text: str,
    family: str,
    most: int = MOST_ASKED,
    seconds: float = MOST_SECONDS,
) -> Asked:
    """Ask older releases of a solver whose installed one shows ``fault`` with the program ``text``.

    Where none can be asked (no network), the only sentence says so.
    """
    asked = Asked()
    with tempfile.TemporaryDirectory(prefix="exhume-older-") as folder:
        file = Path(folder, SCRIPT)
        file.write_text(text, "utf-8", "backslashreplace")
        try:
            _, own = bisect.release_of(find_solver(family))
            releases = _releases(family)
            search = _Search(fault, text, file, family, most, time.monotonic() + seconds)
            place = bisect.position(releases, own)
            search.run(releases[:place][::-1])
        except ExhumeError as problem:
            asked.sentences.append(f"no older release of {family} was asked: {_line(problem)}")
            return asked
        asked.sentences += _sentences(search, own)
        if search.states:
            bisect.keep_states(Path(folder), text, {releases[place]: State.AFFECTED, **search.states})
            asked.kept = Path(folder, bisect.CACHE).read_text("utf-8")
    return asked


@functools.cache
def _listed(family: str) -> tuple[tuple[str, ...], str]:
    """The releases, or why they cannot be listed: asked once, for without a network that takes long."""
    try:
        return tuple(bisect.list_releases(DISTRIBUTIONS[family])), ""
    except EnvironmentProblem as problem:
        return (), _line(problem)


def _releases(family: str) -> tuple[str, ...]:
    releases, problem = _listed(family)
    if problem:
        raise EnvironmentProblem(problem)
    return releases


@dataclass(slots=True)
class _Search:
    """Asks ``most`` releases, none after the time ``end``."""

    fault: Fault
    text: str
    file: Path
    family: str
    most: int
    end: float
    states: dict[str, State] = field(default_factory=dict)
    oldest_affected: str | None = None
    """The oldest release that is known to show it."""
    is_complete: bool = False
    """Whether no release is left that could be the first affected one."""
    problem: str = ""
    """Why no further one could be fetched."""

    def run(self, older: Sequence[str]) -> None:
        """Search among the releases ``older``, the newest first."""
        try:
            self._search(older)
            self.is_complete = True
        except _Enough:
            pass
        except EnvironmentProblem as problem:
            if not self.states:
                raise
            self.problem = _line(problem)

    def _search(self, older: Sequence[str]) -> None:
        affected, free, step, place = -1, len(older), 1, 0
        while place < len(older):
            state = self._look(older[place])
            if state is State.FREE:
                free = place
                break
            if state is State.AFFECTED:
                affected, place, step = place, place + step, 2 * step
            else:
                place += 1
        # All between the two that were not tried; where all back to the oldest show it, none is left.
        left = [n for n in range(affected + 1, free) if older[n] not in self.states]
        while left:
            place = left[len(left) // 2]
            state = self._look(older[place])
            if state is State.FREE:
                left = [n for n in left if n < place]
            elif state is State.AFFECTED:
                left = [n for n in left if n > place]
            else:
                left.remove(place)

    def _look(self, release: str) -> State:
        asked = [state for state in self.states.values() if state is not State.SKIPPED]
        if len(asked) >= self.most or time.monotonic() > self.end:
            raise _Enough
        state = try_program(self.fault, self.text, self.file, self.family, release)
        self.states[release] = state
        if state is State.AFFECTED:
            self.oldest_affected = release
        return state


def _sentences(search: _Search, own: str) -> Iterator[str]:
    """What was found out, in the order of asking."""
    family, states = search.family, search.states
    shown = [release for release, state in states.items() if state is State.AFFECTED]
    free = [release for release, state in states.items() if state is State.FREE]
    if shown:
        yield f"{family} {', '.join(shown)} {'shows' if len(shown) == 1 else 'show'} it, too"
    if free:
        yield f"{family} {', '.join(free)} {'does' if len(free) == 1 else 'do'} not show it"
    if search.problem:
        yield f"no further release of {family} was asked: {search.problem}"
    elif search.is_complete and (shown or free):
        oldest = "" if free else ", the oldest that runs here"
        yield f"first affected release: {family} {search.oldest_affected or own}{oldest}"
    elif shown or free:
        yield "exhume bisect finds the first affected release"
    elif states:
        yield f"none of {len(states)} older releases of {family} that were tried runs the program here"
    elif search.is_complete:
        yield f"there is no older release of {family}"
    else:
        yield f"no older release of {family} was asked in time"


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split())[:300]
