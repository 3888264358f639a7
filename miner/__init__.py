"""Mines issue trackers into a corpus: extracts what an issue contains and classifies what it is about.

Entry points: ``mining`` (live trackers and replays), ``dumps`` (files), ``refreshing`` (all trackers of
``exhume.toml``), ``extract`` (formulas and solver runs of one issue), ``classify`` (bug class, areas,
versions, by the rules of ``classes.toml``).
"""
