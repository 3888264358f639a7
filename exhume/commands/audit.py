"""The command audit-rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from base.errors import Exit
from difftest import find_solver
from difftest.audit import RuleAudit, Settings, audit
from exhume.commands.options import Json, parse_duration
from exhume.screens.console import headline, out, print_json, print_text, progress, show_table
from generator.rewriting.rules import read_rules, select_rules
from solvers.lookup import independent_of
from solvers.running.runner import Runner


def audit_rules_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The solver that prints the rules.")],
    instances: Annotated[int, typer.Option(metavar="N", help="Instances per rule.", min=1)] = 1000,
    duration: Annotated[
        str,
        typer.Option(
            "--time", metavar="DURATION", help="Stop drawing instances after this time: 90s, 10m, 1h."
        ),
    ] = "10m",
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help="Solver that confirms a wrong instance. Repeat for more."
            "  [default: the installed solvers that are independent of the audited one]",
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="NAME", help="Audit only this rule. Repeat for more."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed number of the drawn values.", min=0)] = 1,
    json: Json = False,
) -> None:
    """Check the rewrite rules that a solver's proofs rely on.

    Each rule that the solver prints is instantiated with small values and the corner cases of its theory, and
    evaluated. Other solvers confirm an instance that is wrong, and look for values of their own. Exit code 1:
    a rule is wrong.
    """
    own = find_solver(spec)
    chosen = select_rules(read_rules(own.printed_rules()), rule or [])
    others = [find_solver(other) for other in solver] if solver else independent_of(own)
    settings = Settings(instances, parse_duration(duration), seed)
    rows: list[RuleAudit] = []
    with Runner() as runner, progress("auditing", json) as tick:
        for row in audit(chosen, own, others, runner, settings):
            rows.append(row)
            tick(len(rows), len(chosen))
    if json:
        print_json([asdict(row) for row in rows])
    else:
        _show(rows)
    if any(row.refuted for row in rows):
        raise typer.Exit(Exit.FINDINGS)


def _show(rows: list[RuleAudit]) -> None:
    theories: dict[str, Counter[str]] = {}
    for row in rows:
        counts = theories.setdefault(row.theory, Counter())
        counts.update(rules=1, instances=row.instances, proved=row.proved)
        counts.update(wrong=bool(row.refuted), unjudged=bool(row.unjudged))
    columns = ["rules", "instances", "proved", "wrong", "unjudged"]
    shown = [[theory, *(str(counts[column]) for column in columns)] for theory, counts in theories.items()]
    show_table(["theory", *columns], shown, right=frozenset(range(1, 6)))
    for row in rows:
        if row.unjudged:
            out.print(f"{row.rule}: {row.instances} instances: {row.unjudged}")
    for row in rows:
        if row.refuted:
            by = ", ".join(row.confirmed_by) or "no other solver"
            headline(
                f"\n{row.rule}", f": wrong in {row.refuted} of {row.instances} instances; confirmed by {by}"
            )
            print_text(row.instance.rstrip())
