"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def put_bytes(file: Path, data: bytes) -> None:
    """Make ``data`` what ``file`` holds, in one step. OSError if it cannot be written; the file is left."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(file)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def put_text(file: Path, text: str) -> None:
    """The same for a text; bytes that came in as ``surrogateescape`` go out as they were."""
    put_bytes(file, text.encode("utf-8", "surrogateescape"))


def put_json(file: Path, document: Any) -> None:
    """The same for a JSON document."""
    put_text(file, json.dumps(document, indent=2) + "\n")
