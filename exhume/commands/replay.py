"""The command replay: run solvers on files or on the formulas of a corpus."""

from __future__ import annotations

import json as encoding
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from base.errors import Exit
from base.files import append_lines, put_bytes, put_text
from base.text import counted, first_of
from corpus.store import Corpus
from difftest import (
    Event,
    FoundFiles,
    HuntOptions,
    Limits,
    Outcome,
    ReplayResult,
    ReplayRow,
    Solver,
    Stage,
    TestDone,
    Verdict,
    find_solvers,
    replay,
)
from difftest.campaign.campaign import Campaign, CampaignEnd, CampaignSettings
from difftest.campaign.events import INTERNAL_ERRORS
from difftest.campaign.files import FileTests
from difftest.campaign.modes import ModeKind
from difftest.campaign.refusals import find_refusals, first_words
from difftest.campaign.stored import SettingsDiffer, read_campaign
from difftest.errors import InternalErrors
from difftest.oracles import select
from difftest.triage.store import prepare_output
from exhume.commands.campaigns import code_of, leave, run_campaign
from exhume.commands.finding_options import Earlier, KnownBefore, LedgerFile, Oracles, known_before
from exhume.commands.options import Jobs, Json, RunLimit, Seed, SolverSpecs
from exhume.screens.console import out, print_json, progress, say
from exhume.screens.hunt import Goal, HuntScreen
from exhume.screens.summary import show_outcomes, show_summary
from exhume.screens.wording import command_line

NO_BUG = "no-bug.txt"
"""The files that no finding names, beside the state of their run."""
_OUTCOMES = "outcomes.jsonl"
"""What each solver said to each file, beside the state of the run: a row of ``--json`` per line."""
_UNDECIDED = (Outcome.TIMEOUT, Outcome.MEMOUT, Outcome.UNKNOWN, Outcome.REFUSED)
_MOST_NAMED = 6
# Below the folder of a campaign: the formulas of the corpus that it runs.
_FORMULAS = "formulas"


def replay_command(
    solver: SolverSpecs,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help=".smt2 files, or folders of them.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="FILE", help="Use the formulas of this corpus instead of files."),
    ] = None,
    seconds: RunLimit = 10.0,
    jobs: Jobs = 1,
    oracles: Oracles = None,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Store findings in this folder, as a hunt does."),
    ] = None,
    modes: Annotated[
        ModeKind,
        typer.Option(
            help="With --out: run each file with one solver under random options (options), tactics"
            " (tactics), either (all), or also experimental options (experimental). --seed determines the"
            " choice."
        ),
    ] = ModeKind.DEFAULT,
    seed: Seed = 1,
    ledger: LedgerFile = None,
    earlier: Earlier = None,
    json: Json = False,
) -> None:
    """Run solvers on existing files or on the formulas of a corpus.

    Reports crashes, invalid models and disagreements. With --out, findings are confirmed in a fresh
    process, deduplicated and stored as folders in DIR/findings, so that they can be reduced, bisected and
    reported. --json has what each solver said to each file ("files"). Exit code 1: there are findings.
    """
    if out_folder is None and (ledger or earlier):
        raise typer.BadParameter("--ledger and --earlier require stored findings: add --out DIR")
    if out_folder is None and modes is not ModeKind.DEFAULT:
        raise typer.BadParameter("findings under --modes must be stored with their options: add --out DIR")
    names = select(oracles) if oracles else ()
    solvers = find_solvers(solver, texts=True)
    if bool(paths) == bool(corpus):
        raise typer.BadParameter("give either files and folders, or a --corpus")
    with _corpus_files(corpus, out_folder) if corpus is not None else nullcontext(paths or []) as files:
        found = files_in(files, json)
        if out_folder is not None:
            tests = FileTests(found)
            options = options_for_files(tests, out_folder, seconds, jobs, names)
            options = replace(options, modes=modes, mode_share=1.0, seed=seed)
            title = f"exhume replay: findings in {out_folder}"
            known = known_before(ledger, earlier)
            end = run_files(tests, solvers, options, out_folder, title, json, known)
            _finish(end, tests, out_folder, json)
        raise typer.Exit(_replay(found, solvers, seconds, jobs, names, json))


def options_for_files(
    tests: FileTests, folder: Path, seconds: float, jobs: int = 1, oracles: tuple[str, ...] = ()
) -> HuntOptions:
    """How the files of another fuzzer are run: by programs, once, with the solvers' default options."""
    stages = (Stage(seconds, 1.0),)
    return HuntOptions(folder, jobs, tests=len(tests), oracles=oracles, stages=stages, warm=False)


