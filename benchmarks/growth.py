"""How the time to lint grows with the size of a package: ``python -m benchmarks.growth``.

Each size is linted in a process of its own. User time counts: other work on the machine does not change it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.generated_package import write

SIZES = (50, 100, 200, 400)


def user_seconds(command: list[str], folder: Path) -> float:
    """User time of one run of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of classes")
    parser.add_argument("--runs", type=int, default=3, help="runs of each size; the fastest counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = dict.fromkeys(options.sizes, float("inf"))
        for size in options.sizes:
            write(Path(folder, str(size)), size)
        command = [sys.executable, "-m", "remat_lint", "--quiet", "."]
        for _ in range(options.runs):
            for size in options.sizes:
                times[size] = min(times[size], user_seconds(command, Path(folder, str(size))))
    print(f"{'classes':>8} {'seconds':>8} {'ms per class':>13} {'growth':>7}")
    before: float | None = None
    for size, seconds in times.items():
        growth = f"{seconds / before:7.2f}" if before else ""
        print(f"{size:>8} {seconds:>8.2f} {1000 * seconds / size:>13.1f} {growth}")
        before = seconds


if __name__ == "__main__":
    main()
