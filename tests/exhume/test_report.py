"""triage and report: what a campaign found, as a table and as a page that nothing in it can break out of."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from base.documents import to_document
from difftest.campaign import state as state_module
from difftest.campaign.campaign import CampaignSettings
from difftest.campaign.modes import ModeKind
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes, FindingState
from difftest.regress import STRATEGY as REPLAY
from exhume.pages.report import MAX_BYTES, _command
from tests.difftest.test_reports import TRIED, bisect, write

HOSTILE = (
    "</pre></script><script>document.title='PWNED'</script><img src=x onerror=\"document.title='PWNED'\">"
    "<!-- ]]> ' \" $x$ {{7*7}} {% raw %} \x1b[31m\x00 <svg onload=alert(1)>"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def finding(out: Path, number: int, **changes: Any) -> Path:
    """A finding in a campaign's folder."""
    identity = f"{number:012x}"
    key = changes.pop("key", f"invalid-model|z3-4.8.5|Int{number}")
    folder = out / "findings" / f"invalid-model-{identity}"
    return write(folder, **{"id": identity, "key": key, **changes})


def campaign(out: Path, name: str = "skeletons", solver: str = "z3") -> None:
    """State as a hunt leaves it: two commits, one finding."""
    counts = Changes(tests=30, decided=20, findings=1, solver_seconds=2.0)
    counts.outcomes[("strategy", name, solver, "ok")] = 20
    counts.outcomes[("strategy", name, solver, "timeout")] = 10
    counts.outcomes[("theory", "Ints", solver, "ok")] = 20
    counts.outcomes[("crossing", "cvc5", solver, "confirmed")] = 7
    counts.outcomes[("crossing", "", solver, "no model was printed")] = 3
    identity = f"{1:012x}"
    row = FindingState(
        identity, "invalid-model", "z3-4.8.5", "k", f"invalid-model-{identity}", name, 7, 1, 1e9, 41
    )
    counts.new.append(row)
    with CampaignState.open(out, {"seed": 4, "strategies": [name]}) as state:
        state.commit(counts, 10.0)
        state.commit(Changes(tests=5), 20.0, ending="finished")


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def is_harmless(page: Page) -> bool:
    """Whether it runs nothing and loads nothing, and links only to itself and to reports beside it."""
    loads = [value for name, value in page.attributes if name in ("src", "href", "action", "data", "srcset")]
    return (
        not page.tags & {"script", "iframe", "img", "object", "embed", "link", "base", "form"}
        and not [name for name, _ in page.attributes if name.startswith("on")]
        and all(value is not None and re.match(r"#|\./findings/[^/]+/report\.md\Z", value) for value in loads)
    )


def test_the_page_shows_a_campaign(exhume: Any, tmp_path: Path) -> None:
    folder = finding(tmp_path, 1, resembles=[{"issue": "z3#9", "why": "same place", "score": 0.9}])
    finding(tmp_path, 2, resembles=[])
    bisect(folder, "4.8.5", "4.8.7", TRIED, since_the_oldest=False, last_affected="4.8.5")
    campaign(tmp_path)
    ended = exhume("report", tmp_path, "--json")
    assert ended.code == 0
    path = Path(ended.json["path"])
    assert path == tmp_path / "report.html"
    text = path.read_text()
    assert ended.json == {
        "path": str(path),
        "bytes": len(text.encode()),
        "findings": 2,
        "missing": [
            "2 of 2 findings not fully reduced: exhume reduce --all DIR",
            "1 of 2 findings not bisected: exhume bisect --all DIR",
        ],
    }
    page = Page(text)
    assert is_harmless(page)
    for words in (
        "Over time", "Outcomes per solver", "Outcomes by strategy", "Outcomes by theory",
        "Models checked by another solver", "no model was printed",
        "Affected releases of z3",
        "z3: invalid model on QF_LIA", "(assert (= 3 (div x 2)))", "$ z3 model_validate=true original.smt2",
        "seen 42 times", "z3#9: same place", "no known issue", "since 4.8.5; fixed in 4.8.7",
        "z3-4.8.5: Z3 version 4.8.5 - 64 bit, 0.10 s",
        "35", "finished", "not bisected: 1", "seconds since the campaign started",
    ):  # fmt: skip
        assert words in page.text, words
    # Figure 4: the finding affects 4.8.5 and no other of the releases that ran.
    rows = re.findall(r"<tr><td>(4\.8\.\d)</td><td>(\d)</td></tr>", text)
    assert rows == [("4.8.4", "0"), ("4.8.5", "1"), ("4.8.7", "0")]
    assert "default-src 'none'" in text and "http://" not in text and "https://" not in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_reports_are_linked_wherever_the_page_is(exhume: Any, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "pages" / "page.html"
    elsewhere.parent.mkdir()
    (finding(out, 1) / "report.md").write_text("# a report")
    finding(out, 2)
    campaign(out)
    assert exhume("report", out, "--out", elsewhere).code == 0
    links = re.findall(r'href="([^"#]+report\.md)"', elsewhere.read_text())
    assert [(elsewhere.parent / link).resolve().read_text() for link in links] == ["# a report"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (CampaignSettings(("z3",), tests=9, bandit=False), "exhume hunt --solver z3 --tests 9"),
        (CampaignSettings(("z3",), duration="5m", bandit=False, modes=ModeKind.DEFAULT), "--no-bandit"),
        (CampaignSettings(("z3",), strategy=("api",), settings=("a=1",)), "--strategy api"),
        (
            CampaignSettings(("z3", "z3==5.4.0"), base="z3==5.4.0", directed=False, strategy=(REPLAY,)),
            "exhume regress --new z3 --base z3==5.4.0",
        ),
    ],
)
def test_the_command_of_a_campaign_is_one_that_its_command_takes(
    exhume: Any, settings: CampaignSettings, words: str
) -> None:
    said = _command(json.loads(json.dumps(to_document(settings))))
    assert words in said
    # Options are checked before help is shown.
    assert exhume(*shlex.split(said)[1:], "--help").code == 0
    assert exhume(*shlex.split(said)[1:], "--no-such-option", "--help").code == 2


