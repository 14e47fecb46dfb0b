"""Every way to run the step: segments, micro-batches, an optimizer, seeds, adapters, a deadline."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import threading
import time
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.checkpoint import checkpoint as torch_checkpoint  # noqa: E402

from remat_lint.runtime_check import Case, CheckResult, Options, UsageError, check  # noqa: E402
from remat_lint.runtime_check.adapters import per_block, torchtitan, transformers  # noqa: E402
from remat_lint.runtime_check.deadline import TimedOut  # noqa: E402
from remat_lint.runtime_check.verdicts import Status  # noqa: E402

SEEN: dict[str, int] = {"steps": 0}
STREAM = torch.Generator().manual_seed(3)


def checked(make: Any, **options: Any) -> CheckResult:
    return check(make, Options(device="cpu", **options))


def verdicts(result: CheckResult) -> dict[str, str]:
    return {one.name: one.verdict.value for one in (*result.results, *result.controls)}


class Block(nn.Module):
    """One region and a bare activation."""

    def __init__(self, name: str = "block") -> None:
        super().__init__()
        self.name = name
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        h = remat.region(self.linear, "linear", recompute=bool(self.name))(x)
        remat.recompute_needs_tensor(h)
        return x + torch.sin(h) * scale


class Chain(nn.Module):
    """Blocks without checkpoints of their own."""

    def __init__(self, depth: int = 5) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(f"block {index}") for index in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, 0.5)
        return x


def chain() -> Case:
    return per_block(Chain(), (torch.randn(3, 4),))


def test_segments_hold_and_the_last_one_is_shorter() -> None:
    result = checked(chain, segment=2, tracks=("block", "selective"))
    assert verdicts(result)["segments of 2"] == "equal"
    assert verdicts(result)["block checkpoint"] == "equal"
    assert verdicts(result)["selective checkpoint"] == "equal"
    segmented = next(one for one in result.controls if one.plan.segment == 2)
    assert list(dict.fromkeys(count.checkpoint for count in segmented.counts)) == [
        "blocks.0",
        "blocks.2",
        "blocks.4",
    ]
    assert {(count.forward, count.replay) for count in segmented.counts} == {(2, 2), (1, 1)}


class Uneven(Chain):
    """Every block gets an argument of its own: a segment would hand the first one's to all."""

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            x = layer(x, 1.0 + index)
        return x


def test_blocks_that_are_no_chain_are_refused() -> None:
    with pytest.raises(UsageError, match="do not hand their result on"):
        checked(lambda: per_block(Uneven(), (torch.randn(3, 4),)), segment=2)


class LaterOn(nn.Module):
    """Scales with a count that replay raises, too, but not before the second batch."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.calls += 1
        return torch.sin(self.linear(x) * self.calls.clamp(min=3).item())


def test_micro_batches_and_an_optimizers_step_are_compared() -> None:
    def broken(**options: Any) -> set[str]:
        result = checked(lambda: (LaterOn(), torch.ones(2, 4)), **options)
        return {one.name for one in result.confirmations if one.status is Status.BROKEN}

    assert broken() == {"buffers"}, "the first batch ends at 2, which counts as 3"
    assert broken(batches=2) == {
        "buffers",
        "parameter gradients",
        "input gradients",
        "recomputed saved tensors",
    }
    assert "parameters after the step" in broken(batches=2, steps_optimizer=True)


def test_parameters_after_the_step_are_confirmed() -> None:
    result = checked(lambda: (nn.Linear(4, 4), torch.ones(2, 4)), batches=3, steps_optimizer=True)
    named = {one.name: one.status for one in result.confirmations}
    assert named["parameters after the step"] is Status.HOLDS


def test_a_case_makes_its_own_optimizer() -> None:
    made = []

    def optimizer(parameters: Any) -> torch.optim.Optimizer:
        made.append(torch.optim.SGD(parameters, lr=0.5))
        return made[-1]

    case = lambda: Case(nn.Linear(4, 4), (torch.ones(2, 4),), optimizer=optimizer)  # noqa: E731
    assert checked(case, steps_optimizer=True).exit_status == 0
    assert len(made) >= 4


class RarelyRandom(nn.Module):
    """Draws only where the weights came out positive: with some seeds, it is right."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.chosen = torch.rand(()).item() > 0.5

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        return torch.sin(F.dropout(self.linear(x), 0.5, training=self.chosen))


