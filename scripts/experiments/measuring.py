"""What the experiments share: units that are measured once, commands on one core, causes, tables and pages.

An experiment is a list of units. Each is one run of one tool, kept in a folder of its own below ``units``,
and ends as one row in that folder's ``row.json``. A unit with a row is never measured again, so that an
experiment can be stopped at any time, and several processes on different cores can share its folder. To
continue on another machine, ``rows.parquet`` alone is enough.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
from typer import BadParameter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# Also for the experiments, which import all that they share from here.
from _common import ROOT
from _common import packaged as packaged
from _common import parser_of as parser_of
from _common import run_main as run_main

from base.files import new_file, put_json
from base.locks import lock_folder, locked
from corpus.store import Corpus, open_database
from difftest.bugs.exporting import write_parquet
from difftest.bugs.scoring import TESTS, FuzzerLimits, FuzzerRun, run_fuzzer
from difftest.bugs.statistics import Comparison, Fuzzer, compare
from difftest.campaign.stored import read_campaign
from difftest.errors import DifftestError
from difftest.triage.classes import class_of
from difftest.triage.facts import telling_options
from difftest.triage.folder import FindingFolder
from difftest.triage.key import Key, count_under
from difftest.triage.store import folders_of
from exhume.commands.options import parse_duration
from exhume.pages.plots import Plot
from exhume.pages.rendering import write_html
from exhume.screens.console import say
from exhume.screens.interrupt import stop_on_interrupt

EXHUME = (
    sys.executable,
    "-c",
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); import exhume.cli as c; c.main()",
)
"""The command line of this exhume, also from another folder."""
ROW = "row.json"
RUN = "run.json"
UNITS = "units"
ROWS = "rows.parquet"
CAMPAIGN = "campaign"

_LIMITS_OF_FILES = (1_000_000, 64 << 30)
# A tool that ends so often in a row without writing any file cannot run.
_MOST_FAILED_STARTS = 20
_SECONDS_TO_END = 60.0

# Sun et al., ICSE 2023, sections IV-B and IV-D: known unique bugs, distinguished by the correcting commit.
PAPERS = (
    ("HistFuzz, 139 formulas of issues before the releases", "z3 4.8.5, CVC4 1.7", "120", "11"),
    ("HistFuzz", "z3 4.8.14, cvc5 0.0.5", "120", "10"),
    ("HistFuzz, atoms at random", "z3 4.8.14, cvc5 0.0.5", "120", "9"),
    ("HistFuzz, skeletons of normal formulas, atoms at random", "z3 4.8.14, cvc5 0.0.5", "120", "7"),
)

Row = dict[str, Any]
Arms = dict[str, tuple[str, ...]]
"""The options of hunts, or of batches of tests, by name."""


class Stopped(Exception):
    """The experiment was stopped, or its time was up, while it worked on a unit."""


# Units

OPTIONS = "; with "
"""What follows it in a unit's ``what`` are options, separated by commas; earlier versions stored fewer."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its name, which is a path below the folder of the experiment, ``what`` it runs, and what makes
    its row in the folder that it gets. One that ``is_skipped`` is not measured now.
    """

    name: str
    what: str
    measure: Callable[[Path], Row]
    is_skipped: bool = False


def digest_of_files(files: Iterable[str | Path]) -> str:
    """Names the contents of files, whatever their names and order."""
    contents = sorted({sha256(Path(file).read_bytes()).hexdigest() for file in files})
    return sha256(" ".join(contents).encode()).hexdigest()[:12]


def digest_of_corpus(corpus: Path) -> str:
    """Names the formulas of a corpus, whatever else it holds. CorpusError if it cannot be read."""
    texts = "select distinct sha256(body) as h from current_formula join text on text.id = text_id"
    with Corpus.open(corpus) as opened:
        digest = opened.scalar(f"select sha256(coalesce(string_agg(h, ' ' order by h), '')) from ({texts})")
        return str(digest)[:12]


def _ran(stored: str, what: str) -> bool:
    """Whether a row that stored ``stored`` ran ``what``; it may have fewer options."""
    return what == stored or what.startswith((stored + OPTIONS, stored + ", "))


def measure_units(
    out: Path, units: Sequence[Unit], seconds: float, deadline: float, stop: threading.Event
) -> list[Row]:
    """Measure the units that have no row yet, in their order; the rows of all units that are done.

    DifftestError if the row of a unit says that it ran something else. No unit is started that could not run
    for ``seconds`` before the ``deadline`` (of ``time.monotonic``). Units that another process works on are
    left to it.

    A folder that has ``rows.parquet`` but no units begins with these rows.
    """
    if not (out / UNITS).exists():
        _unpack_rows(out)
    for unit in units:
        folder = out / UNITS / unit.name
        row = _read_row(folder)
        if row is not None and not _ran(row["what"], unit.what):
            raise DifftestError(f"{folder} ran {row['what']!r}, not {unit.what!r}: name a new folder")
    for number, unit in enumerate(units, 1):
        folder = out / UNITS / unit.name
        if unit.is_skipped or _read_row(folder) is not None:
            continue
        if stop.is_set() or time.monotonic() + seconds > deadline:
            say("stopped; repeat the command to resume")
            break
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = lock_folder(folder)
        except BlockingIOError:
            continue
        try:
            if _read_row(folder) is None:
                say(f"{number} of {len(units)}: {unit.name}")
                put_json(folder / ROW, {**unit.measure(folder), "unit": unit.name, "what": unit.what})
        except Stopped:
            say(f"{unit.name} is not finished; repeat the command to resume")
            break
        finally:
            os.close(lock)
    rows = ((unit.name, _read_row(out / UNITS / unit.name)) for unit in units)
    return [row | {"unit": name} for name, row in rows if row is not None]


def _unpack_rows(out: Path) -> None:
    """Make the folders of the units that ``rows.parquet`` has, all at once; DifftestError if the file has no
    such rows, or would put one elsewhere.
    """
    file = out / ROWS
    if not file.is_file():
        return
    try:
        with closing(open_database(settings={"threads": "1"})) as opened:
            table = opened.execute("select * from read_parquet(?)", [str(file)])
            columns = [(name, str(kind) == "JSON") for name, kind, *_ in table.description]
            kept: dict[str, Row] = {}
            for values in table.fetchall():
                pairs = zip(columns, values, strict=True)
                row = {name: json.loads(v) if is_json and v else v for (name, is_json), v in pairs}
                kept[row["unit"]] = row
    except (duckdb.Error, KeyError, ValueError) as problem:
        raise DifftestError(f"{file} has no rows of an experiment: {problem}; name a new folder") from problem
    with tempfile.TemporaryDirectory(dir=out, prefix=".units-") as drafts:
        draft = Path(drafts) / UNITS
        for name, row in kept.items():
            folder = (draft / name).resolve()
            if not folder.is_relative_to(draft.resolve()):
                raise DifftestError(f"{file} has a unit {name!r} outside {out}; name a new folder")
            folder.mkdir(parents=True)
            put_json(folder / ROW, row)
        if draft.exists():
            # Another process may have been first.
            with suppress(OSError):
                draft.rename(out / UNITS)


def _read_row(folder: Path) -> Row | None:
    file = folder / ROW
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else None


@contextmanager
def bounded(seconds: float | None) -> Iterator[tuple[threading.Event, float]]:
    """An event that Ctrl-C sets, and the end of ``seconds``; and the deadline itself."""
    with stop_on_interrupt() as stop:
        timer = threading.Timer(seconds or 0, stop.set)
        timer.daemon = True
        if seconds:
            timer.start()
        try:
            yield stop, time.monotonic() + seconds if seconds else float("inf")
        finally:
            timer.cancel()


def use_core(core: int | None) -> None:
    """Bind this process, and with it all that it starts, to one core."""
    if core is not None:
        os.sched_setaffinity(0, {core})


# Runs


def exhume(stop: threading.Event, *arguments: str) -> str:
    """Run an exhume command; its standard output. Stopped if ``stop`` is set before it ends, DifftestError
    with its exit code if it fails.
    """
    process = subprocess.Popen(
        [*EXHUME, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is passed on once, below
    )
    while True:
        try:
            said, problems = process.communicate(timeout=0.5)
            break
        except subprocess.TimeoutExpired:
            if stop.is_set():
                _end(process)
                raise Stopped from None
    if process.returncode not in (0, 1):
        last = problems.strip().rpartition("\n")[2]
        failed = DifftestError(f"exhume {shlex.join(arguments)}: exit code {process.returncode}: {last}")
        failed.exit_code = process.returncode
        raise failed
    return said


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def child_seconds() -> float:
    """Processor time of this process' ended children and of all that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_tool(command: Sequence[str], folder: Path, seconds: float, seed: int, stop: threading.Event) -> Row:
    """Run a tool for ``seconds``; a record of it, kept in the folder's ``run.json``: a run that was recorded
    is not repeated, one that was not is discarded.

    The tool is started again when it ends before its time (some end at the first bug). In its command ``{}``
    stands for the folder that it writes to, which is also its working folder and another one for every start,
    and ``{seed}`` for a number: the repeat's, and another one for every further start. DifftestError for a
    tool that cannot run.
    """
    if (folder / RUN).is_file():
        return dict(json.loads((folder / RUN).read_text("utf-8")))
    for earlier in folder.glob("start-*"):
        shutil.rmtree(earlier)
    before, begun, clock = child_seconds(), time.time(), time.monotonic()
    ended: list[str] = []
    failed = 0
    while (left := seconds - (time.monotonic() - clock)) > 0:
        argv = [part.replace("{seed}", str(seed + 1000 * len(ended))) for part in command]
        target = folder / f"start-{len(ended) + 1}"
        run: FuzzerRun = run_fuzzer(argv, target, FuzzerLimits(left, *_LIMITS_OF_FILES), stop)
        if stop.is_set():
            raise Stopped
        ended.append(run.ended)
        failed = 0 if run.tests or run.skipped else failed + 1
        if failed == _MOST_FAILED_STARTS:
            raise DifftestError(f"{shlex.join(argv)}: {failed} starts without a file: {run.ended}")
    record = {
        "begun": begun,
        "seconds": round(time.monotonic() - clock, 1),
        "cpu_seconds": round(child_seconds() - before, 1),
        "starts": len(ended),
        "ended": ended[-1],
    }
    put_json(folder / RUN, record)
    return record


