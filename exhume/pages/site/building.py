"""Writes the site of a benchmark: static pages without outside resources."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.locks import lock_folder
from base.steps import Tick
from corpus.store import Corpus
from difftest.bugs.describing import releases_of, title_of
from difftest.bugs.exporting import describe_tables, export
from difftest.bugs.learning import Learned, learned_from
from difftest.bugs.likeness import likenesses
from difftest.bugs.records import REASONS, Benchmark, Bug
from difftest.errors import BadOutput
from difftest.triage.classes import class_of
from exhume.pages.rendering import render
from exhume.pages.site.bug_page import bug_page
from exhume.pages.site.engine import FOLDER, unpack_engine
from exhume.pages.site.indexing import rows_of, script, words_of
from exhume.pages.site.overview import overview_plots

ASSETS = Path(__file__).with_name("assets")
_MARK = "data/site.json"
_NEWEST = 10
_OPERATORS = """unnest(string_split(trim(operators, '[]"'), '", "'))"""
EXAMPLES = (
    (
        "Bugs by class and solver",
        "select solver, class, count(*) as bugs\nfrom bug group by all order by bugs desc",
    ),
    (
        "Operators of wrong answers",
        f"select operator, count(*) as bugs\nfrom (select {_OPERATORS} as operator\n  from bug"
        " where class = 'soundness')\ngroup by all order by bugs desc, operator limit 20",
    ),
    (
        "Releases with the most crashes",
        "select bug.solver, release, count(*) as crashes\nfrom run join bug on bug.id = bug_id"
        "\nwhere outcome = 'crash' group by all order by crashes desc limit 20",
    ),
    (
        "Smallest formulas",
        "select id, solver, class, bytes, text\nfrom bug order by bytes limit 20",
    ),
)


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was written: its folder, the pages of bugs, and the bytes of its first page with what that
    loads.
    """

    folder: Path
    bugs: int
    files: int
    first_page: int
    has_sql: bool


def write_site(
    benchmark: Benchmark,
    folder: Path,
    option: str,
    corpus: Corpus | None,
    engine: Sequence[Path],
    tick: Tick,
) -> Site:
    """Write the site to a new folder, or in place of an earlier site; nothing else is replaced.

    ``option``: how ``exhume bugs`` finds the benchmark. ``engine``: the tarballs of the SQL engine, or none.
    BadOutput if the folder cannot be used; an earlier site stays as it was then.
    """
    folder = folder.resolve()
    if folder.exists() and not (folder / _MARK).is_file():
        raise BadOutput(f"{folder} exists already and is not a site: name a new folder")
    bugs = list(benchmark.bugs.values())
    try:
        with _draft_of(folder) as draft:
            learned = learned_from(corpus, bugs) if corpus is not None else {}
            _write_bugs(bugs, draft / "bugs", option, learned, tick)
            export(benchmark, draft / "export")
            if engine:
                unpack_engine(engine, draft / FOLDER)
            _write_assets(draft)
            _write_pages(benchmark, bugs, draft, bool(engine))
            (draft / _MARK).write_text('{"site": "exhume bugs"}\n')
            _put_in_place(draft, folder)
    except BlockingIOError:
        raise BadOutput(f"{folder}: another command writes this site; wait for it or stop it") from None
    except OSError as problem:
        raise BadOutput(f"cannot write {folder}: {problem.strerror or problem}") from problem
    first = sum((folder / name).stat().st_size for name in ("index.html", "style.css"))
    files = sum(file.is_file() for file in folder.rglob("*"))
    return Site(folder, len(bugs), files, first, bool(engine))


@contextmanager
def _draft_of(folder: Path) -> Iterator[Path]:
    """An empty folder beside ``folder``, without what a killed command left, and locked; BlockingIOError if
    another process has it. What is still there at the end is deleted.
    """
    draft = folder.with_name(f".{folder.name}.part")
    draft.mkdir(parents=True, exist_ok=True)
    lock = lock_folder(draft)
    try:
        for left in draft.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        for name in ("data", "bugs"):
            (draft / name).mkdir()
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(lock)


def _put_in_place(draft: Path, folder: Path) -> None:
    """Rename the draft to the site; an earlier one is deleted after that."""
    if not folder.exists():
        draft.rename(folder)
        return
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    draft.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _write_bugs(
    bugs: Sequence[Bug],
    folder: Path,
    option: str,
    learned: dict[str, Learned],
    tick: Tick,
) -> None:
    releases = releases_of(bugs)
    for number, (bug, likes) in enumerate(zip(bugs, likenesses(bugs), strict=True), 1):
        page = bug_page(bug, releases, likes, learned.get(bug.sha256), option)
        (folder / f"{bug.id}.html").write_bytes(page)
        tick(number, len(bugs))


def _write_assets(folder: Path) -> None:
    for file in sorted(ASSETS.glob("*.js")):
        shutil.copyfile(file, folder / file.name)
    style = render("style.css") + (ASSETS / "site.css").read_bytes()
    (folder / "style.css").write_bytes(style)


def _write_pages(benchmark: Benchmark, bugs: Sequence[Bug], folder: Path, has_sql: bool) -> None:
    (folder / "data" / "rows.js").write_bytes(script("exhumeBugs", rows_of(bugs)))
    (folder / "data" / "words.js").write_bytes(script("exhumeWords", words_of(bugs)))
    engine = [file.stat().st_size for file in (folder / FOLDER).glob("duckdb-*")] if has_sql else []
    pages: dict[str, dict[str, Any]] = {
        "index.html": _overview(benchmark, bugs),
        "bugs.html": {},
        "sql.html": {"engine": -(-sum(engine) // 10**6), "examples": EXAMPLES, "tables": describe_tables()},
    }
    for name, values in pages.items():
        (folder / name).write_bytes(render(f"site/{name}", root="", **values))


def _overview(benchmark: Benchmark, bugs: Sequence[Bug]) -> dict[str, Any]:
    classes = Counter(bug.finding_class for bug in bugs)
    ranked = sorted(classes, key=lambda name: (class_of(name).rank, name))
    reasons = Counter(one.reason for one in benchmark.unverified)
    newest = sorted(bugs, key=lambda bug: (bug.reported or "", bug.id), reverse=True)[:_NEWEST]
    return {
        "cards": [
            ("bugs", len(bugs), None),
            *((name, classes[name], f"bugs.html#class={name}") for name in ranked),
            ("solvers", len({bug.solver for bug in bugs}), None),
            ("issues", len({bug.issue for bug in bugs if bug.issue}), None),
        ],
        "colours": {name: class_of(name).colour for name in ranked},
        "plots": list(overview_plots(bugs)),
        "newest": [(bug, title_of(bug)) for bug in newest],
        "reasons": [(count, f"{name}: {REASONS.get(name, name)}") for name, count in reasons.most_common()],
    }
