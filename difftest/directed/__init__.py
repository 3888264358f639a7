"""Draws tests to what changed between the sources of two builds."""
