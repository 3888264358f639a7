"""The GitHub Action: its own steps, run one after the other as GitHub runs them, in a bare environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from matplotlib import get_cachedir

from difftest.triage.ledger import general_key
from tests.exhume.conftest import always
from tests.exhume.conftest import formulas as formulas  # the fixture

yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extras dev and docs")
ROOT = Path(__file__).resolve().parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
BASH = shutil.which("bash")


@dataclass
class Job:
    """A job with this one action in it: its folder, and what each step left."""

    folder: Path
    given: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    said: str = ""

    def value(self, expression: str) -> str:
        """What GitHub puts in the place of an expression; KeyError for one that it would not know."""
        first, *rest = expression.split(".")
        if first == "inputs":
            entry = ACTION["inputs"][rest[0]]
            return self.given.get(rest[0], str(entry["default"]))
        if first == "steps":
            return self.outputs[rest[0]].get(rest[2], "")
        return {"github.action_path": str(ROOT)}[expression]

    def run(self, steps: list[dict[str, Any]] = STEPS) -> int:
        """Run steps; the exit code of the first that fails."""
        temporary, work = self.folder / "runner", self.folder / "work"
        for folder in (temporary, work):
            folder.mkdir(exist_ok=True)
        for number, step in enumerate(steps):
            output = self.folder / f"output-{number}"
            output.touch()
            environment = {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": str(self.folder),
                "RUNNER_TEMP": str(temporary),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                "EXHUME_CACHE": str(self.folder / "cache"),
                # Fonts are searched once for all tests.
                "MPLCONFIGDIR": get_cachedir(),
                # Where this machine's packages are.
                **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            }
            for name, text in step["env"].items():
                environment[name] = EXPRESSION.sub(lambda found: self.value(found[1]), text)
            done = subprocess.run(
                [str(BASH), "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=work, env=environment, capture_output=True, text=True, timeout=600,
            )  # fmt: skip
            self.said += done.stdout + done.stderr
            lines = (line.partition("=") for line in output.read_text().splitlines())
            self.outputs[step.get("id", str(number))] = {name: value for name, _, value in lines}
            if done.returncode:
                return done.returncode
        return 0


def install(folder: Path) -> None:
    """What an earlier run of the action on this machine left: exhume, installed."""
    program = folder / "runner" / "exhume" / "bin" / "exhume"
    program.parent.mkdir(parents=True)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from exhume.cli import main; main()"
    program.write_text(f"#!{sys.executable}\n{start}\n")
    program.chmod(0o755)


@pytest.fixture
def job(tmp_path: Path) -> Any:
    """Make a job in a folder where exhume is installed."""
    install(tmp_path)

    def make(**given: str) -> Job:
        return Job(tmp_path, {name.replace("_", "-"): value for name, value in given.items()})

    return make


def test_inputs_reach_the_shell_by_the_environment_only() -> None:
    for step in STEPS:
        assert step["shell"] == "bash"
        assert not EXPRESSION.search(step["run"]), step["name"]
        used = set(re.findall(r"\$\{?(EXHUME_\w+)", step["run"]))
        assert used == set(step["env"]), step["name"]
    passed = {name for step in STEPS for text in step["env"].values() for name in EXPRESSION.findall(text)}
    assert {f"inputs.{name}" for name in ACTION["inputs"]} <= passed
    assert all(entry["description"] and "default" in entry for entry in ACTION["inputs"].values())
    ids = {step["id"] for step in STEPS if "id" in step}
    for entry in ACTION["outputs"].values():
        (expression,) = EXPRESSION.findall(entry["value"])
        assert expression.split(".")[1] in ids


def test_programs_of_the_documented_workflows_are_known_and_check_their_models() -> None:
    page = (ROOT / "docs" / "howto-ci.md").read_text("utf-8")
    flows = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)]
    steps = [step for flow in flows for job in flow["jobs"].values() for step in job["steps"]]
    inputs = [step["with"] for step in steps if step.get("uses", "").startswith("OWNER/exhume@")]
    assert len(inputs) == 2 and all(entry.keys() <= ACTION["inputs"].keys() for entry in inputs)
    lines = [line for entry in inputs for text in map(str, entry.values()) for line in text.splitlines()]
    programs = [line for line in lines if "=$" in line]
    assert len(programs) == 3
    for program in programs:
        assert general_key(f"soundness|{program.partition('=')[0]}|Ints") == "soundness|z3|Ints", program
        assert program.endswith("/z3 model_validate=true"), program


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
def test_the_steps_find_report_and_fail(job: Any, exhume: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "small.duckdb"
    assert exhume("import", formulas, "--corpus", corpus).code == 0
    assert exhume("learn", "--corpus", corpus, "--min-support", 1).code == 0
    dies = "sat; echo ASSERTION VIOLATION; echo File: ../src/a.cpp; echo Line: 7; kill -ABRT $$"
    base, new = always(tmp_path, "before", "sat"), always(tmp_path, "after", dies)
    made = job(
        base=base,
        new=new,
        corpus=str(corpus),
        time="1s",
        regressions=str(formulas),
        strategy="opfuzz",
        out="c d",
    )
    made.given["fail-on-findings"] = "false"
    assert made.run() == 0, made.said
    assert made.outputs["run"] == {"code": "1"}
    outputs = made.outputs["report"]
    assert {Path(file).suffix for file in outputs.values()} == {".html", ".sarif", ".xml"}
    results = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
    assert results and results[0]["ruleId"] == "crash"
    assert "## exhume regress" in (tmp_path / "summary.md").read_text()
    made.given["fail-on-findings"] = "true"
    assert made.run(STEPS[-1:]) == 1


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
@pytest.mark.parametrize(
    "given",
    [
        {"base": "$(touch pwned)", "new": "`touch pwned`"},
        {"base": "z3==4.8.5", "new": '"; touch pwned; #'},
        {"command": "hunt", "solvers": "a=$(touch pwned)\n';touch pwned;'\n", "time": "1s"},
        {"command": "--help; touch pwned"},
        {"base": "--help", "new": "--version"},
    ],
    ids=["substitution", "quotes", "lines", "command", "options"],
)
@pytest.mark.few(2)
def test_hostile_inputs_are_bad_input(job: Any, tmp_path: Path, given: dict[str, str]) -> None:
    made = job(**{"corpus": "$(touch pwned)", **given})
    assert made.run() in (2, 3), made.said
    assert not list(tmp_path.rglob("pwned*"))


@pytest.mark.thorough
@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
def test_the_action_installs_exhume(tmp_path: Path) -> None:
    """From nothing: a few minutes, and the package index."""
    made = Job(tmp_path, {"base": "z3==nine", "new": "z3"})
    assert made.run() == 2
    assert "exhume 0." in made.said and "'nine' is not a version" in made.said
