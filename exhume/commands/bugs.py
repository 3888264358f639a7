"""The commands bugs: build, list, show, checkout, run, verify, score, compare, export, site."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from packaging.version import Version

from base.errors import Exit
from base.files import put_text
from base.text import counted
from corpus.store import Corpus
from difftest.bugs.build import BuildReport, BuildSettings, Store, build
from difftest.bugs.checkout import check_out
from difftest.bugs.components import Clones
from difftest.bugs.exporting import export
from difftest.bugs.records import BUGS, BUNDLED, REASONS, Benchmark, Bug, write_records
from difftest.bugs.scoring import FuzzerLimits, Judge, known_in, read_score, score
from difftest.bugs.shelf import OPTION, RUN_SECONDS, Shelf
from difftest.bugs.statistics import Fuzzer, compare
from difftest.bugs.triggers import triggers_of
from difftest.bugs.verifying import run_bug, verify
from difftest.errors import DifftestError, writing
from difftest.triage.kinds import State
from difftest.triage.release_search import position
from exhume.commands.bugs_site import site_command
from exhume.commands.help import PlainGroup
from exhume.commands.options import BenchmarkFolder, CorpusFile, Jobs, Json, RunLimit, parse_duration
from exhume.screens.console import out, print_json, print_text, progress, say, show_table
from exhume.screens.interrupt import stop_on_interrupt
from solvers.errors import UnknownSolver
from solvers.lookup import find_solver
from solvers.registry import DISTRIBUTIONS, OLD_RELEASE
from solvers.running.runner import Runner
from solvers.specs import parse_spec

Identity = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the bug, or the beginning of it; see 'exhume bugs list'.")
]


group = typer.Typer(
    cls=PlainGroup,
    help="Build and use a benchmark of past bugs.\n\nEach has a trigger, the last release that shows"
    " it and the first that does not.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@group.command("build")
def build_command(
    corpus: CorpusFile,
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="BUGS", help="Folder of the benchmark and its state.")
    ],
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="Run the releases of this solver on every formula, instead of those of the formula's own"
            " solver. Repeat for more.",
        ),
    ] = None,
    seconds: RunLimit = RUN_SECONDS,
    probes: Annotated[
        int, typer.Option(help="Releases to run on a formula before the search.", min=3, metavar="N")
    ] = 9,
    reduce: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Reduce each formula for at most this time; 0 leaves it as it is.",
            min=0.0,
        ),
    ] = 0.0,
    licence: Annotated[
        str | None, typer.Option(help="Licence of the corpus's formulas, such as MIT.", metavar="TEXT")
    ] = None,
    repository: Annotated[
        list[Path] | None,
        typer.Option(
            "--repository",
            metavar="DIR",
            help="Clone of a solver's repository: if it has a bug's fixing commit, the changed files are"
            " recorded. Repeat for more.",
        ),
    ] = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Build a benchmark from the formulas of a corpus.

    Runs releases of each formula's solver, with the options of its failing run, and searches for the
    last release that shows the bug and the first that does not. Both are run again. Formulas without such a
    pair are kept with the reason. To resume after a stop, repeat the command. Several corpora can be built
    into one folder. Slowdowns need a --limit of at least 5.
    """
    if unknown := sorted(set(solver or ()) - DISTRIBUTIONS.keys()):
        raise typer.BadParameter(f"{unknown[0]!r} has no releases; use {', '.join(DISTRIBUTIONS)}")
    with Corpus.open(corpus) as opened:
        triggers = triggers_of(opened, solver or (), licence, Clones(repository or ()))
    if not triggers:
        raise DifftestError(f"{corpus} holds no formula: import or mine something first")
    settings = BuildSettings(seconds, probes, reduce)
    report = BuildReport(len(triggers))
    with Store(out_folder) as store, stop_on_interrupt() as stop, progress("examining", json) as tick:
        for report in build(store, triggers, settings, Shelf(), jobs, stop):
            tick(len({one.key for one in report.found}), report.triggers)
    _show_build(report, out_folder, json)
    if stop.is_set():
        raise typer.Exit(Exit.INTERRUPTED)


