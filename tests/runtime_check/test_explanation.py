"""Whose fault it is, from the tracks together; and a step that does not repeat itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import Options, check  # noqa: E402
from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.cause import Kind, find_cause, find_noise  # noqa: E402
from remat_lint.runtime_check.compare import differences  # noqa: E402
from remat_lint.runtime_check.explanation import Blame, Explanation, explain  # noqa: E402
from remat_lint.runtime_check.plan import BLOCK, PLAIN, Plan  # noqa: E402


class Chain(nn.Module):
    """Three regions that a policy decides."""

    keeps = False

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.c = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def region(self, name: str, x: Tensor) -> Tensor:
        return remat.region(getattr(self, name), name, recompute=not self.keeps)(x)


def inputs() -> Tensor:
    return torch.linspace(-1, 1, 32).reshape(4, 8)


def explained(module: type[nn.Module]) -> Explanation | None:
    def build() -> object:
        return module(), inputs()

    result = check(build, Options(device="cpu", noise_runs=1))
    with opened(build, device="cpu") as make_bench:
        bench = make_bench()
        plain = bench.run(PLAIN)

        def breaks(plan: Plan) -> bool:
            track = bench.run(plan)
            return track.failure is not None or any(differences(plain.prints, track.prints))

        return explain(result.results, result.controls, result.regions, breaks)


class Good(Chain):
    def body(self, x: Tensor) -> Tensor:
        return self.region("c", self.region("b", self.region("a", x)))


class LacksOneMarker(Chain):
    def body(self, x: Tensor) -> Tensor:
        h = self.region("a", x)
        remat.recompute_needs_tensor(h)
        return self.region("c", self.region("b", h.sin()).exp())


class LacksTwoMarkers(Chain):
    def body(self, x: Tensor) -> Tensor:
        return self.region("c", self.region("b", self.region("a", x).sin()).exp())


class LacksMarkerForTwo(Chain):
    """Read without a marker, but only where neither of two is computed again."""

    def body(self, x: Tensor) -> Tensor:
        a, b, c = self.region("a", x), self.region("b", x), self.region("c", x)
        remat.recompute_needs_tensor(c)
        if remat.is_placeholder(a) and remat.is_placeholder(b):
            c = c + a * 2
        return c.sin()


class Counted(Chain):
    count = 0

    def body(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.region("a", x * self.count).sin()


def test_missing_marker_is_in_the_annotation_and_names_its_region() -> None:
    assert explained(LacksOneMarker) == Explanation(Blame.ANNOTATION, ("b",), ("b",))


def test_several_regions_that_break_it_alone_are_all_named() -> None:
    found = explained(LacksTwoMarkers)
    assert found is not None
    assert found.alone == ("a", "b")
    assert "as soon as one of these regions is saved: a, b" in str(found)


def test_regions_that_break_it_only_together_are_found_among_all() -> None:
    found = explained(LacksMarkerForTwo)
    assert found is not None
    assert (found.blame, set(found.saved or ()), found.alone) == (Blame.ANNOTATION, {"a", "b"}, ())


def test_fault_that_torchs_checkpoint_has_too_is_the_models() -> None:
    assert explained(Counted) == Explanation(Blame.MODEL, (), ("a",))


class DropoutInOneRegion(Chain):
    def body(self, x: Tensor) -> Tensor:
        h = self.region("a", x)
        remat.recompute_needs_tensor(h)
        return self.region("b", h.sin())

    def __init__(self) -> None:
        super().__init__()
        self.a.register_forward_hook(lambda *given: F.dropout(given[-1], 0.5))


def test_region_that_mends_it_is_named() -> None:
    found = explained(DropoutInOneRegion)
    assert found == Explanation(Blame.ANNOTATION, (), ("b",), mends=("a",))
    assert "holds where a is saved" in str(found)


class CountedUnderGuard(Chain):
    """What guards hold in torch's checkpoint, too; the marker is what is missing."""

    count = 0

    def body(self, x: Tensor) -> Tensor:
        if not remat.is_recomputing():
            self.count += 1
        return self.region("a", x).sin()


def test_guarded_state_is_not_blamed_on_the_model() -> None:
    assert explained(CountedUnderGuard) == Explanation(Blame.ANNOTATION, ("a",), ("a",))


class CountedInSavedRegion(Chain):
    """The counter is safe in its region, but not in torch's checkpoint; the dropout is safe only there."""

    count = 0

    def counting(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.a(x)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.counting, "counting", recompute=False)(x)
        remat.recompute_needs_tensor(h)
        return F.dropout(h, 0.5).sin()


def test_only_what_breaks_in_both_is_blamed_on_the_model() -> None:
    assert explained(CountedInSavedRegion) == Explanation(Blame.ANNOTATION)


def test_nothing_is_explained_where_nothing_breaks() -> None:
    assert explained(Good) is None


