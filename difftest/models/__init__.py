"""Models as solvers print them, read and put into another solver."""
