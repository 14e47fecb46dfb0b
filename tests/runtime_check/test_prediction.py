"""What every policy retains, told from one plain run: real runs are the judge."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402

from remat_lint.runtime_check import Options, check  # noqa: E402
from remat_lint.runtime_check.bench import Bench, opened  # noqa: E402
from remat_lint.runtime_check.plan import PLAIN, regions  # noqa: E402
from remat_lint.runtime_check.policy import ALL, NONE, Policy  # noqa: E402
from remat_lint.runtime_check.prediction import StorageModel, predicted  # noqa: E402
from remat_lint.runtime_check.probe import probed  # noqa: E402
from remat_lint.runtime_check.storages import measured  # noqa: E402
from tests.runtime_check.layered import FIVE, TWELVE, four_layers, six_layers  # noqa: E402


def policies(names: Sequence[str]) -> list[Policy]:
    subsets = itertools.chain.from_iterable(
        itertools.combinations(names, size) for size in range(len(names) + 1)
    )
    return [Policy(" + ".join(chosen) or "none", chosen) for chosen in subsets]


def unlike(bench: Bench, tried: Iterable[Policy]) -> dict[str, tuple[int, int]]:
    """Policies that do not retain what the probe predicts: predicted beside measured."""
    model = StorageModel(probed(bench))
    both = {
        policy.name: (model.retained_bytes(policy), measured(bench, regions(policy)).retained_bytes)
        for policy in tried
    }
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def test_bytes_of_all_32_policies_of_five_regions_are_predicted_from_one_probe() -> None:
    tried = policies(FIVE)
    with opened(four_layers, device="cpu") as make_bench:
        bench = make_bench()
        assert len(tried) == 32
        assert unlike(bench, tried) == {}
        model = StorageModel(probed(bench))
        assert len({model.retained_bytes(policy) for policy in tried}) > 16


def test_all_32_policies_have_the_computed_counts_and_equal_bits() -> None:
    result = check(four_layers, Options(device="cpu"))
    assert [one.findings for one in result.policies if one.verdict.value != "equal"] == []
    saved = {
        frozenset(name for name in FIVE if one.policy.saves("layers.0", name)) for one in result.policies
    }
    assert len(saved) == len(result.policies) == 32
    for one in result.policies:
        for name in FIVE:
            assert one.totals(name) == ((1 if one.policy.saves("layers.0", name) else 2),) * 4


def test_bytes_of_directly_chained_regions_are_predicted_for_sampled_policies() -> None:
    chance = random.Random(0)
    uniform = [
        Policy(f"uniform {number}", tuple(name for name in TWELVE if chance.random() < 0.5))
        for number in range(32)
    ]
    by_layer = [
        Policy(
            f"by layer {number}",
            tuple(f"layers.{i}::{name}" for i in range(6) for name in TWELVE if chance.random() < 0.5),
        )
        for number in range(32)
    ]
    with opened(six_layers, device="cpu") as make_bench:
        assert unlike(make_bench(), [*uniform, *by_layer]) == {}


def test_what_the_plain_step_retains_is_told_by_the_same_probe() -> None:
    with opened(six_layers, device="cpu") as make_bench:
        bench = make_bench()
        assert probed(bench).plain_bytes == measured(bench, PLAIN).retained_bytes


class Body(nn.Module):
    """One checkpoint with two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def saves(self, name: str) -> bool:
        return False

    def region(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        return remat.region(function, name, recompute=not self.saves(name))

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x * 2) * 1

    def body(self, x: Tensor) -> Tensor:
        raise NotImplementedError


class OwnOutputSaved(Body):
    """The region's operation keeps its own output, so no marker is needed."""

    def body(self, x: Tensor) -> Tensor:
        y = self.region(torch.sigmoid, "own")(x)
        z = self.region(self.b, "b")(y)
        remat.recompute_needs_tensor(z)
        return z + y


class SavedViewOfInput(Body):
    """What is saved lies inside an input that replay makes again; for a saved producer, it is kept."""

    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a")(x)
        y = self.region(lambda t: t[:, :4].sin() * t[:, 4:], "halves")(h)
        z = self.region(lambda t: t[1:3].cos(), "rows")(self.a(x))
        remat.recompute_needs_tensor(y, z)
        return y + z[0, :4]


class ChangedInPlace(Body):
    """The region overwrites its input: what it saves is not what replay would give it."""

    def body(self, x: Tensor) -> Tensor:
        h = self.a(x)
        return self.region(lambda t: t.exp_() * 2, "overwrites")(h)


