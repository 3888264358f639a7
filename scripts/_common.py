"""What the scripts in this folder share. To import it makes the packages of the repository importable."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from base.errors import ExhumeError, Exit  # noqa: E402
from solvers.errors import SolverMissing  # noqa: E402
from solvers.lookup import find_solver  # noqa: E402

PUBLISHED = ROOT.parent / "shared" / "data" / "published"
"""The published formulas, beside the repository."""


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser of options whose help begins with the docstring of a script, as it is written there."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def run_main(main: Callable[[], int | None]) -> NoReturn:
    """Run a script's ``main``; what is wrong with what it was given is one line."""
    try:
        sys.exit(main())
    except ExhumeError as problem:
        said, code = str(problem), problem.exit_code
    except OSError as problem:
        if problem.filename is None:
            raise
        said, code = f"{problem.filename}: {problem.strerror}", Exit.USAGE
    print(f"{Path(sys.argv[0]).name}: {said}", file=sys.stderr)
    sys.exit(code)


SYSTEM = "/usr/bin:/usr/local/bin"
"""Where the system's packages put programs."""


def packaged(name: str, options: str = "--check-models --incremental", path: str | None = SYSTEM) -> str:
    """The spec of a release that is a program of the system, such as ``cvc4-1.8``; SolverMissing without it.
    With these options it checks models and answers more than one question. ``path`` None: where the shell
    looks.
    """
    program, _, version = name.rpartition("-")
    found = shutil.which(program, path=path)
    if found is None:
        raise SolverMissing(f"there is no program {program!r}")
    spec = f"{name}={found} {options}".rstrip()
    said = find_solver(spec).version()
    if version not in said.split():
        raise SolverMissing(f"{program} here is not {version}: {said}")
    return spec


def cpu_seconds() -> float:
    """Processor time of this process and its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The rows of an earlier run: a JSON document in each line. One that a kill cut short is skipped."""
    rows = []
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        with suppress(ValueError):
            rows.append(json.loads(line))
    return rows


def shuffled_formulas(folder: Path) -> list[Path]:
    """The formulas below a folder in an order of chance, the same every time. Exit code 2 without any."""
    files = sorted(folder.rglob("*.smt2"))
    random.Random(0).shuffle(files)
    if not files:
        print(f"{folder}: no formulas", file=sys.stderr)
        sys.exit(2)
    return files
