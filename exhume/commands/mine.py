"""Commands that fill a corpus from trackers: mine, refresh.

The client is imported where it is needed: PyGithub takes a quarter of a second, for which no other command
should wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from corpus.store import Corpus
from exhume.commands.options import CorpusFile, Json
from exhume.screens.console import err, out, print_json, say
from miner.answers import API_URL, Waiting
from miner.attachments import Downloader
from miner.crawl import RepositoryGone
from miner.errors import MinerError
from miner.mining import (
    Listener,
    MineOptions,
    TrackerReport,
    mine_tracker,
    mined_trackers,
    parse_tracker,
    replay_tracker,
)
from miner.refreshing import CONFIG, parse_date, read_config, refresh


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("mine")(mine_command)
    app.command("refresh")(refresh_command)


def mine_command(
    corpus: CorpusFile,
    trackers: Annotated[
        list[str] | None,
        typer.Argument(metavar="OWNER/REPO...", help="Repositories on GitHub, such as Z3Prover/z3."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only issues updated since then: 2024-05-31.")
    ] = None,
    api_url: Annotated[
        str, typer.Option(metavar="URL", help="Another API, as GitHub Enterprise has it.")
    ] = API_URL,
    attachments: Annotated[
        bool, typer.Option("--attachments", help="Fetch attached files, from GitHub's own hosts.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Open issues too, and those that are about no bug.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Read again what is stored, without a network.")
    ] = False,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Look for issues that were deleted, too (100 a request).")
    ] = False,
    json: Json = False,
) -> None:
    """Mine issue trackers into a corpus: closed bug reports, their formulas and their history.

    The token is GITHUB_TOKEN, or that of 'gh auth login'; without one GitHub allows 60 requests an hour.
    Run again, only what changed is fetched. A run that was stopped goes on where it was.
    """
    from miner.github import GitHubClient, find_token

    names = [parse_tracker(tracker) for tracker in trackers or []]
    options = MineOptions(None if since is None else parse_date(since), everything, attachments, recheck)
    if not names and not replay:
        raise typer.BadParameter("name a repository, such as Z3Prover/z3")
    if replay and not corpus.exists():
        raise typer.BadParameter(f"there is no corpus {corpus} to replay")
    # Before the corpus is locked: whoever holds the token may ask for it.
    client = None if replay else GitHubClient(api_url, find_token(api_url), on_waiting=_tell_waiting)
    with Corpus.open(corpus, write=True) as opened, _watched(json) as listener:

        def mine(name: str) -> TrackerReport:
            if client is None:
                return replay_tracker(opened, name, options, listener)
            downloader = Downloader(options.limits, on_waiting=_tell_waiting)
            return mine_tracker(opened, client, name, options, listener, downloader)

        reports, problems, code = _mine_each(names or mined_trackers(opened), mine)
    if client is not None:
        client.close()
    _show_mined(reports, problems, corpus, json)
    if code:
        raise typer.Exit(code)


def _mine_each(
    names: Iterable[str], mine: Callable[[str], TrackerReport]
) -> tuple[list[TrackerReport], list[str], int]:
    """Mine every tracker, also if one fails: the reports, the problems and the exit code."""
    reports, problems, code = [], [], int(Exit.DONE)
    for name in names:
        try:
            report = mine(name)
        except MinerError as error:
            problems.append(f"{name}: {error}")
            code = max(code, error.exit_code)
            continue
        reports.append(report)
        if report.problem:
            problems.append(f"{name}: {report.problem}")
            code = max(code, RepositoryGone.exit_code)
    return reports, problems, code


def _show_mined(reports: list[TrackerReport], problems: list[str], corpus: Path, json: bool) -> None:
    if json:
        print_json({"trackers": [asdict(report) for report in reports], "problems": problems})
    else:
        for report in reports:
            out.print(_line_of(report))
        if any(report.new_formulas for report in reports):
            say(f"next: exhume learn --corpus {corpus}")
    for problem in problems:
        say(f"exhume: {problem}")


def _line_of(report: TrackerReport) -> str:
    parts = [
        f"{report.tracker}: {report.new_issues} new issues, {report.new_formulas} new formulas"
        f" ({report.issues_seen} issues seen, {report.issues_read} read, {report.issues_stored} stored;"
        f" {report.requests} requests)"
    ]
    if report.attachments:
        parts.append(f"{report.attachments} attachments")
    if report.deleted:
        parts.append(f"{report.deleted} issues are gone from the tracker")
    if report.renamed_to:
        parts.append(f"the repository is called {report.renamed_to} now")
    return ", ".join(parts)


def refresh_command(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="Which trackers, and where the corpus is.")
    ] = Path(CONFIG),
    json: Json = False,
) -> None:
    """Mine, extract and learn for all trackers of exhume.toml.

    Safe to run on a schedule: twice changes nothing more, and what was stopped is gone on with.
    """
    from miner.github import GitHubClient, find_token

    told = read_config(config)
    tokens = {url: find_token(url) for url in {tracker.api_url for tracker in told.trackers}}
    wants_files = any(tracker.options.attachments for tracker in told.trackers)
    downloader = Downloader(on_waiting=_tell_waiting) if wants_files else None
    with Corpus.open(told.corpus, write=True) as opened, _watched(json) as listener:
        report = refresh(
            opened,
            told,
            lambda url: GitHubClient(url, tokens[url], on_waiting=_tell_waiting),
            listener,
            downloader,
        )
    for problem in report.problems:
        say(f"exhume: {problem}")
    if json:
        print_json(report.to_json())
    else:
        out.print(report.summary())
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _tell_waiting(waiting: Waiting) -> None:
    """Where it waits, a person wants to know until when."""
    minutes = f"{waiting.seconds / 60:.0f} min" if waiting.seconds >= 90 else f"{waiting.seconds:.0f} s"
    clock = datetime.fromtimestamp(waiting.until).astimezone().strftime("%H:%M:%S")
    say(f"{waiting.why}: goes on at {clock} (in {minutes})")


@contextmanager
def _watched(quiet: bool) -> Iterator[Listener]:
    """A line on a terminal that says what is being done."""
    if quiet or not err.is_terminal:
        with nullcontext():
            yield Listener()
        return
    with err.status("asking GitHub") as status:
        yield Listener(
            lambda what, pages, items: status.update(f"fetching: {items} {what}, {pages} pages"),
            lambda done, total: status.update(f"reading: {done} of {total} issues"),
        )
