"""The house rules, read off the files: imports run one way, files stay short, nothing names a machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What each package may import of the others; see docs/architecture.md.
MAY_IMPORT = {
    "base": set(),
    "smtlib": {"base"},
    "solvers": {"base", "smtlib"},
    "rules": {"base", "smtlib"},
    "corpus": {"base", "smtlib", "solvers", "rules"},
    "miner": {"base", "smtlib", "solvers", "rules", "corpus"},
    "generator": {"base", "smtlib", "solvers", "rules", "corpus"},
    "difftest": {"base", "smtlib", "solvers", "rules", "corpus", "generator"},
    "apifuzz": {"base", "smtlib", "solvers", "rules", "corpus", "generator", "difftest"},
    "exhume": {"base", "smtlib", "solvers", "rules", "corpus", "miner", "generator", "difftest", "apifuzz"},
}
PACKAGES = [name for name in MAY_IMPORT if (ROOT / name / "__init__.py").exists()]
LONGEST = 800
MOST_LINES = 60
MOST_PARAMETERS = 9
TABLES = {ROOT / "LICENSE", ROOT / "tests" / "known.py"}

# In pieces, so that this file does not name what it looks for.
_FOLDERS = "|".join((r"work\b", r"root\b", r"tmp/\w", r"home/\w"))
MACHINE_PATH = re.compile(rf"(?<![\w./:~$}}-])/(?:{_FOLDERS})")
REGISTRY = re.compile("|".join(map(re.escape, ("artifac" + "tory", "nexus" + ".", ".inter" + "nal."))))


@cache
def tracked() -> tuple[Path, ...]:
    """The files under version control."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return tuple(p for name in done.stdout.split("\0") if name and (p := ROOT / name).is_file())


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def imports(file: Path) -> tuple[tuple[int, str], ...]:
    """Line and full name of everything a module imports."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: name the package"
            found += ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    return tuple(found)


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package}
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in modules(package)
        for line, name in imports(file)
        if name.split(".")[0] in MAY_IMPORT.keys() - allowed
    ]
    assert wrong == []


# The rooms of difftest, from the bottom up.
ROOMS = ("models", "oracles", "reduction", "triage", "campaign", "bugs")


@pytest.mark.parametrize("room", ROOMS)
def test_the_rooms_of_difftest_import_one_way(room: str) -> None:
    above = {f"difftest.{name}." for name in ROOMS[ROOMS.index(room) + 1 :]}
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in sorted((ROOT / "difftest" / room).rglob("*.py"))
        for line, name in imports(file)
        if any(name.startswith(prefix) for prefix in above)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_private_modules_are_imported_by_their_own_package_only(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in modules(package)
        for line, name in imports(file)
        if name.split(".")[0] in MAY_IMPORT.keys() - {package}
        and any(part.startswith("_") for part in name.split(".")[1:])
    ]
    assert wrong == []


@cache
def import_graph() -> dict[str, set[str]]:
    """Every module with those that it imports: at its top, inside functions, for type checkers."""
    files = {
        file: ".".join(file.relative_to(ROOT).with_suffix("").parts) for p in PACKAGES for file in modules(p)
    }
    names = {file: name.removesuffix(".__init__") for file, name in files.items()}
    known = set(names.values())
    graph = {}
    for file, module in names.items():
        full = {name for _, name in imports(file)}
        used = {name if name in known else name.rpartition(".")[0] for name in full}
        graph[module] = (used & known) - {module}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules from which an import leads back to them; removing what leads nowhere leaves the circles."""
    left = {module: set(used) for module, used in graph.items()}
    while ends := {module for module, used in left.items() if not used & left.keys()}:
        left = {module: used for module, used in left.items() if module not in ends}
    return [[module, *sorted(used & left.keys())] for module, used in sorted(left.items())]


def test_no_import_leads_in_a_circle() -> None:
    assert circles(import_graph()) == []


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["a", "b"], ["b", "c"], ["c", "b"]]


def functions(package: str) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for file in modules(package):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file, node


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short_and_take_few_parameters(package: str) -> None:
    """Lines are counted without signature and docstring: those of a command are its manual page."""
    wrong = []
    for file, node in functions(package):
        place = f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
        body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
        lines = (node.end_lineno or 0) - body[0].lineno + 1
        if lines > MOST_LINES:
            wrong.append(f"{place}: {lines} lines")
        if package == "exhume" and node.name.endswith("_command"):
            continue  # the options of a command
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        count = len([name for name in names if name not in ("self", "cls")])
        if count > MOST_PARAMETERS:
            wrong.append(f"{place}: {count} parameters")
    assert wrong == []


# The steps from a test to a report that are functions, as docs/architecture.md lists them.
STEPS = re.findall(r"`(\w+/[\w/]+\.py):([a-z]\w*)`", (ROOT / "docs" / "architecture.md").read_text("utf-8"))


@pytest.mark.parametrize(("file", "step"), STEPS, ids=[f"{file}:{step}" for file, step in STEPS])
def test_a_step_is_the_one_public_function_of_its_module(file: str, step: str) -> None:
    top = ast.parse((ROOT / file).read_text("utf-8")).body
    names = {node.name for node in top if isinstance(node, ast.FunctionDef) and node.name[0] != "_"}
    assert names == {step}


def test_most_steps_are_functions() -> None:
    assert {"perform", "examine", "settle", "key_of", "weigh", "file_finding"} <= {s for _, s in STEPS}


def test_the_rules_know_every_package() -> None:
    found = {f.parent.name for f in ROOT.glob("*/__init__.py")} - {"tests"}
    assert found <= set(MAY_IMPORT)


def test_no_package_imports_tests_or_scripts() -> None:
    names = {name.split(".")[0] for p in PACKAGES for file in modules(p) for _, name in imports(file)}
    assert not names & {"tests", "scripts"}


def test_no_file_is_too_long() -> None:
    sources = [f for f in tracked() if f.suffix in (".py", ".sql", "") and f not in TABLES]
    long = {str(f.relative_to(ROOT)): n for f in sources if (n := len(f.read_bytes().splitlines())) > LONGEST}
    assert long == {}


def test_no_command_goes_through_a_shell() -> None:
    wrong = []
    for file in (f for f in tracked() if f.suffix == ".py"):
        text = file.read_text("utf-8")
        if not any(word in text for word in ("shell", "system", "popen")):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                    wrong.append(f"{file.relative_to(ROOT)}:{node.value.lineno}")
            elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.system", "os.popen"):
                wrong.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["path", "host"])
def test_no_file_names_a_machine(pattern: re.Pattern[str]) -> None:
    wrong = []
    for file in tracked():
        # Made-up paths in what people report and solvers print are data.
        if {"labelled", "issues", "data", "difftest", "miner", "solvers"} & set(
            file.relative_to(ROOT).parts[1:]
        ):
            continue
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
            if found := pattern.search(line):
                wrong.append(f"{file.relative_to(ROOT)}:{number}: {found[0]}")
    assert wrong == []


def test_the_machine_path_pattern_sees_what_it_should() -> None:
    slash = "/"
    assert MACHINE_PATH.search(f"cd {slash}work/main")
    assert MACHINE_PATH.search(f'"{slash}tmp/venv/bin"')
    assert not MACHINE_PATH.search("corpus/work/x and https://example.org/home")
