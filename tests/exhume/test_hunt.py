"""hunt, replay and solvers, with our own solvers that lie and crash and with the real ones."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from base.version import VERSION
from corpus.errors import CorpusLocked
from corpus.store import Corpus
from difftest import EnvironmentProblem, Outcome, find_solver
from exhume.commands.hunt import chosen_seeds, chosen_strategies
from generator import STRATEGIES
from tests.conftest import HUNT
from tests.exhume.conftest import hunting
from tests.releases import no_release
from tests.sizes import size

OUTCOMES = {"ok", "timeout", "memout", "unknown", "refused", "crash", "invalid-model"}
Fake = Callable[[str, str], str]


def test_outcomes_are_those_of_the_design() -> None:
    assert {str(outcome) for outcome in Outcome} == OUTCOMES


def test_solvers_that_disagree_are_a_finding(
    exhume: Any, corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    ended = exhume(*hunting(corpus, tmp_path / "h", yes, no), "--tests", 3, "--first-limit", 20, "--json")
    assert ended.code == 1
    document = ended.json
    counts = {"tests", "decided", "seconds", "cpu_seconds", "solver_seconds", "outcomes", "models_crossed"}
    counts |= {"duplicates", "unconfirmed", "refusals", "statistics"}
    assert set(document) == {*counts, "findings", "strategies"}
    assert (document["tests"], document["decided"]) == (3, 3)
    assert {name: set(counts) for name, counts in document["outcomes"].items()} == {
        "yes": OUTCOMES,
        "no": OUTCOMES,
    }
    for finding in document["findings"]:
        assert set(finding) == {"id", "class", "solver", "key", "known", "young", "path"}
        assert finding["class"] == "soundness"
        assert Path(finding["path"], "report.md").is_file()
    assert ended.err == ""


def test_a_solver_that_refuses_every_test_is_named_with_its_first_words(
    exhume: Any, corpus: Path, yes: str, fake: Fake, tmp_path: Path
) -> None:
    body = "print('sat' if 'assert true' in text else '(error \"line 1 <b>:x: [red]\")\\nmore')"
    refuses = fake("refuses", body)
    out = tmp_path / "h"
    line = 'refuses refused all 3 tests: (error "line 1 <b>:x: [red]")'
    shown = exhume(*hunting(corpus, out, yes, refuses), "--first-limit", 20, "--tests", 3)
    assert shown.code == 3
    assert shown.err.splitlines()[-1] == f"exhume: nothing was compared with refuses: {line}"
    page = Path(exhume("report", out, "--json").json["path"]).read_text("utf-8")
    assert f"<p>Warning: {html.escape(line)}</p>" in page.replace("&#34;", "&quot;")
    # A resumed campaign knows what was said before.
    resumed = exhume("hunt", "--resume", "--out", out, "--tests", 5, "--json").json
    assert resumed["refusals"] == [
        {"solver": "refuses", "refused": 5, "tests": 5, "message": '(error "line 1 <b>:x: [red]")'}
    ]


@pytest.mark.thorough
def test_findings_are_stored_in_the_corpus(
    exhume: Any, corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    found = exhume(*hunting(corpus, tmp_path / "h", yes, no), "--tests", 2, "--json").json["findings"]
    rows = exhume("query", "select class, key, path from finding", "--corpus", corpus, "--json").json
    assert {(r["class"], r["key"], r["path"]) for r in rows} == {
        (f["class"], f["key"], f["path"]) for f in found
    }


@pytest.mark.thorough
def test_a_second_hunt_knows_the_findings_of_the_first(
    exhume: Any, corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    command = (*hunting(corpus, tmp_path / "h", yes, no), "--tests", 2)
    first = exhume(*command, "--json").json["findings"]
    second = exhume(*command, "--json").json["findings"]
    assert [f["known"] for f in first] == [False] * len(first)
    assert sorted(f["path"] for f in second) == sorted(f["path"] for f in first)
    assert all(f["known"] for f in second)
    assert "from an earlier hunt" in exhume(*command).out


@pytest.mark.thorough
def test_the_findings_are_a_short_table_without_repeats(
    exhume: Any, corpus: Path, breaks: str, tmp_path: Path
) -> None:
    out = tmp_path / "h"
    ended = exhume(*hunting(corpus, out, breaks), "--tests", 15, "--first-limit", 20)
    folders = [folder.name for folder in (out / "findings").iterdir()]
    assert len(folders) > 12
    shown = [name for name in folders if name in ended.out]
    assert len(shown) == 12
    assert all(ended.out.count(name) == 1 for name in shown)
    assert f"and {len(folders) - 12} more in {out / 'findings'}" in ended.out
    assert ended.err == f"next: exhume reduce --all {out}\n"


def test_a_crash_is_filed_under_its_place(exhume: Any, corpus: Path, fake: Fake, tmp_path: Path) -> None:
    broken = fake(
        "broken",
        "print('ASSERTION VIOLATION'); print('File: ../src/ast/ast.cpp'); print('Line: 42')\n"
        "sys.stdout.flush()\n"
        "os.kill(os.getpid(), signal.SIGABRT)",
    )
    ended = exhume(*hunting(corpus, tmp_path / "h", broken), "--tests", 5)
    assert ended.code == 1
    assert "1 finding\n" in ended.out
    assert "ast.cpp:42" in ended.out


def test_nothing_found_is_exit_code_0(
    exhume: Any, corpus: Path, yes: str, fake: Fake, tmp_path: Path
) -> None:
    also = fake("also", "print('sat')")
    ended = exhume(*hunting(corpus, tmp_path / "h", yes, also), "--tests", 3)
    assert ended.code == 0
    assert "no findings" in ended.out


def test_the_real_solvers_on_real_tests(exhume: Any, corpus: Path, tmp_path: Path) -> None:
    ended = exhume(*hunting(corpus, tmp_path / "h", "z3", "cvc5"), "--tests", size(8, 20), "--json")
    document = ended.json
    assert ended.code == (1 if document["findings"] else 0)
    assert document["tests"] == size(8, 20)
    assert document["decided"] > 0
    assert document["solver_seconds"] > 0


@pytest.mark.thorough
def test_an_old_release_is_caught(exhume: Any, corpus: Path, tmp_path: Path) -> None:
    try:
        find_solver("z3==4.8.5")
    except EnvironmentProblem as problem:
        no_release(problem)
    ended = exhume(*hunting(corpus, tmp_path / "h", "z3==4.8.5", "z3"), "--tests", 25, "--oracles=-slowdown")
    assert ended.code == 1
    assert "z3-4.8.5" in ended.out


def test_time_ends_a_hunt(exhume: Any, corpus: Path, yes: str, tmp_path: Path) -> None:
    document = exhume(*hunting(corpus, tmp_path / "h", yes), "--time", "1s", "--json").json
    assert 1 <= document["seconds"] < 20
    assert document["tests"] >= 1


@pytest.mark.parametrize("time", ["soon", "10x", "-5", "0", "0s", "", "1e3", "5m30"])
def test_a_time_that_is_none_is_refused_before_a_corpus_is_made(
    exhume: Any, yes: str, tmp_path: Path, time: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exhume.commands.hunt.starter", pytest.fail)
    ended = exhume(*HUNT, "--solver", yes, f"--time={time}", "--out", tmp_path / "h")
    assert ended.code == 2
    assert "write 90s, 10m, 8h or 2d" in ended.err
    assert not (tmp_path / "h").exists()


def test_replay_lists_a_row_per_file_and_solver(exhume: Any, formulas: Path, yes: str, no: str) -> None:
    ended = exhume("replay", formulas, "--solver", yes, "--solver", no, "--json")
    assert ended.code == 1
    document = ended.json
    assert list(document) == ["tests", "outcomes", "findings", "skipped", "files"]
    assert [found["class"] for found in document["findings"]] == ["soundness"] * 3
    assert len(document["files"]) == 6
    for row in document["files"]:
        assert set(row) == {"file", "solver", "outcome", "answers", "seconds", "detail"}
        assert row["outcome"] in OUTCOMES
    assert ended.err == ""


@pytest.mark.thorough
def test_replay_says_who_answered_what(exhume: Any, formulas: Path, yes: str, no: str) -> None:
    ended = exhume("replay", formulas, "--solver", yes, "--solver", no)
    assert "yes: sat; no: unsat" in ended.out
    assert "3 files, 3 findings" in ended.out


@pytest.mark.thorough
def test_replay_names_the_files_that_were_not_decided(
    exhume: Any, formulas: Path, yes: str, fake: Fake, tmp_path: Path
) -> None:
    picky = fake("picky", "print('(error \"no x\")' if '> x' in text else 'sat')")
    replay = ("replay", formulas, "--solver", yes, "--solver", picky)
    line = f'{formulas}/1014/a.smt2: picky refused: (error "no x")'
    for kept in ((), ("--out", tmp_path / "out")):
        ended = exhume(*replay, *kept)
        assert "not decided by every solver: 1 file\n" in ended.out and line in ended.out
        # With --out, too, what was done before is not lost.
        rows = exhume(*replay, *kept, "--json").json["files"]
        refused = [(Path(row["file"]).name, row["detail"]) for row in rows if row["outcome"] == "refused"]
        assert (len(rows), refused) == (6, [("a.smt2", '(error "no x")')])


@pytest.mark.thorough
def test_a_finding_of_a_replay_names_its_file(
    exhume: Any, formulas: Path, yes: str, no: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    exhume("replay", formulas / "1014" / "a.smt2", "--solver", yes, "--solver", no, "--out", out)
    (row,) = exhume("triage", out, "--json").json
    assert row["file"] == str(formulas / "1014" / "a.smt2")
    assert row["file"] in exhume("triage", out).out
    page = Path(exhume("report", out, "--json").json["path"]).read_text("utf-8")
    assert f"<dt>file</dt><dd>{row['file']}</dd>" in page
    assert "Found by exhume (a replay of a.smt2)." in Path(row["path"], "report.md").read_text("utf-8")


def test_replay_of_right_answers_is_exit_code_0(exhume: Any, formulas: Path) -> None:
    ended = exhume("replay", formulas, "--solver", "z3", "--solver", "cvc5", "--json")
    assert ended.code == 0
    answers = {(Path(r["file"]).name, r["solver"]): r["answers"] for r in ended.json["files"]}
    assert answers["a.smt2", "z3"] == answers["a.smt2", "cvc5"] == ["sat"]
    assert answers["b.smt2", "z3"] == answers["b.smt2", "cvc5"] == ["unsat"]


def test_replay_of_a_corpus(exhume: Any, formulas: Path, yes: str, tmp_path: Path) -> None:
    exhume("import", formulas, "--corpus", tmp_path / "c.duckdb")
    ended = exhume("replay", "--corpus", tmp_path / "c.duckdb", "--solver", yes, "--json")
    assert (ended.code, len(ended.json["files"])) == (0, 3)


@pytest.mark.parametrize("both", [True, False])
def test_replay_wants_files_or_a_corpus(
    exhume: Any, starter: Path, formulas: Path, yes: str, both: bool
) -> None:
    arguments = [formulas, "--corpus", starter] if both else []
    ended = exhume("replay", *arguments, "--solver", yes)
    assert ended.code == 2
    assert "either files and folders, or a --corpus" in ended.err


def test_replay_of_nothing_says_so(exhume: Any, yes: str, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    ended = exhume("replay", tmp_path / "none", "--solver", yes)
    assert ended.code == 2
    assert f"no .smt2 file found in {tmp_path / 'none'}" in ended.err
    empty = [tmp_path / f"{number}.smt2" for number in range(9)]
    for file in empty:
        file.touch()
    ended = exhume("replay", *empty, "--solver", yes)
    assert f"{empty[5]} and 3 more (skipped: " in ended.err and str(empty[6]) not in ended.err


def test_replay_of_a_corpus_without_formulas_says_so(exhume: Any, yes: str, tmp_path: Path) -> None:
    Corpus.open(tmp_path / "c.duckdb", write=True).close()
    ended = exhume("replay", "--corpus", tmp_path / "c.duckdb", "--solver", yes)
    assert ended.code == 2
    assert f"{tmp_path / 'c.duckdb'} has no formula to run: import or mine some" in ended.err


def test_files_given_to_a_hunt_are_sent_to_replay(exhume: Any) -> None:
    ended = exhume("hunt", "formulas")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "exhume replay formulas --solver SPEC" in ended.err
    assert "Usage: exhume hunt [OPTIONS]\n" in exhume("hunt", "--help").out


def test_a_solver_that_reads_no_text_is_sent_to_api_fuzzing(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(check-sat)")
    text = ("replay", tmp_path / "a.smt2"), ("reduce", tmp_path / "a.smt2")
    for command in (*text, ("hunt", "--seeds", tmp_path, "--strategy", "typefuzz", "--out", tmp_path / "o")):
        ended = exhume(*command, "--solver", "oxiz")
        assert ended.code == 2
        assert ended.err == (
            "exhume: solver 'oxiz': reads no SMT-LIB text: use 'exhume apifuzz run --solver oxiz'\n"
        )
    for command in ("hunt", "replay"):
        assert "oxiz" not in exhume(command, "--help").out
    assert "oxiz" in exhume("apifuzz", "run", "--help").out


LISTED = ["z3", "cvc5", "bitwuzla", "yices", "boolector", "cvc5-gpl", "oxiz"]


def test_solvers_are_listed(exhume: Any) -> None:
    rows = exhume("solvers", "--json").json
    assert [row["spec"] for row in rows] == LISTED
    for row in rows:
        if not row["installed"]:
            assert "pip install" in row["hint"] or "exhume solvers install" in row["hint"]
            continue
        if row["spec"] == "oxiz":  # it reads no SMT-LIB
            assert not row["theories"] and not row["settings"]
            continue
        assert row["incremental"] and row["models"] and row["settings"] > 0
        assert {"Core", "FixedSizeBitVectors"} <= set(row["theories"])
    assert rows[0]["version"] in exhume("solvers", "--solver", "z3").out


def test_solvers_that_are_not_installed_are_listed_with_what_to_do(
    exhume: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"installed": False, "hint": "install it"}
    monkeypatch.setattr("exhume.commands.solvers._known", lambda name: {"spec": name, **missing})
    assert exhume("solvers").out.count("install it\n") == len(LISTED)


def test_a_solver_of_ones_own_is_asked_what_it_can_do(exhume: Any, yes: str) -> None:
    (row,) = exhume("solvers", "--solver", yes, "--json").json
    assert (row["spec"], row["installed"], row["settings"]) == (yes, True, 0)
    assert "UnicodeStrings" in row["theories"]
    assert (row["incremental"], row["models"]) == (False, False)


@pytest.mark.thorough
def test_a_solver_that_the_corpus_was_not_probed_with_is_asked(
    exhume: Any, corpus: Path, tmp_path: Path
) -> None:
    targets = "bitwuzla,z3[smt.relevancy=0,smt.dack=0]"
    ended = exhume(
        "generate", "--corpus", corpus, "--solvers", targets, "--count", 5, "--out", tmp_path / "t"
    )
    assert ended.code == 0, ended.err
    tests = [file.read_text("utf-8") for file in (tmp_path / "t").rglob("*.smt2")]
    assert len(tests) == 5
    assert not any(re.search(r"\b(?:Int|Real|String)\b", text) for text in tests)


def test_install_names_what_it_fetched(exhume: Any) -> None:
    ended = exhume("solvers", "install", "z3==4.8.5", "--json")
    if ended.code == 3:
        no_release(ended.err)
    assert ended.json["spec"] == "z3==4.8.5"
    assert "4.8.5" in ended.json["version"]


def test_findings_wait_for_a_corpus_that_is_taken(
    exhume: Any, corpus: Path, yes: str, no: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from difftest.campaign import store_findings

    def locked(*_: object) -> None:
        raise CorpusLocked(f"{corpus} is in use by process 1", corpus, 1)

    command = (*hunting(corpus, tmp_path / "h", yes, no), "--json")
    with monkeypatch.context() as patched:
        patched.setattr(store_findings, "store_hunt", locked)
        ended = exhume(*command, "--tests", 2)
    assert ended.code == 1
    assert "in use by process 1" in ended.said
    found = {finding["path"] for finding in ended.json["findings"]}
    assert found
    stored = ("query", "select path from finding", "--corpus", corpus, "--json")
    assert exhume(*stored).json == []
    exhume(*command, "--tests", 2)
    assert {row["path"] for row in exhume(*stored).json} == found


def test_a_hunt_takes_the_kinds_of_modes_and_their_share(
    exhume: Any, corpus: Path, yes: str, tmp_path: Path
) -> None:
    command = (*hunting(corpus, tmp_path / "h", yes), "--tests", 2)
    assert exhume(*command, "--modes", "tactics", "--mode-share", 1).code == 0
    other = exhume(*command, "--modes", "default")
    assert other.code == 2
    assert "modes" in other.err
    assert exhume(*command, "--mode-share", 2).code == 2
    assert exhume(*command, "--modes", "none").code == 2


@pytest.mark.thorough
def test_without_a_corpus_the_starter_tracker_is_used_and_answers_are_found_on_the_way(
    exhume: Any, starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("EXHUME_CACHE", str(cache))
    shutil.copy(starter, cache / f"starter-{VERSION}.duckdb")  # making it takes ten seconds
    monkeypatch.setattr("generator.build.FIRST_ANSWERS", 20)
    ended = exhume(
        *("hunt", "--solver", "z3", "--solver", "cvc5", "--tests", 4, "--out", tmp_path / "out", "--json"),
        *("--strategy", "weaken,opfuzz", "--modes", "default"),
    )
    assert "no --corpus: using that of the starter tracker" in ended.err
    assert re.search(r"found trusted answers for \d+ formulas", ended.err)
    rows = ended.json["strategies"]
    assert [(row["name"], row["tests"]) for row in rows] == [("weaken", 2), ("opfuzz", 2)]
    assert all(set(row) == {"name", "tests", "decided", "findings", "solver_seconds"} for row in rows)
    assert all(row["solver_seconds"] > 0 for row in rows)


def test_by_default_every_strategy_is_used_that_can_be_made(exhume: Any, yes: str, tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "a.smt2").write_text("(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n")
    ended = exhume(
        *("hunt", "--seeds", tmp_path / "seeds", "--solver", yes, "--tests", 10),
        *("--modes", "default", "--out", tmp_path / "out", "--json"),
    )
    used = {row["name"] for row in ended.json["strategies"]}
    assert used >= {"typefuzz", "opfuzz", "storm"}
    left_out = dict(re.findall(r"^strategy (\w+) is left out: (.*)$", ended.err, re.M))
    assert left_out.keys() | used == {*STRATEGIES, "api"}
    assert left_out.keys() >= {"skeletons", "weaken", "api", "optimise"}
    assert left_out["optimise"] == "its tests are for z3 only"
    assert "--corpus" in left_out["skeletons"]
    # All of nothing is an error.
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    ended = exhume("hunt", "--seeds", tmp_path / "no", "--solver", yes, "--out", tmp_path / "none")
    assert (ended.code, "no such folder; name one, 'corpus' or a strategy" in ended.err) == (2, True)
    ended = exhume("hunt", "--seeds", nothing, "--solver", yes, "--out", tmp_path / "none")
    assert ended.code == 2 and ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "names"),
    [(None, ("all",)), ([","], ("all",)), (["join, storm,", "join"], ("join", "storm"))],
)
def test_names_of_strategies_are_separated_by_commas(given: list[str] | None, names: tuple[str, ...]) -> None:
    assert chosen_strategies(given) == names


def test_seeds_are_the_corpus_a_strategy_or_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "a.smt2").touch()
    assert chosen_seeds("corpus") == "corpus", "not the folder of that name"
    assert chosen_seeds("storm") == "storm"
    # A hunt may be resumed in another folder.
    assert chosen_seeds("a.smt2") == str(tmp_path / "a.smt2")
    assert chosen_seeds("./corpus") == str(tmp_path / "corpus")


def test_all_strategies_have_one_name(exhume: Any, corpus: Path, tmp_path: Path) -> None:
    command = ("hunt", "--corpus", corpus, "--out", tmp_path / "out")
    assert "'no-such': unknown" in exhume(*command, "--solver", "no-such", "--strategy", "all").err
    unknown = exhume(*command, "--solver", "z3", "--strategy", "al").err
    assert "unknown strategy al;" in unknown and "in a hunt all, api; did you mean all" in unknown
    ended = exhume("generate", "--corpus", corpus, "--out", tmp_path / "t", "--strategy", "all")
    assert (ended.code, "strategy all is only for hunt" in ended.err) == (2, True)


@pytest.mark.parametrize("strategies", [["opfuzz", "typefuzz"], ["all"], ["api"], ["opfuzz"]])
def test_a_setting_that_no_strategy_has_is_refused(
    exhume: Any, tmp_path: Path, strategies: list[str]
) -> None:
    named = [part for name in strategies for part in ("--strategy", name)]
    hunt = ("hunt", *named, "--solver", "z3", "--solver", "cvc5", "--tests", 1, "--out", tmp_path / "h")
    for given, hint in (("chian=3", strategies != ["api"]), ("nonsense", False)):
        ended = exhume(*hunt, "--set", given)
        assert ended.code == 2
        assert f"--set {given}: no strategy of this hunt has it" in ended.err
        assert ("; did you mean chain?" in ended.err) == hint
    assert not (tmp_path / "h" / "campaign.sqlite").exists()
