"""``python -m exhume`` is ``exhume``."""

from exhume.cli import main

main()
