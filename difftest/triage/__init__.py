"""From a candidate to a report: confirm, weigh evidence, separate causes, compare with history, bisect,
write."""
