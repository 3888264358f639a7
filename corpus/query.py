"""Runs named queries and users' SQL on a corpus, read-only, with a time limit and a row limit.

The SQL has access to the corpus only: no files, network, settings or writes. Results are formatted here and
printed by the caller.
"""

from __future__ import annotations

import csv
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from datetime import time as day_time
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import duckdb
from rich.table import Table
from rich.text import Text

from base.errors import problem_of
from base.files import new_file
from base.nearest import did_you_mean, nearest
from corpus.errors import QueryError, QueryTimeout, damaged
from corpus.store import Settings, connect_current, open_database, sql_text

Format = Literal["table", "json", "ndjson", "csv", "parquet"]
"""How a result is shown."""

QUERIES = Path(__file__).with_name("queries")

# Locked, so that SQL cannot change them. Without a temporary folder nothing is written to disk.
_CONFINED: Settings = {
    "enable_external_access": "false",
    "temp_directory": "",
    "memory_limit": "4GB",
    "lock_configuration": "true",
}
_READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A ``$name`` in a query."""

    name: str
    type: str
    about: str
    default: str | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query that ships with exhume: an SQL file with a header."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    example: str
    # The column (``table.column``) whose values it needs, and the command that stores them.
    needs: tuple[str, str] | None
    sql: str


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query. ``truncated``: there were more rows than the limit. ``seconds``: the run time.

    ``hint``: why a named query found nothing: what to run, or the names that are nearest to an unknown one.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    seconds: float
    hint: str = ""


def named_queries() -> list[NamedQuery]:
    """All named queries, sorted by name."""
    return [_read_query(file) for file in sorted(QUERIES.glob("*.sql"))]


def find_query(name: str) -> NamedQuery:
    """The query with this name. Raises QueryError, which suggests similar names."""
    known = {query.name: query for query in named_queries()}
    if name in known:
        return known[name]
    near = list(dict.fromkeys([*nearest(name, known, most=3), *(other for other in known if name in other)]))
    raise QueryError(f"there is no query {name!r}{did_you_mean(near[:3]) or '; see exhume query --list'}")


_HEADER = re.compile(r"-- (about|parameter|example|needs): *(.*)")
_PARAMETER = re.compile(r"(\w+) (\w+)(?: *= *('[^']*'|\S+))?  +(.+)")
_CONTINUED = re.compile(r"--  +(.*)")


def _read_query(file: Path) -> NamedQuery:
    """Read the header: ``-- about:``, ``-- parameter: NAME TYPE [= DEFAULT]  ABOUT``, ``-- example:``,
    ``-- needs: TABLE.COLUMN  COMMAND``.
    """
    sql = file.read_text(encoding="utf-8")
    entries: list[list[str]] = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        if match := _HEADER.fullmatch(line):
            entries.append([match[1], match[2]])
        elif entries and (match := _CONTINUED.fullmatch(line)):
            entries[-1][1] += " " + match[1]
    parameters = []
    for kind, value in entries:
        if kind != "parameter":
            continue
        match = _PARAMETER.fullmatch(value)
        if match is None:
            raise RuntimeError(f"{file.name}: cannot read the parameter {value!r}")
        name, type_name, default, about = match.groups()
        plain = None if default in (None, "null") else default.strip("'")
        parameters.append(Parameter(name, type_name, about, plain, required=default is None))
    said = dict(entries)
    column, _, command = said.get("needs", "").partition("  ")
    needs = (column, command) if command else None
    return NamedQuery(file.stem, said["about"], tuple(parameters), said["example"], needs, sql)


def parse_parameters(given: Iterable[str]) -> dict[str, str]:
    """Parse the ``name=value`` arguments of a command line."""
    found = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise QueryError(f"expected a parameter as NAME=VALUE, got {item!r}")
        found[name] = value
    return found


def run_query(
    path: Path | str,
    query: NamedQuery | str,
    parameters: Mapping[str, object] | None = None,
    *,
    deadline: float = 30.0,
    max_rows: int | None = 10_000,
) -> Result:
    """Run ``query`` on the corpus file ``path``. ``max_rows=None``: no limit.

    Raises :class:`QueryError` for SQL that is invalid or does more than read, and :class:`QueryTimeout` after
    ``deadline`` seconds.
    """
    path = Path(path)
    if isinstance(query, NamedQuery):
        sql, values = query.sql, parameter_values(query, parameters or {})
    else:
        sql, values = query, {k: _guess(v) for k, v in (parameters or {}).items()}
    with closing(connect_current(path, _CONFINED)) as connection:
        try:
            _require_question(connection, sql, values)
            result = _fetch(connection, sql, values, deadline, max_rows)
            if isinstance(query, NamedQuery) and not result.rows:
                return replace(result, hint=_why_empty(connection, query, values))
        except duckdb.Error as error:
            said = str(error).strip()
            if isinstance(query, NamedQuery):  # without a line of its SQL, which the user did not write
                said = f"{query.name}: " + said.partition("\n")[0].removeprefix("Invalid Input Error: ")
            raise damaged(error, path) or QueryError(said) from error
    return result


# The names that a corpus knows, by the type of a parameter.
_NAMES = {
    "tracker": "select name from tracker",
    "solver": "select solver from formula union select solver from tracker",
    "class": "select bug_class from issue union select bug_class from formula",
    "theory": "select unnest(theories) from formula",
    "language": "select written_in from block",
    "side": "select name from tracker union select solver from formula union select solver from tracker",
}
_PERIOD = re.compile(r"[0-9]{4}(?:-[0-9]{4})?")
# What mining stores without further requests, if an issue has it.
_MINING = ("exhume mine", "exhume mine --replay")


def _why_empty(connection: duckdb.DuckDBPyConnection, query: NamedQuery, values: Mapping[str, object]) -> str:
    """Why a query found nothing, if a name is unknown or the data that it needs was never stored."""
    if query.needs is not None:
        column, command = query.needs
        table, _, name = column.partition(".")
        if connection.execute(f"select 1 from {table} where {name} is not null limit 1").fetchone() is None:
            mined = connection.execute("select 1 from mined_issue limit 1").fetchone() is not None
            if mined and command in _MINING:
                again = f"; if an earlier version mined it, run {command}" if "--replay" in command else ""
                return f"{query.name} found nothing: no issue of this corpus has {column}{again}"
            # Without a mined issue there are no records to replay.
            command = _MINING[0] if command in _MINING else command
            return f"{query.name} found nothing: the corpus has no {column} yet, which {command} stores"
    for parameter in query.parameters:
        given = values.get(parameter.name)
        if parameter.type not in _NAMES or not isinstance(given, str):
            continue
        known = sorted({row[0] for row in connection.execute(_NAMES[parameter.type]).fetchall() if row[0]})
        for one in (word.strip() for word in given.split(",")):
            if one not in known and not (parameter.type == "side" and _PERIOD.fullmatch(one)):
                near = nearest(one, known, most=3, least=0.4) or tuple(known[:5])
                kind = "tracker or solver" if parameter.type == "side" else parameter.type
                return f"the corpus has no {kind} {one!r}{did_you_mean(near)}"
    return ""


def _require_question(connection: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object]) -> None:
    """Raise unless ``sql`` is one reading statement and ``values`` are exactly its parameters."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(f"expected one SQL statement, found {len(statements)}")
    statement = statements[0]
    if (
        statement.type not in _READING
        or duckdb.ExpectedResultType.CHANGED_ROWS in statement.expected_result_type
    ):
        kind = str(statement.type).rpartition(".")[2]
        raise QueryError(f"a query can only read: {kind} is not allowed")
    parameters = set(statement.named_parameters)
    if missing := sorted(parameters - values.keys()):
        raise QueryError(f"the query needs a value for {', '.join(missing)}: add NAME=VALUE")
    if unknown := sorted(values.keys() - parameters):
        raise QueryError(f"the query has no parameter {', '.join(unknown)}")


