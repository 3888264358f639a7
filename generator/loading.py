"""From a corpus to a library: the skeletons, atoms and rules that the target solvers accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from corpus.learned import atom_of, fingerprint
from corpus.store import Corpus
from generator.library import Library, RuleTemplate
from generator.refusals import refused_atom
from generator.templates import AtomTemplate, SkeletonTemplate
from rules import Skeleton
from solvers.registry import REFERENCES
from solvers.specs import specs_by_kin

RuleKind = Literal["full", "coarse", "off"]
"""Which signatures guide the filling: with widths and formats, without them, or none."""

# Formulas that every target, in the version last asked, accepts in the form exhume prints. With no
# targets, all formulas count.
_USABLE = """
create or replace temp table usable as
with asked as (
    select max(solver.id) as solver_id from solver
    where id in (select solver_id from acceptance) and list_contains(?, spec) group by spec
)
select formula.id as formula_id
from current_formula as formula
where formula.status = 'well-sorted' and (
    select count(*) from acceptance join asked on asked.solver_id = acceptance.solver_id
    where acceptance.formula_id = formula.id and acceptance.form = 'printed' and acceptance.accepted
) = ?
"""

_LABEL = "coalesce(tracker.name || '#' || issue.number, formula.source)"

_FROM_FORMULA = """
join formula on formula.id = first_formula
join tracker on tracker.id = formula.tracker_id
left join issue on issue.id = formula.issue_id
"""

_SKELETONS = f"""
with used as (
    select skeleton_id, min(formula_id) as first_formula
    from assertion where formula_id in (select formula_id from usable) group by skeleton_id
)
select skeleton.id, skeleton.text, {_LABEL}
from used join skeleton on skeleton.id = used.skeleton_id {_FROM_FORMULA} order by skeleton.id
"""

_ATOMS = f"""
with used as (
    select atom_id, count(*) as uses, min(formula_id) as first_formula
    from assertion_atom join assertion on assertion.id = assertion_id
    where formula_id in (select formula_id from usable) group by atom_id
)
select atom.id, atom.text, segments, occurrences, slots, prelude, '', '', atom.theories, size,
    coalesce(signature_id, -1), coalesce(coarse_signature_id, -1), {_LABEL}
from used join atom on atom.id = used.atom_id {_FROM_FORMULA} order by used.uses desc, atom.id
"""

_RULES = """
select id, antecedent, consequent from rule
where rule_set_id = (select max(id) from rule_set where coarse = ?) order by id
"""


def target_families(corpus: Corpus, solvers: Sequence[str]) -> list[str]:
    """The solvers among ``solvers`` whose acceptance the corpus holds, releases by their solver's name.

    >>> target_families(corpus, ["z3==4.8.5", "cvc5", "mine=./solver"])  # doctest: +SKIP
    ['cvc5', 'z3']
    """
    return sorted(specs_by_kin(solvers).keys() & probed_families(corpus))


def probed_families(corpus: Corpus) -> set[str]:
    """The solvers whose acceptance the corpus holds."""
    return set(corpus.values("select distinct spec from solver join acceptance on solver_id = id"))


def load_library(
    corpus: Corpus,
    solvers: Sequence[str] = REFERENCES,
    rules: RuleKind = "full",
    skeletons_from: Corpus | None = None,
    beyond: Library | None = None,
) -> Library:
    """What generation for these solvers draws on.

    An atom or skeleton is in when some formula that holds it is accepted by every solver. Solvers
    whose acceptance the corpus does not hold narrow nothing; where it holds that of none of them, it goes by
    those that it does hold.
    ``skeletons_from`` is the paper's variant HistFuzz_n: skeletons of another corpus. The atoms of the
    library ``beyond`` are left out. Raises :class:`GenerationError` where nothing is left.
    """
    donor = skeletons_from or corpus
    select_usable(donor, solvers)
    skeletons = [
        SkeletonTemplate.of(i, Skeleton.parse(text), label) for i, text, label in donor.rows(_SKELETONS)
    ]
    families = select_usable(corpus, solvers)
    known = {atom.id for atom in beyond.atoms} if beyond else ()
    atoms = [_atom(row, rules == "coarse") for row in corpus.rows(_ATOMS) if row[0] not in known]
    atoms = [template for template in atoms if not refused_atom(template.atom, families)]
    found = [] if rules == "off" else corpus.rows(_RULES, [rules == "coarse"])
    name = fingerprint(corpus)
    if skeletons_from is not None:
        name = f"{name[:8]}{fingerprint(skeletons_from)[:8]}"
    return Library.of(name, skeletons, atoms, [RuleTemplate(i, frozenset(a), tuple(c)) for i, a, c in found])


def select_usable(corpus: Corpus, solvers: Sequence[str]) -> list[str]:
    """Make the temporary table ``usable``: ids of the formulas that all these solvers accept.

    Returns the solvers that it goes by: those whose acceptance the corpus holds; all that it holds if it has
    none of ``solvers``; none if there are no ``solvers``.
    """
    families = target_families(corpus, solvers) or (sorted(probed_families(corpus)) if solvers else [])
    corpus.rows(_USABLE, [families, len(families)])
    return families


def _atom(row: Sequence[Any], coarse: bool) -> AtomTemplate:
    identifier, *atom, fine_id, coarse_id, label = row
    return AtomTemplate.of(identifier, atom_of(atom), coarse_id if coarse else fine_id, label)