def _show_build(report: BuildReport, folder: Path, json: bool) -> None:
    classes = Counter((bug.solver, bug.finding_class) for bug in report.bugs)
    reasons = Counter(one.reason for one in report.unverified)
    for spec, problem in sorted(report.problems.items()):
        if not problem.startswith(OPTION):
            say(f"not run: {spec}: {problem}")
    if json:
        rows = [{"solver": s, "class": c, "bugs": n} for (s, c), n in sorted(classes.items())]
        keys = {"triggers": report.triggers, "done": report.done, "bugs": rows, "unverified": dict(reasons)}
        print_json({**keys, "problems": report.problems})
        return
    show_table(
        ["solver", "class", "bugs"], [[s, c, str(n)] for (s, c), n in sorted(classes.items())], frozenset({2})
    )
    out.print(f"{counted(len(report.bugs), 'bug')} of {counted(report.triggers, 'trigger')} in {folder}")
    for reason, count in reasons.most_common():
        out.print(f"{count} without a pair, {reason}: {REASONS[reason]}")
    left = report.triggers - len({one.key for one in report.found})
    if left:
        say(f"{left} triggers are left; repeat the command to resume")


@group.command("list")
def list_command(
    folder: BenchmarkFolder = BUNDLED,
    solver: Annotated[
        str | None, typer.Option("--solver", metavar="NAME", help="Only bugs of this solver.")
    ] = None,
    finding_class: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Only bugs of this class.")
    ] = None,
    fixed_by: Annotated[
        str | None,
        typer.Option("--fixed-by", metavar="SPEC", help="Only bugs that this release no longer has."),
    ] = None,
    fixed_after: Annotated[
        str | None,
        typer.Option("--fixed-after", metavar="SPEC", help="Only bugs that were fixed after this release."),
    ] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="List the triggers without a pair instead.")
    ] = False,
    json: Json = False,
) -> None:
    """List the bugs of a benchmark.

    --fixed-by and --fixed-after split the bugs of a solver at one release: learn from those that were fixed
    by then, and measure on those that were fixed later.
    """
    families = {_release(spec)[0] for spec in (fixed_by, fixed_after) if spec is not None}
    if len(families) > 1:
        raise typer.BadParameter("--fixed-by and --fixed-after must name releases of the same solver")
    if unverified and (finding_class is not None or families):
        raise typer.BadParameter(
            "--unverified takes only --solver: a trigger without a pair has no class and no good release"
        )
    benchmark = Benchmark(folder)
    if unverified:
        _list_unverified(benchmark, solver, json)
        return
    rows = [
        bug
        for bug in benchmark.bugs.values()
        if solver in (None, bug.solver)
        and finding_class in (None, bug.finding_class)
        and (fixed_by is None or _is_fixed_by(bug, fixed_by))
        and (fixed_after is None or not _is_fixed_by(bug, fixed_after))
        and families <= {bug.solver}
    ]
    if not rows:
        _say_unknown("bug", "solver", solver, {bug.solver for bug in benchmark.bugs.values()})
        _say_unknown("bug", "class", finding_class, {bug.finding_class for bug in benchmark.bugs.values()})
    if json:
        print_json([_row(bug) for bug in rows])
        return
    table = [
        [*(bug.id, bug.finding_class, bug.last_bad, bug.first_good), bug.origin, "flaky" * bug.flaky]
        for bug in rows
    ]
    show_table(["id", "class", "last bad", "first good", "origin", ""], table)
    out.print(counted(len(rows), "bug"))


def _say_unknown(row: str, what: str, given: str | None, known: set[str]) -> None:
    """A line if no row of the benchmark has the ``given`` solver or class: it may be misspelt."""
    if given is not None and known and given not in known:
        say(f"no {row} has the {what} {given!r}; there are {', '.join(sorted(known))}")


def _release(text: str) -> tuple[str, str]:
    """The solver and the release that a spec without options names."""
    spec = parse_spec(text)
    if spec.release is None or spec.family not in DISTRIBUTIONS or spec.options:
        raise UnknownSolver(text, f"name a release, such as {OLD_RELEASE}")
    return spec.family, spec.release


def _is_fixed_by(bug: Bug, spec: str) -> bool:
    return Version(bug.first_good) <= Version(_release(spec)[1])


