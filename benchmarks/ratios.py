"""Run times as ratios to something that everybody has: ``python -m benchmarks.ratios``.

The two commands of a row are run in turn, and the least user time of each counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.growth import user_seconds

BLOCK = """
class Block{number}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.projection = nn.Linear(width, width)

    def forward(self, x):
        y = remat.region(self.projection, "projection_{number}", recompute=False)(x)
        remat.recompute_needs_tensor(y)
        return torch.sin(y) + x

"""
HEAD = "import torch\nimport torch_remat as remat\nfrom torch import nn\n"
PARSE = "import sys, libcst; libcst.parse_module(open(sys.argv[1], 'rb').read())"


def write_inputs(folder: Path) -> None:
    """An irrelevant file, a relevant one of 300 lines, and folders of 20 and 200 relevant files."""
    blocks = "".join(BLOCK.format(number=number) for number in range(27))
    (folder / "plain.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "relevant.py").write_text(HEAD + blocks, encoding="utf-8")
    for files in (20, 200):
        (folder / f"files_{files}").mkdir()
        for number in range(files):
            text = HEAD + BLOCK.format(number=number)
            (folder / f"files_{files}" / f"file_{number}.py").write_text(text, encoding="utf-8")


def rows() -> list[tuple[str, float, list[str], list[str]]]:
    """What is measured, its budget, and the two commands."""
    python, lint = [sys.executable], [sys.executable, "-m", "remat_lint", "--quiet"]
    return [
        ("nothing relevant / import click", 1.6, [*lint, "plain.py"], [*python, "-c", "import click"]),
        (
            "one relevant file / LibCST parse",
            1.6,
            [*lint, "relevant.py"],
            [*python, "-c", PARSE, "relevant.py"],
        ),
        ("ten times the files", 10.5, [*lint, "files_200"], [*lint, "files_20"]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each command")
    options = parser.parse_args()
    print(f"{'row':<34} {'seconds':>8} {'against':>8} {'ratio':>6} {'budget':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        for row, budget, measured, against in rows():
            times = [
                (user_seconds(measured, folder), user_seconds(against, folder)) for _ in range(options.runs)
            ]
            ours, theirs = (min(column) for column in zip(*times, strict=True))
            print(f"{row:<34} {ours:>8.3f} {theirs:>8.3f} {ours / theirs:>6.2f} {budget:>7.1f}")


if __name__ == "__main__":
    main()
