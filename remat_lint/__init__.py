"""Finds mistakes in code that is checkpointed with torch_remat or without, mends them, confirms by runs."""

__version__ = "0.1.0"
