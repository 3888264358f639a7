"""The starter tracker: issues in a tracker's shape, each of which shows on the release that it names."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from difftest import EnvironmentProblem
from tests.releases import REQUIRED, no_release
from tests.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "corpus" / "starter" / "issues").glob("*.json"))
KEYS = {
    "author_association",
    "body",
    "closed_at",
    "comments",
    "comments_list",
    "created_at",
    "exhume",
    "html_url",
    "labels",
    "number",
    "state",
    "state_reason",
    "title",
    "updated_at",
    "user",
}
COMMENT_KEYS = {"author_association", "body", "created_at", "id", "updated_at", "user"}
THEORIES = {
    "Arrays",
    "BitVectors",
    "Core",
    "Datatypes",
    "FloatingPoint",
    "Ints",
    "Nonlinear",
    "Quantifiers",
    "Reals",
    "Sequences",
    "Strings",
    "UF",
}
# CVC4 is Debian's program, the others are wheels.
RELEASES = ("cvc4==1.8", "cvc5==1.2.0", "z3==4.8.14", "z3==4.8.5", "z3==4.8.9")
DATE = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# Folders of the machine the issues were written on, and people's.
MACHINE_PATH = re.compile(r"/(?:work|tmp|root|home)\b")


@cache
def issues() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in FILES)


def replays() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(issue, entry) for issue in issues() for entry in issue["exhume"]["replay"]]


def test_there_are_at_least_60_issues_numbered_like_their_files() -> None:
    assert len(FILES) >= 60
    numbers = [issue["number"] for issue in issues()]
    assert numbers == list(range(1, len(FILES) + 1))
    assert [path.name for path in FILES] == [f"{number:04}.json" for number in numbers]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_is_canonical_and_names_no_folder_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert not MACHINE_PATH.search(text)
    assert "\\r" not in text


def test_issues_have_the_shape_of_the_rest_api() -> None:
    ids = [comment["id"] for issue in issues() for comment in issue["comments_list"]]
    assert len(ids) == len(set(ids))
    for issue in issues():
        assert set(issue) == KEYS
        assert issue["comments"] == len(issue["comments_list"])
        assert issue["html_url"] == f"https://example.invalid/exhume/starter/issues/{issue['number']}"
        assert issue["title"].strip()
        assert issue["labels"]
        assert all(set(label) == {"name"} for label in issue["labels"])
        assert set(issue["user"]) == {"login"}
        assert all(set(comment) == COMMENT_KEYS for comment in issue["comments_list"])


def test_states_and_dates_fit_together() -> None:
    for issue in issues():
        closed = issue["closed_at"]
        assert (issue["state"] == "closed") == (closed is not None) == (issue["state_reason"] is not None)
        moments = [issue["created_at"]]
        moments += [comment["created_at"] for comment in issue["comments_list"]]
        moments += [closed or moments[-1]]
        assert all(DATE.fullmatch(moment) for moment in [*moments, issue["updated_at"]])
        assert moments == sorted(moments)
        assert issue["updated_at"] == moments[-1]
    closed_share = sum(issue["state"] == "closed" for issue in issues()) / len(issues())
    assert closed_share > 0.7


def test_every_replayed_formula_and_output_stands_in_the_issue() -> None:
    for issue, entry in replays():
        texts = [issue["body"], *(comment["body"] for comment in issue["comments_list"])]
        # Indented blocks hold the same lines, four columns further in.
        lines = {line.strip() for text in texts for line in text.splitlines()}
        assert {line.strip() for line in entry["formula"].splitlines()} <= lines, issue["number"]
    for issue in issues():
        printed = issue["exhume"]["replay"][0]["printed"]
        lines = {line.strip() for line in issue["body"].splitlines()}
        assert {line.strip() for line in printed.splitlines()} <= lines, issue["number"]


def test_replays_are_complete_and_of_the_releases_that_are_fetched() -> None:
    for _, entry in replays():
        assert set(entry) == {"expected", "formula", "options", "outcome", "printed", "solver"}
        assert entry["outcome"] in ("crash", "invalid-model", "wrong-answer")
        assert set(entry["expected"].split()) <= {"sat", "unsat", "unknown"}
    # Each release is tens of megabytes to fetch wherever tests run, so it must be worth that.
    assert {entry["solver"] for _, entry in replays()} == set(RELEASES)
    assert min(Counter(issue["exhume"]["replay"][0]["solver"] for issue in issues()).values()) >= 3


def test_formulas_are_all_different() -> None:
    formulas = [entry["formula"] for _, entry in replays()]
    # A reduced version can be reached twice, but not often.
    assert len(set(formulas)) >= 0.95 * len(formulas)
    assert len({issue["exhume"]["replay"][0]["formula"] for issue in issues()}) == len(issues())


def test_every_theory_and_class_is_there_several_times() -> None:
    theories = Counter(theory for issue in issues() for theory in issue["exhume"]["theories"])
    assert set(theories) == THEORIES
    assert min(theories.values()) >= 4
    outcomes = Counter(issue["exhume"]["replay"][0]["outcome"] for issue in issues())
    assert min(outcomes.values()) >= 12


def test_formulas_are_written_in_many_shapes() -> None:
    bodies = [issue["body"] for issue in issues()]
    for shape in (
        r"^```smt2$",
        r"^```lisp$",
        r"^~~~$",
        r"^    \(assert",
        r"^\$ z3 ",
        r"^\[\d+\] % z3 ",
        r"<details>",
    ):
        assert sum(bool(re.search(shape, body, re.M)) for body in bodies) >= 3, shape


@pytest.fixture
def cvc4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a program ``cvc4`` of a version that answers sat to everything, the only one on this machine."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(version: str) -> None:
        program = tmp_path / "cvc4"
        program.write_text(
            f"#!{sys.executable} -IS\nimport sys\n"
            f"print('This is CVC4 version {version}' if '--version' in sys.argv else 'sat')\n"
        )
        program.chmod(0o755)

    return write


def test_entries_of_a_program_that_is_not_here_are_left_out_and_it_is_said(
    cvc4: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    check_starter = load_script("check_starter")
    assert check_starter.main(["81"]) == 3
    assert "no program 'cvc4'" in capsys.readouterr().err
    cvc4("1.7")
    assert check_starter.main(["81"]) == 3
    assert "cvc4 here is not 1.8: This is CVC4 version 1.7" in capsys.readouterr().err


def test_a_program_that_is_here_is_asked(
    cvc4: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    cvc4("1.8")
    check_starter = load_script("check_starter")
    assert check_starter.main(["81"]) == 0
    assert "2 of 2 entries of 1 issues hold" in capsys.readouterr().out
    assert check_starter.main(["80"]) == 1
    assert "80.0  cvc4==1.8     invalid-model  NO: ok ['sat']" in capsys.readouterr().out


def test_a_release_that_cannot_be_had_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no route"):
        no_release("no route")
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="no route"):
        no_release("no route")
    assert f"export {REQUIRED}=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.few(2)
def test_every_issue_shows_on_the_release_it_names(release: str) -> None:
    check_starter = load_script("check_starter")
    try:
        solver = check_starter.find_release(release)
    except EnvironmentProblem as problem:
        if check_starter.is_program(release):
            pytest.skip(f"a program of the system that this machine is without: {problem}")
        no_release(problem)
    checks = list(check_starter.replay_all(check_starter.load_issues(), {release: solver}))
    assert len(checks) == sum(entry["solver"] == release for _, entry in replays())
    assert [check for check in checks if check.problem] == []
