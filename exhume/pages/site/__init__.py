"""The site of a benchmark of past bugs: static pages that open from disk or from any host."""
