"""``python -m remat_lint`` is ``remat-lint``."""

from remat_lint.cli.lint import main

if __name__ == "__main__":
    main()