def run_files(
    tests: FileTests,
    solvers: list[Solver],
    options: HuntOptions,
    state: Path,
    title: str,
    json: bool,
    known: KnownBefore,
) -> CampaignEnd:
    """Run solvers on files, as a hunt runs them on its tests. What is done is kept in the folder ``state``,
    so that the same run resumes after a kill. What is ``known`` is counted and not reported.
    """
    specs = tuple(solver.spec for solver in solvers)
    settings = CampaignSettings(specs, tests=len(tests), strategy=(tests.name,), bandit=False, **known)
    if options.modes is not ModeKind.DEFAULT:
        # Without modes the settings stay as earlier versions stored them, so that their replays resume.
        settings = replace(settings, modes=options.modes, mode_share=options.mode_share, seed=options.seed)
    options = replace(options, ledger=settings.read_ledger(options.out))
    goal = Goal(counted(len(tests), "file"))
    screen = _KeepsOutcomes(tests.found.files, state / _OUTCOMES, title, goal, json)
    try:
        end = run_campaign(Campaign(settings, solvers, [tests]), options, screen, kept=state)
    except SettingsDiffer as problem:
        raise SettingsDiffer(f"{problem}; or add files: exhume triage {state} --import FOLDER") from None
    bugs = sum(end.summary.statistics.get(INTERNAL_ERRORS, {}).values())
    if bugs and end.error is None and not end.summary.interrupted:
        # What an earlier run left out is not run again, and nothing is known of it.
        left_out = f"an earlier run left out {counted(bugs, 'task')} because of bugs in exhume"
        end = replace(end, error=InternalErrors(f"{left_out}: use another folder to run them again"))
    return end


class _KeepsOutcomes(HuntScreen):
    """The screen of a run of files, which also notes what each solver said to each of them."""

    def __init__(self, files: Sequence[str], kept: Path, title: str, goal: Goal, quiet: bool) -> None:
        super().__init__(title, goal, quiet)
        self._files = files
        self._kept = kept

    def show(self, event: Event) -> None:
        """Note the outcomes of a file, and update the screen."""
        if isinstance(event, TestDone):
            file = Path(self._files[event.index])
            rows = (ReplayRow(file, solver, verdict) for solver, verdict in event.verdicts.items())
            append_lines(self._kept, "\n".join(encoding.dumps(row.to_json()) for row in rows))
        super().show(event)


