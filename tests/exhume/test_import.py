"""From trigger to report: replay --out, triage --import, reduce --all, bisect; each says what comes next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = "(declare-const x Int)\n(assert (> x {n}))\n(check-sat)\n"


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
    assert "imported 2 files: " in ended.err
    assert "next: exhume report" in ended.err
    shown = exhume("replay", first, "--solver", spec)
    assert "None" not in shown.out
    assert "next: repeat with --out DIR" in shown.err


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
    assert (ended.code, "is a command line: there are no releases" in ended.err) == (0, True)
    assert "--solver" in exhume("bisect", triggers / "1.smt2").err
    nothing = exhume("bisect", triggers / "1.smt2", "--solver", "z3")
    assert (nothing.code, "nothing is wrong" in nothing.said) == (2, True)
