"""The generated package: its planted mistakes are found, and the work grows with its size.

Work is counted in statements that the interpreter runs. Timing is for ``benchmarks/``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.generated_package import write
from remat_lint.analysis.analyser import Analyser
from remat_lint.analysis.facts import BareRead
from remat_lint.project import Project
from remat_lint.source import SourceFile

pytestmark = pytest.mark.slow

SMALL, LARGE = 10, 20


class Linted:
    """A package of some size: where markers are missing, where reads were found, what work it took."""

    def __init__(self, folder: Path, classes: int) -> None:
        self.planted = write(folder, classes)
        self.found: set[tuple[str, int]] = set()
        self.steps = 0
        project = Project([folder])
        for path in sorted((folder / "generated").glob("*.py")):
            source = SourceFile.read(path)
            project.add(source)
            analyser = Analyser(project)
            facts = analyser.analyse(source)
            self.found |= {(path.name, source.span(read.place.node).line) for read in facts.of(BareRead)}
            self.steps += analyser.steps


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Linted]:
    return {size: Linted(tmp_path_factory.mktemp("package"), size) for size in (SMALL, LARGE)}


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_exactly_the_planted_markers_are_missing(linted: dict[int, Linted], size: int) -> None:
    assert linted[size].found == linted[size].planted
    assert linted[size].planted


def test_the_work_grows_no_faster_than_the_package(linted: dict[int, Linted]) -> None:
    """A tenth more is allowed for: a part that is a family takes more statements than a projection."""
    assert linted[LARGE].steps <= 1.1 * LARGE / SMALL * linted[SMALL].steps
