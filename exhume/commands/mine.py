"""Commands that fill a corpus from trackers: mine, refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from corpus.store import Corpus
from exhume.commands.options import CorpusFile, Json
from exhume.screens.console import err, out, print_json, say
from miner.attachments import Downloader
from miner.crawl import TrackerGone
from miner.dumps import mine_files
from miner.errors import MinerError
from miner.hosts import Place, known_hosts, locate
from miner.hosts.http import Client, Waiting
from miner.mining import Listener, Live, MineOptions, mine_tracker, mined_trackers, replay_tracker
from miner.refreshing import CONFIG, parse_date, read_config, refresh
from miner.storing import TrackerReport
from solvers.registry import TRACKER


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("mine")(mine_command)
    app.command("refresh")(refresh_command)


def mine_command(
    corpus: CorpusFile,
    trackers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TRACKER...",
            help=f"Trackers by name, such as {TRACKER}, or by address: https://gitlab.com/GROUP/PROJECT.",
        ),
    ] = None,
    dumps: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE|DIR",
            help="Mine what 'gh issue list --json' or 'gh api --paginate' prints, a folder of the API's JSON,"
            " or another corpus, without a network. TRACKER names the tracker where objects do not.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"The kind of host: {', '.join(known_hosts())}.  [default: as addresses say, else github]",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only issues updated since then: 2024-05-31.")
    ] = None,
    api_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Base URL of the API, e.g. of a server of your own."),
    ] = None,
    attachments: Annotated[
        bool, typer.Option("--attachments", help="Fetch attached files, from the host's own servers.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Include open issues and issues that are not bugs.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Read again what is stored, without a network.")
    ] = False,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Also look for issues that were deleted (100 a request).")
    ] = False,
    json: Json = False,
) -> None:
    """Mine issue trackers into a corpus: closed bug reports, their formulas and their history.

    The token is GITHUB_TOKEN or GITLAB_TOKEN, or that of 'gh auth login'; without one GitHub allows 60
    requests an hour. The next run fetches only what changed, and resumes a run that was stopped.
    """
    places = [locate(tracker, host, api_url) for tracker in trackers or []]
    options = MineOptions(None if since is None else parse_date(since), everything, attachments, recheck)
    if not places and not replay and not dumps:
        raise typer.BadParameter(f"name a tracker, such as {TRACKER}, or a dump with --from")
    if dumps and (replay or len(places) > 1):
        raise typer.BadParameter("--from takes one TRACKER at most, and no --replay")
    if replay and not corpus.exists():
        raise typer.BadParameter(f"there is no corpus {corpus} to replay")
    # Before the corpus is locked: whoever holds the token may ask for it.
    clients = {} if replay or dumps else _connected(places)
    results = _Results()
    with Corpus.open(corpus, write=True) as opened, _watched(json) as listener:
        if dumps:
            place = places[0] if places else None
            for dump in dumps:
                results.add(str(dump), lambda: mine_files(opened, dump, options, listener, place))  # noqa: B023
        elif replay:
            for name in [place.name for place in places] or mined_trackers(opened):
                results.add(name, lambda: [replay_tracker(opened, name, options, listener)])  # noqa: B023
        for place in places if clients else ():
            downloader = Downloader(options.limits, on_waiting=_tell_waiting)
            live = Live(place.host, clients[place.api_url], downloader)
            results.add(place.name, lambda: [mine_tracker(opened, live, place.name, options, listener)])  # noqa: B023
    for client in clients.values():
        client.close()
    _show_mined(results.reports, results.problems, corpus, json)
    if results.code:
        raise typer.Exit(results.code)


@dataclass(slots=True)
class _Results:
    """What became of each tracker; one that fails does not stop the others."""

    reports: list[TrackerReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    code: int = Exit.DONE

    def add(self, name: str, work: Callable[[], list[TrackerReport]]) -> None:
        """Do one thing, and keep its reports or its error."""
        try:
            reports = work()
        except MinerError as error:
            self.problems.append(f"{name}: {error}")
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
            place.api_url, place.host.find_token(place.api_url), on_waiting=_tell_waiting
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
    if report.skipped:
        parts.append(f"{report.skipped} objects are neither issues nor comments")
    if report.renamed_to:
        parts.append(f"the tracker is called {report.renamed_to} now")
    return ", ".join(parts)


def refresh_command(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="Which trackers, and where the corpus is.")
    ] = Path(CONFIG),
    json: Json = False,
) -> None:
    """Mine, extract and learn for all trackers of exhume.toml.

    Safe to run on a schedule: a second run changes nothing, and one that was stopped is resumed.
    """
    told = read_config(config)
    # Before the corpus is locked: whoever holds the token may ask for it.
    clients = _connected([tracker.place for tracker in told.trackers])
    wants_files = any(tracker.options.attachments for tracker in told.trackers)
    downloader = Downloader(on_waiting=_tell_waiting) if wants_files else None
    with Corpus.open(told.corpus, write=True) as opened, _watched(json) as listener:
        report = refresh(
            opened,
            told,
            clients,
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
    """Say until when it waits."""
    minutes = f"{waiting.seconds / 60:.0f} min" if waiting.seconds >= 90 else f"{waiting.seconds:.0f} s"
    clock = datetime.fromtimestamp(waiting.until).astimezone().strftime("%H:%M:%S")
    say(f"{waiting.why}: resumes at {clock} (in {minutes})")


@contextmanager
def _watched(quiet: bool) -> Iterator[Listener]:
    """A line on a terminal that says what is being done."""
    if quiet or not err.is_terminal:
        with nullcontext():
            yield Listener()
        return
    with err.status("connecting") as status:
        yield Listener(
            lambda what, pages, items: status.update(f"fetching: {items} {what}, {pages} pages"),
            lambda done, total: status.update(f"reading: {done} of {total} issues"),
        )
