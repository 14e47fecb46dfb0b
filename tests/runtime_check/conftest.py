"""Fixtures of the runtime checker's tests; all of them need torch and torch_remat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where the examples are importable, as a user of a checkout does."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.syspath_prepend(str(REPOSITORY))


@pytest.fixture
def written_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Write a module into an empty folder that is then the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, source: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)

    return write


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Tiny tensors: more threads only wait for each other."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
