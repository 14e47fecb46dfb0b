"""Small steps, right and wrong: what the check says of each.

Every body is a method ``body`` of a module that is checkpointed by its ``forward``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import Case, CheckResult, Options, check  # noqa: E402


class Checkpointed(nn.Module):
    """Two layers, one checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def saves(self, name: str) -> bool:
        return False

    def body(self, x: Tensor) -> Tensor:
        raise NotImplementedError


def checked(module: Callable[[], nn.Module], *inputs: Any, **options: Any) -> CheckResult:
    return check(
        lambda: (module(), inputs or (torch.linspace(-1, 1, 32).reshape(4, 8),)),
        Options(device="cpu", **options),
    )


class MissingMarker(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=False)(x)
        return self.b(F.silu(h))


def test_missing_marker_names_line_and_region() -> None:
    result = checked(MissingMarker)
    assert result.exit_status == 1
    raised = result["as configured"].raised
    assert raised is not None
    assert (raised.phase, raised.region, raised.checkpoint) == ("backward", "a", "body")
    assert raised.consumer is not None
    assert raised.consumer.text == "return self.b(F.silu(h))"


class BareDropout(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        return self.b(F.dropout(self.a(x), 0.5).sin())


class PythonRandom(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        return self.b((self.a(x) * random.random()).sin())


class CounterInCompute(Checkpointed):
    count = 0

    def body(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.b((self.a(x) * self.count).sin())


class BufferTwice(Checkpointed):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(8))

    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.seen += x.mean(dim=0)
        return self.b(self.a(x).sin())


class RunningStatistics(Checkpointed):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def body(self, x: Tensor) -> Tensor:
        return self.b(self.norm(self.a(x)))


@pytest.mark.parametrize(
    ("module", "what"),
    [
        (BareDropout, "gradient of b.weight"),
        (PythonRandom, "gradient of b.weight"),
        (CounterInCompute, "gradient of b.weight"),
        (BufferTwice, "buffer seen"),
        (RunningStatistics, "buffer norm.running_mean"),
    ],
)
def test_silent_divergence_names_the_first_tensor(module: Callable[[], nn.Module], what: str) -> None:
    result = checked(module)
    assert result.exit_status == 1
    first = result["as configured"].differences[0]
    assert first.what == what
    assert first.how == "differs"
    assert first.extent is not None
    assert first.extent.changed > 0


class SavedOutputChanged(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=False)(x)
        remat.recompute_needs_tensor(h)
        h.detach().mul_(2)
        return self.b(F.silu(h))


class DuplicateName(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        x = remat.region(self.a, "a", recompute=False)(x)
        return remat.region(self.b, "a", recompute=False)(x)


@pytest.mark.parametrize(
    ("module", "phase", "message"),
    [
        (SavedOutputChanged, "backward", "modified in-place after it was saved"),
        (DuplicateName, "forward", "Duplicate torch_remat region name"),
    ],
)
def test_other_errors_name_phase_and_message(
    module: Callable[[], nn.Module], phase: str, message: str
) -> None:
    raised = checked(module)["as configured"].raised
    assert raised is not None
    assert raised.phase == phase
    assert message in str(raised)
    assert raised.region is None


class Halves(NamedTuple):
    left: Tensor
    right: Tensor


class GoodNamedTuple(Checkpointed):
    keeps = True

    def body(self, x: Tensor) -> Tensor:
        halves = remat.region(self.split, "split", recompute=not self.keeps)(x)
        remat.recompute_needs_tensor(halves.left, halves.right)
        return self.b(torch.cat((F.silu(halves.left), halves.right.sin()), dim=-1))

    def split(self, x: Tensor) -> Halves:
        return Halves(*self.a(x).chunk(2, dim=-1))


class GoodTiedWeights(Checkpointed):
    def __init__(self) -> None:
        super().__init__()
        self.b.weight = self.a.weight

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=self.saves("a"))(x)
        remat.recompute_needs_tensor(h)
        return remat.region(self.b, "b", recompute=self.saves("b"))(h.sin())


class GoodAutocast(Checkpointed):
    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=self.saves("a"))(x)
        remat.recompute_needs_tensor(h)
        return self.b(h.float().sin())


class GoodNested(Checkpointed):
    """The outer region may be saved: then the inner one is inert."""

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.outer, "outer", recompute=self.saves("outer"))(x)
        remat.recompute_needs_tensor(h)
        return h.sin()

    def outer(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "inner", recompute=self.saves("inner"))(x)
        remat.recompute_needs_tensor(h)
        return self.b(F.silu(h))


class GoodWithoutGradients(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            scale = remat.region(self.b, "scale", recompute=self.saves("scale"))(x)
            remat.recompute_needs_tensor(scale)
            scale = scale.abs()
        return self.a(x).sin() * scale


class GoodDropoutWithHook(Checkpointed):
    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body", recompute_state_hooks=(TorchState(),))(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=self.saves("a"))(x)
        remat.recompute_needs_tensor(h)
        return self.b(F.dropout(h, 0.5).sin())


class TorchState:
    def snapshot(self) -> Tensor:
        return torch.get_rng_state()

    def restore(self, state: Tensor) -> None:
        torch.set_rng_state(state)


class CoveredByAConstant(Checkpointed):
    """The bare read is fine, because a region that the author made recompute takes the output, too."""

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=self.saves("a"))(x)
        return remat.region(torch.sin, "sin", recompute=True)(h) + F.silu(h)


