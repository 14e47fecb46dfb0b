"""``remat_watch``: what shows in one training step, and that nothing is left behind."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

import torch.utils.checkpoint as torch_checkpoint  # noqa: E402
import torch_remat._api as api  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import Watch, WatchFailed, remat_watch  # noqa: E402

EARLY = remat.region(torch.sin, "early", recompute=True)
DECORATE = remat.checkpoint(region_name="decorated")


@remat.checkpoint(region_name="wrapped")
def wrapped(x: Tensor) -> Tensor:
    return EARLY(x * 2)


class Model(nn.Module):
    """Three regions, the second one saved, and what a test puts between them."""

    count = 0

    def __init__(self, between: Callable[[Model, Tensor], Tensor] = lambda _, x: x) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.between = between
        self.seen: list[int] = []
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        x = remat.region(self.first, "first", recompute=True)(x)
        x = self.between(self, x)
        x = remat.region(self.second, "second", recompute=False)(x)
        return remat.region(torch.sigmoid, "third", recompute=True)(x)


def step(model: nn.Module, function: Callable[[Tensor], Tensor] | None = None) -> Watch:
    with remat_watch(model) as watch:
        (function or model)(torch.ones(2, 4, requires_grad=True)).sum().backward()
    return watch


def drops(_: Model, x: Tensor) -> Tensor:
    return F.dropout(x, 0.5)


def draws_in_python(_: Model, x: Tensor) -> Tensor:
    return x * random.random()


def counts(model: Model, x: Tensor) -> Tensor:
    model.count += 1
    return x


def appends(model: Model, x: Tensor) -> Tensor:
    model.seen.append(1)
    return x


def adds_up(model: Model, x: Tensor) -> Tensor:
    with torch.no_grad():
        model.total += 1
    return x


def writes_a_weight(model: Model, x: Tensor) -> Tensor:
    with torch.no_grad():
        model.second.bias.mul_(1)
    return x


def one_more(_: Model, x: Tensor) -> Tensor:
    return remat.region(torch.cos, "more", recompute=True)(x) if remat.is_recomputing() else x


def one_less(_: Model, x: Tensor) -> Tensor:
    return x if remat.is_recomputing() else remat.region(torch.neg, "less", recompute=True)(x)


def other(_: Model, x: Tensor) -> Tensor:
    name = "b" if remat.is_recomputing() else "a"
    return remat.region(torch.cos, name, recompute=True)(x)


@pytest.mark.parametrize(
    ("between", "finding"),
    [
        (drops, "replay of body draws other numbers than forward: torch's random state is"),
        (drops, "replay computes another input[0] of region second in checkpoint body"),
        (draws_in_python, "replay of body draws other numbers than forward: Python's random state is"),
        (counts, "replay of body changes count from 1 to 2"),
        (appends, "replay of body changes len(seen) from 1 to 2"),
        (adds_up, "replay of body changes buffer total"),
        (writes_a_weight, "replay of body changes parameter second.bias"),
        (one_more, "replay of body calls region more where forward called second"),
        (one_less, "replay of body calls region second where forward called less"),
        (other, "replay of body calls region b where forward called a"),
    ],
)
def test_replay_that_does_otherwise_is_found(
    between: Callable[[Model, Tensor], Tensor], finding: str
) -> None:
    watch = step(Model(between))
    assert any(one.startswith(finding) for one in watch.findings), watch.findings
    with pytest.raises(WatchFailed, match="replay is not forward again"):
        watch.raise_if_broken()


def guarded(model: Model, x: Tensor) -> Tensor:
    if not remat.is_recomputing():
        model.count += 1
        model.seen.append(1)
        model.total += 1
    return x.sin()


def draws_in_forward_only(_: Model, x: Tensor) -> Tensor:
    if not remat.is_recomputing():
        random.random()
    return x


def keeps_the_same_value(model: Model, x: Tensor) -> Tensor:
    model.last = x.detach()
    with torch.no_grad():
        model.total.fill_(3)
    return x


def drops_in_a_saved_region(_: Model, x: Tensor) -> Tensor:
    return remat.region(F.dropout, "drop", recompute=False)(x)


def nests(_: Model, x: Tensor) -> Tensor:
    def outer(x: Tensor) -> Tensor:
        return remat.region(torch.sin, "inner", recompute=False)(x)

    return remat.region(outer, "outer", recompute=False)(x)


@pytest.mark.parametrize(
    "between",
    [
        lambda _, x: x,
        guarded,
        draws_in_forward_only,
        keeps_the_same_value,
        drops_in_a_saved_region,
        nests,
    ],
)
def test_replay_that_is_forward_again_passes(between: Callable[[Model, Tensor], Tensor]) -> None:
    watch = step(Model(between))
    assert watch.findings == ()
    watch.raise_if_broken()


class RandomState:
    """Puts torch's stream back, as torch_remat asks for it."""

    def snapshot(self) -> Tensor:
        return torch.get_rng_state()

    def restore(self, state: Tensor) -> None:
        torch.set_rng_state(state)


