"""Findings made small: their formula, and the options they need."""
