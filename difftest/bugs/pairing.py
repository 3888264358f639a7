"""From a trigger to its bugs: probes, what is wrong, binary search, neighbours, repetition.

A spread of releases is run first, the newest and the oldest among them. What they show gives the symptoms;
for each the newest release that is free of it, and the last that shows it before, are searched by bisection
(``ReleaseSearch``). Both ends and their neighbours are then run again in fresh processes. Where a run differs
from before, or the releases after the pair show the bug, every release is run once, and the bug is flaky if
runs of one release differed. Releases between both ends that ran out of time get more of it first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from difftest.bugs.records import Bug, Seen, Trigger, Unverified, make_id, with_own_ids
from difftest.bugs.shelf import OPTION, RUN_SECONDS, Shelf
from difftest.bugs.symptoms import Symptom, disputed_check, plain_symptoms
from difftest.bugs.truth import find_truth
from difftest.triage.classes import class_of
from difftest.triage.key import Key
from difftest.triage.kinds import State
from difftest.triage.release_search import ReleaseSearch, position
from smtlib.mentions import theories_in
from solvers.option_file import OptionClass
from solvers.options import option_table
from solvers.registry import DISTRIBUTIONS
from solvers.running.outcomes import Outcome, opposite
from solvers.running.runner import Runner
from solvers.running.script import Script

_REPEATS = 2
PATIENCE = 6
"""How many times the time limit a release has that would be an end of the pair, if it ended."""
# Of releases that say nothing, this many in a row of probes are enough.
_MOST_SILENT = 3
_SILENT = (Outcome.REFUSED, Outcome.TIMEOUT, Outcome.MEMOUT)


class Stopped(Exception):
    """The build was stopped while it worked on a trigger."""


@dataclass(slots=True)
class Case:
    """One trigger under examination. ``runs`` has what is known by release, and what is found out;
    ``repeated`` the releases with runs that differed. With ``since``, that release and the newest are the
    probes, and older ones are left out.
    """

    trigger: Trigger
    shelf: Shelf
    runner: Runner
    seconds: float = RUN_SECONDS
    probes: int = 9
    runs: dict[str, Seen] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)
    since: str | None = None
    repeated: set[str] = field(default_factory=set)
    _slow: set[str] = field(default_factory=set)
    _evidence: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def examine(self) -> list[Bug | Unverified]:
        """The bugs that the trigger shows, one per first good release; else why there is none."""
        trigger = self.trigger
        if trigger.solver not in DISTRIBUTIONS:
            return [self._unverified("no-releases", trigger.solver)]
        script = Script.of(trigger.text)
        if script.file_command:
            return [self._unverified("names-a-file", script.file_command)]
        releases = self.shelf.releases(trigger.solver)
        if self.since is not None:
            releases, self.probes = releases[position(releases, self.since) :], 2
        self._probe(releases)
        symptoms, unsettled = self._symptoms(releases, script)
        found: dict[str, Bug] = {}
        still_open = no_good_end = flickers = ""
        for symptom in sorted(symptoms, key=lambda one: class_of(one.finding_class).rank):
            states = self._settle(symptom, releases)
            pair = pair_of(releases, states)
            if pair is not None:
                found.setdefault(pair[1], self._bug(symptom, pair))
            elif self.repeated:
                flickers = symptom.finding_class
            elif states.get(releases[-1]) is State.AFFECTED:
                still_open = symptom.finding_class
            elif State.AFFECTED in states.values():
                no_good_end = symptom.finding_class
        if found:
            return with_own_ids(found.values())
        reasons = {
            "flicker": flickers,
            "still-open": still_open,
            "no-good-end": no_good_end,
            "no-truth": unsettled,
        }
        for reason, detail in reasons.items():
            if detail:
                return [self._unverified(reason, detail)]
        return [self._nothing(releases)]

    # Running

    def look(self, release: str) -> Seen | None:
        """What a release does, run once."""
        if release not in self.runs:
            seen = self.again(release)
            if seen is not None:
                self.runs[release] = seen
        return self.runs.get(release)

    def again(self, release: str) -> Seen | None:
        """What a release does in one more run."""
        if self.stop.is_set():
            raise Stopped
        seconds = self.seconds * (PATIENCE if release in self._slow else 1)
        return self.shelf.run(self.trigger, release, self.runner, seconds)

    def _probe(self, releases: Sequence[str]) -> None:
        silent = tried = 0
        for place in spread(len(releases)):
            if tried >= self.probes or silent >= _MOST_SILENT:
                break
            seen = self.look(releases[place])
            if seen is not None:
                tried += 1
                silent = silent + 1 if seen.outcome in _SILENT else -self.probes

    def _in_order(self, releases: Sequence[str]) -> list[Seen]:
        return [self.runs[release] for release in releases if release in self.runs]

    # What is wrong

    def _symptoms(self, releases: Sequence[str], script: Script) -> tuple[list[Symptom], str]:
        """The symptoms of the probes; and why a disagreement is none, if nothing says who is right."""
        seen, trigger = self._in_order(releases), self.trigger
        found = plain_symptoms(trigger.text, seen)
        table = option_table(trigger.solver)
        classes = [table.class_of(option) for option in trigger.options]
        if any(one is None or not one.is_trusted for one in classes):
            # A wrong answer under such options is no bug, and neither is one that is missing.
            return [one for one in found if one.finding_class in ("crash", "invalid-model")], ""
        if any(one is not OptionClass.SOUND for one in classes):
            found = [one for one in found if one.finding_class != "incompleteness"]
        words = tuple((trigger.expected or "").split())
        expected = words if len(words) == len(script.checks) else script.expected
        check = disputed_check(seen, expected)
        if check is None:
            return found, ""
        truth = find_truth(trigger, seen, check, self.shelf, self.runner, self.seconds)
        if truth.answer is None:
            return found, f"check-sat {check + 1}: {'; '.join(truth.evidence) or 'nobody else decides'}"
        self._evidence[check] = truth.evidence
        wrong = opposite(truth.answer)
        found = [s for s in found if s.right is None or s.check != check or s.right == truth.answer]
        return [*found, Symptom("soundness", check=check, wrong=wrong, right=truth.answer)], ""

    def _settle(self, symptom: Symptom, releases: Sequence[str]) -> dict[str, State]:
        """The states of releases: of enough of them to know the pair, or of all of them."""
        search = ReleaseSearch(lambda release: symptom.state(self.look(release)))
        known = {release: symptom.state(self.look(release)) for release in [*self.runs]}
        search.states.update({release: str(state) for release, state in known.items()})
        affected = [place for place, release in enumerate(releases) if known.get(release) is State.AFFECTED]
        if not affected:
            return known
        first = affected[-1] + 1
        free = (n for n in range(first, len(releases)) if known.get(releases[n]) is State.FREE)
        search.edge(releases[first : next(free, len(releases)) + 1])
        states = {release: State(state) for release, state in search.states.items()}
        pair = pair_of(releases, states)
        if pair is not None:
            states |= self._look_longer(symptom, releases, pair)
            pair = pair_of(releases, states)
        if pair is not None and self._is_steady(symptom, releases, pair, states):
            return states
        return {release: symptom.state(self.look(release)) for release in releases} if pair else states

    def _look_longer(
        self, symptom: Symptom, releases: Sequence[str], pair: tuple[str, str]
    ) -> dict[str, State]:
        """What the releases between both ends show that had not enough time."""
        bad, good = (releases.index(release) for release in pair)
        found = {}
        for release in releases[bad + 1 : good]:
            seen = self.look(release)
            if seen is None or seen.outcome != Outcome.TIMEOUT:
                continue
            self._slow.add(release)
            longer = self.again(release)
            if longer is not None:
                self.runs[release] = longer
                found[release] = symptom.state(longer)
        return found

    def _is_steady(
        self, symptom: Symptom, releases: Sequence[str], pair: tuple[str, str], states: dict[str, State]
    ) -> bool:
        """Whether both ends show the same in more runs, and the neighbours what the pair implies."""
        bad, good = (releases.index(release) for release in pair)
        for release in pair:
            for _ in range(_REPEATS):
                if symptom.state(self.again(release)) is not states[release]:
                    self.repeated.add(release)
        around = [releases[place] for place in (bad - 1, good + 1) if 0 <= place < len(releases)]
        states.update({release: symptom.state(self.look(release)) for release in around})
        return not self.repeated.intersection(pair) and pair_of(releases, states) == pair

    # Results

    def _bug(self, symptom: Symptom, pair: tuple[str, str]) -> Bug:
        trigger = self.trigger
        releases = self.shelf.releases(trigger.solver)
        place = symptom.place or symptom.shape
        theories = frozenset(() if symptom.place else theories_in(trigger.text))
        key = Key(symptom.finding_class, trigger.solver, (place,) if place else (), theories)
        return Bug(
            **trigger.fields,
            id=make_id(trigger, symptom.finding_class),
            finding_class=symptom.finding_class,
            last_bad=pair[0],
            first_good=pair[1],
            flaky=bool(self.repeated.intersection(pair)),
            direction=symptom.direction,
            check=symptom.check,
            wrong=symptom.wrong,
            right=symptom.right,
            evidence=tuple(self._reasons(symptom, pair)),
            bug_key=str(key),
            strip=tuple(self._in_order(releases)),
        )

    def _reasons(self, symptom: Symptom, pair: tuple[str, str]) -> Iterator[str]:
        bad, good = (self.runs[release] for release in pair)
        if symptom.finding_class == "soundness":
            yield from self._evidence.get(symptom.check, ())
        elif symptom.finding_class == "slowdown":
            yield f"{bad.release}: {bad.seconds:.1f} s ({bad.outcome}); {good.release}: {good.seconds:.2f} s"
        elif symptom.finding_class == "incompleteness":
            yield f"{good.release} says {symptom.right}"
        else:
            yield f"{bad.release}: {bad.detail}"

    def _nothing(self, releases: Sequence[str]) -> Unverified:
        seen = self._in_order(releases)
        if not seen:
            problems = {p for spec, p in self.shelf.problems.items() if spec.startswith(self.trigger.solver)}
            is_option = any(p.startswith(OPTION) for p in problems) and self.trigger.options
            reason = "option" if is_option else "undecided"
            return self._unverified(reason, " ".join(self.trigger.options) or "no release runs here")
        if all(one.outcome in _SILENT for one in seen):
            return self._unverified("undecided", f"{seen[-1].outcome}: {seen[-1].detail}"[:200])
        return self._unverified("never-shown", f"{len(seen)} releases ran")

    def _unverified(self, reason: str, detail: str) -> Unverified:
        known = self.shelf.releases(self.trigger.solver) if self.runs else ()
        strip = tuple(self._in_order(known))
        return Unverified(**self.trigger.fields, reason=reason, detail=detail, strip=strip)


def spread(count: int) -> Iterator[int]:
    """The numbers below ``count``: the last, the first, then always the middle of the widest gap.

    >>> list(spread(9))
    [8, 0, 4, 2, 6, 1, 3, 5, 7]
    """
    if count:
        yield count - 1
    if count > 1:
        yield 0
    gaps = [(0, count - 1)]
    while gaps:
        wider = []
        for low, high in gaps:
            middle = (low + high) // 2
            if low < middle < high:
                yield middle
                wider += [(low, middle), (middle, high)]
        gaps = wider


def pair_of(releases: Sequence[str], states: Mapping[str, State]) -> tuple[str, str] | None:
    """The last affected release and the first after it that is free; None without both."""
    telling = [release for release in releases if states.get(release, State.SKIPPED) is not State.SKIPPED]
    affected = [place for place, release in enumerate(telling) if states[release] is State.AFFECTED]
    if not affected or affected[-1] + 1 == len(telling):
        return None
    return telling[affected[-1]], telling[affected[-1] + 1]
