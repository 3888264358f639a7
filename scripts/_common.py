"""What the scripts in this folder share. To import it makes the packages of the repository importable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PUBLISHED = ROOT.parent / "shared" / "data" / "published"
"""The published formulas, beside the repository."""


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser of options whose help begins with the docstring of a script, as it is written there."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
