"""The version of exhume."""

from __future__ import annotations

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("exhume")
    except metadata.PackageNotFoundError:  # a bare folder of sources
        return "0"


VERSION = _installed()
