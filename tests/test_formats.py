"""What earlier versions stored still opens: corpora, exports, campaigns, finding folders, traces.

The files are those of ``tests/formats`` (its README says how they were made). Everything is done with the
command line, so that the tests outlive what moves behind it; ``expected.json`` has what the version that
wrote the files said of them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus
from difftest.triage.renamed import current_key
from tests.miner.github_server import FakeTracker, serving
from tests.once import made_once
from tests.releases import no_release
from tests.sizes import size
from tests.stored import V0, Command, Ended, other_versions, unpack
from tests.test_architecture import MACHINE_PATH

EXPECTED: dict[str, Any] = json.loads((V0 / "expected.json").read_text("utf-8"))
ARCHIVES = sorted(file.name.removesuffix(".tar.xz") for file in V0.glob("*.tar.xz"))
CAMPAIGNS = sorted(EXPECTED["triage"])
PLANTED = "planted=python3 -I -S planted.py --talk"
MORE = size(4, 8)
"""The tests of a hunt that was resumed."""
# A finding of each: it is found again by its minimised calls.
REPLAYED = ("calls-cvc5", "calls-z3", "calls-old", "calls-planted")

Copy = Callable[[str], Path]


def lay_out(folder: Path) -> None:
    for name in ARCHIVES:
        unpack(name, folder)
    unpack("corpus.duckdb", folder)


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that is stored, unpacked; not to be written to."""
    return made_once(tmp_path_factory, "formats", lay_out)


