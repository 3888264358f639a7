"""The documents: commands exist and print what is shown, links work, the language is plain."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from exhume.cli import app, run
from smtlib import default_theories
from smtlib.mentions import known_theories
from solvers.abilities import QUESTIONS
from tests.conftest import make_starter

ROOT = Path(__file__).resolve().parent.parent
DOCS = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/results/*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
BLOCK = re.compile(r"^```(?:console)?\n(\$ .*?)^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:]+)\)")

# Commands that neither run long nor use the network.
QUICK = {"stats", "query", "strategies", "solvers", "generate", "import", "learn", "similar"}
# Pages and commands about corpora that tests do not have.
NOT_RUN = {"mining.md", "refresh.md", "exhume query skeletons-in-both first=z3 second=cvc5"}

# Words that these documents do not use, with the reason or the word to use instead.
AVOIDED = {
    r"told": "say what is printed or reported",
    r"wanted": "required, expected",
    r"mend(?:s|ed)?": "fix",
    r"seldom": "rarely",
    r"(?:go(?:es)?|gone|going) on": "continue, resume",
    r"the lot": "all; a random draw",
    r"work(?:s|ed)? off": "finish",
    r"asked for": "requested",
    r"passed over": "skipped",
    r"put (?:over|into another)": "carried over; checked by another",
    r"(?:of|in) the(?:ir)? like(?:ness)?|their like": "similar",
    r"so (?:many|few) (?!that|more)\w+": "this many",
    r"anew|afresh": "again",
    r"heed(?:s|ed)?": "respect",
    r"where not(?! (?:coarse|decomposed|internal)\b)": "otherwise (these are columns in SQL)",
    r"of one mind": "agree",
    r"a matter of chance": "flaky, random",
    r"comes? to rest": "settle",
    r"of (?:ours|yours)": "our, your",
    r"look(?:s|ed)? after": "maintain",
}
WORDS = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(AVOIDED)})(?![\w-])")
# Among others the key of a stored file.
ALLOWED = {
    "difftest/triage/splitting.py": {"told"},
    "tests/corpus/test_learned.py": {"where not"},  # SQL
    "tests/corpus/test_acceptance.py": {"asked for"},  # a field, then a keyword
}


class Example(NamedTuple):
    """A command of a document, and the lines below it."""

    page: str
    line: str
    output: list[str]


def examples() -> Iterator[Example]:
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            for part in re.split(r"^(?=\$ )", block.replace("\\\n", " "), flags=re.M):
                line, _, output = part.partition("\n")
                if line.startswith("$ exhume"):
                    yield Example(page.name, line[2:], output.splitlines())


ALL = list(examples())


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and the words left."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.get_command(None, words.pop(0))
    if words and (usual := getattr(command, "usual", None)):
        command = command.get_command(None, usual)
    return command, words


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name in getattr(command, "commands", {}):
        yield from walk(command.get_command(None, name), (*path, name))


@pytest.fixture
def place(starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the documents suppose it: the demo's corpus, and formulas of the reader."""
    shutil.copy(starter, tmp_path / "starter.duckdb")
    set_up(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def set_up(folder: Path) -> None:
    """The files that the documents suppose, beside ``starter.duckdb``."""
    (folder / "exhume-demo").mkdir()
    shutil.copy(folder / "starter.duckdb", folder / "exhume-demo" / "corpus.duckdb")
    shutil.copy(folder / "starter.duckdb", folder / "bugs.duckdb")
    shutil.copytree(
        ROOT / "docs" / "findings", folder / "formulas", ignore=shutil.ignore_patterns("*.txt", "*.md")
    )
    (folder / "bug.smt2").write_text(similar_file(), "utf-8")


def similar_file() -> str:
    """The file that docs/queries.md compares with a corpus."""
    page = (ROOT / "docs" / "queries.md").read_text("utf-8")
    return str(re.findall(r"^\$ cat bug.smt2\n(.*?)^\$", page, re.M | re.S)[0])


def test_there_are_commands_to_look_at() -> None:
    assert {"README.md", "corpus.md", "generation.md", "difftest.md"} <= {example.page for example in ALL}


@pytest.mark.parametrize(("page", "line"), [example[:2] for example in ALL])
def test_commands_and_options_exist(page: str, line: str) -> None:
    command, rest = find_command(shlex.split(line, comments=True)[1:])
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    known |= {"--help", "-h"}
    used = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    assert not getattr(command, "commands", None) or not rest or command.invoke_without_command or used
    assert set(used) <= known


def arguments(example: Example) -> list[str]:
    words = shlex.split(example.line, comments=True)[1:]
    named = "query" not in words or "--corpus" in words  # docs/queries.md leaves it out
    return words if named else [*words, "--corpus", "bugs.duckdb"]


def is_quick(example: Example) -> bool:
    words = shlex.split(example.line, comments=True)[1:]
    if words[:2] == ["apifuzz", "model"]:
        return "|" not in words
    return (
        bool(words)
        and (words[0] in QUICK or words[:2] == ["corpus", "select"])
        and not {"install", "build", "coverage"} & set(words)
        and NOT_RUN.isdisjoint(example[:2])
    )


@pytest.mark.parametrize("page", sorted({example.page for example in ALL if is_quick(example)}))
def test_quick_commands_run_and_print_what_the_page_shows(
    page: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for example in (example for example in ALL if example.page == page and is_quick(example)):
        code = run(arguments(example))
        printed = capfd.readouterr()
        assert code == 0, f"{example.line}: {printed.err}"
        if example.output:
            lines = (printed.out + printed.err).splitlines()
            assert matches(example.output, lines), f"{example.line}:\n{printed.out}"


def test_the_explained_test_is_what_its_command_makes(place: Path) -> None:
    page = (ROOT / "docs" / "generation.md").read_text("utf-8")
    section = page.partition("## One test, explained")[2].partition("\n## ")[0]
    shown, words = re.findall(r"```smt2\n(.*?)```(.*)", section, re.S)[0]
    assert (
        run(
            [
                "generate",
                "--corpus",
                "exhume-demo/corpus.duckdb",
                "--count",
                "2",
                "--seed",
                "7",
                "--out",
                "batch",
            ]
        )
        == 0
    )
    assert shown == (place / "batch" / "test-000001.smt2").read_text("utf-8")
    named = re.findall(r"\d+", " ".join(re.findall(r"(?i)(?:skeleton|atom)s? [\d and]+", words)))
    assert len(named) > 4 and set(named) <= set(shown.splitlines()[1].replace(";", " ").split())


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether a page shows what was printed. ``...`` stands for any lines, or for the rest of a line."""
    lines = (re.escape(" ".join(line.split())) for line in shown if line.strip())
    pattern = "".join(
        r"(?:.*\n)*" if line == r"\.\.\." else line.replace(r"\.\.\.", ".*") + r"\n" for line in lines
    )
    text = "".join(" ".join(line.split()) + "\n" for line in printed if line.strip())
    return re.fullmatch(pattern, text) is not None


def test_outputs_are_compared() -> None:
    assert matches(["a   b", "...", "d ..."], ["a b", "c", "c", "d e"])
    assert not matches(["a b"], ["a c"])
    assert not matches(["a"], ["a", "b"])


def test_links_lead_somewhere() -> None:
    pages = [*PAGES, ROOT / "docs" / "findings" / "README.md"]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_page_of_the_tables_is_that_of_the_schema() -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is in the extra docs")
    from scripts._site import schema_page

    assert (ROOT / "docs" / "schema.md").read_text("utf-8") == schema_page(), "run python scripts/_site.py"
    page = schema_page()
    assert "| `form` | varchar | written: as it came; printed: as exhume prints it |" in page
    assert "One SMT-LIB script, good or not." in page


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Also checks its links and anchors, and that it loads nothing from elsewhere (scripts/_site.py)."""
    pytest.importorskip("mkdocs", reason="mkdocs is in the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, [line for line in done.stderr.splitlines() if "WARNING" in line]
    commands = (tmp_path / "commands.html").read_text("utf-8")
    assert "exhume hunt [OPTIONS]" in commands
    assert "superseded_by" in (tmp_path / "schema.html").read_text("utf-8")


def test_files_that_pages_name_exist() -> None:
    for page in DOCS:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
        named = re.findall(r"`((?:[a-z]\w*/)+\w+\.(?:py|toml|sql|smt2))[`:]", text)
        ours = [name for name in named if (ROOT / name.split("/")[0] / "__init__.py").exists()]
        assert [name for name in ours if not (ROOT / name).exists() and "doubled" not in name] == [], (
            page.name
        )


def test_theories_have_one_name() -> None:
    """That of the theory file: in keys, in what solvers are asked, in the glossary."""
    known, files = known_theories(), set(default_theories().theories)
    assert known - files == {"Datatypes", "Nonlinear", "Quantifiers", "UF"}
    assert QUESTIONS.keys() <= known
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8").partition("## Theories")[2]
    assert known - files <= (named := set(re.findall(r"`(\w+)`", page))) <= known | {"Int", "BV", "FP"}
    assert len(named & files) > 8


def test_documents_and_help_use_plain_words() -> None:
    texts = {
        str(page.relative_to(ROOT)): page.read_text("utf-8")
        for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "docs" / "findings" / "README.md"]
    }
    for query in (ROOT / "corpus" / "queries").glob("*.sql"):
        texts[query.name] = "\n".join(re.findall("^--.*", query.read_text("utf-8"), re.M))
    schema = (ROOT / "corpus" / "schema.sql").read_text("utf-8")
    texts["schema.sql"] = "\n".join(re.findall("--.*", schema))
    for path in walk(typer.main.get_command(app)):
        texts[" ".join(("exhume", *path))] = (
            CliRunner().invoke(app, [*path, "--help"], prog_name="exhume").output
        )
    plain = {name: re.sub(r"^```.*?^```", "", text, flags=re.M | re.S) for name, text in texts.items()}
    assert avoided(plain) == []


def test_sources_use_plain_words() -> None:
    """Docstrings, comments, messages and names of the packages, scripts and tests; this file has the list."""
    packages = [ROOT / "tests", *(init.parent for init in ROOT.glob("*/__init__.py"))]
    files = [
        file for package in packages for suffix in ("py", "toml") for file in package.rglob(f"*.{suffix}")
    ]
    files += [file for file in (ROOT / "scripts").rglob("*") if file.is_file() and file.suffix != ".pyc"]
    files.remove(Path(__file__))
    assert len(files) > 600
    found = avoided({str(file.relative_to(ROOT)): words_of(file.read_text("utf-8")) for file in files})
    assert found == []


def test_names_and_lines_are_taken_apart() -> None:
    text = words_of("# It goes\n    # on.\ndef _is_told(x: WorkersTold) -> None: ...\n")
    assert [line.partition(": ")[2] for line in avoided({"": text})] == [
        "goes on (continue, resume)",
        "told (say what is printed or reported)",
        "Told (say what is printed or reported)",
    ]


def avoided(texts: dict[str, str]) -> list[str]:
    """The avoided words in texts by name, with the words to use."""
    return [
        f"{name}: {match[0]} ({hint})"
        for name, text in texts.items()
        for match in WORDS.finditer(text)
        if match[0].lower() not in ALLOWED.get(name, ())
        for pattern, hint in AVOIDED.items()
        if re.fullmatch(pattern, match[0], re.I)
    ]


def words_of(source: str) -> str:
    """A source file as words: names taken apart, lines of comments and docstrings joined."""
    joined = re.sub(r"\s*\n\s*(?:# )?", " ", source)
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", joined)


def update(folder: Path) -> None:
    """Rewrite the outputs of quick commands in the documents, as ``python -m tests.test_docs`` does.

    Each keeps its number of lines and their length.
    """
    set_up(folder)
    os.chdir(folder)
    for page in PAGES:
        text = page.read_text("utf-8")
        for example in (e for e in ALL if e.page == page.name and e.output and is_quick(e)):
            done = subprocess.run(
                [sys.executable, "-m", "exhume", *arguments(example)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
            )
            printed = (done.stdout + done.stderr).splitlines()
            if matches(example.output, printed):
                continue
            shown = [line for line in example.output if line != "..."]
            width = max(map(len, shown)) if any(line.endswith("...") for line in shown) else 1000
            lines = [x if len(x) <= width else x[: width - 3] + "..." for x in printed[: len(shown)]]
            lines += ["..."] * (len(printed) > len(shown))
            text = text.replace("\n".join(example.output), "\n".join(lines))
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        make_starter(Path(made))
        update(Path(made))
