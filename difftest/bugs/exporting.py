"""Exports a benchmark: Parquet, SQLite, Croissant metadata, a data sheet and checksums.

The same benchmark gives the same bytes: rows are sorted, and nothing depends on the time, the machine or the
order of the build.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from base.files import put_text
from base.version import VERSION
from corpus.store import open_database, sql_text
from difftest.bugs.records import REASONS, Benchmark, Bug, Unverified
from difftest.errors import BadOutput

_CHECKSUMS = "SHA256SUMS"
_ABOUT = {
    "bug": "A bug of a past release with its trigger: one row per formula, solver, options and class.",
    "run": "What one release did with the trigger of a bug.",
    "unverified": "A trigger without a verified pair, with the reason.",
}
_COLUMNS = {
    "id": "Id of the bug: the same for the same trigger and class.",
    "bug_id": "Id of the bug.",
    "solver": "The solver.",
    "class": "soundness, crash, invalid-model, incompleteness or slowdown.",
    "last_bad": "The last release that shows the bug.",
    "first_good": "The first release after it that does not.",
    "flaky": "Whether repeated runs of a release of the pair differed.",
    "direction": "Wrong and right answer, where the bug is about one.",
    "check": "Number of the check-sat that it is about, from 0.",
    "wrong": "The wrong answer.",
    "right": "The right answer.",
    "evidence": "Why it is wrong: a JSON list of sentences.",
    "bug_key": "Name of the cause: class, solver, place of the crash or theories and operators.",
    "reduced": "A smaller formula that shows it.",
    "options": "Options of the solver: a JSON list.",
    "text": "The formula.",
    "sha256": "Hash of the formula.",
    "sources": "Where the formula comes from: a JSON list.",
    "issue": "Tracker and number of the issue.",
    "url": "Address of the issue.",
    "reported": "Day of the report.",
    "days_to_fix": "Days from the report to the closing of the issue.",
    "tools": "Tools that the reporter names: a JSON list.",
    "fixed_by": "Commit or pull request that fixed it, according to the issue.",
    "component": "Files that the fixing commit changed: a JSON list.",
    "issue_class": "Class according to the issue.",
    "expected": "Correct answers according to the issue.",
    "logic": "Logic of the formula.",
    "theories": "Theories of the formula: a JSON list.",
    "operators": "Operators of the formula: a JSON list.",
    "incremental": "Whether it has several check-sat, or push and pop.",
    "bytes": "Size of the formula in UTF-8.",
    "licence": "Licence of the formula.",
    "reason": f"Why there is no pair: {', '.join(REASONS)}.",
    "detail": "What was seen.",
    "release": "The release.",
    "outcome": "How the run ended: ok, unknown, timeout, memout, refused, crash or invalid-model.",
    "answers": "Answer per check-sat: a JSON list.",
    "location": "Place of a crash.",
}
_TYPES = {"check": "bigint", "days_to_fix": "bigint", "bytes": "bigint", "flaky": "boolean"}
_TYPES["incremental"] = "boolean"
_CROISSANT = {"bigint": "sc:Integer", "boolean": "sc:Boolean", "varchar": "sc:Text"}
_RUN = ("bug_id", "release", "outcome", "answers", "detail", "location")

_Row = dict[str, Any]


def export(benchmark: Benchmark, folder: Path) -> dict[str, str]:
    """Write a benchmark to a new folder; the checksums by file name. BadOutput if it exists or cannot be
    written; nothing is left then.
    """
    if folder.exists():
        raise BadOutput(f"{folder} exists already: name a new folder")
    tables = _tables(benchmark)
    draft = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir()
        for name, rows in tables.items():
            write_parquet(draft / f"{name}.parquet", _columns(name), rows)
        _write_sqlite(draft / "bugs.sqlite", tables)
        put_text(draft / "README.md", _data_sheet(benchmark, tables))
        sums = {file.name: _checksum(file) for file in sorted(draft.iterdir())}
        put_text(draft / "croissant.json", json.dumps(_croissant(tables, sums), indent=2) + "\n")
        sums["croissant.json"] = _checksum(draft / "croissant.json")
        put_text(draft / _CHECKSUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))
        draft.replace(folder)
    except (OSError, duckdb.Error, sqlite3.Error) as problem:
        raise BadOutput(f"cannot write {folder}: {problem}") from problem
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return sums


def _tables(benchmark: Benchmark) -> dict[str, list[_Row]]:
    bugs = list(benchmark.bugs.values())
    runs = [
        {"bug_id": bug.id, **{name: getattr(seen, name) for name in _RUN[1:]}}
        for bug in bugs
        for seen in bug.strip
    ]
    return {"bug": list(map(_row, bugs)), "run": runs, "unverified": list(map(_row, benchmark.unverified))}


def _row(record: Bug | Unverified) -> _Row:
    document: _Row = msgspec.to_builtins(record)
    return {**document, "sha256": record.sha256}


def describe_tables() -> list[_Row]:
    """The exported tables: ``name``, ``about``, and ``columns`` with their meanings."""
    return [
        {"name": name, "about": about, "columns": [(column, _COLUMNS[column]) for column in _columns(name)]}
        for name, about in _ABOUT.items()
    ]


def _columns(table: str) -> dict[str, str]:
    """The columns of a table with their types, in their order."""
    if table == "run":
        names = list(_RUN)
    else:
        kind = Bug if table == "bug" else Unverified
        encoded = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
        own = [encoded[name] for name in kind.__struct_fields__ if name != "strip"]
        names = sorted([*own, "sha256"], key=list(_COLUMNS).index)
    return {name: _TYPES.get(name, "varchar") for name in names}


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        value = json.dumps(value, ensure_ascii=False)
    # Neither format can store surrogates.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _definition(columns: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


def write_parquet(file: Path, columns: Mapping[str, str], rows: Sequence[_Row]) -> None:
    """Write rows as Parquet, with ``columns`` by name and type; what is a list or a mapping becomes JSON."""
    with closing(open_database(settings={"threads": "1"})) as opened:
        opened.execute(f"create table data ({_definition(columns)})")
        # One list per column: executemany takes a millisecond per row.
        lists = ", ".join(f"unnest(?::{kind}[])" for kind in columns.values())
        values = [[_cell(row.get(name)) for row in rows] for name in columns]
        opened.execute(f"insert into data select {lists}", values)
        opened.execute(f"copy data to {sql_text(file)} (format parquet, compression zstd)")


def _write_sqlite(file: Path, tables: dict[str, list[_Row]]) -> None:
    with closing(sqlite3.connect(file)) as opened:
        for name, rows in tables.items():
            columns = _columns(name)
            opened.execute(f"create table {name} ({_definition(columns)})")
            marks = ", ".join("?" * len(columns))
            values = [[_cell(row.get(column)) for column in columns] for row in rows]
            opened.executemany(f"insert into {name} values ({marks})", values)
        opened.commit()


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _croissant(tables: dict[str, list[_Row]], sums: dict[str, str]) -> _Row:
    """Metadata in the Croissant format 1.0 (http://mlcommons.org/croissant/1.0)."""
    licences = sorted({str(row["licence"]) for row in tables["bug"] if row.get("licence")})
    kinds = {"parquet": "application/x-parquet", "sqlite": "application/vnd.sqlite3"}
    files = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "encodingFormat": kinds[name.rpartition(".")[2]],
            "sha256": checksum,
        }
        for name, checksum in sums.items()
        if name.rpartition(".")[2] in kinds
    ]
    sets = [
        {
            **{"@type": "cr:RecordSet", "@id": name, "name": name},
            **{"description": _ABOUT[name], "field": _fields(name)},
        }
        for name in tables
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "smt-bugs",
        "description": "Bugs of past releases of SMT solvers, each with a formula that shows it, the last"
        " release that does and the first that does not.",
        "license": licences or ["not stated"],
        "version": _version(sums),
        "distribution": files,
        "recordSet": sets,
    }