def written_by(folder: Path, inside: Sequence[str]) -> list[Path]:
    """The folders below those of a tool's starts that hold its triggers; ``inside`` are their paths there."""
    starts = sorted(folder.glob(f"start-*/{TESTS}"))
    return [found for start in starts for one in inside or ("",) if (found := start / one).is_dir()]


def copied(corpus: Path, target: Path) -> Path:
    """A copy of a corpus, for one hunt: a hunt writes its findings into its corpus."""
    target.unlink(missing_ok=True)
    shutil.copyfile(corpus, target)
    return target


def learned_corpus(folder: Path, write: Callable[[Path], None], stop: threading.Event) -> Path:
    """A corpus of formulas alone, imported, learned and labelled once; ``write`` puts the formulas into the
    folder that it gets, ``formulas`` below ``folder``. Processes may share it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    corpus, draft, formulas = folder / "corpus.duckdb", folder / "draft.duckdb", folder / "formulas"
    with locked(folder / "lock"):
        if not corpus.exists():
            shutil.rmtree(formulas, ignore_errors=True)
            draft.unlink(missing_ok=True)
            formulas.mkdir()
            write(formulas)
            exhume(stop, "import", str(formulas), "--corpus", str(draft))
            for command in ("learn", "label"):
                exhume(stop, command, "--corpus", str(draft))
            draft.rename(corpus)
    return corpus


def hunt_command(specs: Sequence[str], options: Sequence[str], seconds: float) -> list[str]:
    """The command of a hunt, for ``run_tool``: its campaign comes to be in the folder ``campaign``.

    DifftestError for a spec with ``{}``, which would name that folder.
    """
    if wrong := [spec for spec in specs if "{}" in spec]:
        raise DifftestError(f"{wrong[0]!r}: write the command line without {{}}, the file then comes last")
    solvers = [part for spec in specs for part in ("--solver", spec)]
    times = ["--time", f"{seconds:g}s", "--seed", "{seed}", "--out", CAMPAIGN]
    return [*EXHUME, "hunt", *solvers, *times, *options]


def hunt_of(folder: Path) -> Path | None:
    """The campaign of a unit's hunt; None if it ended before it made one. Said aloud if it was started again,
    since only the first start counts.
    """
    found = [one for one in written_by(folder, (CAMPAIGN,)) if (one / "findings").is_dir()]
    if len(found) > 1:
        say(f"{folder} has {len(found)} campaigns, of which the first counts: delete it to measure it again")
    return found[0] if found else None


def counts_of_hunt(campaign: Path | None) -> Row:
    """How many tests a hunt ran, and how many of them all solvers decided."""
    if campaign is None:
        return {"tests": 0, "decided": 0}
    found = read_campaign(campaign)
    return {"tests": found.tests, "decided": found.decided}


# Causes


@dataclass(frozen=True, slots=True)
class Cause:
    """What is counted once: a key, and the first release that is free of it (empty where that is not known,
    ``none`` if the newest is not).
    """

    key: str
    first_good: str
    finding_class: str
    is_strict: bool

    @property
    def name(self) -> str:
        """Names it in tables."""
        return f"{self.key} {self.first_good}".strip()

    @property
    def is_severe(self) -> bool:
        """Whether its class is graver than a crash: a wrong answer, or a wrong step of a proof."""
        return class_of(self.finding_class).rank < class_of("crash").rank


def settle(campaign: Path, reduction: float, bisect: bool, stop: threading.Event) -> None:
    """Reduce the findings of a campaign for ``reduction`` seconds each (0: not at all), find their releases,
    and merge those of one cause.
    """
    if not any((campaign / "findings").iterdir()):
        return
    if reduction:
        exhume(stop, "reduce", "--all", str(campaign), "--time", f"{reduction:g}s")
    if bisect:
        exhume(stop, "bisect", "--all", str(campaign))
    exhume(stop, "triage", str(campaign))


def causes_of(campaign: Path | None) -> list[Cause]:
    """The causes of a campaign's findings. A key folds into a shorter one of the same first good release.

    Strict causes show with the solvers' default options, and are more than a missing or a slow answer.
    """
    found: dict[str, dict[str, Cause]] = {}
    folders = folders_of(campaign) if campaign and (campaign / "findings").is_dir() else []
    for folder in sorted(folders, key=lambda one: (len(one.key), one.key)):
        release = _first_good(folder)
        known = found.setdefault(release, {})
        key = count_under(folder.key, known)
        name = str(folder.data["class"])
        # The key of a crash at a place has no options.
        by_default = "[" not in folder.key and not telling_options(folder)
        strict = by_default and class_of(name).level == "error"
        if key not in known or (strict and not known[key].is_strict):
            known[key] = Cause(key, release, name, strict)
    return [cause for causes in found.values() for cause in causes.values()]


def _first_good(folder: FindingFolder) -> str:
    if not folder.bisection:
        return ""
    return str(folder.bisection.get("first_fixed") or "none")


def counted(causes: Sequence[Cause]) -> Row:
    """The columns of a row about causes. ``fewest`` counts what one release fixed of one class and solver
    once: it may be one cause, though one that shows as two classes counts twice.
    """
    fewest = {(cause.finding_class, Key.read(cause.key).solver_alone, cause.first_good) for cause in causes}
    return {
        "causes": len(causes),
        "fewest": len(fewest),
        "strict": sum(cause.is_strict for cause in causes),
        "severe": sum(cause.is_severe for cause in causes),
        "by_class": dict(sorted(Counter(cause.finding_class for cause in causes).items())),
        "names": sorted(cause.name for cause in causes),
    }


# Results


def ranked(one: Fuzzer, other: Fuzzer) -> Comparison:
    """Two tools that were measured on the same bugs: rank tests and effect size."""
    (found,) = compare([one, other])
    return found


def p_value(value: float | None) -> str:
    """A p-value for people; a dash without one."""
    return "-" if value is None else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page and of the terminal; all columns but the first ``texts`` are numbers."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1


def papers(rows: Sequence[Sequence[str]]) -> Table:
    """The papers' numbers, to stand beside ours."""
    note = "Sun et al., ICSE 2023: known unique bugs, distinguished by the commit that corrects them."
    return Table("The papers' numbers", note, ("tool", "releases", "hours", "bugs"), rows, 2)