class Nested(Body):
    """Saved inside recomputed, and inert inside saved."""

    def body(self, x: Tensor) -> Tensor:
        def inner(t: Tensor) -> Tensor:
            h = self.region(self.a, "outer.inner")(t)
            remat.recompute_needs_tensor(h)
            return h.sin() * t

        y = self.region(inner, "outer")(x)
        remat.recompute_needs_tensor(y)
        return self.b(y)


class OneStorageTwice(Body):
    """Two outputs in one storage, one of them marked through a view of a view."""

    def body(self, x: Tensor) -> Tensor:
        def halves(t: Tensor) -> tuple[Tensor, Tensor, None]:
            left, right = self.a(t).chunk(2, dim=-1)
            return left, right, None

        left, right, _ = self.region(halves, "halves")(x)
        remat.recompute_needs_tensor(right[1:].t())
        return left.sin() + right


class DeadBranch(Body):
    """What is computed and not used keeps nothing."""

    def body(self, x: Tensor) -> Tensor:
        unused = self.region(self.a, "unused")(x)
        remat.recompute_needs_tensor(unused)
        unused.sin()
        return self.region(self.b, "b")(x)


class WithoutGradient(Body):
    """A region under no_grad saves nothing; its output may be asked for all the same."""

    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            scale = self.region(self.a, "scale")(x)
        y = self.region(self.b, "b")(x)
        remat.recompute_needs_tensor(scale, y)
        return y * scale


class LeftBehind(Body):
    """The module holds on to an output, so that it stays under every policy."""

    def body(self, x: Tensor) -> Tensor:
        self.last = self.region(self.a, "a")(x)
        remat.recompute_needs_tensor(self.last)
        return self.last.sin()


class InContainers(Body):
    """Arguments by keyword and one hop deep are seen; deeper ones are not."""

    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a")(x)
        k = self.region(lambda pair, scale: pair[0] * scale, "pair")((h, x), scale=x)
        remat.recompute_needs_tensor(k, h)
        return k.sin() + h.cos()


PROGRAMS = (
    OwnOutputSaved, SavedViewOfInput, ChangedInPlace, Nested, OneStorageTwice, DeadBranch, WithoutGradient,
    LeftBehind, InContainers,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_bytes_are_predicted_for_every_policy_of(program: type[Body]) -> None:
    with opened(lambda: (program(), (torch.linspace(-1, 1, 32).reshape(4, 8),)), device="cpu") as make_bench:
        bench = make_bench()
        names = list(dict.fromkeys(name for _, name in probed(bench).regions))
        tried = [policy for policy in policies(names) if policy.patterns != ("outer",)]
        assert len(tried) > 1
        assert unlike(bench, tried) == {}


class Offloaded(Body):
    """Hooks hand autograd something other than the tensor."""

    def forward(self, x: Tensor) -> Tensor:
        hooks = (lambda t: t.to(torch.float64), lambda t: t.to(torch.float32))
        return remat.checkpoint(region_name="body", saved_tensors_hooks=hooks)(self.body)(x * 2) * 1


def test_a_prediction_that_real_runs_do_not_confirm_is_withdrawn() -> None:
    class Marked(Offloaded):
        def body(self, x: Tensor) -> Tensor:
            h = self.region(self.a, "a")(x)
            remat.recompute_needs_tensor(h)
            return self.region(self.b, "b")(h.sin())

    with opened(lambda: (Marked(), (torch.linspace(-1, 1, 32).reshape(4, 8),)), device="cpu") as make_bench:
        prediction = predicted(make_bench())
    assert not prediction.validated
    assert prediction.retained_bytes(ALL) is None
    assert "where" in (prediction.why_not or "")


def test_a_prediction_is_checked_by_real_runs_and_names_its_doubts() -> None:
    with opened(lambda: (Nested(), (torch.linspace(-1, 1, 32).reshape(4, 8),)), device="cpu") as make_bench:
        prediction = predicted(make_bench())
    assert [one.policy.name for one in prediction.checks] == ["none", "all", "outer"]
    assert all(str(one).endswith("as predicted") for one in prediction.checks)
    assert prediction.retained_bytes(NONE) == prediction.model.probe.base_bytes
    assert prediction.doubts == ("regions stand inside others: outer.inner",)
    assert prediction.why_not is None
