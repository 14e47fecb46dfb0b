"""A small LLaMA-like model with remat regions: every output that a bare op reads is marked.

``examples.llama.case:build`` makes it, with inputs, for ``remat-check``.
"""
