"""What was found out about a solver behind a command line, kept: asking takes seconds, and every process of a
campaign needs it, the same each time.

A file per command line in exhume's cache folder, good as long as the program's file stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

from base.cache import cache_folder
from smtlib import default_theories

_FORMAT = 3


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