def test_restored_stream_passes() -> None:
    model = Model()

    def body(x: Tensor) -> Tensor:
        x = drops_in_a_saved_region(model, F.dropout(x, 0.5))
        remat.recompute_needs_tensor(x)
        return F.dropout(x, 0.5) * 2

    run = remat.checkpoint(region_name="body", recompute_state_hooks=(RandomState(),))(body)
    step(model, run).raise_if_broken()
    assert step(model, remat.checkpoint(region_name="body")(body)).findings


def test_torchs_checkpoint_restores_and_stops_early() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4))

    def body(x: Tensor) -> Tensor:
        return model(x).sin() + F.dropout(x, 0.5)

    watch = step(model, lambda x: torch_checkpoint.checkpoint(body, x, use_reentrant=False))
    watch.raise_if_broken()
    bare = step(
        model, lambda x: torch_checkpoint.checkpoint(body, x, use_reentrant=False, preserve_rng_state=False)
    )
    assert any("torch's random" in one for one in bare.findings)


def test_counts_and_order() -> None:
    watch = step(Model())
    assert watch.regions == {"body": ("first", "second", "third")}
    assert {one.region: (one.forward, one.replay) for one in watch.counts} == {
        "first": (1, 1),
        "second": (1, 0),
        "third": (1, 1),
    }


def test_wrappers_made_before_the_block_are_reached() -> None:
    decorated = DECORATE(lambda x: EARLY(x).cos())

    def all_of_them(x: Tensor) -> Tensor:
        return wrapped(decorated(x)) + DECORATE(lambda x: x.exp())(x)

    watch = step(nn.Identity(), all_of_them)
    watch.raise_if_broken()
    assert [(one.checkpoint, one.region, one.total) for one in watch.counts] == [
        ("decorated", "early", 2),
        ("wrapped", "early", 2),
    ]
    assert list(watch.regions) == ["decorated", "wrapped", "decorated (2)"]


def test_fault_in_a_checkpoint_made_before_the_block() -> None:
    run = remat.checkpoint(region_name="before")(F.dropout)
    assert any("torch's random" in one for one in step(nn.Identity(), run).findings)


def test_region_out_of_reach_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with another version of torch_remat, whose wrappers hold something else."""
    from remat_lint.runtime_check import built_before

    monkeypatch.setattr(built_before, "_REGION", ("no_such_name",))
    watch = step(nn.Identity(), remat.checkpoint(region_name="c")(lambda x: EARLY(x)))
    assert "out of reach: early" in watch.unchecked[0]
    with pytest.raises(WatchFailed, match="not everything was checked"):
        watch.raise_if_broken()


def test_nothing_replayed_is_no_pass() -> None:
    model = Model()
    with remat_watch(model) as watch:
        model(torch.ones(2, 4))
    assert watch.findings == ()
    with pytest.raises(WatchFailed, match="no checkpoint was replayed"):
        watch.raise_if_broken()
    with pytest.raises(WatchFailed, match="no checkpoint was called"):
        step(nn.Linear(4, 4)).raise_if_broken()


def test_several_steps_in_one_block() -> None:
    model = Model(adds_up)
    with remat_watch(model) as watch:
        for _ in range(2):
            model(torch.ones(2, 4)).sum().backward()
    assert list(watch.regions) == ["body", "body (2)"]
    assert len([one for one in watch.findings if "buffer total" in one]) == 2


def test_everything_is_as_before_after_the_block() -> None:
    codes = [one.__code__ for one in (EARLY, wrapped, DECORATE, api.region, api.checkpoint)]
    names, checks = set(vars(api)), dict(torch_checkpoint._allowed_determinism_checks_to_fns)

    def fail() -> None:
        with remat_watch(nn.Identity()):
            wrapped(torch.ones(3, requires_grad=True)).sum().backward()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [one.__code__ for one in (EARLY, wrapped, DECORATE, api.region, api.checkpoint)] == codes
    assert set(vars(api)) == names
    assert torch_checkpoint._allowed_determinism_checks_to_fns == checks


def test_step_is_not_changed() -> None:
    torch.manual_seed(0)
    model, x = Model(), torch.ones(2, 4)
    model(x).sum().backward()
    before = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with remat_watch(model) as watch:
        model(x).sum().backward()
    watch.raise_if_broken()
    assert all(map(torch.equal, before, (parameter.grad for parameter in model.parameters())))


class OwnStream(nn.Module):
    """Right: the layer's generator is put back by a hook."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.stream = torch.Generator().manual_seed(1)

    def snapshot(self) -> Tensor:
        return self.stream.get_state().clone()

    def restore(self, state: Tensor) -> None:
        self.stream.set_state(state)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body", recompute_state_hooks=(self,))(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        return (self.linear(x) * torch.rand(x.shape, generator=self.stream)).sin()


def test_a_stream_that_a_hook_puts_back_is_no_finding() -> None:
    model = OwnStream()
    with remat_watch(model) as watch:
        model(torch.ones(2, 4)).sum().backward()
    assert watch.findings == ()
