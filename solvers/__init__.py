"""SMT solvers: a profile of each, and how to run them.

Each solver has a folder with everything about it (``profile.toml``; ``profile`` explains the keys): how to
find and run its program or library, its options by class, its theories, crash patterns, tracker and report
form. The environment variable ``EXHUME_SOLVERS`` names folders with more solvers (separated as in ``PATH``).
``specs`` reads a user's spec, ``lookup`` finds the ``solver`` that it names, ``releases`` fetches wheels, and
``running`` holds the supervised processes and interprets their output.
"""

import os
from pathlib import Path

_folders = filter(None, os.environ.get("EXHUME_SOLVERS", "").split(os.pathsep))
__path__ += [str(Path(folder).resolve()) for folder in _folders]
