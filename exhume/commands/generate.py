"""Commands that make tests: generate, strategies, label."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from base.version import VERSION
from corpus.answers import AnswerStore, CachedAnswers, CorpusAnswers, LabelReport, find_answers
from corpus.store import Corpus
from difftest import parse_spec
from exhume.commands.options import (
    Incremental,
    Jobs,
    Json,
    OptionalCorpus,
    RulesOption,
    Seed,
    Seeds,
    Settings,
    SkeletonsFrom,
    existing,
)
from exhume.screens.console import out, print_json, progress, say, show_table
from generator import (
    STRATEGIES,
    BatchReport,
    GenerationError,
    SeedSource,
    StrategySettings,
    seeds_of_corpus,
    seeds_of_folder,
    write_batch,
)
from generator.build import Sources, build_strategy, own_settings
from generator.seeds.source import count_causes
from solvers.registry import REFERENCES


def generate_command(
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Output folder: new, empty, or with the same batch.")
    ],
    corpus: OptionalCorpus = None,
    count: Annotated[int, typer.Option(help="Number of tests.", min=1)] = 1000,
    seed: Seed = 1,
    strategy: Annotated[
        str, typer.Option(metavar="NAME", help="Strategy that makes the tests; see 'exhume strategies'.")
    ] = "skeletons",
    solvers: Annotated[
        str,
        typer.Option(help="Build tests only from formulas that all these solvers accept.", metavar="A,B"),
    ] = ",".join(REFERENCES),
    seeds: Seeds = None,
    settings: Settings = None,
    rules: RulesOption = "full",
    incremental: Incremental = False,
    skeletons_from: SkeletonsFrom = None,
    skeleton: Annotated[
        int,
        typer.Option(
            help="Only for --strategy enumerate: id of the skeleton, see 'exhume query skeletons'; 0"
            " takes the first usable one.",
            min=0,
        ),
    ] = 0,
    start: Annotated[
        int, typer.Option(help="Index of the first test, to continue an earlier batch.", min=0)
    ] = 0,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Write a batch of generated tests to a folder.

    The tests resemble the formulas of the corpus, or are mutants of seed formulas; 'exhume strategies'
    lists the ways to make them.
    """
    # Commas in brackets are those between a solver's options.
    named = re.split(r",(?![^\[]*\])", solvers)
    targets = [parse_spec(name).text for name in named if name.strip()]
    chosen = StrategySettings(seed, skeleton, tuple(targets), own_settings(settings or (), incremental))
    # With seeds from a folder, nothing would open it.
    given = None if corpus is None else existing(corpus)
    made = build_strategy(strategy, Sources(given, rules, skeletons_from, seeds), chosen)
    if skeletons_from is not None and "library" not in STRATEGIES[strategy].needs:
        raise GenerationError(f"{strategy} takes no --skeletons-from; it draws on seeds")
    description: dict[str, object] = {
        "exhume": VERSION,
        "corpus": made.fingerprint,
        "strategy": strategy,
        "seed": seed,
        "solvers": targets,
        "rules": rules,
        "incremental": incremental,
        "skeleton": skeleton,
        "start": start,
    }
    set_to = dict(getattr(made, "settings", {}))
    if set_to or "seeds" in STRATEGIES[strategy].needs:
        description["settings"] = set_to
    with progress("generating", json) as tick:
        report = write_batch(
            made, count, out_folder, description, jobs, lambda done: tick(done, count), start
        )
    if json:
        document: dict[str, object] = {
            "written": report.written,
            "distinct": report.distinct,
            "seconds": round(report.seconds, 3),
        }
        if "seeds" in STRATEGIES[strategy].needs:
            document |= {"counts": dict(report.counts), "skipped": count_causes(report.skipped)}
        print_json(document)
    else:
        _show_batch(report, out_folder)


def _show_batch(report: BatchReport, folder: Path) -> None:
    rate = report.written / max(report.seconds, 1e-9)
    out.print(
        f"{counted(report.written, 'test')} in {folder}, {report.distinct} distinct,"
        f" {report.seconds:.1f} s ({rate:.0f} a second)"
    )
    for cause, count in sorted(report.counts.items()):
        out.print(f"  {cause}: {count}")
    _show_skipped(report.skipped)


def _show_skipped(skipped: dict[str, str]) -> None:
    for cause, count in count_causes(skipped).items():
        first = next(origin for origin, why in skipped.items() if why == cause)
        say(f"skipped {counted(count, 'seed formula')}: {cause} (e.g. {first})")


def strategies_command(json: Json = False) -> None:
    """List the test generation strategies and their settings."""
    if json:
        print_json(
            [
                {
                    "name": s.name,
                    "about": s.about,
                    "takes": s.takes,
                    "knows": s.knows,
                    "needs": sorted(s.needs),
                    "settings": [
                        {"name": x.name, "default": x.default, "about": x.about, "choices": x.choices}
                        for x in s.settings
                    ],
                }
                for s in STRATEGIES.values()
            ]
        )
        return
    rows = [[s.name, s.about, s.takes, s.knows] for s in STRATEGIES.values()]
    show_table(["name", "about", "input", "known about the answer"], rows)
    settings = [
        [s.name, f"{x.name}={x.default}", f"{x.about}; {', '.join(x.choices)}" if x.choices else x.about]
        for s in STRATEGIES.values()
        for x in s.settings
    ]
    if settings:
        out.print()
        show_table(["strategy", "--set (default)", "meaning"], settings)


def label_command(
    corpus: OptionalCorpus = None,
    seeds: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Instead of --corpus: an .smt2 file, or a folder of them.", exists=True
        ),
    ] = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Find trusted answers for formulas.

    An answer is trusted if z3 and cvc5 both give it. Strategies such as fusion and weaken need trusted
    answers to know the answers of their tests. Answers for a corpus are stored in it, answers for files in
    the user's cache, so each formula is solved only once.
    """
    if (corpus is None) == (seeds is None):
        raise typer.BadParameter("give either --corpus or --seeds")
    if corpus is not None:
        with Corpus.open(existing(corpus), write=True) as opened:
            source = seeds_of_corpus(opened)
            report = _label(CorpusAnswers(opened), source, jobs, json)
    else:
        assert seeds is not None
        source = seeds_of_folder(seeds)
        report = _label(CachedAnswers(), source, jobs, json)
    if json:
        document = {"texts": report.texts, "asked": report.asked, "sat": report.sat, "unsat": report.unsat}
        print_json(
            document
            | {"contradictions": list(report.contradictions), "skipped": count_causes(source.skipped)}
        )
        return
    out.print(
        f"{counted(report.texts, 'formula')} ({report.asked} solved now):"
        f" {report.sat} sat, {report.unsat} unsat,"
        f" {report.texts - report.sat - report.unsat} without a trusted answer"
    )
    for origin in source.origins_of(report.contradictions):
        out.print(f"{' and '.join(REFERENCES)} contradict each other: {origin}")
    _show_skipped(source.skipped)


def _label(store: AnswerStore, source: SeedSource, jobs: int, quiet: bool) -> LabelReport:
    if not len(source):
        raise GenerationError(f"there are no formulas in {source.name}")
    with progress("labelling", quiet) as tick:
        return find_answers(store, source.texts(), jobs, tick, len(source))
