"""z3: a program and a library in its wheel."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from solvers import releases
from solvers.errors import SolverMissing
from solvers.profile import AskedOption, Located, Profile, ask, installed_files, program_among
from solvers.z3.tracker import FORM

# Some wheels for Linux (4.8.14) hold macOS's library, too.
_LIBRARY = "libz3.dylib" if sys.platform == "darwin" else "libz3.so"


def _locate(spec: str, release: str | None) -> Located:
    if release is not None:
        folder = releases.fetch_release("z3-solver", release)
        program = releases.executable_in(folder, "z3")
        libraries = list(folder.glob(f"z3/lib/{_LIBRARY}"))
    else:
        files = installed_files("z3", "z3-solver", None)
        libraries = [path for path in files if path.name == _LIBRARY]
        found = program_among(files, "z3")
        if found is None:
            raise SolverMissing("solver 'z3': the installed z3-solver package has no program bin/z3")
        program = found
    return Located((str(program),), str(libraries[0]) if libraries else None)


_MODULE = re.compile(r"\[module\] ([\w.]+)")
_PARAMETER = re.compile(r"    ([\w.]+) \((bool|unsigned int|double|symbol|string)\)(.*)")
_DEFAULT = re.compile(r"\(default: ([^()]*)\)\s*$")
_KINDS = {"bool": "bool", "unsigned int": "int", "double": "float", "symbol": "text", "string": "text"}


def parse_parameters(described: str) -> dict[str, AskedOption]:
    """The parameters in what ``z3 -pd`` prints; which values a symbol may have is not told in one form."""
    found: dict[str, AskedOption] = {}
    module = ""
    for line in described.splitlines():
        if heading := _MODULE.match(line):
            module = heading[1] + "."
        elif parameter := _PARAMETER.match(line):
            default = _DEFAULT.search(parameter[3])
            name = module + parameter[1]
            found[name] = AskedOption(name, _KINDS[parameter[2]], (), default[1] if default else "")
    return found


def _ask(argv: Sequence[str]) -> dict[str, AskedOption]:
    return parse_parameters(ask(argv, "-pd"))


def _ask_tactics(argv: Sequence[str]) -> frozenset[str]:
    # Not -tactics, which releases before 4.12 do not take.
    with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
        file = Path(folder) / "tactics.smt2"
        file.write_text("(help-tactic)\n", "utf-8")
        return frozenset(re.findall(r"^- ([\w-]+)", ask(argv, str(file)), re.M))


PROFILE = Profile(
    "z3",
    "z3-solver",
    "z3",
    _locate,
    prefix="",
    checks=("model_validate=true",),
    theories=frozenset(
        "Core Ints Reals Reals_Ints FixedSizeBitVectors FloatingPoint UnicodeStrings ArraysEx UF Sequences "
        "FiniteSets FiniteFields Lists Tuples Z3Extras Datatypes Quantifiers".split()
    ),
    ask=_ask,
    ask_tactics=_ask_tactics,
    form=FORM,
    rank=1,
)
