"""report --sarif, --junit, --summary: what programs read, and hostile text in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from difftest.triage.exports import SARIF_SCHEMA
from difftest.triage.markdown import plain
from tests.exhume.test_report import HOSTILE, campaign, finding, hostile

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def written(exhume: Any, folder: Path) -> tuple[dict[str, Any], ElementTree.Element, str]:
    """The three files about a campaign."""
    files = [folder / name for name in ("found.sarif", "found.xml", "found.md")]
    options = zip(("--sarif", "--junit", "--summary"), files, strict=True)
    ended = exhume("report", folder, *(word for pair in options for word in pair), "--json")
    assert ended.code == 0, ended.err
    assert ended.json["written"] == list(map(str, files))
    sarif, junit, summary = (file.read_text("utf-8") for file in files)
    return json.loads(sarif), ElementTree.fromstring(junit), summary


def check_sarif(log: dict[str, Any]) -> list[dict[str, Any]]:
    """What the standard (SARIF 2.1.0, sections 3.13 to 3.30) demands of what we write; the results."""
    assert (log["$schema"], log["version"]) == (SARIF_SCHEMA, "2.1.0")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert driver["name"] == "exhume" and len(set(ids)) == len(ids)
    assert all(rule["defaultConfiguration"]["level"] in ("error", "warning") for rule in driver["rules"])
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning") and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        # A relative URI reference without anything that needs to be escaped.
        assert re.fullmatch(r"[\w.~%/-]+", place["artifactLocation"]["uri"])
        assert not place["artifactLocation"]["uri"].startswith("/")
        assert 1 <= place["region"]["startLine"] <= place["region"]["endLine"]
        assert re.fullmatch(r"[0-9a-f]{64}", result["partialFingerprints"]["exhumeKey/v1"])
    return list(run["results"])


def test_findings_are_written_worst_first(exhume: Any, tmp_path: Path) -> None:
    finding(tmp_path, 1)
    folder = finding(tmp_path, 2)
    document = json.loads((folder / "finding.json").read_text())
    (folder / "finding.json").write_text(json.dumps(document | {"class": "soundness"}))
    campaign(tmp_path)
    log, junit, summary = written(exhume, tmp_path)
    results = check_sarif(log)
    assert [result["ruleId"] for result in results] == ["soundness", "invalid-model"]
    uri = results[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{tmp_path.name}/findings/invalid-model-{1:012x}/original.smt2"
    suite = junit.find("testsuite")
    assert suite is not None and junit.tag == "testsuites"
    cases = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), "2")
    assert [case.find("failure") is not None for case in cases[:3]] == [True, True, False]
    assert {case.get("name") for case in cases[2:]} >= {"no crash", "no slowdown"}
    assert "(div x 2)" in (cases[0].findtext("failure") or "")
    assert "**2 findings**: 1 invalid-model, 1 soundness" in summary
    assert summary.count("<details>") == summary.count("</details>") == 2


def test_a_damaged_campaign_has_a_page_and_no_other_files(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "findings").mkdir()
    campaign(tmp_path)
    (tmp_path / "campaign.sqlite").write_bytes(b"damaged" * 1000)
    for option in ("--sarif", "--junit", "--summary"):
        ended = exhume("report", tmp_path, option, tmp_path / "file")
        assert (ended.code, "cannot be read as a campaign" in ended.said) == (2, True)
        assert not (tmp_path / "file").exists()
    ended = exhume("report", tmp_path)
    assert (ended.code, "cannot be read as a campaign" in ended.said) == (0, True)


def test_a_clean_campaign_is_a_passed_suite(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "findings").mkdir()
    campaign(tmp_path)
    log, junit, summary = written(exhume, tmp_path)
    assert check_sarif(log) == []
    assert junit.get("failures") == "0" and int(str(junit.get("tests"))) >= 6
    assert "**0 findings**" in summary and "|" not in summary


def test_hostile_text_stays_data(exhume: Any, tmp_path: Path) -> None:
    folder = hostile(tmp_path)
    for file in folder.glob("findings/*/finding.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"class": f"crash{HOSTILE}"}))
    log, junit, summary = written(exhume, folder)
    (result,) = check_sarif(log)
    assert "PWNED" in result["message"]["text"] and not CONTROLS.search(json.dumps(log, ensure_ascii=False))
    (failure,) = junit.iter("failure")
    assert "PWNED" in (failure.text or "")
    assert not CONTROLS.search(summary)
    # Outside of code blocks nothing starts a tag but our own.
    prose = re.sub(r"^(`{3,}).*?^\1$", "", summary, flags=re.M | re.S)
    assert set(re.findall(r"<[^>]*>", re.sub(r"(`+).*?\1", "", prose))) <= {
        "<details>",
        "<summary>",
        "</summary>",
        "</details>",
    }
    assert plain(HOSTILE).count("<") == 0


def test_a_folder_whose_name_is_no_text(shell: Any, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    found = finding(folder, 1)
    (found / "report.md").write_text("# z3: wrong model\n")
    campaign(folder)
    out = tmp_path / "page.html"
    ended = shell("report", folder, "--sarif", tmp_path / "found.sarif", "--out", out)
    assert ended.code == 0, ended.err
    (result,) = check_sarif(json.loads((tmp_path / "found.sarif").read_text()))
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"a%FF/findings/{found.name}/original.smt2"
    assert f'href="./a%FF/findings/{found.name}/report.md"' in out.read_text()


def test_sarif_tools_reads_it(exhume: Any, tmp_path: Path) -> None:
    pytest.importorskip("sarif", reason="sarif-tools is in the extra dev")
    finding(tmp_path, 1)
    finding(tmp_path, 2)
    written(exhume, tmp_path)
    command = [sys.executable, "-m", "sarif", "--check", "error", "csv", str(tmp_path / "found.sarif")]
    done = subprocess.run([*command, "-o", str(tmp_path / "o.csv")], capture_output=True, text=True)
    assert done.returncode != 0 and "issues at or above error severity" in done.stderr
    assert (tmp_path / "o.csv").read_text().count("invalid-model") >= 2


def test_a_file_that_cannot_be_written_is_one_line(exhume: Any, tmp_path: Path) -> None:
    finding(tmp_path, 1)
    ended = exhume("report", tmp_path, "--sarif", tmp_path / "none" / "f.sarif")
    assert ended.code == 2 and "cannot write" in ended.said
