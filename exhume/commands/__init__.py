"""The commands: each takes its options, calls what does the work, and prints."""
