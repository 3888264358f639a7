"""The ledger of findings: what was reported where, and what became of it. A TOML file for git.

    [[finding]]
    key = "crash|z3|theory_seq.cpp:120"   # solvers without their releases
    state = "reported"                     # or duplicate, fixed, wont-fix
    on = 2026-11-23
    at = "https://github.com/Z3Prover/z3/issues/1"
    tracker = "Z3Prover/z3"
    title = "Assertion violation at theory_seq.cpp:120"

    [[cause]]
    solver = "z3"
    class = "soundness"
    names = ["HORN", "store"]
    state = "reported"

A key is often too narrow: the operators of its formula may vary while the cause is one. A ``cause`` is what
all findings have that show it: the solver and, where these say something, the class, the place of a crash (a
pattern with ``*``) and names that the reduced formula, the reason or the solver's options mention:
operators, theories, sorts, logics, tactics or options.

``at`` is where it was reported, the issue that it is a duplicate of, or the release that fixed it. A hunt
counts what the ledger lists and does not report it, but what is fixed only in releases before that one. What
earlier campaigns found may be added while a hunt runs, as ``seen``.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from base.files import put_text, read_at_most
from base.nearest import did_you_mean, nearest
from difftest.errors import DifftestError
from difftest.oracles.base import names_in
from difftest.triage.classes import worst_first
from difftest.triage.folder import OPTION_WORDS, FindingFolder
from difftest.triage.key import Key, count_under
from difftest.triage.kinds import title_of
from difftest.triage.renamed import current_key
from difftest.triage.report import form_of_finding
from difftest.triage.store import folders_of
from solvers.registry import PROFILES, kin_of

LEDGER = "findings.toml"
"""The usual name of the file."""
MOST_A_WEEK = 3
"""Reports to one tracker, unless the tracker or the user says less."""
ANY = "*"
"""What a cause says that has to be of no class, or at no place."""
_HEAD = "# What was reported, and what became of it: exhume triage --mark adds to it.\n"
_MOST_BYTES = 16 << 20
_WEEK = datetime.timedelta(days=7)
# What allocators and sanitizers print about memory that is written or read where it must not be.
_MEMORY_ERROR = re.compile(
    r"(?:heap|stack|global|container|dynamic-stack)-(?:buffer-)?overflow|buffer-underflow|"
    r"use-after-(?:free|return|scope|poison)|double[- ]free|corrupted (?:size|double|unsorted|top)|"
    r"(?:malloc|realloc|munmap_chunk|free)\(\): |stack smashing|attempting free"
)


@dataclass(frozen=True, slots=True)
class KnownCause:
    """What all findings have in common that show one fault."""

    solver: str
    finding_class: str = ANY
    names: frozenset[str] = frozenset()
    place: str = ANY

    def fits(self, key: Key, words: frozenset[str]) -> bool:
        """Whether a finding may show it, by its general key and the words of its formula and reason."""
        options = OPTION_WORDS.findall(",".join(key.options))
        return (
            self.finding_class in (ANY, key.finding_class)
            and self.solver in names_in(key.solver_alone)
            and fnmatchcase("|".join(key.where), self.place)
            and self.names.difference(key.operators, key.theories, options) <= words
        )

    def __str__(self) -> str:
        """For people, in the form of a key."""
        place, names = [self.place] * (self.place != ANY), [",".join(sorted(self.names))] * bool(self.names)
        return "|".join([self.finding_class, self.solver, *place, *names])


class Became(StrEnum):
    """What became of a finding."""

    REPORTED = "reported"
    DUPLICATE = "duplicate"
    FIXED = "fixed"
    WONT_FIX = "wont-fix"
    SEEN = "seen"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; see above. That of a ``cause`` has a key for people only. One ``with_function`` has the key
    ``by_operators`` (FoundKey) of a finding: it is about no finding with another function.
    """

    key: str
    state: Became
    on: datetime.date | None = None
    at: str = ""
    tracker: str = ""
    title: str = ""
    note: str = ""
    cause: KnownCause | None = None
    with_function: bool = False

    def silences(self, release: str | None) -> bool:
        """Whether a finding in a solver of this ``release`` (None: not known) is nothing to report."""
        if self.state is not Became.FIXED:
            return True
        try:
            return release is not None and Version(release) < Version(self.at)
        except InvalidVersion:
            return False

    def __str__(self) -> str:
        """For people: ``reported 2026-11-23, https://...``."""
        words = [str(self.state) if self.state is not Became.FIXED else "fixed in"]
        words += [self.on.isoformat()] if self.on and self.state is not Became.FIXED else []
        return f"{' '.join(words)}{', ' if len(words) > 1 and self.at else ' ' * bool(self.at)}{self.at}"


