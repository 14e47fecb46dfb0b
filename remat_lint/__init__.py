"""Finds activation-checkpointing mistakes in code that uses torch_remat, mends them, confirms by running."""

__version__ = "0.1.0"
