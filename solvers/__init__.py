"""SMT solvers: what is known of each, and how they are run.

A folder per solver says everything about it (``profile.toml``; its keys are those of ``profile``): how its
program or library is found and driven, its options by class, its theories, crash patterns, tracker and report
form. Folders named by the environment variable ``EXHUME_SOLVERS`` (separated as in ``PATH``) hold more of
them. ``specs`` turns what a user writes into a solver that can be run, ``releases`` fetches wheels,
``running`` has the supervised processes and says what a run means.
"""

import os

__path__ += [folder for folder in os.environ.get("EXHUME_SOLVERS", "").split(os.pathsep) if folder]
