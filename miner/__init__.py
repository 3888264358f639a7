"""Issue trackers to a corpus: what an issue's text holds, and what it is about.

The public face: ``records`` (issues and comments from GitHub's JSON), ``extract`` (formulas of an issue),
``classify`` (bug class, areas, versions, by the rules of ``classes.toml``), ``starter`` (the bundled
tracker).
"""
