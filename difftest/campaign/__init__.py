"""Hunts: which test runs when and where, what is counted, and the state that outlives a crash."""
