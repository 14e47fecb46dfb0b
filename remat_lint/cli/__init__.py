"""The commands ``remat-lint`` and ``remat-fix``: options in, exit status out."""