@pytest.fixture
def copy(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """Copy something stored to where it may be written to; the planted solver is started from there."""
    shutil.copy(V0 / "planted.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def make(name: str) -> Path:
        if (stored / name).is_dir():
            return shutil.copytree(stored / name, tmp_path / name)
        return Path(shutil.copy(stored / name, tmp_path / name))

    return make


def had(ended: Ended) -> Ended:
    """What ended, unless a release cannot be fetched here."""
    if ended.code == 3:
        no_release(ended.err)
    return ended


def test_nothing_stored_names_a_machine(stored: Path) -> None:
    files = [file for file in stored.rglob("*") if file.is_file()]
    assert files
    named = {
        str(f.relative_to(stored)) for f in files if MACHINE_PATH.search(f.read_bytes().decode("latin-1"))
    }
    assert named == set()


def is_about(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a finding is, of a row of triage."""
    return row["id"], row["class"], row["solver"], row["first_affected"], row["first_fixed"]


def ids(out: Path) -> set[str]:
    """The findings that are in a campaign's folder."""
    return {json.loads(file.read_text("utf-8"))["id"] for file in out.glob("findings/*/finding.json")}


# Corpora


@pytest.fixture
def corpus(exhume: Command, copy: Copy) -> Path:
    """The stored corpus, brought up to date by a command that writes."""
    made = copy("corpus.duckdb")
    ended = exhume("import", V0 / "formulas", "--corpus", made, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["new"] == 0
    return made


def test_a_corpus_is_whole_and_says_what_it_said(exhume: Command, corpus: Path) -> None:
    assert exhume("corpus", "verify", "--corpus", corpus).code == 0
    assert exhume("stats", "--corpus", corpus, "--json").json == EXPECTED["stats"]
    for sql, rows in EXPECTED["queries"].items():
        ended = exhume("query", sql, "--corpus", corpus, "--json")
        for row in (row for row in rows if "key" in row):
            row["key"] = current_key(row["key"])
        assert ended.json == rows, ended.err


def test_a_corpus_of_schema_3_gets_runs_and_whole_scripts(corpus: Path) -> None:
    with Corpus.open(corpus) as opened:
        assert opened.rows("select * from formula_run") == []
        row = "select count(script_text_id), count(actual), count(flags) from current_formula"
        assert opened.rows(row) == [(0, 0, 0)]


def test_a_corpus_answers_every_named_query(exhume: Command, corpus: Path) -> None:
    for query in exhume("query", "--list", "--json").json:
        ended = exhume(*shlex.split(query["example"])[1:], "--corpus", corpus, "--json")
        assert ended.code == 0, ended.err


def test_a_corpus_shows_what_is_like_and_what_is_behind(exhume: Command, corpus: Path, stored: Path) -> None:
    like = exhume("similar", V0 / "formulas/z3/1014/a.smt2", "--corpus", corpus, "--json")
    assert like.json[0]["likeness"] == pytest.approx(1.0), like.err
    behind = exhume("behind", stored / "batch/test-000001.smt2", "--corpus", corpus, "--json")
    assert behind.code == 0, behind.err
    assert behind.json


@pytest.mark.thorough
def test_learning_again_changes_nothing(exhume: Command, corpus: Path) -> None:
    ended = exhume("learn", "--corpus", corpus, "--min-support", 4, "--no-probe", "--json")
    assert ended.code == 0, ended.err
    assert exhume("stats", "--corpus", corpus, "--json").json == EXPECTED["stats"]


def test_a_corpus_is_vacuumed_exported_and_read_again(exhume: Command, corpus: Path, tmp_path: Path) -> None:
    assert exhume("corpus", "vacuum", "--corpus", corpus).code == 0
    assert exhume("corpus", "export", "--corpus", corpus, "--out", tmp_path / "p").code == 0
    assert exhume("corpus", "import", tmp_path / "p", "--corpus", tmp_path / "again.duckdb").code == 0
    assert exhume("stats", "--corpus", tmp_path / "again.duckdb", "--json").json == EXPECTED["stats"]


def test_exported_parquet_becomes_a_corpus(exhume: Command, stored: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.duckdb"
    ended = exhume("corpus", "import", stored / "parquet", "--corpus", made)
    assert ended.code == 0, ended.err
    assert exhume("corpus", "verify", "--corpus", made).code == 0
    assert exhume("stats", "--corpus", made, "--json").json == EXPECTED["stats"]


def test_an_archive_of_a_refresh_is_read_and_refreshed(
    exhume: Command, copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    folder = copy("refresh")
    shutil.unpack_archive(folder / "corpus.tar", folder)
    made = folder / "corpus.duckdb"
    assert exhume("corpus", "import", folder / "parquet", "--corpus", made).code == 0
    before = exhume("stats", "--corpus", made, "--json").json
    assert before == EXPECTED["refreshed"]
    # Today's miner may take more of the stored issues for bugs, and loses none.
    read = []
    for _ in range(2):
        again = exhume("mine", "--replay", "ada/solver", "bob/z3", "--corpus", made, "--json")
        assert again.code == 0, again.err
        read.append(exhume("stats", "--corpus", made, "--json").json)
    assert read[0] == read[1]
    assert read[0].keys() == before.keys()
    assert all(read[0][name] >= before[name] for name in ("issues", "formulas", "formulas_read"))
    config = folder / "exhume.toml"
    with serving(
        FakeTracker(issues=12, comments=20), FakeTracker("bob/z3", issues=6, comments=6, number=78)
    ) as hub:
        config.write_text(re.sub(r"http://[\d.:]+", hub.url, config.read_text()))
        ended = exhume("refresh", "--config", config, "--json")
    assert ended.code == 0, ended.err
    reported = ended.json
    assert [reported[name] for name in ("new_issues", "new_formulas", "new_skeletons")] == [0, 0, 0]


def test_a_batch_is_written_again(exhume: Command, copy: Copy, stored: Path, corpus: Path) -> None:
    folder = copy("batch")
    if exhume("--version").out.strip() != "exhume 0.1.0":
        pytest.skip("another version's batch is another batch")
    options = ("--corpus", corpus, "--count", 25, "--seed", 7)
    ended = exhume("generate", *options, "--out", folder)
    assert ended.code == 0, ended.err
    for file in (stored / "batch").iterdir():
        assert (folder / file.name).read_bytes() == file.read_bytes(), file.name


# Campaigns


@pytest.mark.parametrize("name", CAMPAIGNS)
@pytest.mark.few(2)
def test_a_campaign_is_triaged_and_gets_its_page(
    name: str, exhume: Command, copy: Copy, tmp_path: Path
) -> None:
    folder = copy(name)
    before = EXPECTED["triage"][name]
    triaged = exhume("triage", folder, "--json")
    assert triaged.code == 0, triaged.err
    assert set(map(is_about, triaged.json)) == set(map(is_about, before))
    page = tmp_path / "page.html"
    ended = exhume("report", folder, "--out", page, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["findings"] == len(before)
    text = page.read_text("utf-8")
    assert all(row["id"] in text for row in before)


@pytest.mark.parametrize("name", ["hunt", "calls-cvc5"])
def test_findings_are_compared_with_a_corpus(name: str, exhume: Command, copy: Copy, corpus: Path) -> None:
    folder = copy(name)
    for report in folder.glob("findings/*/report.md"):
        report.unlink()
    rows = exhume("triage", folder, "--corpus", corpus, "--json").json
    before = {row["id"]: row["resembles"] for row in EXPECTED["triage"][name]}
    found = {row["id"]: row["resembles"] for row in rows}
    assert found == before
    assert all((folder.parent / row["path"] / "report.md").read_text("utf-8").strip() for row in rows)


def need_versions() -> None:
    """Skip where the installed solvers are others than those that the files were written with."""
    if other := other_versions(EXPECTED["versions"]):
        pytest.skip(other)


def resume(exhume: Command, folder: Path, *options: object) -> Any:
    """Resume a hunt; what it prints at its end."""
    ended = had(exhume("hunt", "--resume", "--out", folder, *options, "--json"))
    assert ended.code == 1, ended.err
    return ended.json


@pytest.mark.thorough
def test_a_finished_hunt_has_nothing_left_to_do(exhume: Command, copy: Copy, corpus: Path) -> None:
    need_versions()
    folder = copy("hunt")
    reported = resume(exhume, folder, "--corpus", corpus)
    assert (reported["tests"], reported["outcomes"]) == (
        EXPECTED["hunt"]["tests"],
        EXPECTED["hunt"]["outcomes"],
    )
    assert {finding["id"] for finding in reported["findings"]} == ids(folder)


@pytest.mark.parametrize("name", ["hunt-planted", "hunt-killed"])
@pytest.mark.thorough
def test_a_killed_hunt_resumes_and_keeps_its_findings(
    name: str, exhume: Command, copy: Copy, corpus: Path
) -> None:
    if name != "hunt-planted":
        need_versions()
    folder = copy(name)
    before = ids(folder)
    done = EXPECTED["tests_done"][name]
    reported = resume(exhume, folder, "--corpus", corpus, "--tests", done + MORE)
    assert reported["tests"] == done + MORE
    ran = [sum(counts.values()) for counts in reported["outcomes"].values()]
    # Some of the new tests may be for one solver alone.
    assert done <= min(ran) <= max(ran) == done + MORE
    assert before <= {finding["id"] for finding in reported["findings"]} == ids(folder)
    # What the killed run found and had not put into the corpus is there now.
    rows = exhume("query", "select key from finding", "--corpus", corpus, "--json").json
    assert {finding["key"] for finding in reported["findings"]} <= {row["key"] for row in rows}


@pytest.mark.parametrize(("name", "kind"), [("hunt-planted", "soundness"), ("hunt", "invalid-model")])
@pytest.mark.few(1)
def test_a_finding_is_reduced(name: str, kind: str, exhume: Command, copy: Copy) -> None:
    folders = sorted(copy(name).glob(f"findings/{kind}-*"))
    finding = next(folder for folder in folders if not (folder / "reduced.smt2").exists())
    original = (finding / "original.smt2").read_bytes()
    ended = had(exhume("reduce", finding, "--time", "4s", "--no-ddsmt", "--json"))
    assert ended.code == 0, ended.err
    assert 0 < (finding / "reduced.smt2").stat().st_size < len(original)
    assert (finding / "original.smt2").read_bytes() == original
    assert (finding / "report.md").exists()


def test_a_reduced_finding_is_reduced_further(exhume: Command, copy: Copy) -> None:
    reduced = sorted(copy("hunt").glob("findings/invalid-model-*/reduced.smt2"))[0]
    size = len(reduced.read_text().split())
    ended = had(exhume("reduce", reduced.parent, "--time", "3s", "--no-ddsmt", "--json"))
    assert ended.code == 0, ended.err
    assert len(reduced.read_text().split()) <= size


@pytest.mark.parametrize("name", ["hunt", "calls-cvc5"])
def test_what_a_bisection_found_is_used(name: str, exhume: Command, copy: Copy) -> None:
    row = next(row for row in EXPECTED["triage"][name] if row["first_affected"])
    (finding,) = copy(name).glob(f"findings/*-{row['id']}")
    assert (finding / "bisect.json").exists()
    ended = exhume("bisect", finding, "--json")
    if ended.code == 3 or "no network" in ended.err:
        no_release(ended.err)
    assert ended.code == 0, ended.err
    found = ended.json
    assert (found["first_affected"], found["first_fixed"]) == (row["first_affected"], row["first_fixed"])


# API fuzzing


def calls(out: Path, seed: int, runs: int, *options: object) -> list[object]:
    """The command of the campaigns on the planted solver."""
    fixed = ["apifuzz", "run", "--solver", PLANTED, "--calls", 80, "--seed", seed, "--no-older", "--json"]
    return [*fixed, "--runs", runs, "--out", out, *options]


@pytest.mark.thorough
def test_finished_api_fuzzing_has_nothing_left_to_do(exhume: Command, copy: Copy) -> None:
    folder = copy("calls-planted")
    reported = exhume(*calls(folder, 4, 20)).json
    before, counts = EXPECTED["calls"], reported["statistics"]
    assert (reported["tests"], counts["calls"]["calls"], counts["runs"]) == (
        *(before["runs"], before["calls"], before["outcomes"]),
    )
    assert (reported["duplicates"], reported["unconfirmed"]) == (before["duplicates"], before["unconfirmed"])
    assert {finding["id"] for finding in reported["findings"]} == ids(folder)


@pytest.mark.thorough
def test_killed_api_fuzzing_resumes_and_keeps_its_findings(exhume: Command, copy: Copy) -> None:
    folder = copy("calls-planted-killed")
    before = ids(folder)
    done = EXPECTED["tests_done"]["calls-planted-killed"]
    reported = exhume(*calls(folder, 9, done + 3)).json
    assert reported["tests"] == done + 3
    assert before <= {finding["id"] for finding in reported["findings"]} == ids(folder)


@pytest.mark.thorough
def test_what_was_found_once_is_known_to_another_campaign(
    exhume: Command, copy: Copy, tmp_path: Path
) -> None:
    known = copy("calls-planted") / "known.json"
    reported = exhume(*calls(tmp_path / "new", 4, 20, "--known", known)).json
    keys = {error["key"] for error in json.loads(known.read_text("utf-8"))["errors"]}
    # The third planted fault is in no list: it is a finding in whatever runs the seed draws today.
    assert keys.isdisjoint(finding["key"] for finding in reported["findings"])
    assert sum(reported["statistics"]["known"].values()) > 0


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.few(2)
def test_a_finding_shows_again(name: str, exhume: Command, copy: Copy) -> None:
    if name != "calls-planted":
        need_versions()
    finding = sorted(copy(name).glob("findings/*/finding.json"))[0].parent
    kind = json.loads((finding / "finding.json").read_text("utf-8"))["class"]
    solver = {"calls-planted": ("--solver", PLANTED), "calls-old": ("--solver", old_z3(exhume))}.get(name, ())
    ended = exhume("apifuzz", "replay", finding / "minimised.trace", *solver, "--json")
    reported = ended.json
    assert (ended.code, reported["outcome"], reported["fault"]["kind"]) == (1, "fault", kind), ended.out


def old_z3(exhume: Command) -> str:
    """z3 4.8.5 behind a command line; skips where it cannot be had."""
    (row,) = had(exhume("solvers", "--solver", "z3==4.8.5", "--json")).json
    return f"old={row['command']} -in"


@pytest.mark.thorough
def test_a_finding_of_calls_is_minimised(exhume: Command, copy: Copy) -> None:
    finding = sorted(copy("calls-planted").glob("findings/*"))[0]
    minimised = finding / "minimised.trace"
    before = minimised.read_text()
    minimised.unlink()
    ended = exhume("apifuzz", "minimise", finding, "--solver", PLANTED, "--no-older", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["kind"], ended.json["confirmed"]) == ("crash", True)
    assert len(minimised.read_text().splitlines()) <= len(before.splitlines())


@pytest.mark.parametrize("name", sorted(EXPECTED["traces"]))
@pytest.mark.few(3)
def test_a_trace_replays_to_the_same_answers(name: str, exhume: Command, stored: Path) -> None:
    before = EXPECTED["traces"][name]
    ended = exhume("apifuzz", "replay", stored / "traces" / name, "--json")
    if "not installed" in ended.err:
        pytest.skip(ended.err)
    reported = ended.json
    assert (reported["outcome"], reported["calls"], reported["fault"]) == ("done", before["calls"], None)
    assert len(reported["answers"]) == len(before["answers"])
    different = [
        pair for pair in zip(reported["answers"], before["answers"], strict=True) if len(set(pair)) == 2
    ]
    assert all("unknown" in pair for pair in different)


@pytest.mark.parametrize("solver", ["z3", "cvc5", "bitwuzla"])
def test_a_trace_is_said_in_smtlib(solver: str, exhume: Command, stored: Path) -> None:
    trace = stored / "traces" / f"{solver}-1.trace"
    ended = exhume("apifuzz", "to-smtlib", trace)
    assert ended.code == 0, ended.err
    checks = sum(
        line.split()[1].startswith("check-sat")
        for line in trace.read_text().splitlines()
        if " check-sat" in line
    )
    assert ended.out.count("(check-sat") == checks
