"""Coverage maps: which lines, and so which functions, of a solver's sources each formula runs.

A map is a DuckDB file. Each formula is run by a build with ``--coverage``, which writes its counts into a
folder of this run alone, and is stored in one transaction: a command that was killed continues with the next
formula. A line belongs to the function that its source has there (``difftest.directed.changes``), so that
functions have the names that changes have, whatever the compiler made of them.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import duckdb

from corpus.errors import CorpusError, CorpusLocked, StorageFull, storage_full
from corpus.store import connect
from difftest.directed.changes import CPP, function_lines, read_source
from difftest.errors import DifftestError
from solvers.solver import Solver

Function = tuple[str, str]
"""The path of a source file below the folder of the sources, and the name of a function in it."""

_SCHEMA = """
begin;
create table if not exists build (spec varchar, program varchar, sources varchar);
create table if not exists function (id integer primary key, file varchar, name varchar);
create table if not exists line (id integer primary key, file varchar, number integer, function integer);
create table if not exists formula (
    key varchar primary key, outcome varchar, seconds double, took double, lines integer[],
    functions integer[]
);
commit;
"""

_TABLES = {"build", "function", "line", "formula"}


class BadMap(DifftestError):
    """A file that is no coverage map, or cannot be used now; the message names it."""


def formula_key(text: str, options: Iterable[str] = ()) -> str:
    """Names a formula and the options that it is run with."""
    return "\n".join((*options, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()))


@dataclass(frozen=True, slots=True)
class Totals:
    """What all formulas of a map run together. ``lost`` has by outcome the formulas without counts."""

    formulas: int
    lines_run: int
    lines: int
    functions_run: int
    functions: int
    lost: dict[str, int]


class CoverageMap:
    """A map that is written, and the lines that it knows; use under ``with``. No other process may have it
    open.

    ``sources`` is the folder that counts: of lines outside nothing is stored. Raises BadMap for a file that
    is no map or is that of another build.
    """

    def __init__(self, path: Path, solver: Solver, sources: Path) -> None:
        self.path = path
        self._sources = str(sources.resolve())
        self._files: dict[str, tuple[str, list[tuple[int, int, int]]] | None] = {}
        self._new: tuple[list[Any], ...] = ([], [], [], [])
        self._new_functions: tuple[list[Any], ...] = ([], [], [])
        self._open(solver)

    def _open(self, solver: Solver) -> None:
        try:
            with Path(solver.argv[0]).open("rb") as program:
                digest = hashlib.file_digest(program, "sha256").hexdigest()
            if not self.path.exists():
                duckdb.connect(str(self.path)).close()
        except (OSError, duckdb.Error) as problem:
            raise BadMap(f"cannot write the coverage map {self.path}: {problem}") from problem
        self._opened = _connect(self.path, read_only=False)
        try:
            with self._guarded():
                tables = {name for (name,) in self._opened.execute("show tables").fetchall()}
                if tables and not tables >= _TABLES:
                    raise BadMap(f"{self.path}: not a coverage map, but another database; name a new file")
                self._opened.execute(_SCHEMA)
                row = (solver.spec, digest, self._sources)
                found = self._opened.execute("select spec, program, sources from build").fetchone()
                if found is None:
                    self._opened.execute("insert into build values (?, ?, ?)", row)
                elif found[1:] != row[1:]:
                    raise BadMap(
                        f"{self.path}: a map of another build ({found[0]}, sources in {found[2]});"
                        " name a new file"
                    )
                lines = self._opened.execute("select file, number, id, function from line").fetchall()
                functions = self._opened.execute("select file, name, id from function").fetchall()
        except BaseException:
            self._opened.close()
            raise
        self._lines: dict[tuple[str, int], int] = {(file, number): id_ for file, number, id_, _ in lines}
        self._owners: dict[int, int | None] = {id_: function for *_, id_, function in lines}
        self._functions: dict[Function, int] = {(file, name): id_ for file, name, id_ in functions}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise storage_full(error, self.path) or _no_map(self.path, error) from error

    def has(self, key: str, seconds: float) -> bool:
        """Whether a formula is measured, or ran out of at least this much time."""
        with self._guarded():
            sql = "select lines is not null or seconds >= ? from formula where key = ?"
            row = self._opened.execute(sql, [seconds, key]).fetchone()
        return row is not None and bool(row[0])

    def put(self, key: str, outcome: str, seconds: float, took: float, lines: Iterable[int] | None) -> None:
        """Store what a formula ran (None: it left no counts), all or nothing. ``seconds`` is the limit of
        each question, ``took`` what the formula needed.
        """
        with self._guarded():
            self._opened.execute("begin")
            if self._new_functions[0]:
                sql = "insert into function select unnest(?), unnest(?), unnest(?)"
                self._opened.execute(sql, self._new_functions)
            if self._new[0]:
                sql = "insert into line select unnest(?), unnest(?), unnest(?), unnest(?::integer[])"
                self._opened.execute(sql, self._new)
            row = [key, outcome, seconds, took, *self._row(lines)]
            self._opened.execute("insert or replace into formula values (?, ?, ?, ?, ?, ?)", row)
            self._opened.execute("commit")
        for column in (*self._new, *self._new_functions):
            column.clear()

    def _row(self, lines: Iterable[int] | None) -> tuple[list[int] | None, list[int] | None]:
        """The lines and functions of a formula as they are stored."""
        if lines is None:
            return None, None
        ran = sorted(lines)
        owners = {self._owners[line] for line in ran}
        return ran, sorted(owner for owner in owners if owner is not None)

    def totals(self) -> Totals:
        """What all formulas of the map run together."""
        with self._guarded():
            lost = self._opened.execute(
                "select outcome, count(*) from formula where lines is null group by all order by all"
            ).fetchall()
            row = self._opened.execute(_TOTALS).fetchone()
        assert row is not None, "counts are one row"
        formulas, lines_run, lines, functions_run, functions = row
        return Totals(formulas, lines_run, lines, functions_run, functions, dict(lost))

    def line(self, path: str, number: int) -> int:
        """The id of a line; -1 if its file is not below the sources. New ones are stored with the next
        formula.
        """
        if path not in self._files:
            self._files[path] = self._read(path)
        known = self._files[path]
        if known is None:
            return -1
        file, spans = known
        id_ = self._lines.get((file, number))
        if id_ is None:
            id_ = self._lines[file, number] = len(self._lines)
            at = bisect(spans, number, key=lambda span: span[0]) - 1
            owner = spans[at][2] if at >= 0 and number <= spans[at][1] else None
            self._owners[id_] = owner
            for column, value in zip(self._new, (id_, file, number, owner), strict=True):
                column.append(value)
        return id_

    def _read(self, path: str) -> tuple[str, list[tuple[int, int, int]]] | None:
        """The path of a file below the sources, and the lines of its functions: first, last, id."""
        real = os.path.realpath(path)
        if os.path.commonpath((real, self._sources)) != self._sources:
            return None
        file = Path(os.path.relpath(real, self._sources)).as_posix()
        text = (read_source(Path(real)) if file.endswith(CPP) else None) or b""
        return file, [(first, last, self._function(file, name)) for name, first, last in function_lines(text)]

    def _function(self, file: str, name: str) -> int:
        id_ = self._functions.get((file, name))
        if id_ is None:
            id_ = self._functions[file, name] = len(self._functions)
            for column, value in zip(self._new_functions, (id_, file, name), strict=True):
                column.append(value)
        return id_


_TOTALS = """
select
    (select count(*) from formula where lines is not null),
    (select count(distinct id) from (select unnest(lines) as id from formula)),
    (select count(*) from line),
    (select count(distinct id) from (select unnest(functions) as id from formula)),
    (select count(distinct function) from line)