def _fields(table: str) -> list[_Row]:
    return [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{name}",
            "name": name,
            "description": _COLUMNS[name],
            "dataType": _CROISSANT[kind],
            "source": {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": name}},
        }
        for name, kind in _columns(table).items()
    ]


def _version(sums: dict[str, str]) -> str:
    """A version that says which exhume wrote it, and which content it has."""
    digest = hashlib.sha256("".join(f"{name}{sums[name]}" for name in sorted(sums)).encode()).hexdigest()
    return f"{VERSION}+{digest[:12]}"


def _data_sheet(benchmark: Benchmark, tables: dict[str, list[_Row]]) -> str:
    bugs = benchmark.bugs.values()
    counts = Counter((bug.solver, bug.finding_class) for bug in bugs)
    reasons = Counter(row["reason"] for row in tables["unverified"])
    origins = Counter(bug.origin.partition("#")[0] for bug in bugs)
    licences = Counter(bug.licence or "not stated" for bug in bugs)
    lines = [_SHEET, *_table(("solver", "class", "bugs"), [(*k, n) for k, n in sorted(counts.items())])]
    lines += ["", f"{sum(bug.flaky for bug in bugs)} are flaky.", "", "## What has no pair", ""]
    meant = [(reason, count, REASONS.get(reason, "")) for reason, count in sorted(reasons.items())]
    lines += _table(("reason", "triggers", "meaning"), meant)
    lines += ["", "## Origin and licence", ""]
    lines += _table(("tracker", "bugs"), sorted(origins.items()))
    lines += ["", *_table(("licence", "bugs"), sorted(licences.items())), "", "## Columns", ""]
    for name in tables:
        lines += [f"`{name}`: {_ABOUT[name]}", ""]
        lines += [*_table(("column", "meaning"), [(f"`{c}`", _COLUMNS[c]) for c in _columns(name)]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


_SHEET = """\
# Bugs of past releases of SMT solvers

For reproducing past bugs, and for measuring how many of them a fuzzer finds. Each row of `bug` is a formula
with the last release that shows a bug on it and the first that does not. Both were run, and run again, in
fresh processes.

How it was made: `exhume bugs build` ran releases of the solver from the package index on formulas of issue
trackers. A wrong answer counts if two solver families give the other answer and none contradicts, or if
another family confirms a model. Issues are named by number and address; their texts are not part of the data.

What it is not: complete. A bug that was reported and fixed between two releases has no pair. Missing answers
and slowdowns that later releases removed may be progress rather than fixes. One cause may have several rows.

## Bugs
"""

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
