"""Named queries: what each says is what plain Python says of the tables."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shlex
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest
from scipy.stats import false_discovery_control, fisher_exact
from typer.testing import CliRunner

from corpus.errors import QueryError
from corpus.query import _CONFINED, find_query, named_queries, parameter_values, run_query
from corpus.store import Corpus, connect_current
from exhume.cli import app
from tests.corpus.asked import asked, example, records, table

DOCS = Path(__file__).parents[2] / "docs" / "queries.md"
SCHEMA = Path(__file__).parents[2] / "corpus" / "schema.sql"
Row = dict[str, Any]


class Tables:
    """The tables in memory, joined by hand."""

    def __init__(self, path: Path) -> None:
        self.tracker = {row["id"]: row for row in table(path, "tracker")}
        self.issue = {row["id"]: row for row in table(path, "issue")}
        self.formula = {row["id"]: row for row in table(path, "formula") if row["superseded_by"] is None}
        self.skeleton = {row["id"]: row for row in table(path, "skeleton")}
        self.signature = {row["id"]: row for row in table(path, "signature")}
        self.atom = {row["id"]: row for row in table(path, "atom")}
        self.assertion = {row["id"]: row for row in table(path, "assertion")}
        self.text = {row["id"]: row["body"] for row in table(path, "text")}
        self.block = table(path, "block")
        self.rule_set = table(path, "rule_set")
        self.rule = table(path, "rule")
        self.atoms_of: dict[int, set[int]] = defaultdict(set)
        for row in table(path, "assertion_atom"):
            formula = self.assertion[row["assertion_id"]]["formula_id"]
            if formula in self.formula:
                self.atoms_of[formula].add(row["atom_id"])
        self.skeletons_of: dict[int, set[int]] = defaultdict(set)
        for row in self.assertion.values():
            if row["skeleton_id"] is not None and row["formula_id"] in self.formula:
                self.skeletons_of[row["formula_id"]].add(row["skeleton_id"])

    def issue_of(self, formula: Row) -> Row:
        return self.issue.get(formula["issue_id"], {})

    def class_of(self, formula: Row) -> str | None:
        return formula["bug_class"] or self.issue_of(formula).get("bug_class")

    def solver_of(self, formula: Row) -> str | None:
        return formula["solver"] or self.tracker[formula["tracker_id"]]["solver"]

    def tracker_of(self, row: Row) -> str:
        name = self.tracker[row["tracker_id"]]["name"]
        assert isinstance(name, str)
        return name

    def named(self, issue: Row) -> str:
        return f"{self.tracker_of(issue)}#{issue['number']}"

    def signatures_of(self, formula: int, *columns: str) -> set[int]:
        return {self.atom[a][column] for a in self.atoms_of.get(formula, ()) for column in columns}


@pytest.fixture(scope="module")
def path(bugs: Path) -> Iterator[Path]:
    """A corpus with answers to everything, held open: DuckDB takes 20 ms to open a file."""
    with closing(connect_current(bugs, _CONFINED)):
        yield bugs


@pytest.fixture(scope="module")
def tables(path: Path) -> Tables:
    return Tables(path)


def fixed_days(issue: Row) -> float | None:
    if issue["state"] != "closed" or issue["state_reason"] in ("not_planned", "duplicate"):
        return None
    if issue["closed_at"] is None or issue["created_at"] is None:
        return None
    seconds = (issue["closed_at"] - issue["created_at"]).total_seconds()
    assert isinstance(seconds, float)
    return seconds / 86400


# All of them


NAMES = [query.name for query in named_queries()]


@pytest.mark.parametrize("name", NAMES)
def test_each_explains_itself_and_finds_something_with_its_example(path: Path, name: str) -> None:
    query = find_query(name)
    assert all(text.endswith(".") for text in (query.about, *(p.about for p in query.parameters)))
    assert query.example.startswith(f"exhume query {name}")
    result = run_query(path, query, example(query))
    assert result.rows
    assert len(set(result.columns)) == len(result.columns)
    assert run_query(path, query, example(query)).rows == result.rows


@pytest.fixture(scope="module")
def shuffled(path: Path) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    """The same corpus in memory, the rows of its tables in eight other orders."""
    copies = []
    for seed in range(8):
        copy = duckdb.connect(config={"threads": 1})
        copy.execute(f"attach '{path}' as held (read_only)")
        tables = "select table_name from duckdb_tables() where database_name = 'held'"
        for (name,) in copy.execute(tables).fetchall():
            order = f"hash(rowid + {seed * 1_000_003})"
            copy.execute(f"create table {name} as select * from held.{name} order by {order}")
        for view in re.findall(r"^create view .*?;$", SCHEMA.read_text(), re.MULTILINE | re.DOTALL):
            copy.execute(view)
        copies.append(copy)
    yield copies
    for copy in copies:
        copy.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.few(7)
def test_the_order_of_the_answer_is_not_left_to_chance(
    path: Path, shuffled: list[duckdb.DuckDBPyConnection], name: str
) -> None:
    query = find_query(name)
    values = parameter_values(query, example(query))
    rows = run_query(path, query, example(query), max_rows=None).rows
    assert all(copy.execute(query.sql, values).fetchall() == rows for copy in shuffled)


def test_there_are_the_questions_that_people_ask() -> None:
    names = {query.name for query in named_queries()}
    assert len(names) >= 12
    assert names >= {
        *("bugs", "skeletons-broke-both", "skeletons-came-back", "over-represented", "rules-by-lift"),
        *("rules-new-since", "bug-prone-options", "bug-prone-tactics", "formulas-with"),
        *("time-to-fix", "issues-behind-test", "failing-options", "unsoundness", "crash-places", "versions"),
        *("code-snippets", "separating-options", "formula-sizes", "duplicates", "fixes", "reporters-tools"),
        *("contrast", "signature-pairs", "fix-files"),
    }


def test_the_examples_are_command_lines_that_run(path: Path) -> None:
    for query in named_queries():
        words = shlex.split(query.example)[1:]
        done = CliRunner().invoke(app, [*words, "--corpus", str(path), "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)


def test_the_list_for_machines() -> None:
    listed = json.loads(CliRunner().invoke(app, ["query", "--list", "--json"]).stdout)
    assert [item["name"] for item in listed] == NAMES
    assert all({"name", "about", "parameters"} <= item.keys() for item in listed)


TEXTS = (
    *("'; drop table issue; --", "') or 1=1 --", "$class", "%", "\\", "([*", "", ",,,", "\0", "\x1b[31m"),
    *("\udcff", "é" * 1000, "a" * 100_000, "9" * 5000, "; skeletons 1 99999999999999999999; atoms -1"),
)
NUMBERS = (
    *("'; drop table issue; --", "", "-1", "0", "1e999", "nan", "inf", "9" * 30, "9" * 5000, "0x10"),
    *("9223372036854775807", "2147483648", "0001-01-01", "9999-12-31", "2024-02-30", "infinity", "\udcff"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.few(6)
def test_hostile_values_are_values(path: Path, name: str) -> None:
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    query = find_query(name)
    numbers = [p.name for p in query.parameters if p.type in ("integer", "number", "date")]
    texts = [parameter.name for parameter in query.parameters if parameter.name not in numbers]
    cases: list[dict[str, str]] = [dict.fromkeys(texts, value) for value in TEXTS if texts]
    cases += [{name: value} for name in numbers for value in NUMBERS]
    # An open connection keeps the database loaded for the others: loading takes longer than most answers.
    with closing(connect_current(path, _CONFINED)):
        for case in cases:
            try:
                run_query(path, query, {**example(query), **case}, deadline=20)
            except QueryError as error:
                assert str(error)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_values_of_the_wrong_type_are_reported() -> None:
    for name, parameter, value, kind in (
        ("rules-new-since", "since", "yesterday", "date"),
        ("issues-behind-test", "test", "9" * 30, "integer"),
        ("over-represented", "p", "small", "number"),
    ):
        with pytest.raises(QueryError, match=f"expected {kind} for {parameter}, got"):
            run_query("not opened", find_query(name), {parameter: value})


# Each against plain Python


def theories_of(tables: Tables, issue: Row) -> set[str | None]:
    formulas = [f for f in tables.formula.values() if f["issue_id"] == issue["id"]]
    theories = {theory for f in formulas for theory in f["theories"] or ()}
    return (theories - {"Core"} if len(theories) > 1 else theories) or {None}


def solvers_of(tables: Tables, issue: Row) -> set[str | None]:
    formulas = [f for f in tables.formula.values() if f["issue_id"] == issue["id"]]
    said = {f["solver"] for f in formulas if f["solver"]}
    return said or {tables.tracker[issue["tracker_id"]]["solver"]}


@pytest.mark.parametrize("by", ["class,theory,year,solver", "class", "solver, year", "theory"])
def test_bugs(path: Path, tables: Tables, by: str) -> None:
    required = [word.strip() for word in by.split(",")]
    counts: Counter[tuple[Any, ...]] = Counter()
    for issue in tables.issue.values():
        parts: dict[str, Iterable[Any]] = {
            "class": [issue["bug_class"]],
            "theory": theories_of(tables, issue),
            "year": [issue["created_at"].year if issue["created_at"] else None],
            "solver": solvers_of(tables, issue),
        }
        keys = [parts[name] if name in required else [None] for name in parts]
        counts.update(set(itertools.product(*keys)))
    found = asked(path, "bugs", by=by)
    assert {row[:4]: row[4] for row in found.rows} == counts
    assert [row[4] for row in found.rows] == sorted(counts.values(), reverse=True)
    assert len(counts) > 1


def test_bugs_narrowed_and_misspelt(path: Path) -> None:
    [row] = records(asked(path, "bugs", by="class", **{"class": "crash"}, tracker="exhume/starter"))
    assert row["class"] == "crash"
    with pytest.raises(QueryError, match=r"\Abugs: by is made of class, theory, year, solver"):
        asked(path, "bugs", by="class,colour")


def test_bug_classes(path: Path, tables: Tables) -> None:
    held = Counter(f["issue_id"] for f in tables.formula.values())
    groups: dict[tuple[str, str | None], list[Row]] = defaultdict(list)
    for issue in tables.issue.values():
        groups[tables.tracker_of(issue), issue["bug_class"]].append(issue)
    found = {row[:2]: row[2:] for row in asked(path, "bug-classes").rows}
    assert found.keys() == groups.keys()
    for key, issues in groups.items():
        days = [
            (i["closed_at"].date() - i["created_at"].date()).days
            for i in issues
            if i["closed_at"] and i["created_at"]
        ]
        assert found[key] == (
            len(issues),
            sum(held[i["id"]] for i in issues),
            median(days) if days else None,
        )


def test_bugs_by_year(path: Path, tables: Tables) -> None:
    expected = Counter(
        (tables.tracker_of(i), i["created_at"].year if i["created_at"] else None, i["bug_class"])
        for i in tables.issue.values()
    )
    assert {row[:3]: row[3] for row in asked(path, "bugs-by-year").rows} == expected


def test_theories(path: Path, tables: Tables) -> None:
    expected = Counter(
        (tables.tracker_of(f), theory) for f in tables.formula.values() for theory in f["theories"] or ()
    )
    assert {row[:2]: row[2] for row in asked(path, "theories").rows} == expected


def test_formulas_with(path: Path, tables: Tables) -> None:
    common = Counter(
        pair
        for f in tables.formula.values()
        for pair in itertools.combinations(sorted(f["operators"] or ()), 2)
    )
    for (one, other), count in common.most_common(5):
        expected = {f["id"] for f in tables.formula.values() if {one, other} <= set(f["operators"] or ())}
        found = asked(path, "formulas-with", operators=f"{other}, {one}").rows
        assert {row[0] for row in found} == expected
        assert len(found) == count


def test_time_to_fix(path: Path, tables: Tables) -> None:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for issue in tables.issue.values():
        groups[tables.tracker_of(issue), issue["bug_class"], issue["area"]].append(issue)
    found = {row[:3]: row[3:] for row in asked(path, "time-to-fix").rows}
    assert found.keys() == groups.keys()
    for key, issues in groups.items():
        days = sorted(d for d in map(fixed_days, issues) if d is not None)
        fixed, still_open, middle, _, most = found[key]
        assert (fixed, still_open) == (len(days), sum(i["state"] == "open" for i in issues))
        if days:
            assert (middle, most) == (
                pytest.approx(median(days), abs=0.06),
                pytest.approx(days[-1], abs=0.06),
            )
        else:
            assert (middle, most) == (None, None)


@pytest.mark.parametrize("holes", [1, 2])
def test_skeletons_broke_both(path: Path, tables: Tables, holes: int) -> None:
    issues: dict[int, dict[str | None, set[int]]] = defaultdict(lambda: defaultdict(set))
    for formula in tables.formula.values():
        if formula["issue_id"] is not None:
            for skeleton in tables.skeletons_of[formula["id"]]:
                issues[skeleton][tables.solver_of(formula)].add(formula["issue_id"])
    expected = {
        (skeleton, len(by["z3"]), len(by["cvc5"]))
        for skeleton, by in issues.items()
        if by["z3"] and by["cvc5"] and tables.skeleton[skeleton]["holes"] >= holes
    }
    found = asked(path, "skeletons-broke-both", holes=holes).rows
    assert {row[:3] for row in found} == expected
    assert len(found) == len(expected) > 0
    swapped = asked(path, "skeletons-broke-both", holes=holes, first="cvc5", second="z3").rows
    assert {(row[0], row[2], row[1]) for row in swapped} == expected


def test_skeletons_in_both(path: Path, tables: Tables) -> None:
    formulas: dict[int, Counter[str]] = defaultdict(Counter)
    for formula in tables.formula.values():
        for skeleton in tables.skeletons_of[formula["id"]]:
            formulas[skeleton][tables.tracker_of(formula)] += 1
    expected = {
        (skeleton, by["z3"], by["cvc5"]) for skeleton, by in formulas.items() if by["z3"] and by["cvc5"]
    }
    found = asked(path, "skeletons-in-both", first="z3", second="cvc5").rows
    assert {row[:3] for row in found} == expected
    assert expected


@pytest.mark.parametrize(("bug_class", "trivial"), [(None, 0), (None, 1), ("crash", 1)])
def test_skeletons_came_back(path: Path, tables: Tables, bug_class: str | None, trivial: int) -> None:
    broke: dict[tuple[int, str], set[int]] = defaultdict(set)
    for formula in tables.formula.values():
        if formula["issue_id"] is not None and bug_class in (None, tables.class_of(formula)):
            for skeleton in tables.skeletons_of[formula["id"]]:
                solver = tables.solver_of(formula) or tables.tracker_of(formula)
                broke[skeleton, solver].add(formula["issue_id"])
    expected = {}
    for (skeleton, solver), ids in broke.items():
        issues = [tables.issue[i] for i in ids]
        fixes = [(i["closed_at"], tables.named(i)) for i in issues if fixed_days(i) is not None]
        words = re.findall(r"\((?!hole|not )", tables.skeleton[skeleton]["text"])
        if not fixes or tables.skeleton[skeleton]["holes"] < 2 or (len(words) < 2 and not trivial):
            continue
        fixed_at, fixed = min(fixes)
        later = [
            (i["created_at"], tables.named(i))
            for i in issues
            if i["created_at"] and i["created_at"] > fixed_at
        ]
        if later:
            expected[skeleton, solver] = (len(later), fixed, fixed_at, min(later)[1])
    found = asked(path, "skeletons-came-back", **{"class": bug_class}, trivial=trivial).rows
    assert {row[:2]: row[2:6] for row in found} == expected
    assert expected


@pytest.mark.parametrize("coarse", [0, 1])
@pytest.mark.parametrize("normal", [None, "normal"])
def test_over_represented_is_fishers_test(
    path: Path, tables: Tables, coarse: int, normal: str | None
) -> None:
    column = "coarse_signature_id" if coarse else "signature_id"
    bugs: list[set[int]] = []
    normals: list[set[int]] = []
    for formula in tables.formula.values():
        held = tables.signatures_of(formula["id"], column)
        if not held or formula["near_duplicate_of"] is not None:
            continue
        here = tables.tracker_of(formula)
        if here != normal and tables.class_of(formula) in ("soundness", "invalid-model"):
            bugs.append(held)
        elif normal in (None, here):
            normals.append(held)
    found = records(
        asked(
            path,
            "over-represented",
            **{"class": "soundness, invalid-model", "normal": normal, "coarse": coarse, "p": 1.0},
        )
    )
    expected = {}
    for signature in set().union(*bugs, *normals):
        a, b = (sum(signature in held for held in side) for side in (bugs, normals))
        if a + b >= 2:
            cells = [[a, b], [len(bugs) - a, len(normals) - b]]
            expected[signature] = (a, b, fisher_exact(cells, alternative="greater").pvalue)
    assert {row["signature"] for row in found} == expected.keys()
    qs = false_discovery_control([expected[row["signature"]][2] for row in found])
    for row, q in zip(found, qs, strict=True):
        a, b, p = expected[row["signature"]]
        assert (row["in_bugs"], row["in_normals"], row["bugs"], row["normals"]) == (
            *(a, b),
            *(len(bugs), len(normals)),
        )
        assert row["p"] == pytest.approx(p, rel=1e-9)
        assert row["q"] == pytest.approx(q, rel=1e-9)
        if b:
            often = Fraction(a, len(bugs)) / Fraction(b, len(normals))
            assert row["times_as_often"] == pytest.approx(float(often), abs=0.0051)
    assert [row["p"] for row in found] == sorted(row["p"] for row in found)
    assert found[0]["p"] < 0.1


def rules_of(tables: Tables, rule_set: int) -> dict[tuple[tuple[int, ...], tuple[int, ...]], Row]:
    return {
        (tuple(sorted(r["antecedent"])), tuple(sorted(r["consequent"]))): r
        for r in tables.rule
        if r["rule_set_id"] == rule_set
    }


def test_rules_by_lift(path: Path, tables: Tables) -> None:
    newest = max(r["id"] for r in tables.rule_set if not r["coarse"])
    rules = [r for r in rules_of(tables, newest).values() if r["support"] >= 5]
    found = asked(path, "rules-by-lift", support=5).rows
    assert {row[0] for row in found} == {r["id"] for r in rules}
    lifts = {r["id"]: r["lift"] for r in rules}
    # What is equal but for the last digit is sorted by support.
    assert [lifts[row[0]] for row in found] == pytest.approx(sorted(lifts.values(), reverse=True))


@pytest.mark.parametrize("coarse", [0, 1])
def test_rules_new_since(path: Path, tables: Tables, coarse: int) -> None:
    old, new = [r for r in tables.rule_set if r["coarse"] == bool(coarse)]
    before, after = rules_of(tables, old["id"]), rules_of(tables, new["id"])
    gained = {after[key]["id"] for key in after.keys() - before.keys()}
    assert 0 < len(gained) < len(after)
    assert {row[0] for row in asked(path, "rules-new-since", coarse=coarse).rows} == gained
    assert {
        row[0] for row in asked(path, "rules-new-since", coarse=coarse, since="9999-01-01").rows
    } == gained
    everything = asked(path, "rules-new-since", coarse=coarse, since="2001-01-01").rows
    assert len(everything) == len(after)
    between = old["created_at"] + (new["created_at"] - old["created_at"]) / 2
    assert isinstance(between, datetime)
    assert {row[0] for row in asked(path, "rules-new-since", coarse=coarse, since=between).rows} == gained


def test_issues_behind_test(path: Path, tables: Tables) -> None:
    skeletons, atoms = {4, 5, 8}, {2, 3, 38}
    expected = {
        tables.named(tables.issue_of(f)) if f["issue_id"] is not None else f["source"]
        for f in tables.formula.values()
        if skeletons & tables.skeletons_of[f["id"]] or atoms & tables.atoms_of.get(f["id"], set())
    }
    header = (
        "; exhume 0.1.0 corpus 0123456789abcdef seed 1 index 0 strategy skeletons\n"
        "; skeletons 5 8 4 5; atoms 38 2 3; rules none\n; issues none\n"
    )
    by_header = asked(path, "issues-behind-test", header=header).rows
    by_ids = asked(path, "issues-behind-test", skeletons="4,5, 8", atoms="2,3,38").rows
    assert by_header == by_ids
    assert {f"{row[0]}#{row[1]}" if row[1] is not None else row[7] for row in by_ids} == expected
    # Those with the rarest parts come first.
    issues: dict[tuple[str, int], set[str]] = defaultdict(set)
    for formula in tables.formula.values():
        of_issue = formula["issue_id"] is not None
        name = tables.named(tables.issue_of(formula)) if of_issue else formula["source"]
        for kind, parts, of in (
            ("skeleton", skeletons, tables.skeletons_of),
            ("atom", atoms, tables.atoms_of),
        ):
            for part in parts & of.get(formula["id"], set()):
                issues[kind, part].add(name)
    rarity = [
        sum(
            1 / len(issues[kind, part])
            for kind, parts in zip(("skeleton", "atom"), row[4:6], strict=True)
            for part in parts or ()
        )
        for row in by_ids
    ]
    assert rarity == pytest.approx(sorted(rarity, reverse=True))
    assert rarity[0] > rarity[-1]
    for row in records(asked(path, "issues-behind-test", skeletons="4", atoms="2")):
        assert set(row["skeletons"] or []) <= {4}
        assert set(row["atoms"] or []) <= {2}
    assert asked(path, "issues-behind-test").rows == []
    with pytest.raises(QueryError, match=r"\Aissues-behind-test: .* 'x' to INT32\Z"):
        asked(path, "issues-behind-test", skeletons="1, x")
    assert asked(path, "issues-behind-test", header="; skeletons none; atoms none; rules none").rows == []


def test_issues_behind_one_part(path: Path, tables: Tables) -> None:
    for name, part, parts in (
        ("issues-behind-skeleton", "skeleton", tables.skeletons_of),
        ("issues-behind-atom", "atom", tables.atoms_of),
    ):
        for ident in (2, 4, 9):
            expected = {tables.formula[f]["source"] for f, held in parts.items() if ident in held}
            assert {row[4] for row in asked(path, name, **{part: ident}).rows} == expected


def test_signatures(path: Path, tables: Tables) -> None:
    counts = Counter(s for f in tables.atoms_of for s in tables.signatures_of(f, "signature_id"))
    expected = {tables.signature[s]["text"]: n for s, n in counts.items()}
    found = {row[1]: row[2] for row in asked(path, "signatures").rows if row[2]}
    assert found == expected


def test_skeletons(path: Path, tables: Tables) -> None:
    found = {row[0]: row[1] for row in asked(path, "skeletons", holes=2, like="%and%").rows}
    required = {
        key: row for key, row in tables.skeleton.items() if row["holes"] >= 2 and "and" in row["text"]
    }
    assert set(found) == set(required)
    assert found == {key: row["formulas"] for key, row in required.items()}


def test_bug_prone_options(path: Path, tables: Tables) -> None:
    found = {row["option"]: row for row in records(asked(path, "bug-prone-options"))}
    issues: dict[str, set[int]] = defaultdict(set)
    held = [formula for formula in tables.formula.values() if formula["issue_id"] is not None]
    for row in [*tables.block, *held]:
        for word in shlex.split(row["command_line"] or "")[1:]:
            if word.startswith("-") or "=" in word:
                issues[word.partition("=")[0]].add(row["issue_id"])
    for block in tables.block:
        for option in re.findall(r"\(set-option (:\S+)", tables.text[block["text_id"]]):
            issues[option].add(block["issue_id"])
    assert {name: row["issues"] for name, row in found.items()} == {n: len(i) for n, i in issues.items()}
    assert found["smt.string_solver"]["values"] == ["z3str3"]
    assert {row[0] for row in asked(path, "bug-prone-options", solver="cvc5").rows} == {
        name for name, row in found.items() if "cvc5" in (row["solvers"] or ())
    }


def test_bug_prone_tactics(path: Path, tables: Tables) -> None:
    issues: dict[str, set[int]] = defaultdict(set)
    for block in tables.block:
        for line in tables.text[block["text_id"]].splitlines():
            if "(check-sat-using " in line:
                term = line.partition("(check-sat-using ")[2]
                for word in re.findall(r"[a-z][a-z0-9_-]+", term):
                    if word not in ("then", "using-params", "or-else", "par-or", "repeat"):
                        issues[word].add(block["issue_id"])
    found = {row[0]: row[1] for row in asked(path, "bug-prone-tactics").rows}
    assert found == {name: len(ids) for name, ids in issues.items()}
    assert "symmetry-reduce" in found


# The page


def test_the_page_lists_them_all() -> None:
    text = DOCS.read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## ([a-z-]+)\n(.*?)(?=^## |^# |\Z)", text, re.MULTILINE | re.DOTALL))
    queries = {query.name: query for query in named_queries()}
    assert queries.keys() <= parts.keys()
    for name, query in queries.items():
        assert query.about in parts[name]
        assert f"$ {query.example}" in parts[name]
        for parameter in query.parameters:
            assert f"`{parameter.name}`" in parts[name]
            assert parameter.about in parts[name]


def test_failing_options(path: Path) -> None:
    rows = run_query(
        path,
        """select formula_id, issue_id, run.solver, failing, options from formula_run as run
        join current_formula as formula on formula.id = formula_id order by formula_id, run.position""",
    ).rows
    good = {(formula, word) for formula, _, _, failing, options in rows for word in options if not failing}
    issues: dict[str, set[int]] = defaultdict(set)
    for formula, issue, solver, failing, options in rows:
        for word in options:
            if failing and solver == "z3" and (formula, word) not in good:
                issues[word.partition("=")[0]].add(issue)
    found = {row[0]: row[2] for row in asked(path, "failing-options", solver="z3").rows}
    assert found == {name: len(ids) for name, ids in issues.items()}
    assert "smt.string_solver" in found


def test_unsoundness(path: Path) -> None:
    rows = run_query(
        path,
        """select id, actual, expected, theories from current_formula
        where actual is not null and expected is not null""",
    ).rows
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _, actual, expected, theories in rows:
        pairs = list(zip(actual.split(), expected.split(), strict=False))
        for place, wrong in enumerate([("unsat", "sat"), ("sat", "unsat")]):
            if wrong in pairs:
                for theory in theories if len(theories) == 1 else [t for t in theories if t != "Core"]:
                    counts[theory][place] += 1
    found = {row[0]: list(row[3:5]) for row in asked(path, "unsoundness").rows}
    assert found == dict(counts)
    assert found["ArraysEx"][1] > found["ArraysEx"][0] > 0


def test_crash_places_and_versions(path: Path, starter: Path) -> None:
    place = records(asked(path, "crash-places", like="smt_context%"))
    said = [(row["file"], row["line"], row["message"], row["issues"]) for row in place]
    assert said == [("smt_context.cpp", 352, "m_scope_lvl > 0", 2)]
    assert place[0]["an_issue"] == "Z3Prover/z3#1"
    with pytest.raises(QueryError, match="by is line or file"):
        asked(path, "crash-places", by="folder")
    # The starter has issues of several solvers: the formulas say which.
    places = records(asked(starter, "crash-places"))
    assert {row["solver"] for row in places} == {"z3", "cvc4", "cvc5"}
    assert sum(row["issues"] for row in places if row["solver"] == "z3") == 27
    assert asked(starter, "crash-places", solver="z3", by="file").rows
    [row] = records(asked(path, "versions", affected="4.8.7"))
    said = [row[name] for name in ("issue", "last_good", "affected", "fixed_in", "fixed_by")]
    assert said == ["Z3Prover/z3#3", "4.8.5", "4.8.7", "4.8.9", "#12"]


def test_code_snippets(path: Path) -> None:
    rows = records(asked(path, "code-snippets"))
    assert [(row["language"], row["issue"], row["bug_class"]) for row in rows] == [
        ("python", "Z3Prover/z3#2", "crash"),
        ("sygus", "Z3Prover/z3#2", "crash"),
    ]
    assert rows[0]["text"].startswith("from z3 import *")
    assert asked(path, "code-snippets", language="sygus").rows == [tuple(rows[1].values())]


def test_separating_options(path: Path) -> None:
    [row] = records(asked(path, "separating-options", solver="z3"))
    said = [row[name] for name in ("issue", "only_failing", "only_good", "failing", "good")]
    assert said == ["Z3Prover/z3#3", ["smt.phase=1", "smt.b=2"], ["-q"], "wrong-answer", "unsat"]


def test_duplicates_fixes_and_tools(path: Path) -> None:
    [row] = records(asked(path, "duplicates"))
    names = ("issue", "duplicate_of", "said_by", "same_crash_place", "days_apart")
    assert [row[name] for name in names] == ["Z3Prover/z3#2", "Z3Prover/z3#1", "MEMBER", True, 10]
    [row] = records(asked(path, "fixes"))
    assert [row[name] for name in ("fix", "issues", "classes", "median_days")] == [
        *("Z3Prover/z3#12", 1),
        ["soundness"],
        4.0,
    ]
    places = [row[:3] for row in asked(path, "fix-files", by="folder").rows]
    assert places == [("src/ast", 1, 1.0), ("src/smt", 1, 1.0)]
    [row] = records(asked(path, "fix-files", like="%seq%", theory="UnicodeStrings"))
    assert [row[name] for name in ("place", "classes", "an_issue")] == [
        *("src/smt/theory_seq.cpp", ["soundness"]),
        "Z3Prover/z3#3",
    ]
    tools = {row["tool"]: row["issues"] for row in records(asked(path, "reporters-tools"))}
    assert tools == {"yinyang": 2}


def test_the_share_of_a_fixed_file_is_of_all_issues_with_known_files(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(path, tmp_path / "copy.duckdb"))
    with duckdb.connect(str(copy)) as connection:
        connection.execute(
            """insert into issue_link select id, null, 'number', 'Z3Prover/z3#99', true, '', false
            from issue where number = 1
            and tracker_id = (select id from tracker where name = 'Z3Prover/z3')"""
        )
        connection.execute("insert into fix_file values ('Z3Prover/z3#99', 'src/api/api.cpp')")
    [row] = records(asked(copy, "fix-files", like="%seq%"))
    assert (row["issues"], row["share"]) == (1, 0.5)


def test_formula_sizes(path: Path, tables: Tables) -> None:
    groups: dict[tuple[str | None, bool], list[Row]] = defaultdict(list)
    for formula in tables.formula.values():
        if formula["commands"] is not None and formula["near_duplicate_of"] is None:
            incremental = formula["check_sats"] > 1 or formula["pushes"] > 0
            groups[tables.class_of(formula), incremental].append(formula)
    found = {row[:2]: row[2:5] for row in asked(path, "formula-sizes").rows}
    assert found == {
        key: (len(rows), median(r["assertions"] for r in rows), median(r["terms"] for r in rows))
        for key, rows in groups.items()
    }
    assert len(found) > 3


@pytest.mark.parametrize("coarse", [0, 1])
def test_signature_pairs(path: Path, tables: Tables, coarse: int) -> None:
    column = "coarse_signature_id" if coarse else "signature_id"
    held = [tables.signatures_of(formula, column) for formula in tables.formula]
    held = [signatures for signatures in held if signatures]
    alone = Counter(one for signatures in held for one in signatures)
    pairs = Counter(pair for signatures in held for pair in itertools.combinations(sorted(signatures), 2))
    expected = {
        (tables.signature[a]["text"], tables.signature[b]["text"]): (
            count * len(held) / (alone[a] * alone[b])
        )
        for (a, b), count in pairs.items()
        if count >= 3
    }
    found = {row[:2]: row[-1] for row in asked(path, "signature-pairs", coarse=coarse).rows}
    assert found == pytest.approx(expected, abs=0.006)
    assert expected


def test_contrast_is_fishers_test(path: Path, tables: Tables) -> None:
    sides: dict[str, list[Row]] = {"z3": [], "normal": []}
    for formula in tables.formula.values():
        if tables.tracker_of(formula) in sides and formula["commands"] is not None:
            sides[tables.tracker_of(formula)].append(formula)
    first, second = sides["z3"], sides["normal"]
    rows = records(asked(path, "contrast", first="z3", second="normal", by="operator"))
    names = {name for formula in first + second for name in formula["operators"]}
    assert {row["item"] for row in rows} == names
    for row in rows:
        a, b = (sum(row["item"] in f["operators"] for f in side) for side in (first, second))
        cells = [[a, len(first) - a], [b, len(second) - b]]
        assert row["p"] == pytest.approx(fisher_exact(cells).pvalue, abs=1e-6)
        (c, d), (e, f) = cells
        assert row["odds_ratio"] == pytest.approx((c + 0.5) * (f + 0.5) / ((d + 0.5) * (e + 0.5)), abs=1e-3)
    assert [row["q"] for row in rows] == pytest.approx(false_discovery_control([row["p"] for row in rows]))
    for of, one, other in (("solver", "z3", "cvc5"), ("period", "2019-2020", "2021-2025")):
        for by in ("theory", "signature", "coarse"):
            assert asked(path, "contrast", first=one, second=other, of=of, by=by).rows
    nobody = asked(path, "contrast", first="z3", second="cvc6", of="solver")
    assert (nobody.rows, nobody.hint) == (
        [],
        "the corpus has no tracker or solver 'cvc6'; did you mean cvc5 or cvc4?",
    )
    assert asked(path, "contrast", first="2019", second="1950", of="period").hint == ""
    with pytest.raises(QueryError, match="by is theory, operator"):
        asked(path, "contrast", first="z3", second="normal", by="colour")


def test_an_empty_answer_says_why(path: Path, starter: Path, tmp_path: Path) -> None:
    assert asked(path, "bugs", tracker="exhume/startr").hint == (
        "the corpus has no tracker 'exhume/startr'; did you mean exhume/starter?"
    )
    hint = asked(path, "failing-options", **{"class": "chrash"}).hint
    assert hint == "the corpus has no class 'chrash'; did you mean crash?"
    assert asked(starter, "fixes").hint == "fixes found nothing: no issue of this corpus has issue_link.fixes"
    with Corpus.open(tmp_path / "empty.duckdb", write=True):
        pass
    for query in named_queries():
        values = {p.name: "1" for p in query.parameters if p.required}
        hint = run_query(tmp_path / "empty.duckdb", query, values).hint
        # There are no records to replay.
        command = query.needs[1].removesuffix(" --replay") if query.needs is not None else ""
        assert query.needs is None or hint.endswith(f"which {command} stores")