def _fetch(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    values: dict[str, object],
    deadline: float,
    max_rows: int | None,
) -> Result:
    start = time.monotonic()
    timer = threading.Timer(deadline, connection.interrupt)
    timer.start()
    try:
        cursor = connection.execute(sql, values) if values else connection.execute(sql)
        columns = [(str(name), str(kind)) for name, kind, *_ in cursor.description or ()]
        rows = cursor.fetchall() if max_rows is None else cursor.fetchmany(max_rows + 1)
    except duckdb.InterruptException as error:
        raise QueryTimeout(
            f"the query did not finish within {deadline:g} s: narrow it, or raise the time limit"
        ) from error
    finally:
        timer.cancel()
        timer.join()
    seconds = time.monotonic() - start
    truncated = max_rows is not None and len(rows) > max_rows
    names = _distinct_names(name for name, _ in columns)
    return Result(names, tuple(kind for _, kind in columns), rows[:max_rows], truncated, seconds)


def parameter_values(query: NamedQuery, given: Mapping[str, object]) -> dict[str, object]:
    """The typed values of the query's parameters: those ``given``, else the defaults.

    Raises :class:`QueryError` if one is unknown, missing or of the wrong type.
    """
    known = {parameter.name: parameter for parameter in query.parameters}
    if unknown := sorted(given.keys() - known.keys()):
        names = ", ".join(known) or "none"
        raise QueryError(f"{query.name} has no parameter {', '.join(unknown)}; it has {names}")
    if missing := [p.name for p in query.parameters if p.required and p.name not in given]:
        raise QueryError(f"{query.name} needs {', '.join(missing)}; for example: {query.example}")
    return {name: _typed(query, known[name], given.get(name, known[name].default)) for name in known}


