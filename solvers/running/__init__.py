"""Solvers as processes: started, held to their limits, and what they printed read."""
