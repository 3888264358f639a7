"""A small corpus over all theories, and libraries made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from corpus.answers import Answer
from corpus.importer import import_paths
from corpus.learn import learn
from corpus.probing import probe_formulas
from corpus.store import Corpus
from generator import Library, SeedSource, seeds_of_folder
from generator.library import RuleTemplate
from generator.seeds.script import SeedScript, read_seed
from generator.templates import AtomTemplate, SkeletonTemplate
from rules import Skeleton, decompose_script
from smtlib import check_script, read_script


def formulas() -> list[str]:
    """The formulas of the small corpus."""
    lines = Path(__file__).with_name("formulas.txt").read_text().splitlines()
    return [line for line in lines if line[0] == "("]


def is_shared(text: str) -> bool:
    """Whether both solvers have all that a formula uses."""
    return not any(word in text for word in ("set.", "(Set ", "bag.", "fp.sqrt", "RegLan)", "Array (Array"))


def script_of(text: str) -> SeedScript:
    """The seed of ``text``, which can be used."""
    script = read_seed(text)
    assert isinstance(script, SeedScript), script
    return script


def known_answers(said: Mapping[str, str | None]) -> dict[str, Answer]:
    """What is said of texts, where it is sat or unsat, as seeds are to be given it."""
    answers: Mapping[str | None, Answer] = {"sat": "sat", "unsat": "unsat"}
    found = {sha256(text.encode()).hexdigest(): answers.get(answer) for text, answer in said.items()}
    return {digest: answer for digest, answer in found.items() if answer}


def seeds_of(texts: Iterable[str], folder: Path) -> SeedSource:
    """These formulas as seeds, one ``check-sat`` each, written to ``folder`` first."""
    for number, text in enumerate(texts):
        (folder / f"f{number:03}.smt2").write_text(text + "\n(check-sat)\n")
    return seeds_of_folder(folder)


def make_corpus(folder: Path, path: Path, texts: Sequence[str], probe: bool = True) -> Path:
    """A corpus of these formulas, written to ``folder`` first, learned and shown to the solvers."""
    (folder / "z3").mkdir(parents=True)
    for number, text in enumerate(texts, 100):
        (folder / "z3" / f"z3_{number}_0.smt2").write_text(text + "\n(check-sat)\n")
    with Corpus.open(path, write=True) as corpus:
        import_paths(corpus, [folder])
        learn(corpus, min_support=2)
        if probe:
            probe_formulas(corpus)
    return path


def atom(identifier: int, declarations: str, term: str, signature: int = -1) -> AtomTemplate:
    """The atom ``term``, with row id and signature id; its issue is named by its id."""
    checked = check_script(read_script(f"{declarations}(assert {term})"))
    (decomposition,) = decompose_script(checked)
    (found,) = decomposition.atoms
    return AtomTemplate.of(identifier, found, signature, f"z3#{identifier}")


def skeleton(identifier: int, text: str) -> SkeletonTemplate:
    """The skeleton of a canonical text."""
    return SkeletonTemplate.of(identifier, Skeleton.parse(text), f"cvc5#{identifier}")


def library_of(
    skeletons: Sequence[str],
    atoms: Sequence[tuple[str, str, int]],
    rules: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
) -> Library:
    """A library by hand: skeleton texts; declarations, term and signature of atoms; rules over signatures.
    Rows are numbered from 1."""
    return Library.of(
        "feed" * 16,
        [skeleton(n, text) for n, text in enumerate(skeletons, 1)],
        [atom(n, *parts) for n, parts in enumerate(atoms, 1)],
        [RuleTemplate(n, frozenset(a), tuple(c)) for n, (a, c) in enumerate(rules, 1)],
    )