@pytest.mark.parametrize(
    "module",
    [
        GoodNamedTuple,
        GoodTiedWeights,
        GoodAutocast,
        GoodNested,
        GoodWithoutGradients,
        GoodDropoutWithHook,
        CoveredByAConstant,
    ],
)
@pytest.mark.parametrize("stand_ins", [None, True], ids=["as built", "stand-ins"])
def test_correct_module_passes_under_every_policy(
    module: Callable[[], nn.Module], stand_ins: bool | None
) -> None:
    result = checked(module, stand_ins=stand_ins)
    assert [(one.name, str(one.raised)) for one in result.broken] == []
    assert result.exit_status == 0
    assert len(result.results) > 1


class WholeModule(nn.Module):
    """No checkpoint of its own, and a dict as output."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)

    def forward(self, x: Tensor, *, scale: float = 1.0) -> dict[str, Any]:
        h = remat.region(self.a, "a", recompute=self.again())(x)
        remat.recompute_needs_tensor(h)
        return {"scale": scale, "logits": [h.sin() * scale]}

    def again(self) -> bool:
        return True


def test_module_without_checkpoints_is_wrapped_whole() -> None:
    result = check(lambda: (WholeModule(), {"x": torch.ones(2, 8), "scale": 2.0}), Options(device="cpu"))
    assert result.wraps_module
    assert result.checkpoints == ("WholeModule",)
    assert result["a"].totals("a") == (1,)
    assert result.exit_status == 0


class Unreproducible(Checkpointed):
    clock = iter(range(1_000_000))

    def body(self, x: Tensor) -> Tensor:
        return self.b((self.a(x) * next(self.clock)).sin())


def test_step_that_differs_by_itself_is_inconclusive() -> None:
    result = checked(Unreproducible)
    assert result.exit_status == 5
    assert result.noise.differences[0].what == "output"
    assert result["as configured"].verdict.value == "inconclusive"


class BreaksItsContext(Checkpointed):
    """A hook that raises at replay leaves torch_remat's phase set in the context it ran in."""

    class Broken:
        def snapshot(self) -> int:
            if remat.is_recomputing():
                raise RuntimeError("no snapshot")
            return 0

        def restore(self, state: int) -> None:
            pass

    def forward(self, x: Tensor) -> Tensor:
        hooks = () if self.keeps() else (self.Broken(),)
        return remat.checkpoint(region_name="body", recompute_state_hooks=hooks)(self.body)(x)

    def keeps(self) -> bool:
        return self.saved

    saved = False

    def body(self, x: Tensor) -> Tensor:
        return remat.region(self.a, "a", recompute=not self.saved)(x)


def test_failed_policy_does_not_poison_the_next() -> None:
    def build() -> Case:
        module = BreaksItsContext()
        return Case(module, (torch.ones(2, 8),), set_policy=lambda p: setattr(module, "saved", bool(p)))

    result = check(build, Options(device="cpu"))
    assert [one.verdict.value for one in result.results] == ["raises", "equal", "equal"]
    assert "no snapshot" in str(result["none"].raised)
    assert result["a"].totals("a") == (1,)
    assert remat.checkpoint()(torch.sin)(torch.ones(1)).shape == (1,)


class LossByHand(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        return self.a(x)


def test_case_brings_its_own_loss() -> None:
    losses: list[Tensor] = []

    def loss(output: Tensor) -> Tensor:
        losses.append(output.square().sum())
        return losses[-1]

    result = check(lambda: Case(LossByHand(), (torch.ones(2, 8),), loss=loss), Options(device="cpu"))
    assert result.exit_status == 0
    assert len(losses) == 5, "the look at the module, three plain runs, one policy"


class GradientDisappears(Checkpointed):
    def body(self, x: Tensor) -> Tensor:
        return self.a(x)

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        return y if y.grad_fn.name() != "_TriggerCheckpointRecomputeBackward" else self.b(y.detach())


def test_gradient_that_is_missing_is_a_difference() -> None:
    result = checked(GradientDisappears)
    found = {difference.what: difference.how for difference in result["as configured"].differences}
    assert found["gradient of a.weight"] == "is missing: it is there without checkpoints"
    assert found["gradient of b.weight"] == "is there, but not without checkpoints"


class NothingRequiresGrad(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return remat.region(torch.sin, "sin", recompute=False)(x.detach()).sum()


def test_step_that_replays_nothing_is_inconclusive() -> None:
    result = check(
        lambda: Case(
            NothingRequiresGrad(),
            (torch.ones(2, 8),),
            loss=lambda out: out + torch.ones((), requires_grad=True),
        ),
        Options(device="cpu"),
    )
    assert result.exit_status == 5


class NumberedRegion(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return remat.region(torch.sin, 3, recompute=False)(x)


def test_region_name_that_is_no_string_is_shown_as_text() -> None:
    result = check(lambda: (NumberedRegion(), torch.ones(2, 8)), Options(device="cpu"))
    assert result.exit_status == 0
    assert [region.name for region in result.regions] == ["3"]
