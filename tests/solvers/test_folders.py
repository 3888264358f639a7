"""Adding one more solver takes a folder, and nothing outside the folders names one."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from solvers.errors import BadProfile
from solvers.profile import read_profile
from solvers.registry import BROKEN, NAMES, PROFILES
from tests.solvers.packages import make_wheel

ROOT = Path(__file__).resolve().parent.parent.parent
PROFILE = """
program = "toy"
aliases = ["toy"]
checks = ["--toy-check"]
theories = ["Core", "FixedSizeBitVectors"]
[says]
crash = ["^the toy broke"]
crash_codes = [77]
[tracker]
repository = "toys/toy"
most_a_week = 2
[tracker.fields]
A = ["Input"]
"""
# It says unsat to everything but what holds no assertion, and breaks on what says so.
TOY = f"""#!{sys.executable} -IS
import sys
if sys.argv[1] == "--version":
    print("Toy 1.5")
elif "break" in open(sys.argv[-1]).read():
    print("the toy broke")
    sys.exit(77)
else:
    assert "--toy-check" in sys.argv
    print("unsat" if "assert" in open(sys.argv[-1]).read() else "sat")
"""
FORMULA = "(set-logic QF_BV)\n(declare-const x (_ BitVec 4))\n(assert (bvult x #x3))\n(check-sat)\n"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """The folder of a solver that is not part of exhume."""
    folder = tmp_path / "more" / "toy"
    folder.mkdir(parents=True)
    (folder / "profile.toml").write_text(PROFILE)
    (folder / "toy").write_text(TOY)
    (folder / "toy").chmod(0o755)
    return folder


# Runs the command lines that it is given as JSON, prints the same of what they gave.
EACH = """
import contextlib, io, json, sys
from exhume.cli import run
ended = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    ended.append((int(code), out.getvalue(), err.getvalue()))
print(json.dumps(ended))
"""


def exhume_each(folder: Path, *lines: Sequence[object]) -> list[tuple[int, str, str]]:
    """Command lines of exhume that know the solvers beside ``folder``, too: code, output and errors of each.

    Solvers are known from the start of a process, and one takes a second to start: all run in one. The
    folder's path is a relative one.
    """
    environment = {**os.environ, "EXHUME_SOLVERS": os.path.relpath(folder.parent, ROOT), "COLUMNS": "200"}
    words = json.dumps([list(map(str, line)) for line in lines])
    done = subprocess.run(
        [sys.executable, "-c", EACH, words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_all_folders_of_exhume_are_right() -> None:
    assert BROKEN == {}


@pytest.mark.slow
def test_a_new_folder_takes_part_in_hunts_replays_and_reports(toy: Path, tmp_path: Path) -> None:
    seeds, out = tmp_path / "seeds", tmp_path / "hunt"
    seeds.mkdir()
    (seeds / "one.smt2").write_text(FORMULA)
    flags = ["--solver", "toy", "--solver", "z3", "--tests", "3", "--modes", "default", "--jobs", "1"]
    hunt = ("hunt", "--seeds", seeds, "--strategy", "opfuzz", *flags, "--out", out)
    known, done = exhume_each(toy, ("solvers", "--solver", "toy", "--json"), hunt)
    assert [(row["spec"], row["version"]) for row in json.loads(known[1])] == [("toy", "Toy 1.5")]
    assert done[0] == 1, done
    (folder,) = (out / "findings").iterdir()
    found = json.loads((folder / "finding.json").read_text())
    assert (found["class"], found["guilty"]) == ("soundness", "toy")
    report = (folder / "report.md").read_text()
    assert "# toy: wrong unsat on QF_BV" in report
    (tmp_path / "break.smt2").write_text(FORMULA + "; break\n")
    replayed, reduced, crashed = exhume_each(
        toy,
        ("replay", folder / "original.smt2", *flags[:4]),
        ("reduce", folder, "--time", "30s", "--no-ddsmt"),
        ("replay", tmp_path / "break.smt2", "--solver", "toy", "--json"),
    )
    assert (replayed[0], reduced[0]) == (1, 0), (replayed, reduced)
    assert "toy --toy-check input.smt2" in (folder / "report.md").read_text()
    assert [row["outcome"] for row in json.loads(crashed[1])["files"]] == ["crash"]


def test_a_path_without_solvers_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    ((code, _, said),) = exhume_each(missing / "toy", ("solvers", "--solver", "toy"))
    assert code == 2
    assert said.endswith(f" EXHUME_SOLVERS names {missing}, which has no folder of a solver.\n")


def test_a_folder_without_a_needed_key_is_one_clear_line(toy: Path) -> None:
    (toy / "profile.toml").write_text(PROFILE.replace("program = ", "# "))
    (code, _, said), others = exhume_each(toy, ("solvers", "--solver", "toy"), ("solvers", "--solver", "z3"))
    assert code == 2
    assert said == f"exhume: {toy}/profile.toml: Object missing required field `program`\n"
    # The other solvers are there all the same.
    assert others[0] == 0


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("most_a_week", "most_a_day", "unknown field `most_a_day` - at `$.tracker`"),
        (
            'crash = ["^the',
            'crash = ["^(the',
            "missing ), unterminated subpattern at position 1 - at `$.says.crash",
        ),
        ('crash = ["^the', 'crash = ["(?i)^the', "cannot be joined with other patterns; write (?i:...)"),
        ('crash = ["^the', 'crash = ["(?P<name>a)", "^the', "do not name groups - at `$.says.crash"),
        ('aliases = ["toy"]', 'aliases = ["toy"', "Unclosed array"),
        ("[77]", '["x"]', "Expected `int`, got `str` - at `$.says.crash_codes"),
        ('A = ["Input"]', 'A = ["Inpt"]', "field 'A': a report has no part 'Inpt' - at `$.tracker`"),
    ],
)
def test_what_is_wrong_in_a_folder_is_said_with_its_place(
    toy: Path, before: str, after: str, line: str
) -> None:
    (toy / "profile.toml").write_text(PROFILE.replace(before, after))
    with pytest.raises(BadProfile) as raised:
        read_profile((toy,), None)
    assert str(raised.value).startswith(f"{toy}/profile.toml: ") and line in str(raised.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("checked_against = ", "Invalid value"),
        ("checked_against = 1", "Expected `str`, got `int` - at `$.checked_against"),
        ("[sound]\na = 1", "Expected `object | array`, got `int` - at `$.sound[...]"),
        ("[sound]\na = { value = ['1'] }", "unknown field `value` - at `$.sound[...]"),
        ("[other]\nfine = ['a']", "Invalid enum value 'fine' - at `key` in `$.other"),
        ("[faster]\na = []", "unknown field `faster`"),
    ],
)
def test_what_is_wrong_in_a_file_of_options_is_said_with_its_place(toy: Path, text: str, line: str) -> None:
    (toy / "options.toml").write_text(text)
    with pytest.raises(BadProfile) as raised:
        read_profile((toy,), None)
    assert str(raised.value).startswith(f"{toy}/options.toml: ") and line in str(raised.value)


def test_a_wrong_file_of_options_stops_its_own_solver_only(toy: Path) -> None:
    (toy / "options.toml").write_text("[sound]\na = 1\n")
    (code, _, said), others = exhume_each(toy, ("solvers", "--solver", "toy"), ("solvers", "--solver", "z3"))
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith(f"exhume: {toy}/options.toml: ")
    assert others[0] == 0


def test_a_file_of_options_may_hold_no_more_than_one(toy: Path) -> None:
    (toy / "options.toml").write_text("[sound]\na = ['1']\n")
    table = read_profile((toy,), None).option_table
    assert (table.checked_against, table.tried()) == ("", ["a=1"])


@pytest.mark.thorough
def test_code_of_a_folder_that_fails_is_one_clear_line(toy: Path) -> None:
    (toy / "__init__.py").write_text("import no_such_module\n")
    [(code, _, said)] = exhume_each(toy, ("solvers", "--solver", "toy"))
    assert (code, said.count("\n")) == (2, 1)
    assert "toy/__init__.py: ModuleNotFoundError: No module named 'no_such_module'" in said


def test_a_program_that_is_not_there_is_named(toy: Path) -> None:
    (toy / "toy").unlink()
    [(code, _, said)] = exhume_each(toy, ("replay", toy / "profile.toml", "--solver", "toy"))
    assert (code, said) == (3, f"exhume: solver 'toy': toy is neither in {toy} nor on the path\n")


@pytest.mark.parametrize("driven", [True, False], ids=["driver", "program"])
@pytest.mark.few(1)
def test_a_wheel_that_does_not_start_is_one_clear_line(toy: Path, index: Path, driven: bool) -> None:
    (toy / "profile.toml").write_text('distribution = "toy-solver"\nmodule = "toylib"\n' + PROFILE)
    if driven:
        (toy / "driver.py").write_text("import sys\nsys.path.insert(0, sys.argv[2])\nimport toylib\n")
        make_wheel(index, "1.5", {"toylib.py": "raise ImportError('no libtoy.so')\n"}, "toy_solver")
    else:
        make_wheel(index, "1.5", {"toy_solver-1.5.data/data/bin/toy": "no program\n"}, "toy_solver")
    [(code, _, said)] = exhume_each(toy, ("replay", toy / "profile.toml", "--solver", "toy==1.5"))
    assert (code, said.count("\n")) == (3, 1)
    assert said.startswith("exhume: solver 'toy==1.5' does not start: ")


# Names


EXCEPTIONS = {
    "apifuzz/engines": "an engine is made for one solver's interface",
    "apifuzz/running": "programs of calls are written in the Python of one solver's interface",
    "generator/refusals.py": "what a solver refuses although its acceptance was asked",
    "generator/strategies/storm": "values seeds by the libraries of two solvers",
    "miner/commandline.py": "a suffix of files is called like a solver",
}
"""Where solvers are named outside ``solvers/``, each with the reason."""


def named_in(file: Path) -> Iterator[str]:
    """The strings of a module that name a solver, docstrings apart."""
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(NAMES)))})(?![a-zA-Z])", re.I)
    tree = ast.parse(file.read_text("utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            if names.search(node.value):
                yield f"{str(file).removeprefix(f'{ROOT}/')}:{node.lineno}: {node.value[:60]!r}"


def test_no_module_outside_the_folders_names_a_solver() -> None:
    packages = [folder for folder in ROOT.iterdir() if (folder / "__init__.py").is_file()]
    files = [f for p in packages if p.name not in ("solvers", "tests") for f in sorted(p.rglob("*.py"))]
    paths = {file: str(file.relative_to(ROOT)) for file in files}
    named = [hit for file in files if not paths[file].startswith(tuple(EXCEPTIONS)) for hit in named_in(file)]
    assert named == []


def test_every_exception_is_needed() -> None:
    for place in EXCEPTIONS:
        path = ROOT / place
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        assert any(hit for file in files for hit in named_in(file)), f"{place} names no solver any more"


def test_a_name_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "named.py"
    file.write_text('"""Names z3."""\nFOUND = "cvc5 says no"\nNONE = "Z3Extras"\n')
    assert [hit.partition(":")[2] for hit in named_in(file)] == ["2: 'cvc5 says no'"]


def test_every_alias_is_one_solvers() -> None:
    aliases = [alias for profile in PROFILES.values() for alias in profile.aliases]
    assert len(aliases) == len(set(aliases))
    assert all(alias == alias.lower() for alias in aliases)
