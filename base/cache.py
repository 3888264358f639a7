"""The user's cache folder, and JSON documents in it. Deleting the cache loses no results."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from base.files import put_bytes, read_at_most

_MAX_SIZE = 64 << 20


def cache_folder() -> Path:
    """The folder for data that can be recreated: ``EXHUME_CACHE``, else the platform's cache folder."""
    override = os.environ.get("EXHUME_CACHE")
    return Path(override).expanduser().absolute() if override else Path(platformdirs.user_cache_dir("exhume"))


def load_cached(file: Path) -> dict[str, Any] | None:
    """The JSON object in ``file``; None if it is missing or unreadable."""
    with suppress(OSError, ValueError, RecursionError):
        data = read_at_most(file, _MAX_SIZE)
        found = None if data is None else json.loads(data)
        return found if isinstance(found, dict) else None
    return None


def keep_cached(file: Path, document: dict[str, Any]) -> None:
    """Write ``document`` to ``file`` atomically. Does nothing if the cache cannot be written."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        put_bytes(file, json.dumps(document).encode())
