"""API fuzzing: valid call sequences to the solvers' own interfaces."""