class RandomSlopes(nn.Module):
    """torch keeps the slopes before they are drawn, and its checkpoint ends the replay right then."""

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint()(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        return F.rrelu(x, training=True)


def test_random_slopes_of_rrelu_cannot_be_replayed_even_by_torch() -> None:
    found = explained(RandomSlopes)
    assert found is not None
    assert found.blame is Blame.MODEL


class Accumulates(nn.Module):
    """Many threads add to the same numbers, in any order."""

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        index = torch.zeros(x.shape[0], dtype=torch.long)
        total = torch.zeros(2, x.shape[1]).index_put((index,), x.sin(), accumulate=True)
        return total.exp()


class Gathers(nn.Module):
    """What selects rows in forward adds to them in backward."""

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        rows = x[torch.zeros(x.shape[0], dtype=torch.long)]
        return rows.sin()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (Accumulates, "total = torch.zeros(2, x.shape[1]).index_put((index,), x.sin(), accumulate=True)"),
        (Gathers, "rows = x[torch.zeros(x.shape[0], dtype=torch.long)]"),
    ],
)
def test_kernel_that_adds_in_any_order_is_told_by_the_line_of_the_forward(
    module: type[nn.Module], line: str
) -> None:
    inputs = torch.randn(4000, 64, generator=torch.Generator().manual_seed(0))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with opened(lambda: (module(), inputs), device="cpu") as make_bench:
            bench = make_bench()
            cause = next(filter(None, (find_noise(bench) for _ in range(3))), None)
    finally:
        torch.set_num_threads(threads)
    if cause is None:
        pytest.skip("this machine adds in the same order each time")
    assert (cause.kind, cause.operation) == (Kind.KERNEL, "index_put")
    assert cause.place is not None
    assert cause.place.text == line


ticks = itertools.count(1)


@torch.library.custom_op("remat_check_tests::unstable", mutates_args=())
def unstable(x: Tensor) -> Tensor:
    """Another result each time, as a kernel without a fixed order has."""
    return x + next(ticks)


@unstable.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


unstable.register_autograd(lambda ctx, gradient: unstable(gradient))


class UnstableForward(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        y = x.exp()
        y = y + unstable(y) * 0
        return y.sin()


class StableForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return unstable(gradient)


class OnlyBackwardVaries(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        y = x.exp()
        y = StableForward.apply(y)
        return y.sin()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (UnstableForward, "y = y + unstable(y) * 0"),
        (OnlyBackwardVaries, "return unstable(gradient)"),
    ],
)
def test_kernel_that_varies_is_told_by_its_line(module: type[nn.Module], line: str) -> None:
    with opened(lambda: (module(), torch.ones(2, 8)), device="cpu") as make_bench:
        cause = find_noise(make_bench())
    assert cause is not None
    assert cause.kind is Kind.KERNEL
    assert cause.place is not None
    assert cause.place.text == line


class Ticking(nn.Module):
    clock = iter(range(1_000_000))

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        return (x * next(self.clock)).sin()


def test_step_with_a_clock_in_it_is_told_by_its_line() -> None:
    with opened(lambda: (Ticking(), torch.ones(2, 8)), device="cpu") as make_bench:
        cause = find_noise(make_bench())
    assert cause is not None
    assert cause.kind is Kind.EXTERNAL
    assert cause.place is not None
    assert cause.place.text == "return (x * next(self.clock)).sin()"


def test_step_that_repeats_itself_has_no_noise_to_explain() -> None:
    with opened(lambda: (Good(), torch.ones(2, 8)), device="cpu") as make_bench:
        assert find_noise(make_bench()) is None


def test_no_cause_is_looked_for_where_a_policy_holds() -> None:
    held = check(lambda: (Good(), inputs()), Options(device="cpu", noise_runs=1)).results[0]
    with opened(lambda: (Good(), inputs()), device="cpu") as make_bench:
        assert find_cause(make_bench(), held) is None


def test_fault_is_found_in_torchs_checkpoint_as_well() -> None:
    result = check(lambda: (Counted(), inputs()), Options(device="cpu", noise_runs=1))
    block = next(one for one in result.controls if one.name == BLOCK.name)
    with opened(lambda: (Counted(), inputs()), device="cpu") as make_bench:
        cause = find_cause(make_bench(), block)
    assert cause is not None
    assert (cause.kind, cause.names[0]) == (Kind.EXTERNAL, "count")


class CountsUnderTorchsCheckpoint(nn.Module):
    """Its step is right but for the number that is left."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=False)

    def body(self, x: Tensor) -> Tensor:
        self.count += 1
        return x.sin().cos()


def test_advice_for_torchs_checkpoint_needs_no_guard_that_it_does_not_have() -> None:
    result = check(lambda: (CountsUnderTorchsCheckpoint(), inputs()), Options(device="cpu", noise_runs=1))
    (remedy,) = {cause.remedy for cause in result.causes.values() if cause.kind is Kind.STATE_TWICE}
    assert remedy == "write it outside of the checkpointed function: torch's own checkpoint has no guard"
