"""Photographs the HTML page of remat-check for docs/, in a headless Chromium.

python scripts/page_pictures.py [CHROMIUM]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from remat_lint.runtime_check import Options, check
from remat_lint.runtime_check.html import page
from remat_lint.runtime_check.record import record_of

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {
    "examples.llama.case:build": ("remat-check.png", "1000,900"),
    "examples.forgetful.case:build": ("remat-check-broken.png", "1000,720"),
}


def photograph(target: str, file: Path, size: str, browser: str) -> None:
    """The top of the page of one target."""
    text = page([record_of(check(target, Options(device="cpu", combinations=1)))])
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
    for target, (name, size) in PICTURES.items():
        photograph(target, ROOT / "docs" / name, size, *(sys.argv[1:] or ["chromium"]))
