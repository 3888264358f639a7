"""A finding's folder, written so that it is there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from base.files import put_json
from difftest.oracles.base import names_in
from difftest.triage.folder import DOCUMENT, FORMAT
from difftest.triage.kinds import rewrite_report
from solvers.options import has_young_option


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One finding as a summary lists it; ``known`` when an earlier hunt into the same folder had found it,
    ``merged`` those that became part of it: their keys by id.
    """

    id: str
    finding_class: str
    solver: str
    key: str
    known: bool
    path: Path
    merged: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_young(self) -> bool:
        """Whether it takes a young option, so that it is listed apart; see ``OptionClass``."""
        return any(map(has_young_option, names_in(self.solver)))

    def to_json(self) -> dict[str, Any]:
        """The object that ``hunt --json`` lists."""
        return {
            "id": self.id,
            "class": self.finding_class,
            "solver": self.solver,
            "key": self.key,
            "known": self.known,
            "young": self.is_young,
            "path": str(self.path),
        }


@dataclass(frozen=True, slots=True)
class Filing:
    """A finding to be written: the ``document`` without what all have in common, and ``files`` by name.

    ``text`` is what it is about; with the key it makes the finding's identity. For ``by_operators`` see
    FoundKey.
    """

    kind: str
    finding_class: str
    solver: str
    key: str
    text: str
    document: Mapping[str, Any]
    files: Mapping[str, str]
    by_operators: str = ""

    @property
    def id(self) -> str:
        """An identity that depends on nothing but the finding itself: 12 hexadecimal digits."""
        return hashlib.sha256(_encoded(f"{self.key}\0{self.text}")).hexdigest()[:12]

    @property
    def folder_name(self) -> str:
        """The name of its folder."""
        return f"{self.finding_class}-{self.id}"


def file_finding(folder: Path, filing: Filing) -> FindingRecord:
    """Write a finding and move it into ``folder`` in one step; nothing changes where it is there already.

    OSError if it cannot be written; nothing of it is left then. A process writes one at a time.
    """
    final = folder / filing.folder_name
    work = folder / f".tmp-{os.getpid()}-finding"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        for name, text in filing.files.items():
            (work / name).write_bytes(_encoded(text))
        head = {"format": FORMAT, "kind": filing.kind, "id": filing.id, "class": filing.finding_class}
        head |= {"solver": filing.solver, "key": filing.key, "platform": _platform()}
        head |= {"key_by_operators": filing.by_operators} if filing.by_operators else {}
        put_json(work / DOCUMENT, {**head, **filing.document})
        rewrite_report(work)
        if not final.exists():
            work.rename(final)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return FindingRecord(filing.id, filing.finding_class, filing.solver, filing.key, False, final)


def _encoded(text: str) -> bytes:
    """The bytes that were read with ``surrogateescape``; what is no text at all is spelt out."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def _platform() -> str:
    """This machine's operating system and processor."""
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = ""
    return f"{platform.system()} {platform.machine()}" + (f" ({system})" if system else "")
