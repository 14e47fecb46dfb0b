"""Causes, costs and markers become sections of a valid record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, check  # noqa: E402
from remat_lint.runtime_check.html import page  # noqa: E402
from remat_lint.runtime_check.record import Record, as_json, record_of  # noqa: E402
from remat_lint.runtime_check.sections import sections_of  # noqa: E402

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/remat-check.schema.json").read_text(encoding="utf-8"))


class Two(nn.Module):
    """Two regions and a marker between them."""

    keeps = False

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        x = remat.region(self.first, "first", recompute=not self.keeps)(x)
        remat.recompute_needs_tensor(x)
        return remat.region(self.second, "second", recompute=not self.keeps)(self.between(x))

    def between(self, x: Tensor) -> Tensor:
        return x.exp()


class Dropping(Two):
    def between(self, x: Tensor) -> Tensor:
        return F.dropout(x, 0.5)


def checked(kind: type[Two], **options: float) -> CheckResult:
    def build() -> tuple[nn.Module, Tensor]:
        torch.manual_seed(0)
        return kind(), torch.ones(4, 8)

    return check(build, Options(device="cpu", **options))


def valid(result: CheckResult) -> Record:
    record = record_of(result, sections_of(result))
    pytest.importorskip("jsonschema").validate(json.loads(as_json(record)), SCHEMA)
    return record


def test_cause_is_the_first_divergence() -> None:
    record = valid(checked(Dropping))
    found = next(one for one in record.policies if one.name == "none").first_divergence
    assert found is not None
    assert (found.kind, found.checkpoint) == ("random state not restored", "body")
    marked = [one.text.strip() for one in found.excerpt if one.number == found.line]
    assert marked == ["return F.dropout(x, 0.5)"]
    assert record.explanation is not None
    text = page([record])
    assert "First divergence: random state not restored" in text
    assert text.count('<section class="card">') == 1


def test_costs_and_markers() -> None:
    result = checked(Two, budget_mib=1, knock_out=True)
    record = valid(result)
    assert record.front is not None
    assert record.front.budget_bytes == 2**20
    policies = [cost.policy for cost in record.front.costs]
    assert {"plain", "none", "all"} <= set(policies)
    assert record.front.recommended in policies
    assert record.knock_out is not None
    (marker,) = record.knock_out
    assert (marker.need, Path(marker.file).name) == ("needed", Path(__file__).name)
    assert any(region.retained_bytes for region in record.regions)
    text = page([record])
    for title in ("Memory against time", "Bytes per region", "Markers"):
        assert f"<h2>{title}</h2>" in text
