"""Whose fault it is, from the tracks together; and a step that does not repeat itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.cause import Kind, find_cause, find_noise  # noqa: E402
from remat_lint.runtime_check.checker import Options, _Check  # noqa: E402
from remat_lint.runtime_check.explanation import Blame, Explanation, explain  # noqa: E402
from remat_lint.runtime_check.plan import BLOCK  # noqa: E402


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


def explained(module: type[nn.Module]) -> Explanation | None:
    inputs = torch.linspace(-1, 1, 32).reshape(4, 8)
    with opened(lambda: (module(), inputs), device="cpu") as make_bench:
        check = _Check(make_bench(), Options(device="cpu", noise_runs=2))
        result = check.result()
        return explain(
            result.results, result.controls, result.regions, lambda plan: check._under(plan).is_broken
        )


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
    """The sum is read without a marker; it is real as long as one of the two is computed again."""

    def body(self, x: Tensor) -> Tensor:
        a, b = self.region("a", x), self.region("b", x)
        if remat.is_placeholder(a) and remat.is_placeholder(b):
            a = a * 2
        for one in (a, b):
            if not remat.is_placeholder(one):
                return self.region("c", x) + x.sin()
        return self.region("c", x) + a


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
        total = torch.zeros(2, x.shape[1]).index_put((index,), x.sin(), accumulate=True)  # FAULT
        return total.exp()


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


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
    with opened(lambda: (Good(), torch.ones(2, 8)), device="cpu") as make_bench:
        bench = make_bench()
        held = _Check(bench, Options(device="cpu", noise_runs=2)).result().results[0]
        assert find_cause(bench, held) is None


def test_fault_is_found_in_torchs_checkpoint_as_well() -> None:
    with opened(lambda: (Counted(), torch.ones(2, 8)), device="cpu") as make_bench:
        bench = make_bench()
        result = _Check(bench, Options(device="cpu", noise_runs=2)).result()
        block = next(one for one in result.controls if one.name == BLOCK.name)
        cause = find_cause(bench, block)
    assert cause is not None
    assert (cause.kind, cause.names[0]) == (Kind.EXTERNAL, "count")
