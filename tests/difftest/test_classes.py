"""Finding classes: one object each, in a file of its own; and the folders of earlier versions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from difftest import DifftestError, Solver, find_solver
from difftest.triage import classes
from difftest.triage.classes import class_of, every_class
from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from difftest.triage.folder import FORMAT, FindingFolder, read_document
from difftest.triage.key import FoundKey, fold
from difftest.triage.kinds import rewrite_report, title_of
from difftest.triage.store import read_findings, update_finding
from tests.difftest.test_reports import write

Fake = Callable[..., Solver]

BRAGGING = """
from difftest.triage.classes.base import FindingClass


class Bragging(FindingClass):
    name = "bragging"
    rank = 5
    colour = 7
    keyed_by_operators = False

    def confirm(self, trial, text, script):
        return trial.judge(trial.expected.accused, script) is not None and "brag" in text

    def headline(self, found):
        return "brags"

    def expected(self, found, name):
        return "Modesty."


CLASS = Bragging()
"""


@pytest.fixture
def bragging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more file among those of the classes."""
    folder = tmp_path / "classes"
    folder.mkdir()
    (folder / "bragging.py").write_text(BRAGGING)
    monkeypatch.setattr(classes, "__path__", [*classes.__path__, str(folder)])
    monkeypatch.setattr(classes, "CLASSES", classes.CLASSES | classes.find_classes())
    yield
    sys.modules.pop("difftest.triage.classes.bragging", None)


def test_a_new_class_is_one_file(bragging: None, tmp_path: Path, fake: Fake) -> None:
    assert [found.name for found in every_class()].index("bragging") < 4
    folder = write(tmp_path / "f", **{"class": "bragging"})
    (folder / "command.txt").write_text("")
    report = rewrite_report(folder)
    assert title_of(FindingFolder.read(folder)) == "z3: brags on QF_LIA"
    assert "Modesty." in report
    assert [record.finding_class for record in read_findings(tmp_path)] == ["bragging"]
    # By theories only, as it says.
    key = FoundKey("bragging|z3|Ints+Reals", "", False)
    assert fold(key, ["bragging|z3|Ints"]) == "bragging|z3|Ints"
    with Confirmer(Expectation("bragging", (fake("print('sat')"),))) as confirmer:
        assert confirmer("(declare-const brag Int)(check-sat)")
        assert not confirmer("(declare-const x Int)(check-sat)")


def test_a_class_that_is_not_known_is_reported_plainly(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", **{"class": "nothing-known"})
    assert "# z3: nothing known on QF_LIA" in rewrite_report(folder)
    assert class_of("nothing-known").name == "nothing-known"


def test_a_folder_of_the_first_format_opens(tmp_path: Path) -> None:
    folder = write(tmp_path / "f")
    assert json.loads((folder / "finding.json").read_text())["schema"] == 1
    data = read_document(folder)
    assert (data["format"], data["kind"], "schema" in data) == (FORMAT, "formula", False)
    assert FindingFolder.read(folder).kind == "formula"
    update_finding(folder, {"resembles": []})
    written = json.loads((folder / "finding.json").read_text())
    assert (written["format"], written["kind"], written["resembles"]) == (FORMAT, "formula", [])


def test_the_test_of_a_finding_is_read_whole_and_with_its_bytes(tmp_path: Path) -> None:
    folder = write(tmp_path / "f")
    data = b"; \xff\n" * (1 << 18) + b"(check-sat)\n"
    (folder / "original.smt2").write_bytes(data)
    assert FindingFolder.read(folder).tested.encode("utf-8", "surrogateescape") == data
    (folder / "original.smt2").unlink()
    assert FindingFolder.read(folder).tested == ""


@pytest.mark.thorough
def test_processes_that_change_one_document_lose_nothing_of_each_other(tmp_path: Path) -> None:
    folder = write(tmp_path / "f")
    update = (
        "import sys; from pathlib import Path; import difftest.triage.formulas\n"
        "from difftest.triage.store import update_finding\n"
        "for n in range(20): update_finding(Path(sys.argv[1]), {f'{sys.argv[2]}{n}': n})"
    )
    started = [subprocess.Popen([sys.executable, "-c", update, folder, name]) for name in ("a", "b")]
    assert [process.wait() for process in started] == [0, 0]
    assert {f"{name}{n}" for name in ("a", "b") for n in range(20)} <= set(read_document(folder))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": FORMAT + 1, "kind": "formula"}, "reads up to"),
        ({"format": FORMAT, "kind": "poems"}, "poems"),
        ({"format": "x"}, "no finding can be read"),
        ({"solvers": None}, r"`null` - at `\$\.solvers`"),
        ({"solvers": [{"spec": "z3"}]}, "missing required field `name`"),
        ({"solvers": [{"name": "z3", "options": 5}]}, "solvers.*options"),
        ({"check": "x"}, "check"),
        ({"check": -3}, "check"),
        ({"theories": 5}, "theories"),
        ({"test": 5}, "test"),
        ({"lines": [5]}, "lines"),
        ({"reduced": {"runs": {"z3": {}}}}, "reduced.*runs"),
    ],
)
def test_what_cannot_be_read_is_said(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "f", **changes)
    with pytest.raises(DifftestError, match=words):
        read_document(folder)
    assert list(read_findings(tmp_path)) == []


def test_every_class_has_words_and_a_rank_of_its_own() -> None:
    found = [entry for entry in every_class() if entry.kind == "formula"]
    assert [entry.name for entry in found] == [
        "soundness",
        "contradiction",
        "proof",
        "crash",
        "invalid-model",
        "incompleteness",
        "slowdown",
    ]
    assert len({entry.rank for entry in found}) == len(found)
    assert find_solver("z3")
