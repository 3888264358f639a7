"""From trigger to report: replay --out, triage --import, reduce --all, bisect; each says what comes next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.difftest.hunts import fail_on

TEXT = "(declare-const x Int)\n(assert (> x {n}))\n(check-sat)\n"


@pytest.mark.thorough
def test_replay_keeps_what_is_wrong_and_triage_imports_more(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    first, more = tmp_path / "first", tmp_path / "more"
    for folder, numbers in ((first, (1, 2)), (more, (1, 3))):
        folder.mkdir()
        for number in numbers:
            (folder / f"{number}.smt2").write_text(TEXT.format(n=number))
    spec = fake("fake", "os.abort() if '> x 1' in text or '> x 3' in text else print('sat')")
    ended = exhume("replay", first, "--solver", spec, "--out", tmp_path / "out", "--json")
    assert (ended.code, ended.json["tests"], ended.json["nothing_wrong"]) == (1, 2, 1)
    assert len(ended.json["findings"]) == 1
    again = exhume("replay", first, "--solver", spec, "--out", tmp_path / "out", "--json")
    assert (again.json["tests"], again.json["nothing_wrong"]) == (2, 1)
    ended = exhume("triage", tmp_path / "out", "--import", more)
    assert ended.code == 0
    assert "imported 2 files: 0 new findings, 2 duplicates, 0 not confirmed" in ended.err
    assert "0 of 2 files show no bug" in ended.err
    assert "next: exhume report" in ended.err
    shown = exhume("replay", first, "--solver", spec)
    assert "None" not in shown.out
    assert "next: repeat with --out DIR" in shown.err


@pytest.mark.thorough
def test_all_findings_are_reduced_and_what_cannot_be_bisected_is_said(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    triggers, out = tmp_path / "triggers", tmp_path / "out"
    triggers.mkdir()
    (triggers / "1.smt2").write_text(TEXT.format(n=1) + "(assert true)\n(check-sat)\n")
    spec = fake("fake", "os.abort() if '> x 1' in text else print('sat')")
    assert exhume("replay", triggers, "--solver", spec, "--out", out).code == 1
    ended = exhume("reduce", out)
    assert (ended.code, "is a campaign" in ended.err) == (2, True)
    ended = exhume("reduce", "--all", out, "--no-ddsmt")
    assert ended.code == 0
    assert "worked on 1 of 1 finding\n" in ended.err
    assert f"next: exhume bisect --all {out}" in ended.err
    assert "worked on 0 of 1 finding; 1 done before\n" in exhume("reduce", "--all", out).err
    (tmp_path / "none" / "findings").mkdir(parents=True)
    for command in ("reduce", "bisect"):
        ended = exhume(command, "--all", tmp_path / "none")
        assert (ended.code, ended.err) == (0, f"{tmp_path / 'none'} has no findings: nothing to do\n")
    ended = exhume("bisect", "--all", out)
    assert (ended.code, "1 not: a command line has no releases" in ended.err) == (0, True)
    assert "--solver" in exhume("bisect", triggers / "1.smt2").err
    nothing = exhume("bisect", triggers / "1.smt2", "--solver", "z3")
    assert (nothing.code, f"{triggers / '1.smt2'}: nothing is wrong" in nothing.said) == (2, True)


def test_a_finding_that_cannot_be_reduced_is_counted_and_one_document_lists_all(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    triggers, out = tmp_path / "triggers", tmp_path / "out"
    triggers.mkdir()
    (triggers / "1.smt2").write_text(TEXT.format(n=1) + "(assert true)\n(check-sat)\n")
    (triggers / "2.smt2").write_text(TEXT.format(n=2) + "(assert true)\n(check-sat)\n")
    body = "os.kill(os.getpid(), 4 if '> x 1' in text else 8) if '> x ' in text else print('sat')"
    spec = fake("fake", body)
    assert exhume("replay", triggers, "--solver", spec, "--out", out).code == 1
    fake("fake", "os.kill(os.getpid(), 4) if '> x 1' in text else print('sat')")
    ended = exhume("reduce", "--all", out, "--no-ddsmt", "--json")
    assert (ended.code, "worked on 2 of 2 findings; 1 failed\n" in ended.err) == (2, True)
    assert [sorted(document) for document in ended.json if "error" in document] == [["error", "finding"]]
    assert [document["size_after"] > 0 for document in ended.json if "error" not in document] == [True]


def lay_out(folder: Path, texts: dict[str, str]) -> Path:
    """Write texts by path below a folder."""
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_the_folders_of_other_fuzzers_are_taken_as_they_are(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    # opfuzz puts the solver and its options into the name, and the output beside.
    opfuzz = {"bugs/crash-z3model_validate=true-a-x7.smt2": TEXT.format(n=1)}
    opfuzz |= {"bugs/crash-z3model_validate=true-a-x7.output": "command: z3 model_validate=true\nsat\n"}
    # HistFuzz numbers the folders and puts the same test into each twice.
    histfuzz = {f"temp/crash/{n}/case{n}.smt2": f"{TEXT.format(n=n)}(check-sat)\n" for n in (1, 2)}
    histfuzz |= {f"temp/crash/{n}/error_logs.txt": "z3 return crash\n" for n in (1, 2)}
    # Chimera names all files alike, and stores those without a bug, too.
    chimera = {f"out/cases/{n}ab/formula.smt2": TEXT.format(n=n) for n in range(8)}
    chimera |= {f"out/cases/{n}ab/manifest.json": "{}\n" for n in range(8)}
    folder = lay_out(tmp_path / "found", {**opfuzz, **histfuzz, **chimera})
    spec = fake("fake", "os.abort() if '> x 1' in text else print('sat')")
    ended = exhume("replay", folder, "--solver", spec, "--out", tmp_path / "out")
    assert ended.code == 1
    assert "11 tests in " in ended.out
    assert f"8 of 11 files show no bug; {tmp_path / 'out' / 'no-bug.txt'} lists them\n" in ended.out
    assert "skipped: not named .smt2 11\n" in ended.err
    listed = (tmp_path / "out" / "no-bug.txt").read_text().splitlines()
    assert listed == sorted(
        str(folder / name)
        for name in [f"out/cases/{n}ab/formula.smt2" for n in range(8) if n != 1]
        + ["temp/crash/2/case2.smt2"]
    )
    (record,) = (tmp_path / "out" / "findings").iterdir()
    assert sorted((record / "duplicates.txt").read_text().splitlines()) == [
        str(folder / "out/cases/1ab/formula.smt2"),
        str(folder / "temp/crash/1/case1.smt2"),
    ]


@pytest.mark.thorough
def test_an_import_is_done_once_and_other_files_are_added(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    spec = fake(
        "fake",
        f"with open({str(runs)!r}, 'a') as log: log.write('x' * text.count('> x'))\n"
        "os.abort() if '> x 1' in text else print('sat')",
    )
    first = lay_out(tmp_path / "first", {"a.smt2": TEXT.format(n=0)})
    more = lay_out(tmp_path / "more", {f"{n}.smt2": TEXT.format(n=n) for n in range(3)})
    out = tmp_path / "out"
    assert exhume("replay", first, "--solver", spec, "--out", out).code == 0
    ended = exhume("triage", out, "--import", more)
    assert "imported 3 files: 1 new finding, 0 duplicates, 0 not confirmed\n" in ended.err
    assert "2 of 3 files show no bug: " in ended.err
    before = runs.stat().st_size
    again = exhume("triage", out, "--import", more)
    assert "imported 3 files: 1 new finding, 0 duplicates, 0 not confirmed\n" in again.err
    assert runs.stat().st_size == before
    # A file that was there before is not listed as a duplicate of itself.
    lay_out(more, {"3.smt2": TEXT.format(n=1)})
    ended = exhume("triage", out, "--import", more)
    assert "imported 4 files: 0 new findings, 2 duplicates, 0 not confirmed\n" in ended.err
    (listed,) = (out / "findings").glob("*/duplicates.txt")
    assert listed.read_text() == f"{more / '3.smt2'}\n"
    ended = exhume("replay", more, "--solver", spec, "--out", out)
    assert ended.code == 2
    assert f"exhume triage {out} --import FOLDER" in ended.said


def test_a_damaged_folder_is_counted_to_the_last_file(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    spec = fake("fake", "print('sat')")
    folder = lay_out(tmp_path / "in", {"a.smt2": TEXT.format(n=1), "b.log": "", "empty.smt2": ""})
    (folder / "binary.smt2").write_bytes(b"\x7fELF\0")
    (folder / "a\udcff\n.smt2").write_text(TEXT.format(n=2))
    (folder / "gone.smt2").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder)
    ended = exhume("replay", folder, "--solver", spec, "--out", tmp_path / "out")
    assert ended.code == 0
    assert "2 of 2 files show no bug: " in ended.out
    assert "skipped: binary 1, empty 1, not named .smt2 1, symbolic link 2\n" in ended.err


def test_a_file_that_a_bug_in_exhume_left_out_is_not_said_to_show_no_bug(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, lambda text: "> x 1)" in text, RecursionError("an oracle"))
    folder = lay_out(tmp_path / "in", {f"{n}.smt2": TEXT.format(n=n) for n in range(3)})
    spec = fake("fake", "print('sat')")
    replay = ("replay", folder, "--solver", spec, "--out", tmp_path / "out")
    for was_left_out in ("1 task was left out", "an earlier run left out 1 task"):
        ended = exhume(*replay)
        assert ended.code == 2
        (line,) = [line for line in ended.out.splitlines() if "2 of 3 files show no bug: " in line]
        assert "1.smt2" not in line
        assert line.endswith("; 1 file could not be judged because of bugs in exhume")
        assert was_left_out in ended.err
    ended = exhume(*replay, "--json")
    assert (ended.code, ended.json["nothing_wrong"]) == (2, 2)


def test_a_replay_of_a_corpus_resumes(exhume: Any, yes: str, formulas: Path, tmp_path: Path) -> None:
    corpus, out = tmp_path / "c.duckdb", tmp_path / "out"
    assert exhume("import", formulas, "--corpus", corpus).code == 0
    kept = []
    for _ in range(2):
        ended = exhume("replay", "--corpus", corpus, "--solver", yes, "--out", out)
        assert (ended.code, "3 of 3 files show no bug: " in ended.out) == (0, True), ended.err
        damaged, *others = sorted((out / "formulas").iterdir())
        assert len(others) == 2 and damaged.stat().st_size
        # Another replay may be running on them, so they stay; one that a killed replay left is replaced.
        kept.append([file.stat().st_mtime_ns for file in others])
        damaged.write_text("")
    assert kept[0] == kept[1]


def test_what_the_ledger_lists_is_not_filed_again(
    exhume: Any, fake: Callable[[str, str], str], tmp_path: Path
) -> None:
    for folder in ("first", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.smt2").write_text(TEXT.format(n=1 if folder == "first" else 2))
    spec = fake("fake", "os.abort() if '> x' in text else print('sat')")
    replay = ("replay", tmp_path / "first", "--solver", spec)
    (found,) = exhume(*replay, "--out", tmp_path / "out", "--json").json["findings"]
    again = exhume(*replay, "--out", tmp_path / "again", "--earlier", tmp_path / "out", "--json")
    assert (again.code, again.json["findings"], again.json["nothing_wrong"]) == (0, [], 0)
    ledger = tmp_path / "known.toml"
    ledger.write_text(f'[[finding]]\nkey = "{found["key"]}"\nstate = "wont-fix"\n')
    ended = exhume(*replay, "--out", tmp_path / "third", "--ledger", ledger)
    assert ended.code == 0
    assert "1 of 1 file shows no new bug" in ended.out and "known and not reported: 1" in ended.out
    imported = ("triage", tmp_path / "third", "--import", tmp_path / "more", "--ledger", ledger)
    assert "0 new findings" in exhume(*imported).err
    assert list((tmp_path / "third" / "findings").iterdir()) == []
    assert "add --out DIR" in exhume(*replay, "--ledger", ledger).err
    assert "only for --import" in exhume("triage", tmp_path / "out", "--earlier", tmp_path / "out").err
