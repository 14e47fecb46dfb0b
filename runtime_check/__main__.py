"""``python -m remat_lint.runtime_check``: the command ``remat-check``, in the form that torchrun starts."""

from remat_lint.runtime_check.cli import main

if __name__ == "__main__":
    main(prog_name="remat-check")
