"""The records of a benchmark, and the folder that holds them.

``bugs.jsonl`` has one bug a line, ``unverified.jsonl`` the triggers of which no pair was verified, each with
the reason. Both are sorted by id, so that the same records are the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from base.files import put_bytes
from base.nearest import did_you_mean, nearest
from difftest.errors import DifftestError
from difftest.triage.renamed import current_key
from solvers.running.outcomes import Outcome, Verdict

BUGS = "bugs.jsonl"
UNVERIFIED = "unverified.jsonl"
BUNDLED = Path(__file__).with_name("starter")
"""The small benchmark that comes with exhume, built from the starter tracker."""

_LONGEST_LINE = 256 << 20
# Ids name files and folders.
_ID = re.compile(r"[A-Za-z0-9][\w.+-]{0,99}\Z", re.A)


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one release did with a trigger; the fields are those of a ``Verdict``."""

    release: str
    outcome: str
    answers: tuple[str | None, ...] = ()
    detail: str = ""
    location: str | None = None
    shape: str | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        Outcome(self.outcome)

    @classmethod
    def of(cls, release: str, verdict: Verdict) -> Seen:
        """The record of a verdict."""
        return cls(
            release=release,
            outcome=str(verdict.outcome),
            answers=verdict.answers,
            detail=verdict.detail,
            location=verdict.location,
            shape=verdict.shape,
            seconds=round(verdict.seconds, 3),
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict that it records."""
        outcome = Outcome(self.outcome)
        return Verdict(outcome, self.answers, self.seconds, self.detail, self.location, self.shape)


class Trigger(msgspec.Struct, frozen=True, kw_only=True, rename={"finding_class": "class"}):
    """A formula, with the solver and the options that its issue names.

    ``sources`` are the places that the formula comes from, ``issue`` is ``tracker#number``. Of an issue's
    texts nothing is kept but numbers, links and the names of tools. ``days_to_fix``: from the report to the
    closing of the issue. ``component``: files that the fixing commit changed. ``expected`` has the correct
    answers according to the issue. ``bytes``: the size of the text in UTF-8.
    """

    solver: str
    options: tuple[str, ...] = ()
    text: str
    sources: tuple[str, ...] = ()
    issue: str | None = None
    url: str | None = None
    reported: str | None = None
    days_to_fix: int | None = None
    tools: tuple[str, ...] = ()
    fixed_by: str | None = None
    component: tuple[str, ...] = ()
    issue_class: str | None = None
    expected: str | None = None
    logic: str | None = None
    theories: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    incremental: bool = False
    bytes: int = 0
    licence: str | None = None

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def key(self) -> str:
        """Names solver, options and text."""
        return "\n".join((self.solver, *self.options, self.sha256))

    @property
    def origin(self) -> str:
        """The issue, else the first place, that it comes from."""
        return self.issue or next(iter(self.sources), "not known")

    @property
    def fields(self) -> dict[str, Any]:
        """What makes a trigger, also of a bug, by name."""
        return {name: getattr(self, name) for name in Trigger.__struct_fields__}

    def spec(self, release: str) -> str:
        """The spec of a release with the trigger's options."""
        return f"{self.solver}=={release}" + (f"[{','.join(self.options)}]" if self.options else "")


class Bug(Trigger, frozen=True, kw_only=True):
    """A verified pair: ``last_bad`` shows the bug, and ``first_good``, the next release that ran, does not.

    ``finding_class`` is that of findings; ``check`` counts check-sats from 0, ``wrong`` and ``right`` are the
    answers to it, where the bug is about one. ``evidence`` says why that is wrong. ``strip`` has every
    release that ran, oldest first. ``flaky``: repeated runs differed. ``bug_key`` names the cause as keys of
    findings do; ``reduced`` is a smaller formula that shows it.
    """

    id: str
    finding_class: str
    last_bad: str
    first_good: str
    flaky: bool = False
    direction: str = ""
    check: int = 0
    wrong: str | None = None
    right: str | None = None
    evidence: tuple[str, ...] = ()
    bug_key: str = ""
    reduced: str | None = None
    strip: tuple[Seen, ...] = ()

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise ValueError(f"{self.id[:80]!r} is not an id")
        ran = {seen.release for seen in self.strip}
        if missing := sorted({self.last_bad, self.first_good} - ran):
            raise ValueError(f"{self.id}: the strip lacks {missing[0][:80]}")

    def seen(self, release: str) -> Seen:
        """What that release did."""
        return next(seen for seen in self.strip if seen.release == release)

    @property
    def between(self) -> int:
        """How many releases between the two ran without saying anything of the bug."""
        ran = [seen.release for seen in self.strip]
        return ran.index(self.first_good) - ran.index(self.last_bad) - 1


class Unverified(Trigger, frozen=True, kw_only=True):
    """A trigger without a verified pair: ``reason`` is one of ``REASONS``, ``detail`` says more."""

    reason: str
    detail: str = ""
    strip: tuple[Seen, ...] = ()


REASONS = {
    "no-releases": "no solver is named, or exhume knows no releases of it",
    "names-a-file": "the formula names a file outside the working folder of the solver, so it is not run",
    "option": "no release accepts the options",
    "undecided": "no release that was tried accepts the formula and ends in time",
    "never-shown": "no release that was tried shows a bug: it needs a build between releases, another"
    " machine, or options that the issue does not name",
    "still-open": "the newest release shows it",
    "no-good-end": "no release after the last one that shows it accepts the formula and ends in time",
    "no-truth": "releases disagree, and nothing says which answer is right",
    "flicker": "runs of the same release differ, and no release is free of the bug",
}
"""Why a trigger has no verified pair."""

_Record = TypeVar("_Record", Bug, Unverified)


def make_id(trigger: Trigger, *names: str) -> str:
    """The id of a bug: the same for the same trigger and ``names``, which are its class and, if that is not
    the first one of the class, its first good release.
    """
    digest = hashlib.sha256("\n".join((trigger.key, *names)).encode()).hexdigest()
    return f"{trigger.solver}-{digest[:10]}"


def with_own_ids(found: Iterable[Bug | Unverified]) -> list[Bug | Unverified]:
    """What a trigger came to, where no two bugs have one id: those of earlier versions may."""
    own: dict[str, Bug | Unverified] = {}
    for one in found:
        if isinstance(one, Bug) and one.id in own:
            one = msgspec.structs.replace(one, id=make_id(one, one.finding_class, one.first_good))
        own[getattr(one, "id", "")] = one
    return list(own.values())


def write_records(file: Path, records: Iterable[Bug | Unverified]) -> None:
    """Write records to a file of JSON lines, which is replaced as a whole."""
    rows = sorted(records, key=lambda record: (getattr(record, "id", ""), record.key))
    # Times differ from run to run.
    lines = [msgspec.json.encode(_untimed(row)) + b"\n" for row in rows]
    put_bytes(file, b"".join(lines))


def _untimed(record: Bug | Unverified) -> Bug | Unverified:
    strip = tuple(msgspec.structs.replace(seen, seconds=0.0) for seen in record.strip)
    return msgspec.structs.replace(record, strip=strip)


class Benchmark:
    """The bugs in a folder, by id. DifftestError if the folder holds none or a line of it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / BUGS).is_file():
            raise DifftestError(f"{folder} holds no {BUGS}: build it with exhume bugs build")
        self.bugs = {bug.id: _renamed(bug) for bug in _read(folder / BUGS, Bug)}

    @property
    def unverified(self) -> list[Unverified]:
        """The triggers of which no pair was verified."""
        file = self.folder / UNVERIFIED
        return list(_read(file, Unverified)) if file.is_file() else []

    def bug(self, identity: str) -> Bug:
        """The bug of this id, of which the beginning is enough if it is no other's."""
        found = [bug for name, bug in self.bugs.items() if name.startswith(identity)]
        if identity in self.bugs or len(found) == 1:
            return self.bugs.get(identity) or found[0]
        if found:
            raise DifftestError(f"{identity!r} may be any of {len(found)} bugs: give more of the id")
        hint = did_you_mean(nearest(identity, self.bugs))
        raise DifftestError(f"{self.folder} has no bug {identity!r}{hint}; see exhume bugs list")


def _renamed(bug: Bug) -> Bug:
    """A bug of an earlier version with today's names of theories in its key."""
    key = current_key(bug.bug_key)
    return bug if key == bug.bug_key else msgspec.structs.replace(bug, bug_key=key)


def _read(file: Path, kind: type[_Record]) -> Iterator[_Record]:
    decoder = msgspec.json.Decoder(kind)
    with file.open("rb") as lines:
        number = 0
        while line := lines.readline(_LONGEST_LINE):
            number += 1
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                raise DifftestError(f"{file}: line {number} is damaged: {problem}") from problem