@dataclass(frozen=True, slots=True)
class Results:
    """What a page and the terminal say of rows; ``columns`` are the rows' own, by name and type."""

    title: str
    about: str
    columns: Mapping[str, str]
    tables: Sequence[Table]
    plots: Sequence[Plot] = ()


def give_results(
    out: Path,
    rows: Sequence[Row],
    units: int,
    as_json: bool,
    results_of: Callable[[Sequence[Row]], Results],
) -> None:
    """Write the rows that there are of so many ``units``, and the page; print the rows or the tables."""
    if as_json:
        print(json.dumps(rows, indent=2))
    if not rows:
        return
    results = results_of(rows)
    _write(out, rows, results)
    if not as_json:
        show(results.tables)
    say(f"{out / 'index.html'} and {out / ROWS} have {len(rows)} of {units} units")


def show(tables: Sequence[Table]) -> None:
    """Print tables as Markdown."""
    for table in tables:
        print(f"\n{table.title}\n\n{table.note}\n")
        marks = ["---" if n < table.texts else "---:" for n in range(len(table.head))]
        for line in (table.head, marks, *table.rows):
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |")


def _write(out: Path, rows: Sequence[Row], results: Results) -> None:
    """Write ``rows.parquet`` and the page ``index.html``."""
    put_parquet(out / ROWS, rows, {"unit": "varchar", **results.columns})
    said = {name: getattr(results, name) for name in ("title", "about", "tables", "plots")}
    write_html(out / "index.html", "experiment.html", **said)