def _outcomes(kept: Path) -> list[dict[str, Any]]:
    """The rows that a run noted; of a file that ran twice, because the run was killed, the last ones."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    if kept.exists():
        for line in kept.read_text("utf-8").splitlines():
            with suppress(ValueError):  # cut off by a kill
                row = encoding.loads(line)
                rows[row["file"], row["solver"]] = row
    return list(rows.values())


def _show_undecided(rows: Sequence[Mapping[str, Any]]) -> None:
    """A line that names the first files that a solver did not decide, with the reason."""
    undecided: dict[str, str] = {}
    for row in rows:
        if row["outcome"] in _UNDECIDED:
            reason = f": {first_words(row['detail'])}" if row["outcome"] == Outcome.REFUSED else ""
            undecided.setdefault(row["file"], f"{row['solver']} {row['outcome']}{reason}")
    if not undecided:
        return
    more = " (see --json)" if len(undecided) > _MOST_NAMED else ""
    out.print(f"not decided by every solver: {counted(len(undecided), 'file')}{more}")
    for file, reason in list(undecided.items())[:_MOST_NAMED]:
        out.print(f"  {shortest(file)}: {reason}")


def shortest(file: str) -> str:
    """A path, or the same from here, if that is shorter."""
    return min(file, os.path.relpath(file), key=len)


def files_in(paths: list[Path], json: bool) -> FoundFiles:
    """The formulas at these paths; without any, a usage error."""
    with progress("looking for formulas", json) as tick:
        found = FoundFiles(paths, lambda seen: tick(seen, 0))
    if not found.files:
        raise typer.BadParameter(found.why_none(first_of([*map(str, paths)], _MOST_NAMED)))
    return found


def without_bug(tests: FileTests, end: CampaignEnd, out: Path, listed: Path) -> tuple[int, str]:
    """How many files of a run show no bug, and a line that says so: it names a few, and a file that lists
    them if there are more. Where the ledger silenced some, the line is about new bugs. Of a run that is not
    finished, it says how many are left, of one that bugs in exhume kept from judging files, how many.
    """
    done, every = end.summary.tests, len(tests)
    has_bugs = isinstance(end.error, InternalErrors)
    if end.summary.interrupted or (end.error and not has_bugs):
        shown = sum(row.duplicates + (not row.earlier) for row in read_campaign(listed.parent).findings)
        silent = max(0, done - shown - end.summary.unconfirmed)
        return silent, f"{every - done} of {counted(every, 'file')} left; repeat the command to run them"
    quiet = tests.without_finding(out)
    if has_bugs:
        judged = {tests.listed(row["file"]) for row in _outcomes(listed.parent / _OUTCOMES)}
        quiet = [file for file in quiet if file in judged]
    known = sum(end.summary.statistics.get("known", {}).values())
    show = "shows" if len(quiet) == every == 1 else "show"
    line = f"{len(quiet)} of {counted(every, 'file')} {show} no {'new ' * bool(known)}bug"
    if len(quiet) > _MOST_NAMED:
        put_text(listed, "".join(f"{file}\n" for file in quiet))
        line += f"; {listed} lists them"
    elif quiet:
        line += f": {', '.join(map(shortest, quiet))}"
    if has_bugs and done < every:
        line += f"; {counted(every - done, 'file')} could not be judged because of bugs in exhume"
    return max(0, len(quiet) - known), line


def _finish(end: CampaignEnd, tests: FileTests, folder: Path, json: bool) -> NoReturn:
    """Print the summary of a replay, and end the command."""
    summary = end.summary
    quiet, line = without_bug(tests, end, folder, folder / NO_BUG)
    rows = _outcomes(folder / _OUTCOMES)
    if json:
        counts = {"nothing_wrong": quiet, "skipped": +tests.found.skipped}
        print_json({**summary.to_json(), **counts, "files": rows})
        raise leave(end)
    show_summary(summary)
    out.print(line)
    _show_undecided(rows)
    if summary.unconfirmed:
        out.print(
            f"not confirmed: {summary.unconfirmed} (it did not show again in a fresh process, or solvers read"
            " one of its operators differently)"
        )
    if skipped := str(tests.found):
        say(skipped)
    if summary.findings:
        say(f"next: {command_line('reduce', '--all', folder)}")
    raise leave(end)


@contextmanager
def _corpus_files(corpus: Path, out_folder: Path | None) -> Iterator[list[Path]]:
    """The formulas of a corpus as files: below the folder of the campaign, whose findings name them, or in a
    temporary folder, deleted at the end of the context.
    """
    with Corpus.open(corpus) as opened:
        rows = opened.rows(
            "select formula.id, body from current_formula as formula"
            " join text on text.id = coalesce(script_text_id, text_id)"
            " where commands > 0 order by formula.id"
        )
    if not rows:
        raise typer.BadParameter(f"{corpus} has no formula to run: import or mine some")
    if out_folder is not None:
        kept = prepare_output(out_folder).parent / _FORMULAS
        kept.mkdir(exist_ok=True)
    with nullcontext(kept) if out_folder else tempfile.TemporaryDirectory(prefix="exhume-replay-") as folder:
        files = []
        for identifier, body in rows:
            file = Path(folder) / f"formula-{identifier:06d}.smt2"
            data = body.encode()
            # Another replay may be running on those of this folder.
            if not file.is_file() or file.read_bytes() != data:
                put_bytes(file, data)
            files.append(file)
        yield files


def _replay(
    found: FoundFiles, solvers: list[Solver], seconds: float, jobs: int, oracles: tuple[str, ...], json: bool
) -> Exit:
    """Run solvers on files and print the findings. Returns the exit code."""
    counts: dict[str, Counter[Outcome]] = {s.name: Counter() for s in solvers}
    refusals: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    wrong: list[dict[str, Any]] = []
    files = found.files
    with progress("replaying", json) as tick:
        limits = Limits(seconds=seconds)
        results = replay(map(Path, files), solvers, limits, jobs, warm=False, oracles=oracles)
        for number, result in enumerate(results, 1):
            tick(number, len(files))
            wrong += [
                {
                    "class": found.finding_class,
                    "solver": found.label,
                    "file": str(result.file),
                    "key": found.key,
                }
                for found in result.findings
            ]
            for row in result.rows:
                counts[row.solver][row.verdict.outcome] += 1
                if row.verdict.outcome is Outcome.REFUSED:
                    refusals.setdefault(row.solver, first_words(row.verdict.detail))
            rows += [row.to_json() for row in result.rows if json or row.verdict.outcome in _UNDECIDED]
            if not json:
                for line in _wrong_lines(result):
                    out.print(line)
    if json:
        outcomes = {name: {str(o): found.get(o, 0) for o in Outcome} for name, found in counts.items()}
        head = {"tests": len(files), "outcomes": outcomes, "findings": wrong}
        print_json({**head, "skipped": +found.skipped, "files": rows})
    else:
        show_outcomes(counts)
        out.print(f"{counted(len(files), 'file')}, {counted(len(wrong), 'finding')}")
        _show_undecided(rows)
        if skipped := str(found):
            say(skipped)
        if wrong:
            say("next: repeat with --out DIR to store the findings, then reduce, bisect and report them")
    return code_of(bool(wrong), find_refusals(counts, refusals))


def _wrong_lines(result: ReplayResult) -> Iterator[str]:
    for candidate in result.findings:
        said = "; ".join(f"{row.solver}: {_answers(row.verdict)}" for row in result.rows)
        reason = f"; {candidate.reason}" if candidate.reason else ""
        yield f"{candidate.finding_class} {candidate.label} {result.file} ({said}{reason})"


def _answers(verdict: Verdict) -> str:
    """The answers of a solver; without one, how its run ended."""
    return " ".join(answer or str(verdict.outcome) for answer in verdict.answers) or str(verdict.outcome)
