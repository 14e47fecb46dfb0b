"""The pages of the rules are those that the rules say now, and the links between pages lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def test_the_rule_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/generate_docs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_hooks_are_as_the_readme_shows_them() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("remat-lint", "remat-fix"):
        assert f"- id: {name}\n" in hooks
        assert f"- id: {name}\n" in readme
    assert hooks.count("require_serial: true") == hooks.count("types_or: [python, pyi]") == 2


def test_ci_runs_the_test_command_of_the_readme() -> None:
    (command,) = re.findall(r"python -m pytest .*", (ROOT / "README.md").read_text(encoding="utf-8"))
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert command.removeprefix("python ") in script