def _typed(query: NamedQuery, parameter: Parameter, value: object) -> object:
    if value is None or not isinstance(value, str):
        return value
    kinds: dict[str, Callable[[str], object]] = {
        "integer": _whole,
        "number": float,
        "date": date.fromisoformat,
    }
    try:
        return kinds[parameter.type](value) if parameter.type in kinds else value
    except ValueError:
        raise QueryError(
            f"{query.name}: expected {parameter.type} for {parameter.name}, got {value!r}"
        ) from None


def _whole(text: str) -> int:
    """An integer that fits DuckDB's ``bigint``."""
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError
    return number


def _guess(value: object) -> object:
    """A parameter of users' SQL: a number if it looks like one."""
    if isinstance(value, str):
        if re.fullmatch(r"[+-]?\d{1,18}", value):
            return int(value)
        if re.fullmatch(r"[+-]?\d+\.\d+", value):
            return float(value)
    return value


def _distinct_names(names: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for name in names:
        free, count = name, 1
        while free in seen:
            count += 1
            free = f"{name}_{count}"
        seen[free] = None
    return tuple(seen)


# Formats


def formatted(result: Result, form: Format) -> Iterator[str]:
    """The result as text, in pieces: ``json`` (a list of objects), ``ndjson`` (one per line) or ``csv``."""
    if form == "json":
        yield json.dumps([_object(result, row) for row in result.rows], indent=2, ensure_ascii=False) + "\n"
    elif form == "ndjson":
        for row in result.rows:
            yield json.dumps(_object(result, row), ensure_ascii=False) + "\n"
    elif form == "csv":
        buffer = StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows([[_cell(value) for value in row] for row in result.rows])
        yield buffer.getvalue()
    else:
        raise QueryError(f"{form} is not a text format: see as_table and write_result")


def as_table(result: Result, width: int = 80) -> Table:
    """The result as a rich table. Cells are single lines of at most ``width`` characters."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, kind in zip(result.columns, result.types, strict=True):
        number = re.fullmatch(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*", kind)
        table.add_column(Text(_visible(name)), justify="right" if number else "left", overflow="fold")
    for row in result.rows:
        cells = [_visible(_cell(value)) for value in row]
        table.add_row(*(Text(c if len(c) <= width else c[: width - 3] + "...") for c in cells))
    return table


def write_result(result: Result, path: Path | str, form: Format = "parquet") -> None:
    """Write the result to a local file atomically, as Parquet or a text format. Raises QueryError."""
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        reason = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise QueryError(f"cannot write {path}: {reason}")
    try:
        with new_file(path) as draft:
            if form == "parquet":
                _write_parquet(result, draft)
            else:
                draft.write_text("".join(formatted(result, form)), encoding="utf-8")
    except (duckdb.Error, OSError) as error:
        raise QueryError(f"cannot write {path}: {problem_of(error)}") from error


def _write_parquet(result: Result, path: Path) -> None:
    kinds = ["VARCHAR" if kind.strip('"') == "NULL" else kind for kind in result.types]
    names = ['"' + name.replace('"', '""') + '"' for name in result.columns]
    with open_database() as memory:
        memory.execute(f"create table result ({', '.join(map(' '.join, zip(names, kinds, strict=True)))})")
        if result.rows:
            lists = ", ".join(f"unnest(?::{kind}[])" for kind in kinds)
            columns = [list(column) for column in zip(*result.rows, strict=True)]
            memory.execute(f"insert into result select {lists}", columns)
        memory.execute(f"copy result to {sql_text(path.absolute())} (format parquet)")


def _object(result: Result, row: tuple[Any, ...]) -> dict[str, object]:
    return {name: _plain(value) for name, value in zip(result.columns, row, strict=True)}


def _plain(value: Any) -> Any:
    """``value`` as a JSON value."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime, date, day_time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)


def _cell(value: Any) -> str:
    plain = _plain(value)
    if plain is None:
        return ""
    if isinstance(plain, str):
        return plain
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, float):
        return f"{plain:.6g}" if abs(plain) < 1e6 else repr(plain)
    return str(plain) if isinstance(plain, int) else json.dumps(plain, ensure_ascii=False)


def _visible(text: str) -> str:
    """``text`` on one line, without control characters."""
    return "".join(c if c.isprintable() else {"\n": "⏎", "\t": " ", "\r": ""}.get(c, "\ufffd") for c in text)