def _list_unverified(benchmark: Benchmark, solver: str | None, json: bool) -> None:
    rows = [row for row in benchmark.unverified if solver in (None, row.solver)]
    if not rows:
        _say_unknown("trigger", "solver", solver, {row.solver for row in benchmark.unverified})
    if json:
        keys = ("solver", "options", "issue", "sources", "reason", "detail")
        print_json([{key: getattr(row, key) for key in keys} for row in rows])
        return
    show_table(
        ["solver", "reason", "origin", "detail"],
        [[row.solver, row.reason, row.origin, row.detail] for row in rows],
        shrink=3,
    )


def _row(bug: Bug) -> dict[str, Any]:
    """A bug without its texts, what is looked for first at the front."""
    document = msgspec.to_builtins(bug)
    first = ("id", "solver", "class", "last_bad", "first_good", "flaky")
    rest = [key for key in document if key not in (*first, "text", "reduced", "strip")]
    row = {key: document[key] for key in (*first, *rest)}
    return row | {"sha256": bug.sha256, "releases_between": bug.between}


@group.command("show")
def show_command(identity: Identity, folder: BenchmarkFolder = BUNDLED, json: Json = False) -> None:
    """Show a bug: its formula, command lines, what is wrong, and what each release did."""
    bug = Benchmark(folder).bug(identity)
    if json:
        print_json(
            {**_row(bug), "text": bug.text, "reduced": bug.reduced, "strip": list(map(_seen, bug.strip))}
        )
        return
    out.print(f"{bug.id}: {bug.finding_class}{f', {bug.direction}' if bug.direction else ''}")
    out.print(f"last bad: {bug.spec(bug.last_bad)}")
    out.print(f"first good: {bug.spec(bug.first_good)}")
    for sentence in bug.evidence:
        out.print(f"evidence: {sentence}")
    out.print(f"origin: {', '.join(filter(None, (bug.url, *bug.sources)))}")
    answers = [" ".join(answer or "-" for answer in seen.answers) for seen in bug.strip]
    rows = [[s.release, s.outcome, a, s.detail] for s, a in zip(bug.strip, answers, strict=True)]
    show_table(["release", "outcome", "answers", "detail"], rows, shrink=3)
    out.print()
    print_text((bug.reduced or bug.text).rstrip("\n"))


def _seen(seen: Any) -> dict[str, Any]:
    return {"release": seen.release, "outcome": seen.outcome, "answers": seen.answers, "detail": seen.detail}


@group.command("checkout")
def checkout_command(
    identity: Identity,
    target: Annotated[Path, typer.Argument(metavar="DIR", help="New or empty folder.")],
    folder: BenchmarkFolder = BUNDLED,
) -> None:
    """Write a bug to a folder: its formula and programs that run both releases on it.

    DIR/bad runs the last release that shows the bug, DIR/good the first that does not.
    """
    bug = Benchmark(folder).bug(identity)
    for file in check_out(bug, target, Shelf()):
        out.print(str(file))


@group.command("run")
def run_command(
    identity: Identity,
    folder: BenchmarkFolder = BUNDLED,
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver", metavar="SPEC", help="Solver to run instead of the last release that shows the bug."
        ),
    ] = None,
    seconds: RunLimit = RUN_SECONDS,
    json: Json = False,
) -> None:
    """Run a solver on a bug.

    Exit code 1: the bug shows; 0: it does not; 3: the run does not decide it (the formula is refused, or out
    of time or memory). Options of the bug are used unless SPEC has its own.
    """
    bug = Benchmark(folder).bug(identity)
    spec = solver or bug.spec(bug.last_bad)
    found = find_solver(spec)
    if bug.options and not found.spec_options and found.family == bug.solver:
        found = found.with_options(bug.options)
    found.check_starts()
    with Runner(warm=False) as runner:
        seen, state = run_bug(bug, found, runner, seconds)
    if json:
        print_json({"id": bug.id, "solver": found.spec, "state": str(state), **_seen(seen)})
    else:
        words = {State.AFFECTED: "shows", State.FREE: "does not show", State.SKIPPED: "does not decide"}
        said = " ".join(answer or "-" for answer in seen.answers)
        rest = f"; {seen.detail}" if seen.detail else ""
        out.print(f"{found.spec} {words[state]} {bug.id} ({seen.outcome}{said and f', {said}'}{rest})")
    codes = {State.AFFECTED: Exit.FINDINGS, State.FREE: Exit.DONE, State.SKIPPED: Exit.ENVIRONMENT}
    raise typer.Exit(codes[state])


