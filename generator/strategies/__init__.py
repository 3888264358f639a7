"""Ways to make tests: a file or a folder each."""
