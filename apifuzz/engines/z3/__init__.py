"""The engine of z3: the ``z3`` module of the wheel z3-solver, and the calls of ``z3.z3core`` beneath it."""
