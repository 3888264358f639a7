"""Commands that run solvers: hunt, replay."""

from __future__ import annotations

import re
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from corpus.results import BatchRecord, FoundRecord, store_hunt
from corpus.store import Corpus
from difftest import (
    FindingConfirmed,
    FindingRecord,
    HuntFinished,
    HuntOptions,
    HuntSummary,
    Limits,
    Outcome,
    Progress,
    ReplayResult,
    Solver,
    find_files,
    find_solvers,
    hunt,
    replay,
)
from difftest.history import compare_with_history
from exhume.exits import Exit
from exhume.options import CorpusFile, Jobs, Json, Seed, SolverSpecs
from exhume.screen import err, out, print_json, progress, say
from exhume.strategy_options import (
    Incremental,
    Rules,
    RulesOption,
    Seeds,
    Settings,
    SkeletonsFrom,
    StrategyName,
    build_strategy,
)
from exhume.summary import finding_line, show_outcomes, show_summary
from generator import GeneratedTest, Strategy, StrategySettings
from generator.text import VERSION

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_QUIET_INTERVAL = 60.0
_ENDLESS = 1 << 40


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("hunt")(hunt_command)
    app.command("replay")(replay_command)


def parse_duration(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``8h``, ``2d``."""
    match = _DURATION.match(text)
    if match is None:
        raise typer.BadParameter(f"{text} is no duration; write 90s, 10m, 8h or 2d")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds == 0:
        raise typer.BadParameter(f"{text} leaves no time; write 90s, 10m, 8h or 2d")
    return seconds


def hunt_command(
    corpus: CorpusFile,
    solver: SolverSpecs,
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where findings go; may hold those of earlier hunts.")
    ],
    tests: Annotated[int | None, typer.Option(help="Stop after so many tests.", min=1)] = None,
    duration: Annotated[
        str | None, typer.Option("--time", help="Stop after this time: 90s, 10m, 8h, 2d.")
    ] = None,
    seed: Seed = 1,
    jobs: Jobs = 1,
    strategy: StrategyName = "skeletons",
    seeds: Seeds = None,
    settings: Settings = None,
    rules: RulesOption = Rules.FULL,
    incremental: Incremental = False,
    skeletons_from: SkeletonsFrom = None,
    json: Json = False,
) -> None:
    """Generate tests and run solvers against each other.

    Confirmed findings end up as folders in DIR/findings; a second hunt into the same DIR goes on from there.
    Ctrl-C ends it cleanly: what runs is finished, the summary shown.
    Without --tests and --time: 1000 tests. Exit code 1 says that something was found.
    """
    seconds = None if duration is None else parse_duration(duration)
    found_solvers = find_solvers(solver)
    wanted = StrategySettings(seed, incremental, 0, tuple(solver), tuple(settings or ()))
    made = build_strategy(corpus, strategy, solver, rules, skeletons_from, wanted, seeds)
    if tests is None and seconds is None:
        tests = 1000
    options = HuntOptions(out=out_folder, jobs=jobs, seed=seed, tests=tests, seconds=seconds)
    summary, found = run_hunt(made, found_solvers, options, json)
    if json:
        print_json(summary.to_json())
    else:
        show_summary(summary)
    # Last, for it may have to wait for whoever holds the corpus; the finding folders are there by now.
    record_hunt(corpus, made, seed, found_solvers, found)
    if summary.interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if summary.findings else Exit.DONE)


def run_hunt(
    strategy: Strategy, solvers: list[Solver], options: HuntOptions, quiet: bool, tell: bool = True
) -> tuple[HuntSummary, list[FindingRecord]]:
    """Hunt with progress on standard error; the summary and the findings that are new.

    ``tell`` shows each finding as it turns up, on a terminal: elsewhere the summary's list is enough.
    """
    new: list[FindingRecord] = []
    summary = None
    shown = time.monotonic()
    tests = strategy.generate(0, options.tests or _ENDLESS)
    with _stop_on_interrupt() as stop, progress("hunting", quiet) as tick:
        for event in hunt(tests, solvers, options, stop):
            if isinstance(event, FindingConfirmed):
                if not event.record.known:
                    new.append(event.record)
                if tell and err.is_terminal and not quiet:
                    say(finding_line(event.record))
            elif isinstance(event, Progress):
                tick(event.tests, options.tests or 0)
                if not err.is_terminal and not quiet and time.monotonic() - shown > _QUIET_INTERVAL:
                    shown = time.monotonic()
                    say(_status(event))
            elif isinstance(event, HuntFinished):
                summary = event.summary
    assert summary is not None, "a hunt ends with its summary"
    return summary, new


@contextmanager
def _stop_on_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts as usual."""
    stop = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        say("finishing what runs; Ctrl-C again stops at once")

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _status(event: Progress) -> str:
    return f"{event.tests} tests, {event.decided} decided, {event.findings} findings, {event.seconds:.0f} s"


def record_hunt(
    corpus: Path, strategy: Strategy, seed: int, solvers: list[Solver], found: list[FindingRecord]
) -> None:
    """Store a hunt and its new findings in the corpus, waiting a while for whoever holds it."""
    by_name = {s.name: s for s in solvers}
    rows = []
    for record in found:
        test = _test_of(record, strategy)
        solver = by_name.get(record.solver) or by_name[record.solver.split("+")[0]]
        rows.append(
            FoundRecord(
                str(record.finding_class),
                solver.spec,
                solver.version(),
                record.key,
                test.index,
                test.text,
                test.skeletons,
                test.atoms,
                test.rules,
                (record.path / "command.txt").read_text("utf-8"),
                str(record.path),
            )
        )
    batch = BatchRecord(strategy.name, seed, VERSION, strategy.fingerprint, tuple(s.spec for s in solvers))
    with Corpus.open(corpus, write=True, wait=30.0) as opened:
        store_hunt(opened, batch, rows)
        compare_with_history(opened, [record.path for record in found])


def _test_of(record: FindingRecord, strategy: Strategy) -> GeneratedTest:
    """The test of a finding, made again from its index in ``original.smt2``'s header."""
    first = (record.path / "original.smt2").read_text("utf-8").split("\n", 1)[0]
    index = int(first.split(" index ")[1].split()[0])
    return next(iter(strategy.generate(index, index + 1)))


def replay_command(
    solver: SolverSpecs,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files, or folders of .smt2 files.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="Replay this corpus's formulas.")
    ] = None,
    seconds: Annotated[float, typer.Option("--limit", help="Seconds per file and solver.", min=0.1)] = 10.0,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Run solvers on files, or on the formulas of a corpus.

    Says what is wrong: crashes, invalid models, answers that differ. Exit code 1 says that something is.
    """
    solvers = find_solvers(solver)
    if bool(paths) == bool(corpus):
        raise typer.BadParameter("name either files and folders, or a --corpus")
    if corpus is not None:
        with _corpus_files(corpus) as files:
            findings = _replay(files, solvers, seconds, jobs, json)
    else:
        findings = _replay(list(find_files(paths or [])), solvers, seconds, jobs, json)
    raise typer.Exit(Exit.FINDINGS if findings else Exit.DONE)


@contextmanager
def _corpus_files(corpus: Path) -> Iterator[list[Path]]:
    """The formulas of a corpus as files in a folder that lasts as long as the context."""
    with Corpus.open(corpus) as opened:
        rows = opened.rows(
            "select formula.id, body from current_formula as formula join text on text.id = text_id"
            " where commands > 0 order by formula.id"
        )
    with tempfile.TemporaryDirectory(prefix="exhume-replay-") as folder:
        files = []
        for identifier, body in rows:
            file = Path(folder) / f"formula-{identifier:06d}.smt2"
            file.write_text(body, encoding="utf-8")
            files.append(file)
        yield files


def _replay(files: list[Path], solvers: list[Solver], seconds: float, jobs: int, json: bool) -> int:
    """Replay and print; how many findings there were."""
    counts: dict[str, Counter[Outcome]] = {s.name: Counter() for s in solvers}
    rows: list[dict[str, object]] = []
    findings = 0
    if not files:
        raise typer.BadParameter("there is nothing to replay: no .smt2 file and no formula was found")
    with progress("replaying", json) as tick:
        for number, result in enumerate(replay(files, solvers, Limits(seconds=seconds), jobs), 1):
            tick(number, len(files))
            findings += len(result.findings)
            for row in result.rows:
                counts[row.solver][row.verdict.outcome] += 1
            if json:
                rows.extend(row.to_json() for row in result.rows)
            else:
                for line in _wrong_lines(result):
                    out.print(line, markup=False)
    if json:
        print_json(rows)
    else:
        show_outcomes(counts)
        out.print(f"{len(files)} files, {findings} findings")
    return findings


def _wrong_lines(result: ReplayResult) -> Iterator[str]:
    for candidate in result.findings:
        answers = "; ".join(
            f"{r.solver}: {' '.join(map(str, r.verdict.answers)) or r.verdict.outcome}" for r in result.rows
        )
        yield f"{candidate.finding_class} {candidate.label} {result.file} ({answers})"
