"""What docs/extending.md says about adding one more: done in a temporary folder, beside the real ones."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import corpus.query
import exhume.commands
from difftest import Limits, Solver, oracles
from difftest.oracles.base import observe_test
from exhume.cli import run
from generator import StrategySettings, registry, strategies
from generator.build import Sources, build_strategy
from generator.errors import GenerationError
from generator.strategy import GeneratedTest
from solvers.running.runner import Runner
from solvers.running.script import Script

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"

DOUBLED = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "howto-strategy.md").read_text("utf-8"), re.M | re.S
)[0]


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    folder = tmp_path / "seeds"
    folder.mkdir()
    (folder / "a.smt2").write_text("(declare-const p Bool)(assert (or p (not p)))(check-sat)")
    return folder


@pytest.fixture
def reread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what a test imported from its temporary folder."""
    before = set(sys.modules)
    yield
    monkeypatch.undo()
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def generate(seeds: Path, out: Path) -> list[str]:
    assert (
        run(["generate", "--strategy", "doubled", "--seeds", str(seeds), "--count", "1", "--out", str(out)])
        == 0
    )
    return [file.read_text() for file in out.glob("*.smt2")]


def test_a_strategy_is_one_file(
    tmp_path: Path, seeds: Path, monkeypatch: pytest.MonkeyPatch, reread: None
) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "doubled.py").write_text(DOUBLED)
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(folder)])
    monkeypatch.setitem(registry.STRATEGIES, "doubled", registry.find_strategies()["doubled"])
    (text,) = generate(seeds, tmp_path / "out")
    assert text.count("(assert (or ") == 2


def install(folder: Path, value: str) -> None:
    """A package of somebody else with an entry point, as pip would install it."""
    (folder / "stranger_doubled.py").write_text(DOUBLED)
    about = folder / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{registry.ENTRY_POINTS}]\ndoubled = {value}\n")


def test_a_strategy_may_be_an_installed_package(
    tmp_path: Path, seeds: Path, monkeypatch: pytest.MonkeyPatch, reread: None
) -> None:
    install(tmp_path, "stranger_doubled:ENTRY")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.STRATEGIES, "doubled", registry.find_strategies()["doubled"])
    (text,) = generate(seeds, tmp_path / "out")
    assert text.count("(assert (or ") == 2


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("stranger_doubled:Doubled", "expected a StrategyEntry"),
        ("nothing_here:ENTRY", "strategy doubled of nothing_here:ENTRY cannot be loaded"),
    ],
)
def test_a_package_that_cannot_be_used_is_named_where_it_is_used(
    value: str, message: str, tmp_path: Path, seeds: Path, monkeypatch: pytest.MonkeyPatch, reread: None
) -> None:
    install(tmp_path, value)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("generator.registry.STRATEGIES", registry.find_strategies())
    settings = StrategySettings()
    assert build_strategy("typefuzz", Sources(seeds=str(seeds)), settings).name == "typefuzz"
    for sources in (Sources(), Sources(seeds=str(seeds))):
        with pytest.raises(GenerationError, match=message):
            build_strategy("doubled", sources, settings)


LOUD = '''
"""The oracle ``loud``: a solver that prints more than it should."""

from difftest.oracles.base import Candidate, Oracle


def look(seen):
    """A candidate for each solver whose detail is not empty."""
    return [
        Candidate("crash", (name,), f"crash|{name}|loud", name, "it is loud", oracle="loud")
        for name, verdict in seen.verdicts.items()
        if "loud" in verdict.detail
    ]


ORACLE = Oracle("loud", "solvers that say too much", look, lambda solvers: True, rank=0)
'''


def test_an_oracle_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Solver], reread: None
) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    monkeypatch.setattr(oracles, "__path__", [*oracles.__path__, str(tmp_path)])
    monkeypatch.setattr(oracles, "ORACLES", oracles.find_oracles())
    assert next(iter(oracles.ORACLES)) == "loud"
    solver = fake("say('(error \"too loud\")')")
    test = GeneratedTest(0, "(check-sat)", "by-hand")
    with Runner() as runner:
        verdict = runner.judge(solver, Script(test.text.encode()), Limits(seconds=20.0))
    seen = observe_test(test, [solver], {solver.name: verdict})
    assert [candidate.oracle for candidate in oracles.look(seen, oracles.select(["loud"]))] == ["loud"]


def test_a_named_query_is_one_file(
    tmp_path: Path, starter: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in corpus.query.QUERIES.glob("*.sql"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "longest.sql").write_text(
        "-- about: The longest formulas.\n-- parameter: least integer = 1  Least number of characters.\n"
        "-- example: exhume query longest least=100\n"
        "select formula.id, length(body) as characters from formula join text on text.id = text_id\n"
        "where characters >= $least order by characters desc, formula.id;\n"
    )
    monkeypatch.setattr(corpus.query, "QUERIES", tmp_path)
    assert run(["query", "longest", "least=5", "--corpus", str(starter), "--limit", "2"]) == 0
    assert "characters" in capsys.readouterr().out
    assert run(["query", "--list", "--corpus", str(starter)]) == 0
    assert "The longest formulas." in capsys.readouterr().out


def test_a_command_is_a_function_and_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reread: None
) -> None:
    (tmp_path / "hello.py").write_text("def hello_command():\n    'Say hello.'\n    print('hello')\n")
    monkeypatch.setattr(exhume.commands, "__path__", [*exhume.commands.__path__, str(tmp_path)])
    monkeypatch.setitem(exhume.commands.COMMANDS, "hello", exhume.commands.Command("hello", "Say hello."))
    assert run(["hello"]) == 0
    assert capsys.readouterr().out == "hello\n"


ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `(tests/[\w/.]+)::(\w+)` \|$", PAGE.read_text("utf-8"), re.M)


def test_the_page_has_a_row_for_each_thing_that_can_be_added() -> None:
    things = " ".join(row[0] for row in ROWS)
    for thing in (
        "solver", "theory", "operator", "strategy", "oracle", "finding class", "tracker host", "named query",
        "command", "report template",
    ):  # fmt: skip
        assert thing in things


@pytest.mark.parametrize(("thing", "place", "file", "test"), ROWS)
def test_each_row_names_its_place_and_a_test_that_does_it(
    thing: str, place: str, file: str, test: str
) -> None:
    folders = re.findall(r"`([\w/]+/)", place)
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert f"def {test}(" in (ROOT / file).read_text("utf-8")
