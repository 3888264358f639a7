"""Seeds: formulas that strategies mutate, and what the strategies that use them have in common."""
