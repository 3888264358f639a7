"""The programs in ``scripts``, run or loaded by tests."""

from __future__ import annotations

import io
import runpy
import subprocess
import sys
from contextlib import AbstractContextManager, redirect_stderr, redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def load_script(name: str) -> ModuleType:
    """A script as a module."""
    file = SCRIPTS / name
    # Not its own name: a module "coverage" would stand for the tool in every process that is forked later.
    loader = SourceFileLoader("script_" + file.name.replace("-", "_"), str(file))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = module_from_spec(spec)
    with _beside(file):
        loader.exec_module(module)
    return module


def _beside(file: Path) -> AbstractContextManager[object]:
    """A context in which modules beside a script can be imported, as when it is started."""
    return patch.object(sys, "path", [str(file.parent), *sys.path])


def run_script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script in this process: one of its own takes a second or two to load its modules."""
    file = SCRIPTS / name
    command = [str(file), *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    given = patch.object(sys, "argv", command)
    with given, _beside(file), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(file), run_name="__main__")
    code = ended.value.code
    if isinstance(code, str):  # as the interpreter does at its end
        print(code, file=err)
        code = 1
    return subprocess.CompletedProcess(command, int(code or 0), out.getvalue(), err.getvalue())
