"""Seeds from text."""

from __future__ import annotations

from generator.seeds.script import SeedScript, read_seed


def script_of(text: str) -> SeedScript:
    """The seed of ``text``, which can be used."""
    script = read_seed(text)
    assert isinstance(script, SeedScript), script
    return script
