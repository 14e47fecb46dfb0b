"""Findings in, text out: one file a format. Nothing here writes to a stream."""
