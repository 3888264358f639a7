"""What was found out about a solver behind a command line, kept: asking takes seconds, and every process of a
campaign needs it, the same each time.

A file per command line in exhume's cache folder, good as long as the program's file stays as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from smtlib import default_theories
from solvers.releases import cache_folder

_FORMAT = 3
_MAX_SIZE = 1 << 20


def file_for(argv: tuple[str, ...], families: tuple[str, ...]) -> Path | None:
    """Where to keep it; None where the program has no file to be told by."""
    program = shutil.which(argv[0])
    if program is None:
        return None
    status = Path(program).stat()
    theories = "\n".join(f"{s} {s.only} {s.where}" for s in default_theories().signatures())
    told = [_FORMAT, argv, families, os.path.realpath(program), status.st_size, status.st_mtime_ns, theories]
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    return cache_folder() / "solvers" / f"{digest}.json"


def load(path: Path | None) -> dict[str, Any] | None:
    """What the file holds; None where there is none that can be read."""
    with contextlib.suppress(OSError, ValueError):
        if path is not None and path.stat().st_size <= _MAX_SIZE:
            data = json.loads(path.read_text("utf-8"))
            return data if isinstance(data, dict) else None
    return None


def store(path: Path | None, data: dict[str, Any]) -> None:
    """Write the file at once; a cache that cannot be written is none."""
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            json.dump(data, file)
        Path(file.name).replace(path)
