"""What the miner adds: issues, comments, blocks, formulas with their provenance."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from corpus.intake import Intake
from corpus.records import Added, Block, Comment, FormulaSource, Issue, RawRecord, Reasoned, Tracker
from corpus.stats import stats
from corpus.store import Corpus

ISSUE = Issue(
    "Z3Prover/z3",
    1014,
    url="https://example.org/z3/issues/1014",
    title="Wrong answer\ud800 on strings",
    body="see below",
    labels=("bug", "string"),
    state="closed",
    created_at=datetime(2020, 1, 2, 3, 4, 5),
    bug_class=Reasoned("soundness", "Wrong answer"),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus.open(tmp_path / "c", write=True)


def test_provenance_is_kept_to_the_last_step(corpus: Corpus) -> None:
    with corpus, corpus.transaction():
        intake = Intake(corpus)
        tracker = intake.add_tracker(Tracker("Z3Prover/z3", "github", "https://example.org", "z3"))
        [record] = intake.add_raw_records(tracker, [RawRecord("GET /issues?page=1", "[{}]", 200, etag="abc")])
        [issue] = intake.add_issues(tracker, [replace(ISSUE, raw_record_id=record.id)])
        [comment] = intake.add_comments([(issue.id, [Comment(9_999_999_999, "me too")])])
        text = "(assert true)(check-sat)"
        [block] = intake.add_blocks(
            [
                Block(
                    issue.id,
                    0,
                    text,
                    comment_id=comment.id,
                    command_line="z3 a.smt2",
                    output="unsat",
                    expected="sat",
                )
            ]
        )
        [formula] = intake.add_formulas(
            [
                FormulaSource(
                    "Z3Prover/z3#1014/comment-1/0",
                    text,
                    tracker,
                    issue.id,
                    comment.id,
                    block.id,
                    command_line="z3 a.smt2",
                    solver="z3",
                    solver_version="4.8.5",
                    expected="sat",
                )
            ]
        )
        assert formula == Added(1, True)
        row = corpus.rows(
            """select p.tracker, p.issue, p.bug_class, p.solver_version, issue.labels, issue.bug_class_reason,
                comment.remote_id, block.command_line, printed.body, raw_record.etag
            from formula_provenance p join formula on formula.id = p.formula_id
            join issue on issue.id = issue_id join comment on comment.id = formula.comment_id
            join block on block.id = block_id join text as printed on printed.id = block.output_text_id
            join raw_record on raw_record.id = issue.raw_record_id"""
        )
        assert row == [
            (
                *("Z3Prover/z3", 1014, "soundness", "4.8.5", ["bug", "string"], "Wrong answer"),
                *(9_999_999_999, "z3 a.smt2", "unsat", "abc"),
            )
        ]
        assert corpus.verify() == []


def test_adding_again_changes_nothing_and_an_edit_is_taken_over(corpus: Corpus) -> None:
    with corpus:
        for _ in range(2):
            with corpus.transaction():
                intake = Intake(corpus)
                tracker = intake.add_tracker(Tracker("z3"))
                first = intake.add_issues(tracker, [ISSUE, Issue("z3", 2)])
                second = intake.add_issues(tracker, [Issue("z3", 3), ISSUE])
                [edited] = intake.add_issues(tracker, [replace(ISSUE, title="Edited", labels=("fixed",))])
                intake.add_comments(
                    [(1, [Comment(7, "a"), Comment(8, "b")]), (1, [Comment(7, "a"), Comment(8, "c")])]
                )
                intake.add_blocks([Block(1, 0, "x"), Block(1, 1, "y", output="z")])
        assert [a.id for a in first] == [1, 2]
        assert [a.id for a in second] == [3, 1]
        assert edited == Added(1, False)
        assert corpus.rows("select id, number, title, labels from issue order by id") == [
            (1, 1014, "Edited", ["fixed"]),
            (2, 2, None, []),
            (3, 3, None, []),
        ]
        assert corpus.rows("select body from comment join text on text.id = text_id order by position") == [
            ("a",),
            ("c",),
        ]
        assert corpus.scalar("select count(*) from block") == 2


def test_a_reason_is_removed_with_the_value_that_it_explains(corpus: Corpus) -> None:
    with corpus, corpus.transaction():
        intake = Intake(corpus)
        tracker = intake.add_tracker(Tracker("Z3Prover/z3"))
        intake.add_issues(tracker, [replace(ISSUE, fixed_by=Reasoned("1f2e3d4a", "Fixed in 1f2e3d4a"))])
        intake.add_issues(tracker, [replace(ISSUE, bug_class=None, state_reason="completed")])
        reasons = "select bug_class, bug_class_reason, fixed_by, fixed_by_reason, state_reason from issue"
        assert corpus.rows(reasons) == [(None, None, None, None, "completed")]


def test_nothing_to_add_is_fine(corpus: Corpus) -> None:
    with corpus, corpus.transaction():
        intake = Intake(corpus)
        assert intake.add_issues(1, []) == intake.add_comments([]) == intake.add_blocks([]) == []
        assert intake.add_formulas([]) == intake.add_raw_records(1, []) == []


def test_formulas_are_known_by_source_and_text(corpus: Corpus) -> None:
    with corpus, corpus.transaction():
        intake = Intake(corpus)
        tracker = intake.add_tracker(Tracker("z3"))
        a = FormulaSource("z3#1/0", "(check-sat)", tracker)
        added = intake.add_formulas([a, a, replace(a, text="(exit)"), replace(a, source="z3#2/0")])
        assert [(x.id, x.new) for x in added] == [(1, True), (1, False), (2, True), (3, True)]
        assert corpus.rows("select text_id from formula order by id") == [(1,), (2,), (1,)]
        assert not Intake(corpus).add_formulas([a])[0].new


def test_a_superseded_formula_stays_and_counts_no_more(corpus: Corpus) -> None:
    with corpus, corpus.transaction():
        intake = Intake(corpus)
        tracker = intake.add_tracker(Tracker("z3"))
        old, new = intake.add_formulas(
            [
                FormulaSource("z3#1/0", "(assert true)", tracker),
                FormulaSource("z3#1/0", "(assert false)", tracker),
            ]
        )
        assert stats(corpus)["formulas"] == 2
        corpus.execute("update formula set superseded_by = ? where id = ?", [new.id, old.id])
        counts = stats(corpus)
        assert (counts["formulas"], counts["assertions"]) == (1, 1)
        assert corpus.scalar("select count(*) from formula") == 2
        assert corpus.verify() == []