@group.command("verify")
def verify_command(
    folder: BenchmarkFolder = BUNDLED,
    times: Annotated[int, typer.Option(help="Runs of each release.", min=1, metavar="N")] = 1,
    mark: Annotated[
        bool, typer.Option("--mark", help="Mark the bugs whose runs differ as flaky in the benchmark.")
    ] = False,
    seconds: RunLimit = RUN_SECONDS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Run both releases of every bug again.

    Lists the bugs whose runs are not as recorded. Exit code 1: there are some that are not marked flaky.
    """
    if mark and folder == BUNDLED:
        raise typer.BadParameter("--mark changes the benchmark: name one of your own with --bugs")
    bugs = list(Benchmark(folder).bugs.values())
    done = []
    with stop_on_interrupt() as stop, progress("verifying", json) as tick:
        for checked in verify(bugs, Shelf(), times, seconds, jobs, stop):
            done.append(checked)
            tick(len(done), len(bugs))
    wrong = [checked for checked in done if not checked.holds]
    if mark and wrong:
        ids = {checked.bug.id for checked in wrong if not checked.problem}
        write_records(folder / BUGS, [msgspec.structs.replace(b, flaky=b.flaky or b.id in ids) for b in bugs])
    rows = [
        {"id": c.bug.id, "flaky": c.bug.flaky, "bad": c.bad, "good": c.good, "problem": c.problem}
        for c in wrong
    ]
    if json:
        print_json({"verified": len(done) - len(wrong), "bugs": len(bugs), "wrong": rows})
    else:
        for c in wrong:
            said = c.problem or f"{c.bug.last_bad} {', '.join(c.bad)}; {c.bug.first_good} {', '.join(c.good)}"
            out.print(f"{c.bug.id}{' (flaky)' * c.bug.flaky}: {said}")
        out.print(f"{len(done) - len(wrong)} of {counted(len(bugs), 'bug')} verified")
    if stop.is_set():
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if any(not c.bug.flaky for c in wrong) else Exit.DONE)


@group.command("score", context_settings={"ignore_unknown_options": True})
def score_command(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="The fuzzer and its arguments, after --. {} stands for the folder that it writes to,"
            " {seed} for the number of the run.",
        ),
    ],
    against: Annotated[
        str,
        typer.Option("--against", metavar="SPEC", help=f"Release whose bugs count, such as {OLD_RELEASE}."),
    ],
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="New folder, or that of the score to resume.")
    ],
    duration: Annotated[
        str,
        typer.Option(
            "--time",
            metavar="DURATION",
            help="Time of the fuzzer in one run: 90s, 10m, 2h. The time to run its tests is not included.",
        ),
    ] = "2h",
    folder: BenchmarkFolder = BUNDLED,
    repeats: Annotated[int, typer.Option(help="Number of runs.", min=1, metavar="N")] = 1,
    most_files: Annotated[
        int, typer.Option(help="Stop a run that has written more files than this.", min=1, metavar="N")
    ] = 100_000,
    seconds: RunLimit = RUN_SECONDS,
    json: Json = False,
) -> None:
    """Measure which known bugs of a release a fuzzer finds, and when.

    COMMAND is any program that writes .smt2 files into its working folder, which is a new one: paths in it
    must be absolute. What it prints is not read. After each run, its tests are
    run on the release in the order in which they were written; times are those of one process that runs
    each test as soon as it is written. A test belongs to the known bugs with its class, its first good
    release and its key. DIR/score.json has the results; 'exhume bugs compare' reads it. To resume a score
    that was stopped or killed, repeat the command.
    """
    family, release = _release(against)
    find_solver(against).check_starts()
    shelf = Shelf()
    # An error before the fuzzer runs.
    position(shelf.releases(family), release)
    known = known_in(Benchmark(folder).bugs.values(), family, release)
    if not known:
        raise DifftestError(f"{folder} has no bug of {against} that shows without options")
    judge = Judge(family, release, known, shelf, seconds)
    limits = FuzzerLimits(parse_duration(duration), most_files)
    document: dict[str, Any] = {}
    with stop_on_interrupt() as stop:
        bar = partial(progress, quiet=json)
        for document in score(command, judge, out_folder, limits, repeats, stop, bar):
            _show_run(document["runs"][-1], len(known))
    if json:
        print_json(document)
    elif document:
        _show_score(Fuzzer.of(out_folder.resolve().name, document))
    if stop.is_set():
        say("repeat the command to resume; runs that ended are kept")
        raise typer.Exit(Exit.INTERRUPTED)


def _show_run(run: dict[str, Any], known: int) -> None:
    skipped = ", ".join(f"{reason} {count}" for reason, count in sorted(run["skipped"].items()))
    tests = counted(run["tests"], "test")
    say(f"the fuzzer ended: {run['ended']}; {run['run_tests']} of {tests} run in time")
    if skipped:
        say(f"skipped: {skipped}")
    show = "test shows" if len(run["hits"]) == 1 else "tests show"
    say(f"{len(run['hits'])} {show} a bug; {len(run['found'])} of {known} known bugs found")


def _show_score(fuzzer: Fuzzer) -> None:
    first = {bug: [run[bug] for run in fuzzer.found if bug in run] for bug in fuzzer.bugs}
    rows = [
        [bug, f"{len(times)} of {len(fuzzer.found)}", f"{min(times):.0f} s"]
        for bug, times in first.items()
        if times
    ]
    show_table(["bug", "found in runs", "first after"], rows, frozenset({2}))
    out.print(f"{len(rows)} of {len(fuzzer.bugs)} known bugs found")


@group.command("compare")
def compare_command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of 'exhume bugs score', one per fuzzer.")
    ],
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Also draw the bugs found over time.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare the scores of fuzzers.

    Bugs that were not found are censored at the end of the time: medians are Kaplan-Meier's, p-values those
    of the log-rank test (time to bug) and of Mann and Whitney's test (bugs per run). A12 is the probability
    that a run of the first fuzzer finds more bugs than one of the second.
    """
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = list(map(str, folders))
    fuzzers = [Fuzzer.of(name, read_score(f)) for name, f in zip(names, folders, strict=True)]
    compared = compare(fuzzers)
    if svg is not None:
        _draw(fuzzers, svg)
    if json:
        rows = [{"name": f.name, "bugs": f.counts, "median_seconds": f.median} for f in fuzzers]
        print_json({"fuzzers": rows, "comparisons": [asdict(pair) for pair in compared]})
        return
    table = []
    for f in fuzzers:
        median = f"{f.median:.0f} s" if f.median is not None else "-"
        table.append([f.name, str(len(f.counts)), " ".join(map(str, f.counts)), str(len(f.bugs)), median])
    show_table(["fuzzer", "runs", "bugs found", "known", "median time to bug"], table)
    for pair in compared:
        said = [f"{p:.3g}" if p is not None else "-" for p in (pair.log_rank, pair.mann_whitney)]
        out.print(
            f"{pair.one} and {pair.other}: log-rank p {said[0]}, rank test p {said[1]}, A12 {pair.a12:.2f}"
        )


def _draw(fuzzers: list[Fuzzer], file: Path) -> None:
    # Drawing takes a second to load; the other commands do without.
    from exhume.pages.plots import curves, standalone

    series = {fuzzer.name: fuzzer.curve() for fuzzer in fuzzers}
    drawn = curves("bugs", series, fuzzers[0].seconds, "seconds", "known bugs found (mean of runs)")
    with writing(file):
        put_text(file, standalone(drawn))


@group.command("export")
def export_command(
    target: Annotated[Path, typer.Option("--out", metavar="DIR", help="New folder.")],
    folder: BenchmarkFolder = BUNDLED,
    json: Json = False,
) -> None:
    """Export a benchmark: Parquet, SQLite, Croissant metadata, a data sheet and checksums.

    The same benchmark gives the same bytes.
    """
    sums = export(Benchmark(folder), target)
    if json:
        print_json(sums)
        return
    for name in sorted(sums):
        out.print(f"{sums[name]}  {name}")


group.command("site")(site_command)
