"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from corpus.errors import CorpusMissing
from solvers.registry import OLD_RELEASE, PROFILES, REFERENCES

MOST = 1_000_000_000
"""The largest number that an option takes where no smaller one makes sense."""

LARGEST_SEED = 2**63 - 1
"""DuckDB and SQLite store no larger integers."""

CorpusFile = Annotated[
    Path, typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.", dir_okay=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to standard output.")]
Seed = Annotated[
    int,
    typer.Option(
        help="Seed number. The same seed, corpus and version give the same tests.", min=0, max=LARGEST_SEED
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Number of parallel processes.", min=1)]
CampaignFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of the campaign, for its findings and its state.")
]
RunLimit = Annotated[
    float,
    typer.Option(
        "--limit", metavar="SECONDS", help="Time limit of one run of a solver.", min=0.1, max=86_400
    ),
]
_TEXT_SOLVERS = [family for family, profile in PROFILES.items() if profile.reads_scripts]
SOLVER_HELP = (
    f"Solver to run: {', '.join(_TEXT_SOLVERS)}; a release, such as {OLD_RELEASE}; with options,"
    f" {REFERENCES[0]}[NAME=VALUE,...]; or any program, NAME=COMMAND. Repeat for each solver."
)
SolverSpecs = Annotated[
    list[str],
    typer.Option("--solver", metavar="SPEC", help=SOLVER_HELP),
]
_LIMITS = ", ".join(f"{p.resource_limit} of {family}" for family, p in PROFILES.items() if p.resource_limit)
RLimit = Annotated[
    int | None,
    typer.Option(
        "--rlimit",
        metavar="N",
        help="Limit the work of solvers instead of their time, in each solver's own unit"
        f" ({_LIMITS}), so that the same seed and --tests give the same findings. Turns the bandit off.",
        min=1,
    ),
]
OptionalCorpus = Annotated[
    Path | None, typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.", dir_okay=True)
]
RulesOption = Annotated[
    Literal["full", "coarse", "off"],
    typer.Option(
        "--rules",
        help="Association rules that guide the filling of skeletons: full (sorts with widths and formats),"
        " coarse (sorts without them) or off (random filling).",
    ),
]
Incremental = Annotated[
    bool, typer.Option(help="Generate tests with push, pop and several check-sat (--set incremental=1).")
]
SkeletonsFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Take skeletons from this corpus; atoms and rules still come from --corpus."
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds",
        metavar="SOURCE",
        help="Seed formulas for strategies that mutate formulas: a folder of .smt2 files, 'corpus', or"
        " the name of another strategy whose tests are mutated.  [default: corpus]",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting of the strategy; see 'exhume strategies'. Repeat for more.",
    ),
]

OfCampaign = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="Folder of the campaign: --out of hunt, regress, replay or apifuzz.",
        exists=True,
        file_okay=False,
    ),
]
BenchmarkFolder = Annotated[
    Path,
    typer.Option(
        "--bugs",
        metavar="BUGS",
        help="Folder of the benchmark: --out of 'exhume bugs build'.  [default: the small one that comes"
        " with exhume]",
        show_default=False,
    ),
]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 3650 * 86400.0


def existing(corpus: Path) -> Path:
    """The corpus of a command that makes none; CorpusMissing if there is no such file."""
    if not corpus.exists():
        raise CorpusMissing(f"there is no corpus {corpus}: import or mine something first")
    return corpus


def parse_duration(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``8h``, ``2d``."""
    match = _DURATION.match(text)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a duration; write 90s, 10m, 8h or 2d")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds <= _LONGEST:
        raise typer.BadParameter(f"{text!r} is {'too long' if seconds else 'zero'}; write 90s, 10m, 8h or 2d")
    return seconds


def comma_separated(given: Iterable[str] | None) -> tuple[str, ...]:
    """The words of an option that takes several, separated by commas, and may be repeated."""
    return tuple(word.strip() for part in given or () for word in part.split(",") if word.strip())
