"""The model of ``examples.llama`` with six markers forgotten, each in another file.

``examples.forgetful.case:build`` makes it, with inputs, for ``remat-check``.
"""
