"""Older releases that are asked when a finding is confirmed: a planted package is run per release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apifuzz.running import describing, releases
from apifuzz.running.describing import describe
from apifuzz.running.faults import reported
from apifuzz.running.findings import Description
from apifuzz.running.releases import ask_older
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from difftest.triage import release_search
from difftest.triage.evidence import Evidence
from difftest.triage.kinds import State, Subject
from solvers.errors import EnvironmentProblem
from solvers.solver import Solver
from tests.apifuzz.filing import Programmed, file_finding, without_versions
from tests.apifuzz.releases import GOES, RAISES, RELEASES, Plant, plant_releases

OWN = 8
FAULT = reported("rejected", "make-sort", "no such sort")
PROGRAM = "import bitwuzla\n\nbitwuzla.go()\n"


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Plant releases beside an installed one."""

    def make(modules: dict[int, str]) -> list[str]:
        fetched = plant_releases(tmp_path, monkeypatch, modules)
        own = RELEASES[OWN]
        monkeypatch.setattr(
            releases, "find_solver", lambda spec: Solver(f"bitwuzla=={own}", spec, spec, ("true",))
        )
        release_search._listed.cache_clear()
        return fetched

    return make


def test_a_new_fault_is_shown_by_the_release_before(plant: Plant) -> None:
    fetched = plant(dict.fromkeys(range(7), GOES))
    asked = ask_older(FAULT, PROGRAM, "bitwuzla")
    # The one before cannot be had, so the next is asked, and no other.
    assert fetched == ["0.7.0", "0.6.0"]
    assert asked.sentences == [
        "bitwuzla 0.6.0 does not show it",
        "first affected release: bitwuzla 0.8.0",
    ]


@pytest.mark.parametrize(("first", "missing"), [(0, None), (0, 0), (1, 2), (3, 5), (4, 3), (5, 4), (7, None)])
def test_the_first_affected_release_is_searched(first: int, missing: int | None, plant: Plant) -> None:
    modules = {n: RAISES if n >= first else GOES for n in range(10) if n != missing}
    fetched = plant(modules)
    asked = ask_older(FAULT, PROGRAM, "bitwuzla", most=20)
    assert len(set(fetched)) == len(fetched) and "0.8.0" not in fetched and "0.9.0" not in fetched
    found = min(n for n in modules if n >= first)
    oldest = "" if any(n < first for n in modules) else ", the oldest that runs here"
    assert asked.sentences[-1] == f"first affected release: bitwuzla 0.{found}.0{oldest}"


def test_what_was_tried_is_kept_for_a_search(plant: Plant, tmp_path: Path) -> None:
    fetched = plant({number: RAISES if number >= 5 else GOES for number in range(10)})
    asked = ask_older(FAULT, PROGRAM, "bitwuzla")
    assert fetched == ["0.7.0", "0.6.0", "0.4.0", "0.5.0"]
    assert asked.sentences == [
        "bitwuzla 0.7.0, 0.6.0, 0.5.0 show it, too",
        "bitwuzla 0.4.0 does not show it",
        "first affected release: bitwuzla 0.5.0",
    ]
    (tmp_path / "bisect.json").write_text(release_search.kept_states(PROGRAM, asked.states))

    def look(release: str) -> State:
        return releases.try_program(FAULT, PROGRAM, tmp_path / "script.py", "bitwuzla", release)

    (tmp_path / "script.py").write_text(PROGRAM)
    subject = Subject("bitwuzla", "bitwuzla", "0.8.0", "script.py", PROGRAM, look)
    report = release_search.search(tmp_path, subject)
    assert (report.first_affected, report.first_fixed) == ("0.5.0", None)
    assert fetched[4:] == ["0.0.0", "0.9.0"]


