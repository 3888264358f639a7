"""The command line: commands, screens and pages. What they show is computed in the other packages."""