def general_key(key: str) -> str:
    """A key whose solvers have no releases and no limits on work: a ledger is about all of them. A program
    keeps its name, unless that begins with the name of a solver.

    >>> general_key("crash|z3-4.8.5[rlimit=9]|a.cpp:7"), general_key("soundness|mine+cvc5-1.3.0|Ints")
    ('crash|z3|a.cpp:7', 'soundness|mine+cvc5|Ints')
    """
    kind, *rest = current_key(key).split("|")
    if rest:
        names = []
        for name in names_in(rest[0]):
            plain, _, listed = name.partition("[")
            kin = kin_of(plain)
            limit = PROFILES[kin].resource_limit if kin else ""
            every = listed.removesuffix("]").split(",")
            options = [option for option in every if option.partition("=")[0] not in ("", limit)]
            names.append((kin or plain) + (f"[{','.join(options)}]" if options else ""))
        rest[0] = "+".join(names)
    return "|".join([kind, *rest])


class Ledger:
    """The entries of a ledger: of findings, by key, and of causes."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        self._by_key = {entry.key: entry for entry in self.entries if entry.cause is None}
        self._without_function = {key: one for key, one in self._by_key.items() if not one.with_function}
        # What was noted last of a cause holds.
        self._causes = {entry.cause: entry for entry in self.entries if entry.cause is not None}

    @classmethod
    def read(cls, file: Path) -> Ledger:
        """DifftestError, with the number of the entry, where the file cannot be read as a ledger."""
        try:
            data = read_at_most(file, _MOST_BYTES)
            if data is None:
                raise ValueError("too large")
            tables = tomllib.loads(data.decode("utf-8"))
            for kind in ("finding", "cause"):
                if not isinstance(tables.get(kind, []), list):
                    raise ValueError(f"write each {kind} under [[{kind}]]")
        except FileNotFoundError:
            raise DifftestError(f"{file}: no such file") from None
        except (OSError, ValueError, RecursionError) as problem:
            raise DifftestError(f"{file}: not a ledger of findings: {problem}") from problem
        return cls(
            _entry(f"{file}: {kind} number {number}", row, of_cause)
            for kind, of_cause in (("finding", False), ("cause", True))
            for number, row in enumerate(tables.get(kind, []), 1)
        )

    def with_earlier(self, folders: Iterable[Path]) -> Ledger:
        """With the findings of earlier campaigns, in these folders of findings or campaigns."""
        found = [one for folder in folders for one in folders_of(folder)]
        keys: dict[str, bool] = {}
        for key, has_function in (pair for one in found for pair in one.keys.items()):
            general = general_key(key)
            keys[general] = has_function and keys.get(general, True)
        seen = (Entry(key, Became.SEEN, with_function=has_function) for key, has_function in keys.items())
        return Ledger([*self.entries, *(entry for entry in seen if entry.key not in self._by_key)])

    def find(self, key: str, words: frozenset[str] = frozenset()) -> Entry | None:
        """The entry of a finding's key, of one that it counts under, or of a cause that it may show, by the
        words of its reduced formula and reason.
        """
        return next(self._matching(key, words, self._by_key), None)

    def silencing(
        self, key: str, release: str | None, words: frozenset[str] = frozenset(), by_operators: str = ""
    ) -> Entry | None:
        """The entry that says that there is nothing to report; None if there is none. A key with a function
        has another one ``by_operators`` (FoundKey).
        """
        fitting = self._matching(key, words, self._by_key)
        if by_operators:
            fitting = chain(fitting, self._matching(by_operators, words, self._without_function))
        return next((entry for entry in fitting if entry.silences(release)), None)

    def silencing_finding(self, found: FindingFolder) -> Entry | None:
        """The same for a finding; its formula is read only where causes are listed."""
        words = found.words if self._causes else frozenset()
        return self.silencing(found.key, found.accused.get("release"), words, found.key_by_operators)

    def _matching(self, key: str, words: frozenset[str], by_key: Mapping[str, Entry]) -> Iterator[Entry]:
        if not self.entries:
            return
        general = general_key(key)
        listed = general if general in by_key else count_under(general, by_key)
        if listed in by_key:
            yield by_key[listed]
        read = Key.read(general)
        yield from (entry for cause, entry in self._causes.items() if cause.fits(read, words))


def _entry(where: str, row: Any, of_cause: bool) -> Entry:
    """An entry of a file, ``where`` it is. DifftestError where something is missing or wrong."""
    cause = _cause(where, row) if of_cause else None
    key = str(cause) if cause else row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str):
        raise DifftestError(f"{where}: write key = \"...\", as finding.json or 'exhume triage --json' has it")
    try:
        state = Became(str(row.get("state")))
    except ValueError:
        known = [str(one) for one in Became]
        hint = did_you_mean(nearest(str(row.get("state")), known))
        raise DifftestError(
            f"{where}: state {row.get('state')!r}: not known{hint or ','} use {', '.join(known)}"
        ) from None
    on = row.get("on")
    if on is not None and (not isinstance(on, datetime.date) or isinstance(on, datetime.datetime)):
        raise DifftestError(f"{where}: on: write a date, such as {datetime.date(2026, 11, 23)}")
    texts = {name: str(row.get(name, "")) for name in ("at", "tracker", "title", "note")}
    return Entry(key if cause else general_key(key), state, on, **texts, cause=cause, with_function=False)


def _cause(where: str, row: Any) -> KnownCause:
    """The cause that an entry describes. DifftestError where it would match too much, or nothing."""
    if not isinstance(row, dict) or not isinstance(row.get("solver"), str):
        raise DifftestError(f'{where}: write solver = "...", without its release')
    finding_class = row.get("class", ANY)
    if not isinstance(finding_class, str):
        raise DifftestError(f'{where}: class: write the class of the findings, such as "soundness"')
    names, place = row.get("names", []), row.get("place", ANY)
    if not isinstance(place, str):
        raise DifftestError(f'{where}: place: write the place of the crash, such as "theory_seq.cpp:*"')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DifftestError(f'{where}: names: write a list, such as ["HORN", "store"]')
    if not names and not place.strip(ANY):
        raise DifftestError(f"{where}: write names or place: without them it stands for too many findings")
    return KnownCause(row["solver"], finding_class, frozenset(names), place)


def add_entry(
    file: Path, found: FindingFolder, state: Became, at: str, on: datetime.date, names: Sequence[str] = ()
) -> Entry:
    """Note what became of a finding at the end of the file, made if it is not there; what is in it stays as
    it is. With ``names``, which it has to mention, what becomes of all findings of its class and solver that
    mention them. DifftestError if it is no ledger, or if the finding does not mention all names.
    """
    general = general_key(found.key)
    key = Key.read(general)
    cause = KnownCause(names_in(key.solver_alone)[0], key.finding_class, frozenset(names)) if names else None
    if cause is not None and not cause.fits(key, found.words):
        raise DifftestError(f"{found.path}: it does not mention all of {', '.join(names)}")
    texts = {"at": at, "tracker": form_of_finding(found).repository, "title": title_of(found)}
    entry = Entry(str(cause or general), state, on, **texts, cause=cause, with_function=False)
    if file.is_file():
        Ledger.read(file)
    text = file.read_text("utf-8") if file.is_file() else _HEAD
    if cause is None:
        lines = ["", "[[finding]]", f"key = {_quoted(entry.key)}"]
    else:
        lines = ["", "[[cause]]", f"solver = {_quoted(cause.solver)}", f'class = "{cause.finding_class}"']
        lines += [f"names = [{', '.join(map(_quoted, sorted(cause.names)))}]"]
    lines += [f'state = "{state}"', f"on = {on}"]
    lines += [f"{name} = {_quoted(value)}" for name, value in texts.items() if value]
    text = text.rstrip("\n") + "\n" + "\n".join(lines) + "\n"
    try:
        tomllib.loads(text)
    except ValueError as problem:
        # A list that stands in one line gets no more entries after it.
        raise DifftestError(f"{file}: write each entry under {lines[1]}") from problem
    # A link to a shared ledger stays one.
    put_text(file.resolve(), text)
    return entry


def _quoted(text: str) -> str:
    """A string of TOML: that of JSON, but for surrogates, which TOML has not, and for ``\\x7f``."""
    body = text.encode("utf-8", "backslashreplace").decode()
    return json.dumps(body, ensure_ascii=False).replace("\x7f", "\\u007f")


def campaigns_below(folders: Iterable[Path], own: Path | None = None) -> Iterator[Path]:
    """The campaigns at ``folders``: each is one, or a folder of some. ``own`` is left out."""
    for folder in folders:
        inner = [folder] if (folder / "findings").is_dir() else sorted(folder.glob("*/"))
        for campaign in inner:
            is_own = own is not None and campaign.resolve() == own.resolve()
            if (campaign / "findings").is_dir() and not is_own:
                yield campaign


# The queue


@dataclass(frozen=True, slots=True)
class Due:
    """A finding in the queue: its ``entry`` in the ledger, else whether it may be reported ``now``;
    ``private`` if it is an error of memory, which is reported in private.
    """

    folder: FindingFolder
    tracker: str
    entry: Entry | None
    now: bool
    private: bool

    @property
    def fixed_in(self) -> str:
        """The first release without it, by its bisection; empty if there is none."""
        return str(self.folder.bisection.get("first_fixed") or "")

    @property
    def words(self) -> str:
        """For people."""
        if self.entry is not None or self.fixed_in:
            return str(self.entry or f"fixed in {self.fixed_in}")
        return ("now" if self.now else "later") + ", in private" * self.private


def queue(found: Sequence[FindingFolder], ledger: Ledger, most: int, today: datetime.date) -> list[Due]:
    """The findings, the worst first: those that the ledger does not list may be reported now as long as a
    tracker has less than ``most`` reports in seven days, or less than it says itself.
    """
    sent = Counter(
        entry.tracker
        for entry in ledger.entries
        if entry.state is not Became.SEEN and entry.on is not None and today - _WEEK < entry.on <= today
    )
    due = []
    for folder in worst_first(found):
        form = form_of_finding(folder)
        tracker = form.repository or str(folder.data["solver"])
        entry = ledger.silencing_finding(folder)
        is_open = entry is None and not folder.bisection.get("first_fixed")
        now = is_open and sent[tracker] < min(most, form.most_a_week or most)
        sent[tracker] += now
        due.append(Due(folder, tracker, entry, now, is_memory_error(folder)))
    return due


def is_memory_error(found: FindingFolder) -> bool:
    """Whether what the accused printed says that memory was written or read where it must not be."""
    text = found.printed(str(found.accused.get("name")))[0]
    return tells_of_memory(f"{found.accused.get('detail', '')}\n{text}")


def tells_of_memory(text: str) -> bool:
    """Whether a solver's output says so."""
    return bool(_MEMORY_ERROR.search(text))
