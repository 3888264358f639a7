"""Hooks of the documentation site: the page of the commands, and a check of the result. Run as a program, it
writes ``docs/schema.md``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

OUTSIDE = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^\"' >]*")
COLUMN = re.compile(r"^    (\w+) [^-\n]*-- (.*)$", re.M)


def on_files(files: Files, config: Any) -> Files:
    """Put the help of the commands in the place of ``docs/commands.md``."""
    if stub := files.get_file_from_path("commands.md"):
        files.remove(stub)
    files.append(File.generated(config, "commands.md", content=commands_page()))
    return files


def on_post_build(config: Any) -> None:
    """Fail if a page loads anything from another host. MkDocs itself checks the links between pages."""
    for page in Path(config.site_dir).rglob("*.html"):
        if found := OUTSIDE.search(page.read_text("utf-8")):
            raise PluginError(f"{page} needs the network: {found[0]}")


SCHEMA_HEAD = """# Tables of the corpus

`exhume query "show tables" --corpus FILE` lists the tables of a file, `exhume query "describe formula"
--corpus FILE` the columns of one. A column `TABLE_id` holds the `id` of a row of that table.
`python scripts/_site.py` writes this page.
"""

# The command reference


def commands_page() -> str:
    """The help of every command, in the order of ``exhume --help``."""
    import typer

    from exhume.cli import app
    from exhume.commands import SECTIONS

    root: Any = typer.main.get_command(app)
    lines = ["# Commands", "", "This page is generated from `exhume COMMAND --help`.", ""]
    lines += ["```text", _help(root, ()), "```", ""]
    for title, section in SECTIONS.items():
        lines += [f"## {title}", ""]
        for name in section:
            for path, command in _walk(root.get_command(None, name), (name,)):
                lines += ["#" * (2 + len(path)) + f" exhume {' '.join(path)}", "", "```text"]
                lines += [_help(command, path), "```", ""]
    return "\n".join(lines)


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, (*path, name))


def _help(command: Any, path: tuple[str, ...]) -> str:
    context = command.make_context(" ".join(("exhume", *path)), [], resilient_parsing=True, terminal_width=96)
    return str(command.get_help(context)).rstrip()


# The tables of a corpus


def schema_page() -> str:
    """The tables and views of a new corpus, with the comments of ``corpus/schema.sql``."""
    from corpus import schema

    connection = duckdb.connect()
    schema.migrate(connection, Path("new"))
    columns = connection.execute(
        "select table_name, column_name, data_type, is_nullable from information_schema.columns"
        " where table_schema = 'main' order by table_name, ordinal_position"
    ).fetchall()
    rows = connection.execute("select view_name from duckdb_views() where not internal").fetchall()
    views = {name for (name,) in rows}
    abouts = _comments((ROOT / "corpus" / "schema.sql").read_text("utf-8"))
    lines = [SCHEMA_HEAD]
    for table in sorted({row[0] for row in columns}, key=lambda name: (name in views, name)):
        about, meanings = abouts.get(table, ("", {}))
        lines += [f"## {table}" + " (view)" * (table in views), "", about, ""]
        lines += ["| column | type | |", "| --- | --- | --- |"]
        for _, name, kind, optional in (row for row in columns if row[0] == table):
            null = ", may be null" if optional == "YES" and table not in views else ""
            kind = kind.lower().replace("[]", "\\[\\]")
            lines.append(f"| `{name}` | {kind}{null} | {meanings.get(name, '')} |")
        lines.append("")
    return "\n".join(lines)


def _comments(sql: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Per table or view: its comment, and those of its columns."""
    found = {}
    for match in re.finditer(
        r"((?:^--[^\n]*\n)*)^create (?:table|view) (\w+)(.*?)^(?=\)|$)", sql, re.M | re.S
    ):
        about = " ".join(line.removeprefix("--").strip() for line in match[1].splitlines())
        found[match[2]] = (about, {name: text.replace("|", "\\|") for name, text in COLUMN.findall(match[3])})
    return found


if __name__ == "__main__":
    (ROOT / "docs" / "schema.md").write_text(schema_page(), "utf-8")
