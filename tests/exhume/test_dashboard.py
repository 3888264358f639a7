"""dashboard: causes over many nights, their states and ages, and hostile text on the page."""

from __future__ import annotations

import datetime
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from difftest.campaign.nights import History, read_history
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import ArmState, Changes
from difftest.triage.ledger import Became, Entry, Ledger
from exhume.pages.dashboard import _hours
from tests.difftest.test_reports import bisect
from tests.exhume.test_report import HOSTILE, Page, finding, hostile

START = datetime.datetime(2026, 11, 1, 1, tzinfo=datetime.UTC)


def night(out: Path, day: int, keys: dict[int, str], known: tuple[str, ...] = ()) -> None:
    """A campaign that began on a day and found these keys; with known ones that it saw again."""
    for number, key in keys.items():
        (finding(out, number, key=key) / "report.md").write_text("# report")
    changes = Changes(tests=100, decided=50, solver_seconds=1800.0)
    changes.counted.update({("known", key, ""): 2 for key in known})
    arms = [ArmState("skeletons", "Ints", 9, tests=60, solver_seconds=1200.0, findings=len(keys))]
    arms += [ArmState("opfuzz", "", 9, tests=40, solver_seconds=600.0)]
    with CampaignState.open(out, {"versions": {"z3": f"Z3 version {day}"}}) as state:
        state.commit(changes, 60.0, arms, ending="finished")
    began = (START + datetime.timedelta(days=day)).timestamp()
    with sqlite3.connect(out / "campaign.sqlite") as opened:
        opened.execute("update setting set value = ? where name = 'created'", (json.dumps(began),))
    opened.close()


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    """Three nights: one cause new in each, one seen again, one fixed."""
    folder = tmp_path / "nights"
    night(folder / "c", 40, {4: "crash|z3-5.4.1|c.cpp:3"}, known=("soundness|z3|Ints|div",))
    night(folder / "a", 0, {1: "soundness|z3-5.4.0|Ints|div", 2: "crash|z3-5.4.0|a.cpp:1"})
    night(folder / "b", 3, {3: "crash|z3-5.4.1|b.cpp:2"}, known=("soundness|z3|Ints|div",))
    found = folder / "a" / "findings" / f"invalid-model-{2:012x}"
    bisect(found, "5.3.0", "5.4.1", {}, last_affected="5.4.0")
    return folder


def states(history: History) -> dict[str, tuple[str, int, int]]:
    return {c.key: (history.state(c), history.age(c), len(c.nights)) for c in history.causes}


def test_causes_have_states_and_ages(nights: Path) -> None:
    history = read_history([nights], Ledger())
    assert [one.folder.name for one in history.nights] == ["a", "b", "c"]
    assert states(history) == {
        "soundness|z3|Ints|div": ("open", 40, 3),
        "crash|z3|a.cpp:1": ("fixed", 40, 1),
        "crash|z3|b.cpp:2": ("not seen", 37, 1),
        "crash|z3|c.cpp:3": ("new", 0, 1),
    }
    on = (START + datetime.timedelta(days=2)).date()
    entries = [
        Entry("crash|z3|b.cpp:2", Became.FIXED, on, "5.4.1"),
        Entry("crash|z3|c.cpp:3", Became.WONT_FIX),
    ]
    history = read_history([nights / "a", nights / "b", nights / "c", nights], Ledger(entries))
    assert [state for state, *_ in states(history).values()] == ["open", "fixed", "fixed", "wont-fix"]
    assert [history.fixed_in(number) for number in range(3)] == [0, 1, 0]
    assert [len(history.first_seen(number)) for number in range(3)] == [2, 1, 1]
    # The test of ``finding`` is of the strategy ``skeletons``.
    (first, second) = history.strategies()
    assert first == ("skeletons", 180, 3600.0, 4) and second == ("opfuzz", 120, 1800.0, 0)


def test_the_page_shows_them(exhume: Any, nights: Path, tmp_path: Path) -> None:
    (nights / "a" / "report.html").write_text("page")
    ended = exhume("dashboard", nights, "--out", tmp_path / "d.html", "--json")
    assert ended.code == 0, ended.err
    counts = {"new": 1, "open": 1, "not seen": 1, "fixed": 1}
    assert (ended.json["nights"], ended.json["causes"], ended.json["states"]) == (3, 4, counts)
    text = (tmp_path / "d.html").read_text("utf-8")
    page = Page(text)
    links = [value for name, value in page.attributes if name == "href"]
    assert "./nights/a/report.html" in links
    assert f"./nights/a/findings/invalid-model-{1:012x}/report.md" in links
    assert all((tmp_path / str(link)).is_file() for link in links)
    assert {"svg", "table"} <= page.tags and "script" not in page.tags
    for shown in ("2026-11-01 to 2026-12-11", "5.3.0; fixed in 5.4.1", "4.00"):
        assert shown in page.text
    assert re.search(r"soundness\|z3\|Ints\|div", page.text)


def test_nights_have_the_names_of_their_folders(exhume: Any, tmp_path: Path) -> None:
    for name, day in (("first", 0), ("a/hunt", 0), ("b/hunt", 1)):
        night(tmp_path / "nights" / name, day, {1: "crash|z3-5.4.0|a.cpp:1"})
    folders = (tmp_path / "nights", tmp_path / "nights" / "a", tmp_path / "nights" / "b")
    exhume("dashboard", *folders, "--out", tmp_path / "d.html")
    text = (tmp_path / "d.html").read_text("utf-8")
    assert "<h1>exhume: 2026-11-01 to 2026-11-02</h1>" in text
    for name in ("first", "2026-11-01 hunt", "2026-11-02 hunt"):
        assert f"<td>{name}</td>" in text


def test_short_times_are_not_zero() -> None:
    assert [_hours(seconds) for seconds in (0, 4, 1800, 36000)] == ["0", "0.0011", "0.50", "10.00"]


def test_hostile_text_stays_text(exhume: Any, nights: Path, tmp_path: Path) -> None:
    hostile(nights / "evil")
    ended = exhume("dashboard", nights, "--out", tmp_path / "d.html")
    assert ended.code == 0, ended.err
    text = (tmp_path / "d.html").read_text("utf-8")
    page = Page(text)
    assert not page.tags & {"script", "iframe", "img", "object"} and "PWNED" in page.text
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not re.search(r"[\x00\x1b]", text) and HOSTILE not in text


def test_folders_without_campaigns(exhume: Any, nights: Path, tmp_path: Path) -> None:
    (nights / "broken" / "findings").mkdir(parents=True)
    (nights / "broken" / "campaign.sqlite").write_text("rubbish")
    ended = exhume("dashboard", nights, "--out", tmp_path / "d.html")
    assert ended.code == 0 and "cannot be read as a campaign" in ended.err
    (tmp_path / "empty").mkdir()
    ended = exhume("dashboard", tmp_path / "empty", "--out", tmp_path / "e.html")
    assert ended.code == 2 and "no campaign is in these folders" in ended.said