def test_plots_name_releases_in_full(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "findings").mkdir()
    campaign(tmp_path, solver="z3-4.12.2")
    assert exhume("report", tmp_path).code == 0
    drawn = re.findall(r"<svg.*?</svg>", (tmp_path / "report.html").read_text(), re.S)
    assert any(">z3-4.12.2<" in drawing for drawing in drawn)


@pytest.mark.parametrize(
    ("length", "unit", "end"),
    [(36, "seconds", "36.00"), (1800, "minutes", "30.00"), (36_000, "hours", "10.00")],
)
@pytest.mark.few(1)
def test_the_unit_of_time_follows_the_length_of_the_campaign(
    length: int, unit: str, end: str, exhume: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_700_000_000.3
    monkeypatch.setattr(state_module.time, "time", lambda: now)
    (tmp_path / "findings").mkdir()
    with CampaignState.open(tmp_path, {"seed": 4}) as state:
        for _ in range(36):
            now += length / 36
            state.commit(Changes(tests=1), now - 1_700_000_000.3, ending="finished")
    assert exhume("report", tmp_path).code == 0
    page = (tmp_path / "report.html").read_text()
    assert f"{unit} since the campaign started" in page
    table = re.search(rf'<th scope="col">{unit}</th>.*?</table>', page, re.S)
    assert table is not None
    rows = re.findall(r"<tr><td>([\d.]+)</td><td>(\d+)</td>", table[0])
    assert rows[0] == ("0.00", "0") and rows[-1] == (end, "36")
    # All along, not in one step at the end.
    assert len(rows) > 20
    assert all(abs(float(at) / float(end) - int(tests) / 36) < 0.1 for at, tests in rows)


def test_a_folder_without_a_campaign_says_what_is_missing(exhume: Any, tmp_path: Path) -> None:
    finding(tmp_path, 1)
    ended = exhume("report", tmp_path, "--out", tmp_path / "p.html")
    assert ended.code == 0
    assert "campaign.sqlite is missing" in ended.err
    text = (tmp_path / "p.html").read_text()
    assert "campaign.sqlite is missing" in Page(text).text
    assert "Over time" not in text and "(div x 2)" in text
    # Nor is a campaign without findings an error.
    (tmp_path / "empty" / "findings").mkdir(parents=True)
    campaign(tmp_path / "empty")
    assert exhume("report", tmp_path / "empty").code == 0


def test_findings_under_young_options_stand_apart(exhume: Any, tmp_path: Path) -> None:
    finding(tmp_path, 1, entry={"name": "z3-4.8.5[sat.smt=true]"})
    finding(tmp_path, 2)
    assert exhume("report", tmp_path, "--out", tmp_path / "p.html").code == 0
    rows = Page((tmp_path / "p.html").read_text()).text.partition("seen")[2]
    assert rows.index("z3-4.8.5") < rows.index("young engines")
    assert rows.index("young engines") < rows.index("z3-4.8.5[sat.smt=true]")


def hostile(out: Path) -> Path:
    """A campaign all of whose names and texts attack the page."""
    entry = {
        "name": "evil", "family": HOSTILE, "version": HOSTILE, "detail": HOSTILE, "ending": HOSTILE,
        "shown": HOSTILE, "location": HOSTILE,
    }  # fmt: skip
    near = [{"issue": HOSTILE, "why": HOSTILE, "score": 1, "title": HOSTILE, "url": "javascript:alert(1)"}]
    test = {"index": HOSTILE, "strategy": HOSTILE, "issues": [HOSTILE]}
    folder = finding(
        out, 1, formula=HOSTILE, stdout=HOSTILE, entry=entry, solver=HOSTILE, culprit="evil", key=HOSTILE,
        reason=HOSTILE, evidence=[HOSTILE, {"text": HOSTILE}], resembles=near, test=test, theories=[HOSTILE],
    )  # fmt: skip
    tried = {HOSTILE: "affected", "1.0": "free"}
    bisect(folder, HOSTILE, HOSTILE, tried, last_affected=HOSTILE, since_the_oldest=True)
    campaign(out, HOSTILE, HOSTILE)
    return out


def test_hostile_text_stays_text(exhume: Any, tmp_path: Path) -> None:
    ended = exhume("report", hostile(tmp_path), "--json")
    assert ended.code == 0
    text = (tmp_path / "report.html").read_text()
    page = Page(text)
    assert is_harmless(page)
    assert "document.title='PWNED'" in page.text  # it is shown, not dropped
    assert "{{7*7}}" in page.text
    assert not re.search(r"[\x00\x1b]", text)


@pytest.mark.skipif(BROWSER is None, reason="no browser on this machine")
def test_a_browser_shows_it_and_runs_nothing(exhume: Any, tmp_path: Path) -> None:
    assert exhume("report", hostile(tmp_path)).code == 0
    shown = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", (tmp_path / "report.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    dom = Page(shown.stdout)
    assert is_harmless(dom)
    assert "<title>PWNED" not in shown.stdout
    assert {"svg", "details", "pre"} <= dom.tags
    assert "Over time" in dom.text


@pytest.mark.thorough
def test_a_thousand_findings_fit(exhume: Any, tmp_path: Path) -> None:
    long = "(assert (= 3 (div x 2)))\n" * 2_000
    first = finding(tmp_path, 0, formula=long, stdout="printed & more\n" * 1_000)
    for number in range(1, 1_000):
        folder = first.with_name(f"invalid-model-{number:012x}")
        folder.mkdir()
        for file in first.iterdir():
            (folder / file.name).hardlink_to(file)
    ended = exhume("report", tmp_path, "--json")
    assert ended.json["findings"] == 1_000
    assert ended.json["bytes"] < MAX_BYTES
    assert "more characters)" in (tmp_path / "report.html").read_text()


def test_what_cannot_be_read_or_written_is_reported(exhume: Any, tmp_path: Path) -> None:
    ended = exhume("report", tmp_path)
    assert (ended.code, "no findings there" in ended.said) == (2, True)
    finding(tmp_path, 1)
    ended = exhume("report", tmp_path, "--out", tmp_path / "none" / "p.html", "--json")
    assert ended.code == 2 and "cannot write" in ended.said
    (tmp_path / "campaign.sqlite").write_text("rubbish")
    ended = exhume("report", tmp_path)
    assert ended.code == 0 and "cannot be read as a campaign" in ended.err


def test_triage_lists_what_is_known_of_each(exhume: Any, tmp_path: Path, corpus: Path) -> None:
    finding(tmp_path, 1)
    folder = finding(tmp_path, 2, reduced={"confirmed": True, "size_before": 90, "size_after": 30})
    (folder / "reduced.smt2").write_text("(assert (= 3 (div 2 0)))\n(check-sat)\n")
    (folder / "duplicates.txt").write_text("4\n9\n")
    rows = exhume("triage", tmp_path, "--json").json
    assert [row["id"][-1] for row in rows] == ["2", "1"]  # the one that was seen most often first
    assert rows[0] == {
        "id": f"{2:012x}",
        "class": "invalid-model",
        "solver": "z3-4.8.5",
        "key": "invalid-model|z3-4.8.5|Int2",
        "title": "z3: invalid model on QF_LIA",
        "theories": ["Ints"],
        "size": len((folder / "original.smt2").read_bytes()),
        "reduced_size": 30,
        "kind": "formula",
        "unit": "bytes",
        "complete": True,
        "guilty": "z3-4.8.5",
        "reason": '(error "line 4 column 10: an invalid model was generated")',
        "first_affected": None,
        "since_the_oldest": None,
        "first_fixed": None,
        "bisected": False,
        "duplicates": 2,
        "resembles": None,
        "file": None,
        "path": str(folder),
        "maybe_same_as": [],
        "tracker": "Z3Prover/z3",
        "ledger": None,
        "report_now": True,
        "private": False,
    }
    ended = exhume("triage", tmp_path)
    assert "2 findings in" in ended.out
    assert f"2 of 2 findings not bisected: exhume bisect --all {tmp_path}" in ended.err
    ended = exhume("triage", tmp_path, "--corpus", corpus)
    assert ended.code == 0
    assert "not compared" not in ended.err
    assert all(isinstance(row["resembles"], list) for row in exhume("triage", tmp_path, "--json").json)
    assert "exhume/starter#" in ended.out  # division by zero is what some of its issues are about
    assert exhume("triage", tmp_path / "findings" / folder.name / "none").code == 2


def test_findings_of_one_key_after_reduction_are_named(exhume: Any, tmp_path: Path) -> None:
    after = ["Reals|/", "Ints+Reals|/", "Reals|/,mod", None, "Reals|/"]
    for number, left in enumerate(after):
        bisected = {"confirmed": number != 4, "size_before": 90, "size_after": 30}
        reduced = {**bisected, "key": f"invalid-model|z3-4.8.5|{left}"} if left else None
        (finding(tmp_path, number, reduced=reduced) / "reduced.smt2").write_text("(check-sat)\n")
    rows = exhume("triage", tmp_path, "--json").json
    assert [row["key"].partition("z3-4.8.5|")[2] for row in rows] == [*after[:3], "Int3", "Int4"]
    same = [[other[-1] for other in row["maybe_same_as"]] for row in rows]
    assert same == [["1", "2"], ["0", "2"], ["0", "1"], [], []]
    out = exhume("triage", tmp_path).out
    assert f"may have the same cause, by key: invalid-model-{0:012x}, invalid-model-{1:012x}" in out
    first = ", ".join(f"invalid-model-{number:012x}" for number in range(3))
    assert f"may have the same cause, by operators (all have those of the first): {first}" in out
    assert "Reals, /,mod" in out


def test_findings_whose_operators_hold_anothers_are_named_unless_releases_differ(
    exhume: Any, tmp_path: Path
) -> None:
    keys = [
        *("Sequences|seq.nth,seq.unit", "FixedSizeBitVectors+Sequences|bvadd,seq.nth", "Sequences|seq.nth"),
        *("Ints|mod,seq.nth", "Sequences|seq.len"),
    ]
    missing = ["incompleteness|z3|implied|Ints|*", "incompleteness|z3|implied|Ints+Nonlinear"]
    keys = [f"soundness|z3-4.8.5|{key}" for key in (*keys, "Sequences")] + missing
    for number, key in enumerate(keys):
        folder = finding(tmp_path, number, key=key)
        if number in (1, 2):
            bisect(folder, "1.0", f"{number}.1", {})
    rows = exhume("triage", tmp_path, "--json").json
    same = [[other[-1] for other in row["maybe_same_as"]] for row in rows]
    assert same == [["2"], [], ["0"], [], [], [], ["7"], ["6"]]


def test_of_two_smaller_ones_the_one_with_the_same_releases_counts(exhume: Any, tmp_path: Path) -> None:
    for number, (operators, fixed) in enumerate([("mod", "1.0"), ("div", "2.0"), ("div,mod", "2.0")]):
        folder = finding(
            tmp_path, number, key=f"soundness|z3-4.8.5|Ints|{operators}", theories=[f"T{number}"]
        )
        bisect(folder, "0.1", fixed, {})
    rows = exhume("triage", tmp_path, "--json").json
    assert [[other[-1] for other in row["maybe_same_as"]] for row in rows] == [[], ["2"], ["1"]]


def test_findings_with_the_same_releases_are_named(exhume: Any, tmp_path: Path) -> None:
    for number, (first, fixed) in enumerate([("1.0", "2.0"), ("1.0", "2.0"), ("1.1", "2.0"), ("1.0", None)]):
        bisect(finding(tmp_path, number), first, fixed, {}, since_the_oldest=fixed is None)
    rows = exhume("triage", tmp_path, "--json").json
    assert [[other[-1] for other in row["maybe_same_as"]] for row in rows] == [["1"], ["0"], [], []]
    out = exhume("triage", tmp_path).out
    assert f"may have the same cause, by class, theories and releases: invalid-model-{0:012x}, " in out
    assert "1.0, fixed in 2.0" in out and "since 1.0 or earlier, not fixed" in out
