"""The commands: each takes its options, calls what does the work, and prints.

A module is imported when one of its commands is used. A new command is a function in a module here, which the
module's ``register`` adds, and a line in ``_ABOUT``.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """The module of a command, and its line in the list of commands."""

    module: str
    about: str


_ABOUT = {
    "demo": {
        "demo": "Do it all once, on a small tracker that comes with exhume.",
    },
    "mine": {
        "mine": "Mine issue trackers into a corpus: closed bug reports, their formulas and their history.",
        "refresh": "Mine, extract and learn for all trackers of exhume.toml.",
    },
    "corpus": {
        "corpus": "Look after a corpus file: export, import, verify, vacuum.",
    },
    "learn": {
        "import": "Put folders of .smt2 files into a corpus.",
        "learn": "Learn skeletons, atoms and rules from a corpus.",
        "stats": "Show how much a corpus holds.",
    },
    "query": {
        "query": "Ask a corpus: a named query (see --list) or SQL.",
    },
    "compare": {
        "compare": "Compare the rules, skeletons and signatures of two corpora.",
        "similar": "Find the formulas of a corpus that are most like a file's.",
        "behind": "Show the issues that a generated test's skeletons and atoms came from.",
    },
    "generate": {
        "generate": "Write a batch of tests in the likeness of past bugs.",
        "strategies": "List the ways to make tests, and the settings of each.",
        "label": "Find the answers of formulas, for the strategies that keep a known answer.",
    },
    "hunt": {
        "hunt": "Generate tests and run solvers against each other.",
    },
    "apifuzz": {
        "apifuzz": "Draw valid call sequences and make them on a solver's own interface.",
    },
    "replay": {
        "replay": "Run solvers on files, or on the formulas of a corpus.",
    },
    "reduce": {
        "reduce": "Make the formula of a finding as small as it gets.",
        "bisect": "Find the first affected and the first fixed release of a finding's solver.",
    },
    "triage": {
        "triage": "Show a campaign's findings: the status of each, and the known issues that it resembles.",
        "report": "Write one HTML page about a campaign.",
    },
    "solvers": {
        "solvers": "Show or fetch solvers.",
    },
}
"""What the list of commands says of each, by module: the first paragraph of the command's help."""

COMMANDS = {
    name: Command(module, about) for module, commands in _ABOUT.items() for name, about in commands.items()
}
