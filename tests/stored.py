"""What earlier versions of exhume stored, in ``tests/formats``, unpacked; and how a command line ended."""

from __future__ import annotations

import importlib.metadata
import json
import lzma
import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMATS = Path(__file__).with_name("formats")
V0 = FORMATS / "v0"


def unpack(name: str, folder: Path) -> Path:
    """Unpack ``NAME.tar.xz`` or ``NAME.xz`` of ``v0`` into ``folder``; the folder or file that comes out."""
    archive = V0 / f"{name}.tar.xz"
    if archive.exists():
        with tarfile.open(archive, "r:xz") as members:
            # Python before 3.11.4 has no filters; the archive is ours.
            members.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
            members.extractall(folder)
        return folder / name
    with lzma.open(V0 / f"{name}.xz") as packed, (folder / name).open("wb") as out:
        shutil.copyfileobj(packed, out)
    return folder / name


@dataclass(frozen=True)
class Ended:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        assert self.out.strip(), self.err
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """The one line on standard error; fails if there are more."""
        lines = [line for line in self.err.splitlines() if line]
        assert len(lines) == 1, self.err
        return lines[0]


Command = Callable[..., Ended]
"""Runs a command line: the fixture ``exhume`` does so in this process."""


def other_versions(written: Mapping[str, str]) -> str:
    """How the installed solvers differ from those a stored file was written with; empty if they do not."""
    here = {name: importlib.metadata.version(name) for name in ("z3-solver", "cvc5")}
    other = {name: version for name, version in here.items() if written[name] != version}
    return f"written with {dict(written)}, here is {other}" if other else ""
