"""Programs that are right, in ways that a careless check would report.

Each is a module with ``inputs``; every one passes under every policy without a word.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
import torch_remat as remat
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils import checkpoint as torchs


class TorchState:
    """torch's own random stream, as a RecomputeStateHook keeps it."""

    def snapshot(self) -> Tensor:
        return torch.get_rng_state()

    def restore(self, state: Tensor) -> None:
        torch.set_rng_state(state)


class PythonState:
    def snapshot(self) -> Any:
        return random.getstate()

    def restore(self, state: Any) -> None:
        random.setstate(state)


class Program(nn.Module):
    """Two layers, one checkpoint; ``keeps`` is what a policy sets."""

    keeps = False
    hooks: tuple[Any, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def inputs(self) -> Any:
        return torch.linspace(-1, 1, 32).reshape(4, 8)

    def forward(self, x: Tensor) -> Any:
        return remat.checkpoint(region_name="body", recompute_state_hooks=self.hooks)(self.body)(x)

    def body(self, x: Tensor) -> Any:
        raise NotImplementedError

    def region(self, function: Callable[..., Any], name: str, *args: Any) -> Any:
        return remat.region(function, name, recompute=not self.keeps)(*args)

    def marked(self, function: Callable[..., Any], name: str, *args: Any) -> Any:
        h = self.region(function, name, *args)
        remat.recompute_needs_tensor(*(h if isinstance(h, tuple) else (h,)))
        return h


class DropoutWithHook(Program):
    hooks = (TorchState(),)

    def body(self, x: Tensor) -> Tensor:
        h = F.dropout(self.marked(self.a, "a", x), 0.5)
        return F.dropout(self.marked(self.b, "b", h.sin()), 0.5).exp()


class PythonRandomWithHook(Program):
    hooks = (PythonState(), TorchState())

    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x) * random.random()
        return self.marked(self.b, "b", h.sin()) * random.random()


class DropoutInSavedRegion(Program):
    def body(self, x: Tensor) -> Tensor:
        h = remat.region(lambda t: F.dropout(self.a(t), 0.5), "drop", recompute=False)(x)
        remat.recompute_needs_tensor(h)
        return self.marked(self.b, "b", h.sin())


class DropoutWithoutTraining(Program):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.eval()

    def body(self, x: Tensor) -> Tensor:
        return self.drop(self.marked(self.a, "a", x)).sin()


class SeededInBody(Program):
    def body(self, x: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(7)
        return (self.marked(self.a, "a", x) * torch.rand(8, generator=generator)).sin()


class ForkedAndSeeded(Program):
    def body(self, x: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(3)
            noise = torch.rand_like(x)
        return (self.marked(self.a, "a", x) * noise).sin()


class GuardedCounter(Program):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.seen: list[int] = []

    def body(self, x: Tensor) -> Tensor:
        if not remat.is_recomputing():
            self.calls += 1
            self.seen.append(x.shape[0])
        return self.marked(self.a, "a", x).sin()


class CounterOutside(Program):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.calls = 0

    def forward(self, x: Tensor) -> Any:
        self.steps += 1
        self.calls += 1
        return super().forward(x)

    def body(self, x: Tensor) -> Tensor:
        return (self.marked(self.a, "a", x) * self.steps).sin()


class GuardedBuffer(Program):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("average", torch.zeros(8))

    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x)
        if not remat.is_recomputing():
            self.average.lerp_(h.detach().mean(0), 0.1)
        return h.sin()


class BufferInSavedRegion(Program):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.norm, "norm", recompute=False)(self.marked(self.a, "a", x))
        remat.recompute_needs_tensor(h)
        return self.b(h.sin())


class BatchNormWithoutTraining(Program):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.norm.eval()

    def body(self, x: Tensor) -> Tensor:
        return self.norm(self.marked(self.a, "a", x)).sin()


class TiedWeights(Program):
    def __init__(self) -> None:
        super().__init__()
        self.b.weight = self.a.weight

    def body(self, x: Tensor) -> Tensor:
        return self.region(self.b, "b", self.marked(self.a, "a", x).sin())


class Autocast(Program):
    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x).float()

    def body(self, x: Tensor) -> Tensor:
        return self.b(self.marked(self.a, "a", x).float().sin())


