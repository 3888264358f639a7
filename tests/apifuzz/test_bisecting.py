"""Bisection of findings of API fuzzing: a planted package is run per release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apifuzz.running import releases
from apifuzz.running.faults import Fault, reported
from apifuzz.running.findings import Description
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from difftest.errors import DifftestError
from difftest.triage.bisect import bisect
from difftest.triage.expectation import NotShown
from solvers.solver import Solver
from tests.apifuzz.filing import file_finding, without_versions
from tests.apifuzz.releases import GOES, RAISES, Plant, plant_releases

TRACE = read_trace("exhume-trace 1 bitwuzla 1\n1 new\n2 make-sort Bool\nreturn s1\n")
REJECTED = reported("rejected", "make-sort", "no such sort")
SCRIPT = "import bitwuzla\n\nbitwuzla.go()\n"
DIES = "import os, sys\ndef go():\n    sys.stderr.write('Fatal failure at rewriter.cpp:{}\\n'); os.abort()\n"
LACKS = "def other():\n    pass\n"


def finding(path: Path, fault: Fault, script: str | None = SCRIPT, setup: Setup | None = None) -> Path:
    path.mkdir(exist_ok=True)
    files = {} if script is None else {"script.py": script}
    return file_finding(path, fault, TRACE, setup or Setup("bitwuzla"), Description({}, files))


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Plant releases, an installed one among them."""

    def make(modules: dict[int, str]) -> list[str]:
        fetched = plant_releases(tmp_path, monkeypatch, modules)
        installed = Solver("bitwuzla==0.5.0", "bitwuzla", "bitwuzla", ("true",))
        monkeypatch.setattr(releases, "find_solver", lambda spec: installed)
        without_versions(monkeypatch)
        return fetched

    return make


def test_both_edges_are_found_and_kept(planted: Plant, tmp_path: Path) -> None:
    modules = {number: RAISES if 3 <= number < 8 else GOES for number in range(1, 10)}
    fetched = planted({**modules, 2: LACKS})
    path = finding(tmp_path, REJECTED)
    report = bisect(path)
    assert (report.first_affected, report.first_fixed) == ("0.3.0", "0.8.0")
    states = {release: str(state) for release, state in report.tried}
    # One that cannot be had, and one without what the program calls.
    assert states["0.0.0"] == states["0.2.0"] == "skipped"
    assert (
        "- First affected: 0.3.0\n- Last good: 0.1.0\n- Fixed in: 0.8.0\n" in (path / "report.md").read_text()
    )
    count = len(fetched)
    assert bisect(path) == report
    assert len(fetched) == count
    assert json.loads((path / "bisect.json").read_text())["complete"]


def test_places_of_crashes_move_from_release_to_release(planted: Plant, tmp_path: Path) -> None:
    planted({number: DIES.format(number) if number > 4 else GOES for number in range(10)})
    fault = Fault("crash", "make-sort", "Fatal failure at rewriter.cpp:5", "rewriter.cpp:5", "SIGABRT Fatal")
    report = bisect(finding(tmp_path, fault))
    assert (report.first_affected, report.first_fixed) == ("0.5.0", None)


def test_what_cannot_be_bisected_is_reported(planted: Plant, tmp_path: Path) -> None:
    planted({5: GOES})
    with pytest.raises(NotShown, match=r"bitwuzla 0\.5\.0 does not show the finding"):
        bisect(finding(tmp_path / "a", REJECTED))
    with pytest.raises(DifftestError, match="no program and no SMT-LIB script shows it"):
        bisect(finding(tmp_path / "b", REJECTED, None))
    with pytest.raises(DifftestError, match="which of bitwuzla and z3 is wrong is not known"):
        bisect(finding(tmp_path / "c", REJECTED, SCRIPT, Setup("bitwuzla", "z3")))
    with pytest.raises(DifftestError, match="other is a command line"):
        bisect(finding(tmp_path / "d", REJECTED, SCRIPT, Setup("other=solver")))
    with pytest.raises(DifftestError, match="no finding can be read"):
        bisect(tmp_path)
