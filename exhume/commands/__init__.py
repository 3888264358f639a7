"""The commands. Each reads its options, calls the package that does the work, and prints the result.

A module is imported when one of its commands is used. To add the command ``NAME``, write a function
``NAME_command`` in a module here, and add a line to ``SECTIONS``. A command with subcommands has a module of
its own, where they are in ``group``.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """The module of a command, and the command's line in ``exhume --help``: the first paragraph of its
    help.
    """

    module: str
    about: str


SECTIONS = {
    "First session": {
        "demo": Command("demo", "Run the whole pipeline once on a small bundled tracker."),
    },
    "Build a corpus": {
        "mine": Command("mine", "Mine bug reports from issue trackers into a corpus."),
        "refresh": Command("mine", "Update the corpus of exhume.toml: mine, extract and learn."),
        "import": Command("learn", "Import .smt2 files into a corpus."),
        "learn": Command("learn", "Learn skeletons, atoms and rules from a corpus."),
        "label": Command("generate", "Find trusted answers for formulas."),
        "corpus": Command("corpus", "Maintain a corpus file: export, import, select, verify, vacuum."),
    },
    "Ask a corpus": {
        "stats": Command("learn", "Count what a corpus holds."),
        "query": Command("query", "Run a named query (see --list) or SQL on a corpus."),
        "similar": Command(
            "compare", "Find the formulas of a corpus that are most similar to a file, or to one of them."
        ),
        "compare": Command("compare", "Compare the rules, skeletons and signatures of two corpora."),
        "behind": Command("compare", "Show the issues behind a generated test."),
    },
    "Generate tests": {
        "strategies": Command("generate", "List the test generation strategies and their settings."),
        "generate": Command("generate", "Write a batch of generated tests to a folder."),
    },
    "Test solvers": {
        "solvers": Command("solvers", "Show, install, build or measure solvers."),
        "replay": Command("replay", "Run solvers on existing files or on the formulas of a corpus."),
        "hunt": Command("hunt", "Hunt for bugs: generate tests and compare solvers on them."),
        "regress": Command(
            "regress", "Find bugs that a new build of a solver has and a base build does not."
        ),
        "audit-rules": Command("audit", "Check the rewrite rules that a solver's proofs rely on."),
        "check-proof": Command("check_proof", "Check the proofs that a solver gives, step by step."),
        "apifuzz": Command("apifuzz", "Fuzz the programming interfaces of solvers."),
    },
    "Work on findings": {
        "triage": Command("triage", "List the findings of a campaign and what remains to be done."),
        "reduce": Command("reduce", "Minimise the formula or the calls of a finding."),
        "bisect": Command("reduce", "Find the first affected and the first fixed release of a finding."),
        "report": Command("report", "Write the page of a campaign; check reports before they are sent."),
        "dashboard": Command("dashboard", "Write an HTML page about many campaigns, such as one a night."),
    },
    "Past bugs": {
        "bugs": Command("bugs", "Build and use a benchmark of past bugs."),
    },
}
"""The commands by heading, in the order of ``exhume --help``."""

COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}
