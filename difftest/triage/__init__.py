"""From a candidate to a report: confirmed, weighed, told apart, compared with history, bisected, written."""