def put_parquet(file: Path, rows: Sequence[Row], columns: Mapping[str, str]) -> None:
    """Write rows as Parquet, which replaces the file as a whole."""
    with new_file(file) as draft:
        write_parquet(draft, columns, rows)


# The command line


def experiment_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options that all experiments have; its help begins with a script's docstring."""
    parser = parser_of(doc)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the experiment")
    parser.add_argument("--time-left", type=duration, metavar="TIME", help="end after this time, such as 60m")
    parser.add_argument("--json", action="store_true", help="print the rows as one JSON document")
    return parser


def duration(text: str) -> float:
    """The type of an option such as ``60m``."""
    try:
        return parse_duration(text)
    except BadParameter as problem:
        raise argparse.ArgumentTypeError(problem.message) from problem


def positive(text: str) -> float:
    """The type of an option that is a number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return number


def named(text: str) -> tuple[str, tuple[str, ...]]:
    """The type of an option ``NAME=WORDS``: the name, and the words, split like a shell does."""
    name, _, rest = text.partition("=")
    if not name or not all(c.isalnum() or c in "-_.+" for c in name):
        raise argparse.ArgumentTypeError(f"{text}: write NAME=...")
    try:
        return name, tuple(shlex.split(rest))
    except ValueError as problem:  # an open quote
        raise argparse.ArgumentTypeError(f"{text}: {problem}") from problem


def arms_of(
    parser: argparse.ArgumentParser, given: argparse.Namespace, default: Sequence[str], more: Arms
) -> Arms:
    """The arms that the options name, else the ``default`` ones, and ``more``. A usage error if two have one
    name, or ``--only`` names no arm.
    """
    listed = [*(given.arm or map(named, default)), *more.items()]
    if len(arms := dict(listed)) < len(listed):
        parser.error("two arms have one name")
    if unknown := sorted({*(given.only or ())} - arms.keys()):
        parser.error(f"no arm is called {unknown[0]}; there are {', '.join(arms)}")
    return arms


def add_settling(parser: argparse.ArgumentParser, seconds: float) -> None:
    """Options of experiments that :func:`settle` findings."""
    parser.add_argument(
        "--reduce",
        type=float,
        default=seconds,
        metavar="SECONDS",
        help="reduce each finding for at most so long; 0: not at all (default: %(default)g)",
    )
    parser.add_argument("--no-bisect", action="store_true", help="do not search for first good releases")
