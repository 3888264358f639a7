"""How commands run campaigns, and how they end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import typer

from base.documents import to_document
from base.errors import Exit
from difftest import Executor, HuntOptions
from difftest.campaign.campaign import Campaign, CampaignEnd, CampaignSettings
from difftest.campaign.refusals import Refusal
from difftest.campaign.state import CampaignState
from exhume.screens.console import say
from exhume.screens.hunt import Goal, HuntScreen
from exhume.screens.interrupt import stop_on_interrupt


def goal_of(settings: CampaignSettings, unit: str) -> Goal:
    """The end of a run, as screens show it."""
    return Goal(f"{settings.tests} {unit}" if settings.tests else "", settings.duration or "")


def run_campaign(
    campaign: Campaign,
    options: HuntOptions,
    screen: HuntScreen,
    identity: Mapping[str, Any] | None = None,
    where: str = "local",
    executor: AbstractContextManager[Executor | None] | None = None,
    kept: Path | None = None,
) -> CampaignEnd:
    """Start or resume a campaign under a live screen. ``identity`` replaces the campaign's own.

    ``executor`` (``where`` is its name) is entered when the folder of the campaign is locked: that of its
    findings, unless its state is ``kept`` in another one.
    """
    notes = {"given": to_document(campaign.settings)}
    identity = identity or campaign.identity()
    with (
        CampaignState.open(kept or options.out, identity, where, options.jobs, notes) as state,
        executor or nullcontext() as chosen,
        stop_on_interrupt() as stop,
        screen,
    ):
        end = campaign.run(options, state, screen.show, stop, chosen)
    if end.not_stored:
        say(f"exhume: {end.not_stored}")
    return end


def leave(end: CampaignEnd, others: Sequence[str] = ()) -> Exception:
    """The exception that ends the command of a campaign: the campaign's own, or one with the exit code.
    ``others`` count as findings.
    """
    if end.error:
        return end.error
    code = code_of(bool(end.summary.findings or others), end.summary.refusals)
    return typer.Exit(Exit.INTERRUPTED if end.summary.interrupted else code)


def code_of(findings: bool, refusals: Iterable[Refusal]) -> Exit:
    """The exit code of a run that came to its end. Solvers that took no test are named on standard error:
    with one, nothing was compared, and no findings do not mean that all is well.
    """
    refused = list(refusals)
    for refusal in refused:
        say(f"exhume: nothing was compared with {refusal.solver}: {refusal}")
    if findings:
        return Exit.FINDINGS
    return Exit.ENVIRONMENT if refused else Exit.DONE