def test_every_seed_is_a_check_of_its_own() -> None:
    quiet = [seed for seed in range(8) if not _draws(seed)]
    seeds = [*quiet[:2], next(seed for seed in range(8) if seed not in quiet)]
    assert checked(lambda: (RarelyRandom(), torch.ones(2, 4)), seeds=seeds[:2]).exit_status == 0
    result = checked(lambda: (RarelyRandom(), torch.ones(2, 4)), seeds=seeds)
    assert result.exit_status == 1
    assert {one.seed for one in result.broken} == {seeds[2]}


def _draws(seed: int) -> bool:
    torch.manual_seed(seed)
    return RarelyRandom().chosen


class Counting(nn.Module):
    """State outside the module: a global count, a generator of the project."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        SEEN["steps"] += 1
        noise = torch.rand(x.shape, generator=STREAM)
        return remat.checkpoint(region_name="body")(self.linear)(x * SEEN["steps"] + noise)


def test_globals_start_anew_for_every_track() -> None:
    SEEN["steps"] = 0
    before = STREAM.get_state()
    assert checked(lambda: (Counting(), torch.ones(2, 4))).exit_status == 0
    assert SEEN["steps"] == 1, "put back before each track, and the last one counted"
    assert not torch.equal(STREAM.get_state(), before)


class CountsTwice(Counting):
    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        SEEN["steps"] += 1
        return self.linear(x)


def test_a_global_that_replay_counts_up_is_named() -> None:
    SEEN["steps"] = 0
    result = checked(lambda: (CountsTwice(), torch.ones(2, 4)))
    assert [str(one) for one in result.broken[0].state] == [f"{__name__}.SEEN['steps'] is 2 instead of 1"]


def test_a_factory_may_return_the_same_module_each_time() -> None:
    module = CountingItself()
    result = checked(lambda: (module, torch.ones(2, 4)))
    assert [str(one) for one in result.broken[0].state] == ["calls is 2 instead of 1"]
    whole = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    assert checked(lambda: (whole, torch.ones(2, 4))).exit_status == 0


class CountingItself(CountsTwice):
    calls = 0

    def body(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.linear(x)


class PutsTheStreamBack(CountsTwice):
    """The stream is where it was after each run of the body, but not where it was before the first one."""

    def body(self, x: Tensor) -> Tensor:
        state = torch.get_rng_state()
        y = self.linear(x) * torch.rand_like(x)
        torch.set_rng_state(state)
        return y.sin()


def test_replay_never_finds_the_streams_where_forward_left_them() -> None:
    result = checked(lambda: (PutsTheStreamBack(), torch.ones(2, 4)))
    assert {one.what for one in result.broken[0].differences} >= {"gradient of linear.weight"}


def counted(function: Any) -> Any:
    def call(*args: Any) -> Any:
        nonlocal times
        times += 1
        call.calls += 1  # type: ignore[attr-defined]
        return function(*args)

    times = 0
    call.calls = 0  # type: ignore[attr-defined]
    return call


activation = counted(torch.sin)


class CallsHelpers(CountsTwice):
    def body(self, x: Tensor) -> Tensor:
        return activation(self.linear(x))


def test_what_functions_remember_is_state() -> None:
    result = checked(lambda: (CallsHelpers(), torch.ones(2, 4)))
    assert [str(one) for one in result.broken[0].state] == [
        f"{__name__}.activation.calls is 2 instead of 1",
        f"{__name__}.activation.times is 2 instead of 1",
    ]


def first_counts_later() -> int:
    first_counts_later.calls = getattr(first_counts_later, "calls", 0) + 1  # type: ignore[attr-defined]
    return int(first_counts_later.calls)  # type: ignore[attr-defined]


class NewNames(CountsTwice):
    def body(self, x: Tensor) -> Tensor:
        NewNames.seen = getattr(NewNames, "seen", 0) + 1  # type: ignore[attr-defined]
        return self.linear(x) + first_counts_later()


def test_names_that_a_step_adds_are_taken_away_again() -> None:
    result = checked(lambda: (NewNames(), torch.ones(2, 4)))
    assert not result.noise
    assert {str(one) for one in result.broken[0].state} == {
        f"{__name__}.NewNames.seen is 2 instead of 1",
        f"{__name__}.first_counts_later.calls is 2 instead of 1",
    }


class Meter:
    """A forward hook with a memory."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, _module: nn.Module, _inputs: Any, output: Tensor) -> None:
        self.sizes.append(output.numel())


