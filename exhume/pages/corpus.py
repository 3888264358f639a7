"""The HTML page of a corpus: its counts, and plots by theory, atom operator, year and bug class."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from corpus.store import Corpus
from difftest.triage.classes import class_of
from exhume.pages.plots import Plot, bar_plot
from exhume.pages.rendering import write_html

_CLASS = "coalesce(bug_class, 'no class')"
# Title, unit, and a query for place, bug class and count.
_PLOTS = (
    (
        "Formulas by theory",
        "formulas",
        f"select theory, {_CLASS}, count(*)"
        " from (select unnest(theories) as theory, bug_class from current_formula) group by all",
    ),
    (
        "Formulas by atom operator",
        "formulas",
        f"select signature.operator, {_CLASS}, count(distinct formula_id) from atom_formula"
        " join atom on atom.id = atom_id join signature on signature.id = coarse_signature_id"
        " join current_formula as formula on formula.id = formula_id"
        " where signature.operator <> '' group by all",
    ),
    (
        "Issues by year",
        "issues",
        f"select year(created_at)::varchar, {_CLASS}, count(*) from issue"
        " where created_at is not null group by all",
    ),
)


def write_corpus_page(corpus: Corpus, totals: dict[str, int], name: str, out: Path) -> int:
    """Write the page of a corpus; its size in bytes. Raises BadOutput."""
    plots = [plot for title, unit, query in _PLOTS if (plot := _plot(corpus, title, unit, query))]
    return write_html(out, "corpus.html", name=name, totals=totals, plots=plots)


def _plot(corpus: Corpus, title: str, unit: str, query: str) -> Plot | None:
    """Stacked bars per place, a colour per bug class; None without rows."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for place, bug_class, count in corpus.rows(query):
        counts[str(place)][str(bug_class)] += count
    if not counts:
        return None
    found = {name for classes in counts.values() for name in classes}
    classes = sorted(found, key=lambda name: (class_of(name).rank, name))
    colours = [class_of(name).colour for name in classes]
    order = sorted(counts) if title.endswith("year") else ()
    return bar_plot(
        title, title, "By bug class.", "the first {} of {}", counts, classes, unit, colours, order
    )
