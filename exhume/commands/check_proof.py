"""The command check-proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from base.text import counted
from difftest import Limits, Solver, find_solver
from difftest.campaign.refusals import first_words
from difftest.oracles.base import Observation
from difftest.oracles.proofs import RELATION, ProofProbe, gives_proofs
from difftest.proofs.check import OUTCOMES, ProofCheck
from difftest.triage.expectation import read_formula
from exhume.commands.options import Json, RunLimit, parse_duration
from exhume.screens.console import headline, out, print_json, print_text, progress, say, show_table
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.runner import Runner
from solvers.running.script import Script


def check_proof_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Formulas (.smt2).")],
    spec: Annotated[str, typer.Option("--solver", metavar="SPEC", help="The solver that gives the proofs.")],
    checker: Annotated[
        list[str] | None,
        typer.Option(
            "--checker",
            metavar="SPEC",
            help="Solver that is asked about the steps. Repeat for more."
            "  [default: the installed solvers that are independent of the one that gives the proofs]",
        ),
    ] = None,
    seconds: RunLimit = 10.0,
    per_proof: Annotated[
        str, typer.Option("--time", metavar="DURATION", help="Time limit to check one proof: 90s, 5m.")
    ] = "60s",
    json: Json = False,
) -> None:
    """Check the proofs that a solver gives, step by step.

    The solver proves that the formulas are unsatisfiable. Other solvers are asked whether the premises of
    each step imply its conclusion. The table says for each rule how many steps held, and how many could not
    be decided or expressed. Exit code 1: a step is wrong; 3: the solver gave no proof for any file.
    """
    time_limit = parse_duration(per_proof)
    own = find_solver(spec)
    if not gives_proofs(own):
        raise typer.BadParameter(f"{own.name} prints no proofs that can be checked", param_hint="--solver")
    others = [find_solver(other) for other in checker or []]
    rows: list[tuple[Path, ProofCheck | str]] = []
    with Runner() as runner, progress("checking", json) as tick:
        for file in files:
            rows.append((file, checked_proof(file, own, others, runner, seconds, time_limit)))
            tick(len(rows), len(files))
    if json:
        print_json([{"file": str(file), **document_of(found)} for file, found in rows])
    else:
        _show(rows)
    if any(isinstance(found, ProofCheck) and found.faults for _, found in rows):
        raise typer.Exit(Exit.FINDINGS)
    if not any(isinstance(found, ProofCheck) for _, found in rows):
        say(f"exhume: {own.name} gave no proof for any file, so nothing was checked")
        raise typer.Exit(Exit.ENVIRONMENT)


def checked_proof(
    file: Path, own: Solver, others: Sequence[Solver], runner: Runner, seconds: float, per_proof: float
) -> ProofCheck | str:
    """What came of the first proof; why there is none."""
    text, limits = read_formula(file), Limits(seconds=seconds)
    verdict = runner.judge(own, Script.of(text), limits)
    if "unsat" not in verdict.answers:
        return f"no proof: {own.name} {_said(verdict)}"
    seen = Observation(text, [own], {own.name: verdict})
    probe = ProofProbe(RELATION, seen, runner, limits, per_proof, tuple(others))
    probe.run()
    if not probe.checks:
        return f"no proof: {next(iter(probe.tried), 'the script or its options cannot be used')}"
    return probe.checks[0]


def _said(verdict: Verdict) -> str:
    """What a solver answered, or why it did not: ``says sat``, ``gives no answer: crash``."""
    if any(verdict.answers):
        return f"says {' '.join(map(str, filter(None, verdict.answers)))}"
    if verdict.outcome == Outcome.OK:
        return "gives no answer: the script has no check-sat"
    if verdict.outcome == Outcome.REFUSED:
        return f"refused: {first_words(verdict.detail)}"
    return f"gives no answer: {verdict.outcome}"


def document_of(found: ProofCheck | str) -> dict[str, object]:
    if isinstance(found, str):
        return {"problem": found}
    return {
        "steps": found.steps,
        "rules": {rule: dict(counts) for rule, counts in found.rules.items()},
        "causes": dict(found.causes),
        "faults": [asdict(fault) for fault in found.faults],
        "asked": found.asked,
        "seconds": round(found.seconds, 3),
    }


def _show(rows: Sequence[tuple[Path, ProofCheck | str]]) -> None:
    rules: dict[str, Counter[str]] = {}
    causes: Counter[str] = Counter()
    for file, found in rows:
        if isinstance(found, str):
            out.print(f"{file}: {found}")
            continue
        said = ", ".join(f"{count} {name}" for name in OUTCOMES if (count := found.outcomes[name]))
        out.print(f"{file}: {counted(found.steps, 'step')}: {said or 'nothing'} in {found.seconds:.1f} s")
        causes += found.causes
        for rule, counts in found.rules.items():
            rules.setdefault(rule, Counter()).update(counts)
    if rules:
        shown = [[rule, *(str(counts[name]) for name in OUTCOMES)] for rule, counts in sorted(rules.items())]
        show_table(["rule", *OUTCOMES], shown, right=frozenset(range(1, len(OUTCOMES) + 1)))
    for cause, count in causes.most_common():
        out.print(f"not judged: {cause}: {counted(count, 'step')}")
    for file, found in rows:
        for fault in found.faults if isinstance(found, ProofCheck) else ():
            headline(f"\n{fault.rule}", f" in the proof of {file}: {fault.why}")
            print_text(fault.line)
            for name, answer in fault.answers.items():
                out.print(f"{name} says {answer} to this formula:")
            print_text(fault.script.rstrip())