METER = Meter()


class Measured(CountsTwice):
    def __init__(self) -> None:
        super().__init__()
        self.linear.register_forward_hook(METER)

    def body(self, x: Tensor) -> Tensor:
        return self.linear(x)


def test_what_hooks_remember_is_state() -> None:
    result = checked(lambda: (Measured(), torch.ones(2, 4)))
    assert str(result.broken[0].state[0]) == f"len({__name__}.METER.sizes) is 2 instead of 1"


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Namespace(types.SimpleNamespace):
    """Its ``__dict__`` is a member written in C, which cannot be set."""


THREADS = threading.local()
THREADS.count = 0
SPACE = types.SimpleNamespace(count=0)
os.environ["REMAT_LINT_COUNT"] = "0"


class OwnDict(dict):  # type: ignore[type-arg]
    """A container of the project's own."""


class Deep:
    def __init__(self) -> None:
        self.tracker = Slotted()
        self.meters = [{"loss": Slotted()}]


def remembers(x: Tensor, seen: list[int] = []) -> Tensor:  # noqa: B006 - that is the fault
    seen.append(x.numel())
    return x


class Hidden(CountsTwice):
    """State in many places; ``where`` says which one replay changes."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.slotted, self.own, self.deep = Slotted(), OwnDict(n=0), Deep()
        self.names = Namespace(count=0)
        self.raw = bytearray(2)
        self.parts = [Slotless()]
        self.frozen = nn.Parameter(torch.zeros(2), requires_grad=False)

    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            getattr(self, self.where)()
        return self.linear(x)

    def in_slot(self) -> None:
        self.slotted.count += 1

    def in_a_namespace(self) -> None:
        self.names.count += 1

    def in_a_global_namespace(self) -> None:
        SPACE.count += 1

    def in_the_thread(self) -> None:
        THREADS.count += 1

    def in_own_dict(self) -> None:
        self.own["n"] += 1

    def deep_inside(self) -> None:
        self.deep.meters[0]["loss"].count += 1

    def in_bytes(self) -> None:
        self.raw[0] += 1

    def in_a_listed_module(self) -> None:
        self.parts[0].total += 1

    def in_a_parameter(self) -> None:
        self.frozen += 1

    def on_a_parameter(self) -> None:
        self.frozen.uses = getattr(self.frozen, "uses", 0) + 1  # type: ignore[attr-defined]

    def in_a_default(self) -> None:
        remembers(self.frozen)


class Slotless(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(()))


@pytest.mark.parametrize(
    "where",
    [
        "in_slot", "in_a_namespace", "in_a_global_namespace", "in_the_thread",
        "in_own_dict", "deep_inside", "in_bytes", "in_a_listed_module",
        "in_a_parameter", "on_a_parameter", "in_a_default",
    ],
)  # fmt: skip
def test_state_is_seen_wherever_it_hides(where: str) -> None:
    result = checked(lambda: (Hidden(where), torch.ones(2, 4)))
    assert result.exit_status == 1, where
    assert not result.noise


class CountsInTheEnvironment(CountsTwice):
    """Wrong: replay computes with the next number."""

    def body(self, x: Tensor) -> Tensor:
        count = int(os.environ["REMAT_LINT_COUNT"]) + 1
        os.environ["REMAT_LINT_COUNT"] = str(count)
        return (self.linear(x) * count).sin()


def test_every_track_begins_with_the_same_environment() -> None:
    result = checked(lambda: (CountsInTheEnvironment(), torch.ones(2, 4)))
    assert not result.noise
    assert result.exit_status == 1


class SeedsItsOwnStream(CountsTwice):
    """Right: the stream of the layer begins at the seed of the process, in replay too."""

    def body(self, x: Tensor) -> Tensor:
        own = torch.Generator().manual_seed(torch.initial_seed() % 1000 + 1)
        return (self.linear(x) * torch.rand(x.shape, generator=own)).sin()


def test_the_seed_of_the_process_stays_as_it_is() -> None:
    assert checked(lambda: (SeedsItsOwnStream(), torch.ones(2, 4))).exit_status == 0


class Lazy:
    """What stands for a package that is not installed."""

    def __getattr__(self, name: str) -> Any:
        raise ModuleNotFoundError(f"no {name} here")


class HoldsALazyModule(Counting):
    def __init__(self) -> None:
        super().__init__()
        self.optional = Lazy()

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.linear)(x)


OPTIONAL = Lazy()


def test_a_stand_in_for_a_missing_package_is_left_alone() -> None:
    assert checked(lambda: (HoldsALazyModule(), torch.ones(2, 4))).exit_status == 0


def test_a_policy_that_is_not_obeyed_is_no_policy() -> None:
    result = checked(lambda: per_block(Chain(), (torch.randn(3, 4),)))
    assert result.exit_status == 0

    def ignoring() -> Case:
        case = per_block(Chain(), (torch.randn(3, 4),))
        case.set_policy = lambda patterns: None
        return case

    result = checked(ignoring)
    assert {one.name for one in result.broken} == {"all", "linear"}
    assert "set_policy did not do what it was told" in result.broken[0].findings[0]


def test_a_compiled_module_is_refused() -> None:
    module = nn.Linear(2, 2)
    module.compile(backend="eager")
    with pytest.raises(UsageError, match="compiled module"):
        checked(lambda: (module, torch.ones(1, 2)))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            lambda: Case(nn.Linear(2, 2), (torch.ones(1, 2),), loss=lambda out: None),
            "loss of the case returned",
        ),
        (lambda: Case(nn.Linear(2, 2), (torch.ones(1, 2),), loss=lambda out: out), r"shape \(1, 2\)"),
        (
            lambda: Case(nn.Linear(2, 2), (torch.ones(1, 2),), step=lambda *_: 3),
            "step of the case returned int",
        ),
        (lambda: Case(nn.Linear(2, 2), (torch.ones(1, 2),), set_policy=3), "set_policy of a Case"),  # type: ignore[arg-type]
        (
            lambda: Case(nn.Linear(2, 2), (torch.ones(1, 2),), set_policy=lambda: None),
            "set_policy of the case",
        ),  # type: ignore[arg-type,misc]
    ],
)
def test_a_case_that_cannot_be_used_is_said_to_be(case: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        checked(case)


def test_a_track_that_was_asked_for_counts() -> None:
    result = checked(lambda: (GradientCheckpointingPython(), torch.ones(2, 4)), tracks=("block",))
    assert "block checkpoint" in {one.name for one in result.broken}


class GradientCheckpointingPython(CountsTwice):
    """A hook for Python's random numbers: torch's own checkpoint knows none."""

    class Hook:
        def snapshot(self) -> Any:
            return random.getstate()

        def restore(self, state: Any) -> None:
            random.setstate(state)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body", recompute_state_hooks=(self.Hook(),))(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        return (self.linear(x) * random.random()).sin()


class Restless(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        time.sleep(0.4)
        return remat.checkpoint(region_name="body")(self.linear)(x)


def test_a_check_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimedOut):
        checked(lambda: (Restless(), torch.ones(2, 4)), timeout=0.5)


class BusyWhenCollected:
    """What its end raises is lost, as in every ``__del__``."""

    def __del__(self) -> None:
        with contextlib.suppress(TimedOut):
            time.sleep(0.8)


class Endless(Restless):
    """Is in the midst of a ``__del__`` when the time is over."""

    def forward(self, x: Tensor) -> Tensor:
        BusyWhenCollected()
        while True:
            x = x + 1


def test_time_that_is_over_in_a_destructor_is_over_for_all() -> None:
    with pytest.raises(TimedOut):
        checked(lambda: (Endless(), torch.ones(2, 4)), timeout=0.5)


def test_time_that_is_over_in_a_collection_is_over_after_it() -> None:
    def slow(phase: str, _info: dict[str, int]) -> None:
        time.sleep(0.4)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(TimedOut):
            checked(lambda: (Restless(), torch.ones(2, 4)), timeout=0.2)
    finally:
        gc.callbacks.remove(slow)


class Policy:
    """Configuration in the style of a trainer."""

    def __init__(self, save_regions: list[str], recompute_regions: list[str]) -> None:
        self.save_regions = save_regions
        self.recompute_regions = recompute_regions


class Configured(Block):
    policy = Policy([], [])

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        again = "linear" not in self.policy.save_regions and "*" not in self.policy.save_regions
        h = remat.region(self.linear, "linear", recompute=again)(x)
        remat.recompute_needs_tensor(h)
        return x + torch.sin(h)


class Titan(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"0": Configured(), "1": Configured()})

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers.values():
            x = layer(x)
        return x


def apply_policy(model: Titan, policy: Policy) -> None:
    for name, layer in model.layers.items():
        layer.policy = policy
        model.layers[name].forward = remat.checkpoint(region_name=f"layers.{name}")(layer.forward)


def test_a_config_of_regions_is_applied_before_every_run() -> None:
    result = checked(
        lambda: torchtitan(Titan(), (torch.randn(3, 4),), apply=apply_policy, config=Policy), segment=2
    )
    assert result.checkpoints == ("layers.0", "layers.1")
    assert {one.name: one.totals("linear") for one in result.results} == {
        "none": (2, 2),
        "all": (1, 1),
        "linear": (1, 1),
    }
    assert result.exit_status == 0


class GradientCheckpointing(nn.Module):
    """A model that checkpoints with torch when it is told to, in the style of transformers."""

    def __init__(self, drops: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.drops = drops
        self.function: Any = None

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: dict[str, Any]) -> None:
        self.function = lambda *args: torch_checkpoint(*args, **gradient_checkpointing_kwargs)

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        for layer in self.layers:
            x = self.function(self.layer, layer, x)
        return {"loss": F.mse_loss(x, labels), "logits": x}

    def layer(self, layer: nn.Module, x: Tensor) -> Tensor:
        scale = random.random() if self.drops else 1.0
        return torch.sin(layer(x) * scale)


def gradient_checkpointing(**options: Any) -> CheckResult:
    inputs = {"x": torch.ones(2, 4), "labels": torch.zeros(2, 4)}
    drops = options.pop("drops", False)
    return checked(lambda: transformers(GradientCheckpointing(drops), inputs, **options))


def test_torchs_own_checkpoints_are_left_out_of_the_plain_step() -> None:
    result = gradient_checkpointing()
    assert len(result.checkpoints) == 2
    assert not result.wraps_module
    assert verdicts(result) == {"as configured": "equal"}
    assert result.exit_status == 0
    assert gradient_checkpointing(drops=True).exit_status == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reentrant_checkpoints_are_checked_too() -> None:
    """A shared gradient comes in parts there, so none is let go of before the end."""

    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            for _ in range(2):
                x = torch_checkpoint(lambda x: torch.sin(self.linear(x)), x, use_reentrant=True)
            return x

    result = checked(lambda: (Shared(), torch.ones(2, 4)))
    assert {one.what for one in result["as configured"].differences} <= {
        "gradient of linear.weight",
        "gradient of linear.bias",
    }


def test_a_step_of_the_case_replaces_call_and_loss() -> None:
    def step(module: nn.Module, x: Tensor) -> Tensor:
        return module(x).square().mean() + sum(p.sum() for p in module.parameters())

    result = checked(lambda: Case(Chain(depth=1), (torch.randn(3, 4),), step=step))
    assert result.wraps_module
    assert result.exit_status == 0


def test_an_unknown_container_of_layers_is_named() -> None:
    with pytest.raises(UsageError, match="no layers container blocks"):
        checked(lambda: Case(Chain(depth=1), (torch.randn(3, 4),), layers="blocks"), segment=2)


def _leave_a_fork_of_the_random_state_behind() -> None:
    """Garbage that sets the random state when it is collected."""
    fork = torch.random.fork_rng(devices=[])
    fork.__enter__()
    cycle: list[Any] = [fork]
    cycle.append(cycle)


class LeavesGarbage(Counting):
    """Draws outside of its checkpoint, after a collection that could have come at any time."""

    def forward(self, x: Tensor) -> Tensor:
        gc.collect()
        noise = torch.rand(4)
        _leave_a_fork_of_the_random_state_behind()
        return remat.checkpoint(region_name="body")(self.linear)(x) * noise


def test_garbage_of_the_last_track_does_not_set_the_random_state() -> None:
    result = checked(lambda: (LeavesGarbage(), torch.ones(2, 4)))
    assert not result.noise
    assert result.exit_status == 0
