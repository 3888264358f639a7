"""z3: a program and a library in its wheel."""

from __future__ import annotations

import sys

from difftest import wheels
from difftest.errors import SolverMissing
from difftest.profiles.base import Located, Profile, installed_files, program_among

# Some wheels for Linux (4.8.14) hold macOS's library, too.
_LIBRARY = "libz3.dylib" if sys.platform == "darwin" else "libz3.so"


def _locate(spec: str, release: str | None) -> Located:
    if release is not None:
        folder = wheels.fetch_release("z3-solver", release)
        program = wheels.executable_in(folder, "z3")
        libraries = list(folder.glob(f"z3/lib/{_LIBRARY}"))
    else:
        files = installed_files("z3", "z3-solver", None)
        libraries = [path for path in files if path.name == _LIBRARY]
        found = program_among(files, "z3")
        if found is None:
            raise SolverMissing("solver 'z3': the installed z3-solver package has no program bin/z3")
        program = found
    return Located((str(program),), str(libraries[0]) if libraries else None)


PROFILE = Profile("z3", "z3-solver", "z3", _locate, prefix="", checks=("model_validate=true",))
