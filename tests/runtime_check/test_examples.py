"""The bundled examples: one holds under every policy, the other fails in six named places."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from click.testing import CliRunner  # noqa: E402

from remat_lint.runtime_check import Options, check  # noqa: E402
from remat_lint.runtime_check.cli import main  # noqa: E402
from remat_lint.runtime_check.placeholders import torch_has_placeholders  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_repository")

ATTENTION = ("attention.qkv", "attention.inner_attention", "attention.wo")
FORGOTTEN = {
    "attention.qkv": "examples/forgetful/attention.py",
    "attention.wo": "examples/forgetful/block.py",
    "feed_forward.w13": "examples/forgetful/feed_forward.py",
    "adapter.down": "examples/forgetful/adapter.py",
    "adapter.gate.score": "examples/forgetful/gate.py",
    "head.logits": "examples/forgetful/head.py",
}


@pytest.mark.parametrize("stand_ins", [None, True], ids=["as built", "stand-ins"])
def test_forward_counts_and_bitwise_equality_of_the_correct_example(stand_ins: bool | None) -> None:
    result = check(
        "examples.llama.case:build", Options(policies=["attention.*"], device="cpu", stand_ins=stand_ins)
    )
    counts = {
        name: tuple(set(result[name].totals(region)) for region in ATTENTION)
        for name in ("none", "attention.*", *ATTENTION)
    }
    assert counts == {
        "none": ({2}, {2}, {2}),
        "attention.*": ({1}, {1}, {1}),
        "attention.qkv": ({1}, {2}, {2}),
        "attention.inner_attention": ({2}, {1}, {2}),
        "attention.wo": ({2}, {2}, {1}),
    }
    assert {one.verdict.value for one in result.results} == {"equal"}
    assert result.exit_status == 0


def test_forward_and_replay_are_counted_apart() -> None:
    result = check("examples.llama.case:build", Options(device="cpu"))
    of_wo = [
        (count.forward, count.replay) for count in result["none"].counts if count.region == "attention.wo"
    ]
    assert of_wo == [(1, 1), (1, 1)]
    of_wo = [
        (count.forward, count.replay) for count in result["all"].counts if count.region == "attention.wo"
    ]
    assert of_wo == [(1, 0), (1, 0)]


@pytest.mark.parametrize("stand_ins", [None, True], ids=["as built", "stand-ins"])
def test_forgetful_example_fails_in_its_six_places_and_nowhere_else(stand_ins: bool | None) -> None:
    result = check("examples.forgetful.case:build", Options(device="cpu", stand_ins=stand_ins))
    found = {}
    for broken in result.broken:
        assert broken.raised is not None
        assert broken.raised.consumer is not None
        assert broken.raised.region is not None
        found[broken.raised.region] = broken.raised.consumer.path
    assert found == FORGOTTEN
    assert {broken.name for broken in result.broken} == {"all", *FORGOTTEN}
    assert result.exit_status == 1


def test_command_prints_the_table_of_the_correct_example() -> None:
    outcome = CliRunner().invoke(
        main, ["examples.llama.case:build", "--device", "cpu", "--policy", "attention.*"]
    )
    assert outcome.exit_code == 0
    rows = {line.split("  ")[0]: line.split() for line in outcome.stdout.splitlines()}
    assert rows["policy"][1:4] == ["qkv", "inner_attention", "wo"]
    assert rows["attention.*"][1:4] == ["1", "1", "1"]
    assert rows["attention.wo"][1:4] == ["2", "2", "1"]
    assert rows["attention.wo"][-1] == "equal"
    assert ("stand-in" in outcome.stdout) == (not torch_has_placeholders())


def test_command_names_line_region_and_remedy_of_every_failure() -> None:
    outcome = CliRunner().invoke(main, ["examples.forgetful.case:build", "--device", "cpu"])
    assert outcome.exit_code == 1
    for region, path in FORGOTTEN.items():
        paragraph = next(p for p in outcome.stdout.split("\n\n") if p.startswith(f"{path}:"))
        assert f"region {region} " in paragraph
        assert "write remat.recompute_needs_tensor(...)" in paragraph
