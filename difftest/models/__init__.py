"""Models as solvers print them: read them, and have another solver check them."""