def test_no_more_are_asked_than_there_is_time_for(plant: Plant) -> None:
    fetched = plant(dict.fromkeys(range(10), RAISES))
    asked = ask_older(FAULT, PROGRAM, "bitwuzla", most=2)
    assert fetched == ["0.7.0", "0.6.0"]
    assert asked.sentences == [
        "bitwuzla 0.7.0, 0.6.0 show it, too",
        "exhume bisect finds the first affected release",
    ]
    assert ask_older(FAULT, PROGRAM, "bitwuzla", seconds=-1).sentences == [
        "no older release of bitwuzla was asked in time"
    ]


def test_a_network_that_goes_away_is_reported(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant({7: RAISES})
    fetch = releases.fetch_release

    def fetch_one(distribution: str, release: str) -> Path:
        if release != "0.7.0":
            raise EnvironmentProblem("pip could not fetch it")
        return fetch(distribution, release)

    monkeypatch.setattr(releases, "fetch_release", fetch_one)
    assert ask_older(FAULT, PROGRAM, "bitwuzla").sentences == [
        "bitwuzla 0.7.0 shows it, too",
        "no further release of bitwuzla was asked: pip could not fetch it",
    ]


def test_releases_that_lack_what_the_program_calls_say_nothing(plant: Plant) -> None:
    plant(dict.fromkeys(range(10), "def other():\n    pass\n"))
    asked = ask_older(FAULT, PROGRAM, "bitwuzla")
    assert asked.sentences == ["none of 8 older releases of bitwuzla that were tried runs the program here"]


def test_without_a_network_one_line_says_so(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant({})
    tries: list[str] = []

    def unreachable(family: str) -> list[str]:
        tries.append(family)
        raise EnvironmentProblem("pip cannot list the releases\nof bitwuzla (no network?)")

    monkeypatch.setattr(release_search, "list_releases", unreachable)
    for _ in range(2):
        assert ask_older(FAULT, PROGRAM, "bitwuzla").sentences == [
            "no older release of bitwuzla was asked: pip cannot list the releases of bitwuzla (no network?)"
        ]
    # It takes long to find that out.
    assert tries == ["bitwuzla"]


# In a finding

TRACE = read_trace("exhume-trace 1 bitwuzla 1\n1 new\n2 make-sort Bool\nreturn s1\n")


def described(setup: Setup, culprit: str | None, monkeypatch: pytest.MonkeyPatch) -> Description:
    monkeypatch.setattr(describing, "weigh", lambda *args: Evidence(culprit))
    monkeypatch.setattr(describing, "text_shows", lambda *args: False)
    with Programmed(setup, PROGRAM) as runner:
        return describe(runner, TRACE, FAULT)


def test_a_report_says_which_releases_show_it(
    plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant({number: RAISES if number >= 5 else GOES for number in range(10)})
    texts = described(Setup("bitwuzla"), "bitwuzla", monkeypatch)
    assert texts.facts["guilty"] == "bitwuzla"
    without_versions(monkeypatch)
    path = file_finding(tmp_path, FAULT, TRACE, Setup("bitwuzla"), texts)
    report = (path / "report.md").read_text()
    assert (
        "- bitwuzla 0.4.0 does not show it\n- first affected release: bitwuzla 0.5.0"
        in report.partition("## Notes")[2]
    )
    assert json.loads((path / "bisect.json").read_text())["states"]["0.4.0"] == "free"


def test_where_nobody_is_known_to_be_wrong_one_release_of_each_is_asked(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = plant({7: GOES})
    texts = described(Setup("bitwuzla", "smtlib"), None, monkeypatch)
    assert fetched == ["0.7.0"]
    assert texts.facts["evidence"][0] == "bitwuzla 0.7.0 does not show it"
    assert "bisect.json" not in texts.files


def test_a_command_line_has_no_releases(plant: Plant) -> None:
    fetched = plant({7: GOES})
    found = Evidence("bitwuzla")
    assert describing._hear_older(found, Setup("bitwuzla=solver"), FAULT, PROGRAM) == ""
    assert (fetched, found.sentences) == ([], [])
