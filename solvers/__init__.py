"""SMT solvers: what is known of each, and how they are run.

A folder per solver says everything about it (``PROFILE`` in its ``__init__.py``): how its program or library
is found and driven, its options by class, theories and refusals, crash patterns, tracker and report form.
``specs`` turns what a user writes into a solver that can be run, ``releases`` fetches wheels, ``running`` has
the supervised processes and says what a run means.
"""
