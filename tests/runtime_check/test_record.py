"""The record of a check: complete, valid after its schema, and honest about what was compared."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402

from remat_lint.runtime_check import Options, check  # noqa: E402
from remat_lint.runtime_check import record as records  # noqa: E402
from remat_lint.runtime_check.environment import Evidence  # noqa: E402
from remat_lint.runtime_check.record import (  # noqa: E402
    CostRecord,
    DivergenceRecord,
    FrontRecord,
    MarkerRecord,
    Quantity,
    RanksRecord,
    Record,
    Sections,
    as_json,
    excerpt,
    of_all_ranks,
    record_of,
    unfinished,
)
from remat_lint.runtime_check.verdicts import EXIT_RANKS  # noqa: E402

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/remat-check.schema.json").read_text(encoding="utf-8"))


class Two(nn.Module):
    """Two regions; ``between`` is what runs bare between them, in forward and in replay."""

    keeps = False

    def __init__(self, between: Callable[[Tensor], Tensor] = torch.sin) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.between = between

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        x = remat.region(self.first, "first", recompute=not self.keeps)(x)
        remat.recompute_needs_tensor(x)
        x = self.between(x)
        return remat.region(self.second, "second", recompute=not self.keeps)(x)


def made_record(between: Callable[[Tensor], Tensor] = torch.sin, **sections: Any) -> Record:
    torch.manual_seed(0)
    result = check(lambda: (Two(between), torch.ones(2, 4)), Options(device="cpu"))
    return record_of(result, Sections(**sections))


def validated(record: Record) -> dict[str, Any]:
    jsonschema = pytest.importorskip("jsonschema")
    value: dict[str, Any] = json.loads(as_json(record))
    jsonschema.validate(value, SCHEMA)
    return value


def to_infinity(x: Tensor) -> Tensor:
    return x * torch.inf if remat.is_recomputing() else x


def half_dropped(x: Tensor) -> Tensor:
    return nn.functional.dropout(x, 0.5)


def test_records_of_several_targets_are_a_list_that_the_schema_knows() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    record = made_record()
    jsonschema.validate(json.loads(as_json([record, record])), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{"version": 1}], SCHEMA)


@pytest.mark.parametrize("between", [torch.sin, half_dropped, to_infinity])
def test_record_is_valid_after_the_schema(between: Callable[[Tensor], Tensor]) -> None:
    value = validated(made_record(between))
    assert value["verdict"] == ("holds" if between is torch.sin else "broken")


def test_every_section_is_valid_after_the_schema() -> None:
    where = "body", "first"
    record = made_record(
        half_dropped,
        divergences={
            "none": DivergenceRecord(
                *where,
                "bernoulli_",
                __file__,
                3,
                "random",
                "x",
                ("torch's random state",),
                None,
                None,
                excerpt(__file__, 3),
            )
        },
        retained_bytes={where: 128},
        front=FrontRecord((CostRecord("none", Quantity(10, 10), Quantity(), Quantity(1.5, 1.4, 0.1), True),)),
        knock_out=[MarkerRecord("m.py", 3, "unneeded", None, None)],
        ranks=RanksRecord(2, False, (1,), ("event 4 differs",)),
        exit_status=EXIT_RANKS,
    )
    value = validated(record)
    assert value["verdict"] == "ranks differ"
    assert value["regions"][0]["retained_bytes"] == 128
    divergence = next(one for one in value["policies"] if one["name"] == "none")["first_divergence"]
    assert [line["number"] for line in divergence["excerpt"]] == [1, 2, 3, 4, 5, 6]


def classes_of_records() -> list[type]:
    found: dict[str, type] = {}

    def visit(kind: Any) -> None:
        for argument in typing.get_args(kind):
            visit(argument)
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__name__ not in found:
            found[kind.__name__] = kind
            for hint in typing.get_type_hints(kind).values():
                visit(hint)

    visit(records.Record)
    return list(found.values())


@pytest.mark.parametrize("kind", classes_of_records(), ids=lambda kind: kind.__name__)
def test_schema_lists_the_fields_of_every_class(kind: type) -> None:
    short = kind.__name__.removesuffix("Record")
    described = SCHEMA["$defs"][short[0].lower() + short[1:]] if short else SCHEMA["$defs"]["record"]
    names = [field.name for field in dataclasses.fields(kind)]
    assert list(described["properties"]) == described["required"] == names
    assert described["additionalProperties"] is False


def test_regions_have_their_place_order_and_counts() -> None:
    first, second = made_record().regions
    assert (first.checkpoint, first.name, first.order, second.order) == ("body", "first", 1, 2)
    assert first.file is not None
    assert first.line is not None
    assert 'remat.region(self.first, "first"' in Path(first.file).read_text().splitlines()[first.line - 1]
    assert {one.policy: (one.forward, one.replay, one.kept) for one in first.counts} == {
        "none": (1, 1, False),
        "all": (1, 0, True),
        "first": (1, 0, True),
        "second": (1, 1, False),
    }


def test_policy_says_what_its_globs_came_to() -> None:
    saved = {one.name: one.saved for one in made_record().policies}
    assert saved["all"] == ("body::first", "body::second")
    assert saved["second"] == ("body::second",)
    assert saved["none"] == ()


def test_infinite_distance_is_a_text() -> None:
    found = [one for policy in made_record(to_infinity).policies for one in policy.differences]
    assert records.INFINITE in {one.largest_absolute_error for one in found}


def test_what_was_not_asked_for_is_null() -> None:
    value = validated(made_record())
    assert [key for key, item in value.items() if item is None] == [
        "test", "explanation", "front", "knock_out", "ranks",
    ]  # fmt: skip


def test_list_of_records() -> None:
    record = made_record()
    assert len(json.loads(as_json([record, record]))) == 2


def test_level_of_evidence_is_no_higher_than_what_was_compared() -> None:
    def evidence(between: Callable[[Tensor], Tensor], **options: Any) -> Evidence:
        result = check(lambda: (Two(between), torch.ones(2, 4)), Options(device="cpu", **options))
        return records.evidence_of(result)

    def never_the_same(x: Tensor, seen: list[int] = []) -> Tensor:  # noqa: B006 - it is to last
        seen.append(0)
        return x * len(seen)

    assert evidence(torch.sin, stand_ins=True) is Evidence.SHIM
    assert evidence(never_the_same) is Evidence.STRUCTURE
    assert "No values were compared" in Evidence.STRUCTURE.meaning
    if remat_has_placeholders():
        assert evidence(torch.sin) is Evidence.CPU_BITWISE


def remat_has_placeholders() -> bool:
    from remat_lint.runtime_check.placeholders import torch_has_placeholders

    return torch_has_placeholders()


def test_a_check_that_did_not_end_has_a_record_that_confirms_nothing() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    ranks = RanksRecord(2, agree=False, suspects=(1,), findings=("Rank 1 is stuck",))
    device = torch.device("cpu")
    parted = unfinished("m:build", "why", exit_status=EXIT_RANKS, device=device, seeds=(3,), ranks=ranks)
    jsonschema.validate(json.loads(as_json(parted)), SCHEMA)
    assert (parted.verdict, parted.evidence_level, parted.seeds) == ("ranks differ", "structure", (3,))
    assert not parted.policies
    assert not parted.confirmations


def test_the_gravest_exit_status_of_all_ranks_is_that_of_the_record() -> None:
    ranks = RanksRecord(2, agree=True, suspects=(), findings=())
    own = unfinished("m:build", "why", exit_status=0, device=torch.device("cpu"), ranks=ranks)
    assert of_all_ranks(own, 0, {0: 0, 1: 0}) == own
    worse = of_all_ranks(own, 1, {0: 0, 1: 1})
    assert (worse.verdict, worse.exit_status) == ("broken", 1)
    assert worse.ranks is not None
    assert worse.ranks.findings == ("rank 0: exit status 0", "rank 1: exit status 1")
