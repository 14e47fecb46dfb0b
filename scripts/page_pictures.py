"""Photographs the HTML page of remat-check for docs/, in a headless Chromium.

python scripts/page_pictures.py [CHROMIUM]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch_remat as remat
from torch import Tensor, nn
from torch.nn import functional as F

from remat_lint.runtime_check import Options, check
from remat_lint.runtime_check.bench import Target
from remat_lint.runtime_check.html import page
from remat_lint.runtime_check.record import record_of
from remat_lint.runtime_check.sections import sections_of

ROOT = Path(__file__).resolve().parents[1]


class FeedForward(nn.Module):
    """A step with a fault: dropout draws anew in replay."""

    saves = False

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="feed_forward")(self.body)(x)  # type: ignore[no-any-return]

    def body(self, x: Tensor) -> Tensor:
        hidden = remat.region(self.up, "up", recompute=not self.saves)(x)
        remat.recompute_needs_tensor(hidden)
        hidden = F.dropout(F.silu(hidden), 0.1)
        return remat.region(self.down, "down", recompute=not self.saves)(hidden)


def feed_forward() -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    return FeedForward(), torch.randn(4, 16)


PICTURES: dict[str, tuple[Target, str]] = {
    "remat-check.png": ("examples.llama.case:build", "1000,900"),
    "remat-check-broken.png": (feed_forward, "1000,900"),
}


def page_of(target: Target) -> str:
    """The page of one target."""
    result = check(target, Options(device="cpu", combinations=1))
    return page([record_of(result, sections_of(result))])


def photograph(text: str, file: Path, size: str, browser: str) -> None:
    """The top of a page."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_text(text, encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        subprocess.run(
            [browser, *options, f"--window-size={size}", f"--screenshot={file}", source.as_uri()],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for name, (target, size) in PICTURES.items():
        photograph(page_of(target), ROOT / "docs" / name, size, *(sys.argv[1:] or ["chromium"]))