class Views(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a", x)
        halves = h.view(2, 2, 8).transpose(0, 1).unflatten(-1, (2, 4)).unbind(-2)
        return self.region(lambda left, right: left.sin() + right.cos(), "sum", *halves)[None]


class Halves(NamedTuple):
    left: Tensor
    right: Tensor


class NamedTuples(Program):
    def body(self, x: Tensor) -> tuple[Tensor, Tensor]:
        halves = self.marked(lambda t: Halves(*self.a(t).chunk(2, dim=-1)), "split", x)
        return halves.left.sin(), halves.right.exp()


class NestedRegions(Program):
    def body(self, x: Tensor) -> Tensor:
        return self.marked(self.outer, "outer", x).sin()

    def outer(self, x: Tensor) -> Tensor:
        return self.b(F.silu(self.marked(self.a, "inner", x)))


class WithoutGradients(Program):
    def body(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            scale = self.marked(self.b, "scale", x).abs()
        return self.marked(self.a, "a", x).sin() * scale


class IdempotentCache(Program):
    def __init__(self) -> None:
        super().__init__()
        self.table: Tensor | None = None

    def body(self, x: Tensor) -> Tensor:
        return self.marked(self.a, "a", x).sin() * self.cosines(x.shape[-1])

    def cosines(self, size: int) -> Tensor:
        if self.table is None or self.table.shape[0] < size:
            self.table = torch.arange(size, dtype=torch.float32).cos()
        return self.table[:size]


@functools.lru_cache
def sines(size: int) -> Tensor:
    return torch.arange(size, dtype=torch.float32).sin()


class CachedFunction(Program):
    def body(self, x: Tensor) -> Tensor:
        return (self.marked(self.a, "a", x) * sines(x.shape[-1])).exp()


class BuiltLazily(Program):
    def __init__(self) -> None:
        super().__init__()
        self.mask: Tensor | None = None

    def body(self, x: Tensor) -> Tensor:
        if self.mask is None:
            self.register_buffer("late", torch.ones(8), persistent=False)
            self.mask = torch.tril(torch.ones(8, 8))
        return (self.marked(self.a, "a", x) @ self.mask).sin()


class SeveralInputs(Program):
    def inputs(self) -> Any:
        x = torch.linspace(-1, 1, 32).reshape(4, 8)
        return {"x": x, "scale": 2.0, "masks": [x > 0, x.abs() > 0.5], "bias": x.clone()}

    def forward(self, x: Tensor, *, scale: float, masks: list[Tensor], bias: Tensor) -> Any:
        return remat.checkpoint()(self.masked)(x, bias, scale=scale, masks=masks)

    def masked(self, x: Tensor, bias: Tensor, *, scale: float, masks: list[Tensor]) -> Tensor:
        h = self.marked(self.a, "a", x) * scale + bias
        return h.masked_fill(masks[0], 0.0).exp() * masks[1]


class GradientHooks(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x).sin()
        h.register_hook(lambda gradient: gradient * 2)
        return self.b(h)


class OwnFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return 2 * x * gradient * ctx.scale, None


class CustomFunction(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.marked(OwnFunction.apply, "square", self.marked(self.a, "a", x), 0.5)
        return OwnFunction.apply(h, 2.0)


class TorchsCheckpointInside(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x)
        return torchs.checkpoint(lambda t: self.b(t).sin(), h.exp(), use_reentrant=False)


class UnderTorchsCheckpoint(Program):
    """A replay of torch's ends early, and knows no regions."""

    def forward(self, x: Tensor) -> Any:
        return torchs.checkpoint(self.body, x, use_reentrant=False)

    def body(self, x: Tensor) -> Tensor:
        h = F.dropout(self.region(self.a, "a", x).sin(), 0.5)
        h = remat.region(self.b, "b", recompute=False)(h)
        return remat.region(torch.neg, "tail", recompute=True)(h)


class Recurrent(Program):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(8, 8, batch_first=True)

    def inputs(self) -> Any:
        return torch.linspace(-1, 1, 64).reshape(2, 4, 8)

    def body(self, x: Tensor) -> Tensor:
        return self.gru(self.marked(self.a, "a", x))[0].sin()


class Convolution(Program):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)

    def inputs(self) -> Any:
        return torch.linspace(-1, 1, 128).reshape(1, 2, 8, 8).to(memory_format=torch.channels_last)

    def body(self, x: Tensor) -> Tensor:
        return F.max_pool2d(self.marked(self.conv, "conv", x).relu(), 2)


class AttentionBlock(Program):
    def inputs(self) -> Any:
        return torch.linspace(-1, 1, 64).reshape(1, 2, 4, 8)

    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x)
        y = F.scaled_dot_product_attention(h, h, h, is_causal=True)
        return self.marked(self.b, "b", y).relu()


class InPlaceOnFresh(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x).clone()
        h.mul_(2).add_(1)
        out = torch.empty_like(h)
        out.copy_(h.detach())
        return h.sin() * out


class UninitialisedMemory(Program):
    """Memory that nothing was written to is read by nobody."""

    def body(self, x: Tensor) -> Tensor:
        padded = x.new_empty(8, 8)
        padded[:4] = x.detach()
        return self.marked(self.a, "a", x).sin() * padded[:4]


class BranchOnData(Program):
    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x)
        scale = h.detach().abs().sum().item()
        return (h * scale).sin() if scale > 1 else h.cos()


class TopExpert(Program):
    def body(self, x: Tensor) -> Tensor:
        scores = self.marked(self.a, "router", x).softmax(-1)
        weight, chosen = scores.topk(2, dim=-1)
        picked = torch.stack([self.b.weight[index].sum(-1) for index in chosen.unbind(-1)], dim=-1)
        return (weight * picked).sum(-1).exp()


class EarlyBinding(Program):
    def forward(self, x: Tensor) -> Any:
        for layer in (self.a, self.b):
            x = remat.checkpoint()(lambda t, layer=layer: layer(t).sin())(x)
        return x


class IteratesAnew(Program):
    scales = (0.5, 2.0, 3.0)

    def body(self, x: Tensor) -> Tensor:
        h = self.marked(self.a, "a", x)
        for scale in iter(self.scales):
            h = (h * scale).sin()
        return h


class SpectralNormOutside(Program):
    def __init__(self) -> None:
        super().__init__()
        self.normed = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))

    def forward(self, x: Tensor) -> Any:
        weight = self.normed.weight
        return remat.checkpoint()(lambda t: (self.marked(self.a, "a", t).sin() @ weight).exp())(x)


class ComplexNumbers(Program):
    def body(self, x: Tensor) -> Tensor:
        h = torch.fft.rfft(self.marked(self.a, "a", x))
        return torch.view_as_real(h * h.conj())


class Float64InFloat32(Program):
    def body(self, x: Tensor) -> Tensor:
        return self.marked(self.a, "a", x).double().exp().float()


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


PROGRAMS: tuple[type[Program], ...] = tuple(_subclasses(Program))