"""


def _connect(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        return connect(path, read_only, {"enable_external_access": False})
    except (CorpusLocked, StorageFull) as problem:
        raise BadMap(str(problem)) from None
    except CorpusError:
        raise BadMap(f"{path}: no coverage map; make one with: exhume solvers coverage") from None


def _no_map(path: Path, problem: Exception) -> BadMap:
    return BadMap(f"{path}: no coverage map: {str(problem).partition(chr(10))[0][:200]}")


@dataclass(frozen=True, slots=True)
class Ran:
    """Which of some functions a formula of a map runs, and the seconds that it took there."""

    functions: frozenset[Function]
    seconds: float


def formulas_running(path: Path, functions: Iterable[Function]) -> dict[str, Ran]:
    """Which of ``functions`` each measured formula of a map runs, by its key. Raises BadMap."""
    if not path.is_file():
        raise BadMap(f"there is no coverage map {path}; make one with: exhume solvers coverage")
    opened = _connect(path, read_only=True)
    try:
        known = opened.execute("select id, file, name from function").fetchall()
        changed = frozenset(functions)
        names = {id_: (file, name) for id_, file, name in known if (file, name) in changed}
        rows = opened.execute(_RUNNING, [list(names)]).fetchall()
        return {key: Ran(frozenset(names[id_] for id_ in ids or ()), float(took)) for key, took, ids in rows}
    except (duckdb.Error, TypeError, ValueError) as problem:
        raise _no_map(path, problem) from problem
    finally:
        opened.close()


_RUNNING = """
with ran as (select key, unnest(functions) as id from formula),
found as (select key, list(id) as functions from ran where id in (select unnest(?::integer[])) group by key)
select formula.key, formula.took, found.functions
from formula left join found using (key) where lines is not null
"""
