"""Commands that need more than one query: compare, similar, behind."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from corpus.compare import CorpusComparison, RuleOverlap, compare_corpora
from corpus.errors import QueryError
from corpus.learned import fingerprint
from corpus.query import find_query, run_query
from corpus.query import formatted as formatted_result
from corpus.similar import similar_to_file, similar_to_formula
from corpus.store import Corpus
from exhume.commands.options import MOST, CorpusFile, Json
from exhume.screens.console import out, print_json, say, show_table
from rules import MIN_CONFIDENCE, MIN_SUPPORT

_HEADER_BYTES = 100_000
_SIGNIFICANT = 0.05


def compare_command(
    first: Annotated[Path, typer.Argument(metavar="A", help="First corpus, e.g. of bugs.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Second corpus, e.g. of normal benchmarks.")],
    support: Annotated[int, typer.Option(help="List rules with at least this support.", min=1)] = MIN_SUPPORT,
    min_confidence: Annotated[
        float, typer.Option(help="Keep only rules with at least this confidence.", min=0, max=1)
    ] = MIN_CONFIDENCE,
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Use coarse signatures: sorts without widths and formats.")
    ] = False,
    bug_class: Annotated[
        str | None,
        typer.Option("--class", help="Use only formulas of A with this bug class: soundness, crash, ..."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="Draw N formulas from each corpus, so that counts are comparable.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed number for --sample.", min=0)] = 0,
    limit: Annotated[int, typer.Option(help="Maximum number of items in each list.", min=0)] = 10,
    json: Json = False,
) -> None:
    """Compare the rules, skeletons and signatures of two corpora.

    Counts the rules that both corpora have, for supports 5 to 10 (as in Figure 2 of the HistFuzz paper), and
    lists the signatures that are more frequent in A than in B (Fisher's exact test).
    """
    found = compare_corpora(
        first,
        second,
        support=support,
        min_confidence=min_confidence,
        coarse=coarse,
        bug_class=bug_class,
        sample=sample,
        seed=seed,
    )
    if json:
        print_json(found.to_json(limit))
    else:
        _show_comparison(found, limit)


def _show_comparison(found: CorpusComparison, limit: int) -> None:
    for letter, side in (("A", found.first), ("B", found.second)):
        out.print(f"{letter}: {side.name}, {counted(side.formulas, 'formula')}")
    out.print()
    rows = [("skeletons", found.skeletons), ("signatures", found.signatures)]
    rows += [(_rules_named(at), at.rules) for at in found.rules]
    show_table(
        ["", "in A", "in B", "in both", "share of A"],
        [[what, str(s.first), str(s.second), str(s.both), f"{s.share:.1%}"] for what, s in rows],
        frozenset({1, 2, 3, 4}),
    )
    if any(at.length is not None for at in found.rules):
        say("one corpus has too many rules: longer rules of both are not counted")
    significant = [e for e in found.excess if e.q <= _SIGNIFICANT]
    _show_list(
        f"Signatures more frequent in A (q at most {_SIGNIFICANT})",
        ["in A", "in B", "p", "q", "signature"],
        [[str(e.first), str(e.second), f"{e.p:.2g}", f"{e.q:.2g}", e.signature] for e in significant],
        limit,
    )
    if found.excess and not significant:
        smallest = min(e.q for e in found.excess)
        out.print(f"\nno signature is significantly more frequent in A (smallest q: {smallest:.2g})")
    for title, rules in (
        (f"Rules in both (support {found.support})", found.shared_rules),
        ("Rules only in A", found.only_first),
        ("Rules only in B", found.only_second),
    ):
        measured = [[f"{r.lift:.2f}", str(r.support), f"{r.confidence:.2f}", str(r)] for r in rules]
        _show_list(title, ["lift", "support", "confidence", "rule"], measured, limit)
    alone = [[str(count), text] for text, count in found.skeletons_only_first]
    _show_list("Skeletons only in A", ["formulas", "skeleton"], alone, limit)


def _rules_named(at: RuleOverlap) -> str:
    cut = "" if at.length is None else f", of at most {at.length} signatures"
    return f"rules, support {at.support}{cut}"


def _show_list(title: str, columns: list[str], rows: list[list[str]], limit: int) -> None:
    """Print the first ``limit`` rows; the last column is a text, the others are numbers."""
    if shown := rows[:limit]:
        out.print()
        out.print(f"{title}: {len(shown)} of {len(rows)}" if len(shown) < len(rows) else title)
        text = len(columns) - 1
        show_table(columns, shown, frozenset(range(text)), shrink=text)


def similar_command(
    corpus: CorpusFile,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="An SMT-LIB script.")] = None,
    formula: Annotated[
        int | None,
        typer.Option(metavar="ID", help="Instead of FILE: a formula of the corpus.", min=1, max=MOST),
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of formulas.", min=1, max=MOST)] = 10,
    least: Annotated[
        float, typer.Option(help="Show only formulas with at least this similarity.", min=0, max=1)
    ] = 0.0,
    json: Json = False,
) -> None:
    """Find the formulas of a corpus that are most similar to a file, or to one of them.

    Formulas are similar if they share signatures: an operator with the sorts of its arguments, and whether
    these are variables or constants. Rare signatures weigh more.
    """
    if (file is None) == (formula is None):
        raise typer.BadParameter("name a FILE, or a formula of the corpus with --formula")
    with Corpus.open(corpus) as opened:
        if file is not None:
            found = similar_to_file(opened, file, limit, least)
        elif formula is not None:
            found = similar_to_formula(opened, formula, limit, least)
    if json:
        print_json([{**asdict(one), "likeness": round(one.likeness, 4)} for one in found])
        return
    if not found:
        say(f"no formula of the corpus shares a signature with {file or f'formula {formula}'}")
        return
    show_table(
        ["similarity", "formula", "bug class", "source", "title"],
        [
            [f"{one.likeness:.2f}", str(one.formula), one.bug_class or "", one.source, one.title or ""]
            for one in found
        ],
        frozenset({0, 1}),
        shrink=4,
    )


def behind_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A generated test.")],
    corpus: CorpusFile,
    limit: Annotated[int, typer.Option(help="Maximum number of issues.", min=1, max=MOST)] = 20,
    json: Json = False,
) -> None:
    """Show the issues behind a generated test.

    These are the issues that its skeletons and atoms come from; those with its rarest parts come first.
    """
    try:
        with file.open("rb") as opened_file:
            header = opened_file.read(_HEADER_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise QueryError(f"cannot read {file}: {error.strerror or error}") from error
    lines = [line for line in header.splitlines() if line.startswith(";")]
    made_from = re.search(r"^; exhume \S+ corpus ([0-9a-f]+)", header, re.MULTILINE)
    if made_from is None or not any(re.match(r"; skeletons .*; atoms ", line) for line in lines):
        raise QueryError(
            f"{file} is not a generated test: its header has no line '; skeletons ...; atoms ...'"
        )
    with Corpus.open(corpus) as opened:
        same = fingerprint(opened).startswith(made_from[1])
    if not same:
        say(f"warning: {file} was made from another corpus, or {corpus} changed since; ids may differ")
    result = run_query(corpus, find_query("issues-behind-test"), {"header": "\n".join(lines)}, max_rows=limit)
    if json:
        sys.stdout.writelines(formatted_result(result, "json"))
        return
    show_table(
        ["issue", "bug class", "skeletons", "atoms", "title"],
        [
            [
                f"{row[0]}#{row[1]}" if row[1] is not None else str(row[7]),
                row[3] or "",
                " ".join(map(str, row[4] or ())),
                " ".join(map(str, row[5] or ())),
                row[2] or "",
            ]
            for row in result.rows
        ],
        shrink=4,
    )
    if result.truncated:
        say(f"stopped after {counted(limit, 'issue')}; raise --limit for more")
