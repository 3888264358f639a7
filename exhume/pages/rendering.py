"""Writes a page from its template. Text is escaped by Jinja; only plots are inserted as they are."""

from __future__ import annotations

import functools
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from base.files import put_bytes
from base.text import without_controls
from base.version import VERSION
from difftest.errors import writing


def write_html(out: Path, template: str, **values: Any) -> int:
    """Write a page in one step; its size in bytes. Raises BadOutput."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    data = render(template, made=made, **values)
    with writing(out):
        put_bytes(out, data)
    return len(data)


def render(template: str, **values: Any) -> bytes:
    """A page as UTF-8; what cannot be encoded is replaced."""
    text = _environment().get_template(template).render(version=VERSION, **values)
    return text.encode("utf-8", "replace")


def link_to(file: Path, out: Path) -> str:
    """The address of a file, relative to the page ``out``; empty if there is no such file."""
    if not file.is_file():
        return ""
    return "./" + quote(os.fsencode(Path(os.path.relpath(file, out.parent)).as_posix()))


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def printable(value: Any) -> Any:
    """A value of a template without control characters."""
    return without_controls(value) if type(value) is str else value
