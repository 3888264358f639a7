"""The sessions that documents show: each command runs on something smaller, its lines are compared by
shape."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from apifuzz.running.releases import subject_of_calls
from corpus.store import Corpus
from difftest.triage.folder import BISECTED, FindingFolder
from difftest.triage.release_search import kept_states
from exhume.cli import run
from tests.exhume.test_calls_findings import SCRIPT, finding
from tests.miner.github_server import FakeTracker, serving
from tests.miner.test_dumps import printed_by_gh
from tests.once import made_once
from tests.releases import find_or_skip
from tests.shapes import shapes
from tests.test_docs import ALL, PAGES, ROOT, Example, is_quick, matches

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
SESSION = [e.line for e in ALL if e.page == "tutorial.md" and re.search(r" (?:install|found)\b", e.line)]
AFTER = ["exhume triage hunt --corpus tracker.duckdb", "exhume report hunt"]
QUESTIONS = [
    "exhume query skeletons-in-both first=z3 second=cvc5",
    "exhume compare z3.duckdb cvc5.duckdb --coarse --sample 700 --limit 3",
    "exhume behind tests/test-000000.smt2 --corpus bugs.duckdb --limit 6",
    "exhume bisect cvc5-calls/findings/crash-089968d2642f",
]
# Other words for the same command: quicker, or for the corpora that tests have.
INSTEAD = {
    "exhume reduce --all found": "exhume reduce --all found --no-ddsmt",
    "exhume query skeletons-in-both first=z3 second=cvc5": (
        "exhume query skeletons-in-both first=exhume/starter second=exhume/starter --corpus bugs.duckdb"
    ),
    "exhume compare z3.duckdb cvc5.duckdb --coarse --sample 700 --limit 3": (
        "exhume compare z3.duckdb cvc5.duckdb --coarse --sample 80 --limit 3"
    ),
}
# Of the releases that the document shows, what `exhume bisect` stored.
STATES = {"1.0.7": "skipped", "1.2.0": "affected", "1.4.2": "affected"}
MINING = sorted({e.line for e in ALL if re.match(r"exhume (?:mine|refresh)\b(?!.*gitlab)", e.line)})
# What is compared in other ways: tests/exhume/test_demo.py, and a refresh from a tracker on this machine.
ELSEWHERE = {"exhume demo", "exhume refresh"}
# A benchmark of minutes, whose output are measurements.
NOT_COMPARED = {"scripts/bench_keys --triggers 5000"}


def test_every_output_is_compared() -> None:
    compared = {*SESSION, *AFTER, *QUESTIONS, *ELSEWHERE}
    assert {e.line for e in ALL if e.output and not is_quick(e)} == compared
    shown = re.compile(r"^\$ ((?:scripts|gh|glab|python)\b.*)\n(?![$`])", re.M)
    others = {line for page in PAGES for line in shown.findall(_commands(page))}
    assert others == NOT_COMPARED


def _commands(page: Path) -> str:
    return re.sub(r"\\\n *", "", page.read_text("utf-8"))


@pytest.mark.parametrize("line", MINING)
def test_mining_prints_what_is_shown(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against a tracker on this machine."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)[1:]
    trackers = [word for word in words if re.fullmatch(r"\w+/\w+", word)] or ["Z3Prover/z3"]
    with serving(*(FakeTracker(name, issues=9, comments=5) for name in trackers)) as hub:
        Path("exhume.toml").write_text(f'corpus = "c.duckdb"\napi-url = "{hub.url}"\ntrackers = {trackers}\n')
        Path("issues.json").write_text(json.dumps(printed_by_gh(FakeTracker(issues=9, comments=5))))
        live = [] if words[0] == "refresh" or "--from" in words else ["--api-url", hub.url]
        assert run([*words, *live]) == 0
    printed = capsys.readouterr().out.splitlines()
    for example in by_line([line]):
        assert matches(shapes(example.output), shapes(printed)), printed
    assert any("new issues" in text for text in printed)


def by_line(lines: Iterable[str]) -> list[Example]:
    """The examples of some commands that show an output."""
    return [example for example in ALL if example.output and example.line in lines]


def session(folder: Path, lines: Iterable[str]) -> None:
    """Run commands in a folder, one after the other; ``printed.json`` there has their lines."""
    printed = {}
    with contextlib.chdir(folder):
        for line in lines:
            text = io.StringIO()
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                code = run(shlex.split(INSTEAD.get(line, line))[1:])
            printed[line] = text.getvalue().splitlines()
            assert code in (0, 1), text.getvalue()
    (folder / "printed.json").write_text(json.dumps(printed), "utf-8")


def assert_shown(example: Example, folder: Path) -> None:
    """A page shows lines of the shapes that its command printed."""
    printed = json.loads((folder / "printed.json").read_text("utf-8"))[example.line]
    assert matches(shapes(example.output), shapes(printed)), "\n".join(
        (example.line, *shapes(example.output), "", "printed:", *shapes(printed))
    )


@pytest.fixture(scope="session")
def of_old_z3(tmp_path_factory: pytest.TempPathFactory, starter: Path) -> Path:
    """The session of the tutorial, then triage of a copy of its campaign with a corpus."""
    find_or_skip("z3==4.8.5")
    return made_once(tmp_path_factory, "tutorial", lambda folder: _use_old_z3(folder, starter))


def _use_old_z3(folder: Path, starter: Path) -> None:
    (folder / "formulas").mkdir()
    texts = re.findall(r"^```smt2\n(.*?)^```", TUTORIAL, re.M | re.S)
    for name, text in zip(("zero", "fine"), texts, strict=True):
        (folder / "formulas" / f"{name}.smt2").write_text(text, "utf-8")
    session(folder, SESSION)
    first = json.loads((folder / "printed.json").read_text("utf-8"))
    shutil.copytree(folder / "found", folder / "hunt")
    (folder / "hunt" / "report.html").unlink()
    shutil.copy(starter, folder / "tracker.duckdb")
    session(folder, AFTER)
    more = json.loads((folder / "printed.json").read_text("utf-8"))
    (folder / "printed.json").write_text(json.dumps(first | more), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("example", by_line([*SESSION, *AFTER]), ids=lambda e: f"{e.page}: {e.line}")
def test_sessions_with_an_old_release_print_what_is_shown(example: Example, of_old_z3: Path) -> None:
    assert_shown(example, of_old_z3)


@pytest.mark.slow
def test_the_finding_of_the_tutorial_is_the_one_shown(of_old_z3: Path) -> None:
    (shown,) = (e for e in by_line(SESSION) if e.page == "tutorial.md" and "replay" in e.line)
    printed = json.loads((of_old_z3 / "printed.json").read_text("utf-8"))[shown.line]
    varies = re.compile(r"[\d.]+ s\b|\([\d.]+ a second\)")
    assert matches(*([varies.sub("#", line) for line in lines] for lines in (shown.output, printed)))
    # The form in the document is that of the report that a session ends with.
    documented = (ROOT / "docs" / "triage.md").read_text("utf-8")
    sections = re.findall(r"^## .*", documented.partition("````markdown\n")[2].partition("\n````")[0], re.M)
    report = next((of_old_z3 / "found" / "findings").iterdir()) / "report.md"
    written = re.findall(r"^## .*", report.read_text("utf-8"), re.M)
    assert written == [heading for heading in sections if heading in written]
    assert len(written) > 4


def _ask(folder: Path, starter: Path) -> None:
    """Two corpora to compare, a generated test, a finding of API fuzzing that was bisected."""
    shutil.copy(starter, folder / "bugs.duckdb")
    with Corpus.open(starter) as corpus:
        rows = corpus.rows(
            "select body from current_formula join text on text.id = text_id order by current_formula.id"
        )
    begin = []
    for name, part in (("z3", rows[:85]), ("cvc5", rows[85:])):
        (folder / name).mkdir()
        for number, (body,) in enumerate(part):
            (folder / name / f"{number}.smt2").write_text(body, "utf-8")
        begin += [f"exhume import {name} --corpus {name}.duckdb"]
        begin += [f"exhume learn --corpus {name}.duckdb --min-support 2 --no-probe"]
    found = finding(folder / "cvc5-calls", script_py=SCRIPT)
    found = found.rename(found.with_name("crash-089968d2642f"))
    text = subject_of_calls(FindingFolder.read(found)).text
    bisected = {
        "solver": "z3", "release": "1.4.2", "formula": "", "first_affected": "1.2.0",
        "since_the_oldest": True, "last_affected": "1.4.2", "first_fixed": None,
        "tried": [{"release": release, "state": state} for release, state in STATES.items()],
    }  # fmt: skip
    done = {"complete": True, "report": bisected}
    (found / BISECTED).write_text(json.dumps(json.loads(kept_states(text, {})) | done))
    session(folder, [*begin, "exhume generate --corpus bugs.duckdb --count 1 --out tests", *QUESTIONS])


@pytest.mark.slow
@pytest.mark.parametrize("example", by_line(QUESTIONS), ids=lambda e: f"{e.page}: {e.line}")
def test_questions_print_what_is_shown(
    example: Example, tmp_path_factory: pytest.TempPathFactory, starter: Path
) -> None:
    assert_shown(example, made_once(tmp_path_factory, "questions", lambda folder: _ask(folder, starter)))
