"""Files as tests: what another fuzzer found is confirmed and filed, and hostile folders lose nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest import FoundFiles, HuntOptions, Solver, Stage, hunt
from difftest.campaign import book
from difftest.campaign.files import FileTests
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import read_campaign
from difftest.triage.folder import FindingFolder
from tests.difftest.hunts import no_room, summary_of

Fake = Callable[..., Solver]
TEXT = "(declare-const x Int)\n(assert (> x {n}))\n(check-sat)\n"


def test_only_what_may_be_a_formula_is_a_test(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "one.smt2").write_text("(set-info :status sat)\n(check-sat)")
    (tmp_path / "two.smt2").write_bytes(b"(check-sat) ; \xff")
    (tmp_path / "notes.txt").write_text("no")
    (tmp_path / "binary.smt2").write_bytes(b"\x7fELF\x00")
    (tmp_path / "empty.smt2").write_text(" \n")
    (tmp_path / "large.smt2").touch()
    os.truncate(tmp_path / "large.smt2", (64 << 20) + 1)
    (tmp_path / "link.smt2").symlink_to(tmp_path / "two.smt2")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.smt2")
    tests = FileTests(FoundFiles([tmp_path]))
    made = list(tests.generate(0, 99))
    assert [Path(test.origin).name for test in made] == ["two.smt2", "one.smt2"]
    assert made[1].known == ("sat",)
    assert str(tests.found) == (
        "skipped: binary 1, empty 1, larger than 64 MB 1, no regular file 1, not named .smt2 1,"
        " symbolic link 2"
    )
    # A file that is named is taken whatever its name, also by a link.
    named = [tmp_path / "notes.txt", tmp_path / "link.smt2"]
    assert [Path(file).name for file in FoundFiles(named).files] == ["notes.txt", "link.smt2"]
    (inside / "one.smt2").unlink()
    assert [test.text for test in tests.generate(1, 2)] == [""]


def test_what_another_fuzzer_found_is_filed(fake: Fake, tmp_path: Path) -> None:
    solver = fake("os.abort() if '> x 1' in text else print('sat')")
    folder = tmp_path / "triggers"
    folder.mkdir()
    for number in range(4):
        (folder / f"bug{number}.smt2").write_text(TEXT.format(n=number))
    (folder / "again 1.smt2").write_text(TEXT.format(n=1))
    tests = FileTests(FoundFiles([folder]))
    options = HuntOptions(tmp_path / "out", stages=(Stage(5.0, 1.0),))
    (record,) = summary_of(hunt(tests.generate(0, len(tests)), [solver], options)).findings
    found = FindingFolder.read(record.path)
    assert Path(found.data["test"]["origin"]).name == "again 1.smt2"
    assert (record.path / "duplicates.txt").read_text() == f"{folder / 'bug1.smt2'}\n"
    assert "Found by exhume (a replay of again 1.smt2)." in (record.path / "report.md").read_text()


def test_a_formula_that_is_not_utf8_is_filed_with_its_bytes(fake: Fake, tmp_path: Path) -> None:
    data = b'(set-info :source "\xff")(check-sat)\n'
    (tmp_path / "a.smt2").write_bytes(data)
    tests = FileTests(FoundFiles([tmp_path]))
    options = HuntOptions(tmp_path / "out", stages=(Stage(5.0, 1.0),))
    (record,) = summary_of(hunt(tests.generate(0, 1), [fake("os.abort()")], options)).findings
    assert (record.path / "original.smt2").read_bytes() == data


@pytest.mark.parametrize("place", ["note_duplicate", "write_finding"])
def test_what_a_full_disk_kept_from_being_stored_is_done_again(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(4):
        (tmp_path / "in" / f"{number}.smt2").write_text(TEXT.format(n=number))
    tests, solvers = FileTests(FoundFiles([tmp_path / "in"])), [fake("os.abort()")]
    options = HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),))

    with monkeypatch.context() as full, CampaignState.open(tmp_path, {}) as state:
        full.setattr(book, place, no_room)
        schedule = Schedule([tests], 1, bandit=False, limit=4, loaded=state.loaded)
        with pytest.raises(OSError, match="No space left"):
            list(hunt(schedule, solvers, options, state=state))
        assert "No space left" in (read_campaign(tmp_path).runs[-1].ending or "")
    with CampaignState.open(tmp_path, {}) as state:
        schedule = Schedule([tests], 1, bandit=False, limit=4, loaded=state.loaded)
        summary = summary_of(hunt(schedule, solvers, options, state=state))
    assert (summary.tests, len(summary.findings), summary.duplicates) == (4, 1, 3)
    assert tests.without_finding(tmp_path) == []
