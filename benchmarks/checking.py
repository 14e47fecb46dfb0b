"""What a check costs, as ratios to the same step without it: ``python -m benchmarks.checking``.

The step is forward and backward of four layers under one policy. It runs by itself, then with its trace
and counts, then with the values of replay compared, too, in turn, so that a busy machine strikes all alike.
CPU time of the process, on one thread, on modules that were just made: memory that is new to the process
takes time by itself, with a check and without. The peak of a check, its first steps without checkpoints
included, is that of all storages that are alive, beside that of a step without checkpoints; weights are
included in both.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator

import torch
import torch_remat as remat
from torch import Tensor, nn
from torch.nn import functional as F

from remat_lint.runtime_check.bench import Bench, opened
from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.plan import regions
from remat_lint.runtime_check.policy import AS_CONFIGURED
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.storages import Storages
from remat_lint.runtime_check.values import Values
from remat_lint.runtime_check.witness import Witness

WIDTH, HIDDEN, HEADS, LAYERS, ROWS, LENGTH = 256, 512, 4, 4, 2, 128
SAVED = ("qkv", "w2")
PLAN = regions(AS_CONFIGURED)


class Block(nn.Module):
    """Attention and feed-forward in five regions."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.feed_forward_norm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w13 = nn.Linear(WIDTH, 2 * HIDDEN, bias=False)
        self.w2 = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.region(self.qkv, "qkv", self.attention_norm(x)).chunk(3, dim=-1)
        h = self.region(self.wo, "wo", self.region(self.attend, "inner", q, k, v))
        remat.recompute_needs_tensor(h)
        x = x + h
        gate, up = self.region(self.w13, "w13", self.feed_forward_norm(x)).chunk(2, dim=-1)
        remat.recompute_needs_tensor(gate, up)
        y = self.region(self.w2, "w2", F.silu(gate) * up)
        remat.recompute_needs_tensor(y)
        return x + y

    def region(self, function: Callable[..., Tensor], name: str, *args: Tensor) -> Tensor:
        result: Tensor = remat.region(function, name, recompute=name not in SAVED)(*args)
        return result

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, v = (x.unflatten(-1, (HEADS, -1)).transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class Model(nn.Module):
    """Four layers, each a checkpoint unless there are none."""

    def __init__(self, checkpoints: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.checkpoints = checkpoints

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            run = remat.checkpoint(region_name=f"layers.{index}")(layer) if self.checkpoints else layer
            x = run(x)
        return x


def build(checkpoints: bool = True) -> Case:
    """The model, two rows of inputs, and a loss."""
    weights = torch.randn(ROWS, LENGTH, WIDTH)
    return Case(Model(checkpoints), (torch.randn(ROWS, LENGTH, WIDTH),), loss=lambda y: (y * weights).sum())


class Clock(Witness):
    """The CPU time of forward and backward, what the check does meanwhile included."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        before = time.process_time()
        yield
        self.seconds = time.process_time() - before


def plain_seconds(checkpoints: bool = True) -> tuple[float, float]:
    """CPU time of the step without a check, and of the same with the module that is made for it."""
    begun = time.process_time()
    case = build(checkpoints)
    for leaf in case.args:
        leaf.requires_grad_()
    before = time.process_time()
    assert case.loss is not None
    case.loss(case.module(*case.args)).backward()
    after = time.process_time()
    return after - before, after - begun


def checked_seconds(bench: Bench, *more: Callable[[Observation], Witness]) -> tuple[float, float]:
    """CPU time of the step under a check, and of the whole track with the module that it makes anew."""
    clock = Clock()
    before = time.process_time()
    bench.run(PLAN, lambda observation: [clock, *(make(observation) for make in more)])
    return clock.seconds, time.process_time() - before


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes in storages that were made since ``run`` was called."""
    counted = Storages(Observation(PLAN))
    with counted.around():
        run()
    return counted.ledger.peak_bytes


def check_once(*more: Callable[[Observation], Witness]) -> None:
    """One track, from its factory on."""
    with opened(build, device="cpu") as make_bench:
        checked_seconds(make_bench(), *more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each of them runs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[tuple[float, ...]] = []
    with opened(build, device="cpu") as make_bench:
        bench = make_bench()
        for _ in range(options.runs + 1):  # the first one warms up
            rows.append((*plain_seconds(), *checked_seconds(bench), *checked_seconds(bench, Values)))
    step, made, *checks = (statistics.median(column) * 1e3 for column in zip(*rows[1:], strict=True))
    names = (
        "trace and counts",
        "  with the module made for it",
        "and values",
        "  with the module made for it",
    )
    print(f"{'row':<32} {'check':>10} {'step':>10} {'ratio':>6} {'budget':>7}")
    for name, budget, found, plain in zip(
        names, ("1.1", "", "1.6", ""), checks, (step, made) * 2, strict=True
    ):
        print(f"{name:<32} {found:>7.1f} ms {plain:>7.1f} ms {found / plain:>6.2f} {budget:>7}")
    ours, plain = (
        peak_bytes(run) / 2**20 for run in (lambda: check_once(Values), lambda: plain_seconds(False))
    )
    print(f"{'peak':<32} {ours:>6.1f} MiB {plain:>6.1f} MiB {ours / plain:>6.2f} {'1.15':>7}")


if __name__ == "__main__":
    main()
