"""Commands that fill a corpus from trackers: mine, refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from base.text import counted
from corpus.store import Corpus
from exhume.commands.options import CorpusFile, Json, existing
from exhume.screens.console import err, out, print_json, say
from exhume.screens.wording import command_line
from miner.attachments import Downloader
from miner.crawl import TrackerGone
from miner.dumps import mine_files, require_dump
from miner.errors import BadDump, BadInput, MinerError
from miner.hosts import Place, known_hosts, locate
from miner.hosts.http import Client, Waiting
from miner.mining import (
    Listener,
    Live,
    MineOptions,
    NothingStored,
    mine_tracker,
    mined_trackers,
    replay_tracker,
)
from miner.refreshing import CONFIG, parse_date, read_config, refresh
from miner.storing import TrackerReport
from solvers.registry import TRACKER


def mine_command(
    corpus: CorpusFile,
    trackers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TRACKER",
            help=f"Trackers, by name ({TRACKER}) or by address (https://gitlab.com/GROUP/PROJECT).",
        ),
    ] = None,
    dumps: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE|DIR",
            help="Mine offline from the output of 'gh issue list --json' or 'gh api --paginate', a folder"
            " of such files, or another corpus. If the objects do not name their tracker, give TRACKER.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Kind of host: {', '.join(known_hosts())}.  [default: from the address, or github]",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only issues updated since this day, e.g. 2024-05-31.")
    ] = None,
    api_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Base URL of the API, e.g. of a GitHub Enterprise server."),
    ] = None,
    attachments: Annotated[
        bool, typer.Option("--attachments", help="Also fetch files attached to issues.")
    ] = False,
    fix_files: Annotated[
        bool,
        typer.Option("--fix-files", help="Also fetch which files fixes changed (one request for each fix)."),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Include open issues and issues that are not bugs.")
    ] = False,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Read the stored raw records again, offline; for use after an upgrade."
        ),
    ] = False,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Also check for deleted issues (one request per 100 issues).")
    ] = False,
    json: Json = False,
) -> None:
    """Mine bug reports from issue trackers into a corpus.

    Stores closed bug reports with their formulas and their history. The access token is taken from
    GITHUB_TOKEN or GITLAB_TOKEN, or from the programs gh and glab; without one, GitHub allows 60 requests an
    hour. The next run fetches only what changed, and resumes a run that was stopped.
    """
    places = [_located(tracker, host, api_url) for tracker in trackers or []]
    options = MineOptions(
        None if since is None else parse_date(since), everything, attachments, recheck, fix_files
    )
    if not places and not replay and not dumps:
        raise typer.BadParameter(f"give a tracker, such as {TRACKER}, or a dump with --from")
    if dumps and (replay or len(places) > 1):
        raise typer.BadParameter("--from takes at most one TRACKER and cannot be used with --replay")
    if replay:
        existing(corpus)
    for dump in dumps or ():
        require_dump(dump)
    # Before the corpus is locked: the program that holds the token may ask the user for a password.
    clients = {} if replay or dumps else _connected(places)
    results = _Results()
    with Corpus.open(corpus, write=True) as opened, _watched(json) as listener:
        if dumps:
            place = places[0] if places else None
            for dump in dumps:
                results.add(str(dump), lambda: mine_files(opened, dump, options, listener, place))  # noqa: B023
        elif replay:
            names = [place.name for place in places] or mined_trackers(opened)
            if not names:
                raise NothingStored(f"{corpus} has no records of a tracker to read again: mine one first")
            for name in names:
                results.add(name, lambda: [replay_tracker(opened, name, options, listener)])  # noqa: B023
        for place in places if clients else ():
            downloader = Downloader(options.limits, on_waiting=_say_waiting)
            live = Live(place.host, clients[place.api_url], downloader)
            results.add(place.name, lambda: [mine_tracker(opened, live, place.name, options, listener)])  # noqa: B023
    for client in clients.values():
        client.close()
    _show_mined(results.reports, results.problems, corpus, json)
    if results.code:
        raise typer.Exit(results.code)


def _located(tracker: str, host: str | None, api_url: str | None) -> Place:
    """Where a tracker is. Raises BadInput."""
    try:
        return locate(tracker, host, api_url)
    except BadInput:
        if Path(tracker).exists():
            raise BadInput(f"{tracker} is a file or folder, not a tracker: name it with --from") from None
        raise


@dataclass(slots=True)
class _Results:
    """The reports per tracker. A tracker that fails does not stop the others."""

    reports: list[TrackerReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    code: int = Exit.DONE

    def add(self, name: str, work: Callable[[], list[TrackerReport]]) -> None:
        """Run ``work`` and keep its reports or its error."""
        try:
            reports = work()
        except MinerError as error:
            self.problems.append(str(error) if isinstance(error, BadDump) else f"{name}: {error}")
            self.code = max(self.code, error.exit_code)
            return
        self.reports += reports
        for problem in dict.fromkeys(
            f"{report.tracker}: {report.problem}" for report in reports if report.problem
        ):
            self.problems.append(problem)
            self.code = max(self.code, TrackerGone.exit_code)


def _connected(places: Sequence[Place]) -> dict[str, Client]:
    """A client for each API."""
    return {
        place.api_url: place.host.connect(
            place.api_url, place.host.find_token(place.api_url), on_waiting=_say_waiting
        )
        for place in {place.api_url: place for place in places}.values()
    }


def _show_mined(reports: list[TrackerReport], problems: list[str], corpus: Path, json: bool) -> None:
    if json:
        print_json({"trackers": [asdict(report) for report in reports], "problems": problems})
    else:
        for report in reports:
            out.print(_line_of(report))
        if any(report.new_formulas for report in reports):
            say(f"next: {command_line('learn', '--corpus', corpus)}")
    for problem in problems:
        say(f"exhume: {problem}")


def _line_of(report: TrackerReport) -> str:
    parts = [
        f"{report.tracker}: {counted(report.new_issues, 'new issue')},"
        f" {counted(report.new_formulas, 'new formula')}"
        f" ({counted(report.issues_seen, 'issue')} listed, {report.issues_read} read,"
        f" {report.issues_stored} stored;"
        f" {counted(report.requests, 'request')})"
    ]
    if report.attachments:
        parts.append(counted(report.attachments, "attachment"))
    if report.fixes:
        parts.append(f"files of {report.fixes} fix{'es' * (report.fixes != 1)}")
    if report.deleted:
        parts.append(f"{counted(report.deleted, 'issue')} deleted from the tracker")
    if report.skipped:
        parts.append(f"skipped {counted(report.skipped, 'object')} that are neither issues nor comments")
    if report.renamed_to:
        parts.append(f"the tracker was renamed to {report.renamed_to}")
    return ", ".join(parts)


def refresh_command(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="File that names the trackers and the corpus.")
    ] = Path(CONFIG),
    json: Json = False,
) -> None:
    """Update the corpus of exhume.toml: mine, extract and learn.

    Safe to run on a schedule: if nothing changed in the trackers, nothing changes in the corpus. A run that
    was stopped is resumed.
    """
    settings = read_config(config)
    # Before the corpus is locked: the program that holds the token may ask the user for a password.
    clients = _connected([tracker.place for tracker in settings.trackers])
    needs_files = any(tracker.options.attachments for tracker in settings.trackers)
    downloader = Downloader(on_waiting=_say_waiting) if needs_files else None
    with Corpus.open(settings.corpus, write=True) as opened, _watched(json) as listener:
        report = refresh(opened, settings, clients, listener, downloader)
    for problem in report.problems:
        say(f"exhume: {problem}")
    if json:
        print_json(asdict(report))
    else:
        out.print(report.summary())
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _say_waiting(waiting: Waiting) -> None:
    """Say how long a rate limit makes us wait."""
    minutes = f"{waiting.seconds / 60:.0f} min" if waiting.seconds >= 90 else f"{waiting.seconds:.0f} s"
    clock = datetime.fromtimestamp(waiting.until).astimezone().strftime("%H:%M:%S")
    say(f"{waiting.why}: resumes at {clock} (in {minutes})")


@contextmanager
def _watched(quiet: bool) -> Iterator[Listener]:
    """Show progress in one line on a terminal."""
    if quiet or not err.is_terminal:
        yield Listener()
        return
    with err.status("connecting") as status:
        yield Listener(
            lambda what, pages, items: status.update(f"fetching: {items} {what}, {pages} pages"),
            lambda done, total: status.update(f"reading: {done} of {total} issues"),
        )
