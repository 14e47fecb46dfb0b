"""Programs that a replay breaks, each with the kind and the line of its fault.

A program is two layers with something between them that replay does otherwise. It comes in three forms:
without regions, between saved regions, and inside a recomputed region. The line to be named ends in
``# FAULT``; where a state is to be named, it is in ``named``.
"""

from __future__ import annotations

import contextvars
import inspect
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
import torch_remat as remat
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils import checkpoint as torchs

from remat_lint.runtime_check.cause import Kind

BARE, SAVE, RECOMPUTE = "bare", "SAVE", "RECOMPUTE"
ALL_FORMS = (BARE, SAVE, RECOMPUTE)


class Program(nn.Module):
    """Two layers, one checkpoint; ``between`` has the fault."""

    kind: ClassVar[Kind]
    named: ClassVar[str | None] = None
    forms: ClassVar[tuple[str, ...]] = ALL_FORMS

    def __init__(self, form: str = BARE) -> None:
        super().__init__()
        self.form = form
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        h = self.part(self.a, "a", x)
        if self.form == RECOMPUTE:
            h = remat.region(self.between, "between", recompute=True)(h)
        else:
            h = self.between(h)
        return self.part(self.b, "b", h.sin())

    def part(self, function: Callable[[Tensor], Tensor], name: str, x: Tensor) -> Tensor:
        if self.form == BARE:
            return function(x)
        if self.form == RECOMPUTE:
            return remat.region(function, name, recompute=True)(x)
        h = remat.region(function, name, recompute=False)(x)
        remat.recompute_needs_tensor(h)
        return h

    def between(self, h: Tensor) -> Tensor:
        raise NotImplementedError


def line_of_fault(program: type[Program]) -> int:
    """The line that ends in ``# FAULT``."""
    lines, start = inspect.getsourcelines(program)
    (found,) = [number for number, line in enumerate(lines, start) if "# FAULT" in line]
    return found


# Random numbers.


class Dropout(Program):
    kind = Kind.RANDOM
    named = "torch's random state"

    def between(self, h: Tensor) -> Tensor:
        return F.dropout(h, 0.5)  # FAULT


class DropoutModule(Program):
    kind = Kind.RANDOM

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.drop = nn.Dropout(0.3)

    def between(self, h: Tensor) -> Tensor:
        return self.drop(h)  # FAULT


class Noise(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        return h * torch.rand_like(h)  # FAULT


class MaskedNoise(Program):
    """The gradients are right, because nothing keeps what the noise is added to."""

    kind = Kind.RANDOM

    def body(self, x: Tensor) -> Tensor:
        h = self.part(self.a, "a", x)
        if self.form == RECOMPUTE:
            return remat.region(self.between, "between", recompute=True)(h)
        return self.between(h)

    def between(self, h: Tensor) -> Tensor:
        return h + torch.randn(8)  # FAULT


class StochasticDepth(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        keep = torch.randint(0, 1000, ()).item()  # FAULT
        return h * keep


class GumbelSoftmax(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        return F.gumbel_softmax(h)  # FAULT


class LeakyReluWithRandomSlope(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        return F.rrelu(h, training=True)  # FAULT


class OwnGenerator(Program):
    kind = Kind.RANDOM
    named = "generator"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.generator = torch.Generator().manual_seed(0)

    def between(self, h: Tensor) -> Tensor:
        return h * torch.rand(8, generator=self.generator)  # FAULT


class LayerBuiltInBody(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        return nn.Linear(8, 8)(h)  # FAULT


class Attention(Program):
    kind = Kind.RANDOM

    def between(self, h: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(h[None], h[None], h[None], dropout_p=0.5)[0]  # FAULT


class PythonRandom(Program):
    kind = Kind.RANDOM
    named = "Python's random state"

    def between(self, h: Tensor) -> Tensor:
        return h * random.random()  # FAULT


class PythonRandomIntoTensor(Program):
    kind = Kind.RANDOM
    named = "Python's random state"

    def between(self, h: Tensor) -> Tensor:
        return h * torch.tensor([random.random() for _ in range(8)])  # FAULT


class OwnPythonRandom(Program):
    kind = Kind.RANDOM
    named = "dice"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.dice = random.Random(3)

    def between(self, h: Tensor) -> Tensor:
        scale = self.dice.uniform(0.5, 1.5)
        return h * scale  # FAULT


class NumpyRandom(Program):
    kind = Kind.RANDOM
    named = "NumPy's random state"

    def between(self, h: Tensor) -> Tensor:
        import numpy

        return h * float(numpy.random.rand())  # FAULT


class NumpyGenerator(Program):
    kind = Kind.RANDOM
    named = "generator"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        import numpy

        self.generator = numpy.random.default_rng(0)

    def between(self, h: Tensor) -> Tensor:
        return h * float(self.generator.random())  # FAULT


class RandomBranch(Program):
    kind = Kind.CONTROL_FLOW
    named = "Python's random state"

    def between(self, h: Tensor) -> Tensor:
        for _ in range(random.randrange(1, 1000)):
            h = h.sin()  # FAULT
        return h


# Numbers and attributes.


class Counter(Program):
    kind = Kind.EXTERNAL
    named = "count"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.count = 0

    def between(self, h: Tensor) -> Tensor:
        self.count += 1
        return h * self.count  # FAULT


class ShapeFromCounter(Program):
    kind = Kind.EXTERNAL
    named = "count"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.count = 0

    def between(self, h: Tensor) -> Tensor:
        self.count += 1
        return h[: self.count].sum(0, keepdim=True)  # FAULT


@dataclass
class Settings:
    scale: float = 1.0


class SettingsChange(Program):
    kind = Kind.EXTERNAL
    named = "settings.scale"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.settings = Settings()

    def between(self, h: Tensor) -> Tensor:
        self.settings.scale /= 2
        return h * self.settings.scale  # FAULT


def count() -> int:
    """Counts its calls itself."""
    count.calls = getattr(count, "calls", 0) + 1
    return count.calls


class FunctionCounts(Program):
    kind = Kind.EXTERNAL
    named = "count.calls"

    def between(self, h: Tensor) -> Tensor:
        return h * count()  # FAULT


class AsksForTheBase(Program):
    """A placeholder is no view, and the output was one."""

    kind = Kind.EXTERNAL
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        return h * (1.0 if h._base is None else 2.0)  # FAULT


class SwallowsThePlaceholder(Program):
    kind = Kind.EXTERNAL
    forms = (SAVE,)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=False)(x)
        try:
            y = h * 2
        except RuntimeError:
            y = x * 3  # FAULT
        return self.b(y.sin())


SCALE = 1.0


class GlobalScale(Program):
    kind = Kind.EXTERNAL
    named = "SCALE"

    def between(self, h: Tensor) -> Tensor:
        global SCALE
        SCALE *= 0.5
        return h * SCALE  # FAULT


class ClassCounter(Program):
    kind = Kind.EXTERNAL
    named = "ClassCounter.calls"
    calls = 0

    def between(self, h: Tensor) -> Tensor:
        ClassCounter.calls += 1
        return h * ClassCounter.calls  # FAULT


class Clock(Program):
    kind = Kind.EXTERNAL

    def forward(self, x: Tensor) -> Tensor:
        """The plain step is not to differ: there the clock is read once and thrown away."""
        self.read = itertools.chain((1.0,), iter(lambda: time.perf_counter(), None)).__next__
        return super().forward(x)

    def between(self, h: Tensor) -> Tensor:
        return h * self.read()  # FAULT


class FromTheSystem(Program):
    kind = Kind.EXTERNAL

    def forward(self, x: Tensor) -> Tensor:
        self.bytes = itertools.chain((bytes(8),), iter(lambda: os.urandom(8), None)).__next__
        return super().forward(x)

    def between(self, h: Tensor) -> Tensor:
        return h * int.from_bytes(self.bytes(), "big")  # FAULT


class NextOfIterator(Program):
    kind = Kind.EXTERNAL
    named = "scales"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.scales = iter([0.5, 2.0, 3.0])

    def between(self, h: Tensor) -> Tensor:
        return h * next(self.scales)  # FAULT


class NextOfGenerator(Program):
    kind = Kind.EXTERNAL
    named = "scales"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.scales = self.halving()

    def halving(self) -> Iterator[float]:
        scale = 1.0
        while True:
            scale /= 2
            yield scale

    def between(self, h: Tensor) -> Tensor:
        return h * next(self.scales)  # FAULT


class Popped(Program):
    kind = Kind.EXTERNAL
    named = "scales"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.scales = [0.5, 2.0, 3.0]

    def between(self, h: Tensor) -> Tensor:
        scale = self.scales.pop()
        return h * scale  # FAULT


class FlipsAfterForward(Program):
    kind = Kind.EXTERNAL
    named = "scale"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.scale = 1.0

    def forward(self, x: Tensor) -> Tensor:
        self.scale = 1.0
        y = super().forward(x)
        self.scale = 2.0
        return y

    def between(self, h: Tensor) -> Tensor:
        return h * self.scale  # FAULT


class DefaultTypeOfForward(Program):
    kind = Kind.EXTERNAL
    named = "torch.get_default_dtype()"

    def forward(self, x: Tensor) -> Tensor:
        torch.set_default_dtype(torch.float64)
        try:
            return super().forward(x)
        finally:
            torch.set_default_dtype(torch.float32)

    def between(self, h: Tensor) -> Tensor:
        thirds = torch.full((8,), 1 / 3)  # FAULT
        return h * thirds.mul(7).sin().to(h.dtype)


MODE: contextvars.ContextVar[float] = contextvars.ContextVar("mode", default=1.0)


class ContextOfForward(Program):
    kind = Kind.EXTERNAL

    def forward(self, x: Tensor) -> Tensor:
        token = MODE.set(2.0)
        try:
            return super().forward(x)
        finally:
            MODE.reset(token)

    def between(self, h: Tensor) -> Tensor:
        return h * MODE.get()  # FAULT


class NonlocalCounter(Program):
    kind = Kind.EXTERNAL
    named = "variable calls"

    def forward(self, x: Tensor) -> Tensor:
        calls = 0

        def counted(h: Tensor) -> Tensor:
            nonlocal calls
            calls += 1
            return h * calls  # FAULT

        self.between = counted
        return super().forward(x)


class LateBinding(Program):
    kind = Kind.EXTERNAL
    named = "variable layer"
    forms = (BARE,)

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.a, self.b):
            x = remat.checkpoint()(lambda t: layer(t).sin())(x)  # FAULT # noqa: B023
        return x


class LateBindingUnderTorch(Program):
    kind = Kind.EXTERNAL
    named = "variable layer"
    forms = (BARE,)

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.a, self.b):
            x = torchs.checkpoint(lambda t: layer(t).sin(), x, use_reentrant=False)  # FAULT # noqa: B023
        return x


# The path of the code.


class BranchOnCounter(Program):
    kind = Kind.CONTROL_FLOW
    named = "count"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.count = 0

    def between(self, h: Tensor) -> Tensor:
        self.count += 1
        if self.count > 1:
            return h.cos()  # FAULT
        return h.sin()


class EvalBeforeBackward(Program):
    kind = Kind.CONTROL_FLOW
    named = "training"

    def forward(self, x: Tensor) -> Tensor:
        self.train()
        y = super().forward(x)
        self.eval()
        return y

    def between(self, h: Tensor) -> Tensor:
        return h.exp() if self.training else h.tanh()  # FAULT


class AsksForReplay(Program):
    kind = Kind.CONTROL_FLOW

    def between(self, h: Tensor) -> Tensor:
        return h.cos() if remat.is_recomputing() else h.sin()  # FAULT


class MemoCache(Program):
    kind = Kind.CONTROL_FLOW
    named = "cache"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.cache: dict[str, Tensor] = {}

    def between(self, h: Tensor) -> Tensor:
        if "weight" not in self.cache:
            self.cache["weight"] = self.b.weight.tanh()  # FAULT
        return h @ self.cache["weight"]


class GrowingList(Program):
    kind = Kind.CONTROL_FLOW
    named = "seen"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.seen: list[Tensor] = []

    def between(self, h: Tensor) -> Tensor:
        self.seen.append(torch.ones(8))
        return h * torch.stack(self.seen).sum(0)  # FAULT


class RegionSkipped(Program):
    kind = Kind.CONTROL_FLOW
    named = "calls"
    forms = (SAVE, RECOMPUTE)

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0

    def body(self, x: Tensor) -> Tensor:
        self.calls += 1
        h = self.part(self.a, "a", x)
        if self.calls < 2:
            h = partial(remat.region, recompute=self.form == RECOMPUTE)(torch.sin, "sin")(h)  # FAULT
            remat.recompute_needs_tensor(h)
        return self.part(self.b, "b", h.exp())


class RegionsSwapped(Program):
    kind = Kind.CONTROL_FLOW
    named = "calls"
    forms = (SAVE, RECOMPUTE)

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0

    def body(self, x: Tensor) -> Tensor:
        self.calls += 1
        pairs = [(self.a, "a"), (self.b, "b")]
        for function, name in reversed(pairs) if self.calls > 1 else pairs:
            flag = self.form == RECOMPUTE
            x = partial(remat.region, recompute=flag)(function, name)(x)  # FAULT
        return x


class PolicyFlips(Program):
    kind = Kind.CONTROL_FLOW
    named = "calls"
    forms = (SAVE, RECOMPUTE)

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0

    def body(self, x: Tensor) -> Tensor:
        self.calls += 1
        flag = (self.form == RECOMPUTE) == (self.calls < 2)
        h = partial(remat.region, recompute=flag)(self.a, "a")(x)  # FAULT
        return self.b(h)


class NameChanges(Program):
    kind = Kind.CONTROL_FLOW
    named = "calls"
    forms = (SAVE, RECOMPUTE)

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0

    def body(self, x: Tensor) -> Tensor:
        self.calls += 1
        flag = self.form == RECOMPUTE
        h = partial(remat.region, recompute=flag)(self.a, f"a{self.calls}")(x)  # FAULT
        remat.recompute_needs_tensor(h)
        return self.b((h * self.calls).sin())


# Tensors from outside, and changes in place.


class MovingAverage(Program):
    kind = Kind.UPSTREAM
    named = "buffer average"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.register_buffer("average", torch.ones(8))

    def between(self, h: Tensor) -> Tensor:
        self.average.mul_(0.9).add_(h.detach().mean(0))  # FAULT
        return h * self.average


class BufferReadThenWritten(Program):
    kind = Kind.UPSTREAM
    named = "buffer average"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.register_buffer("average", torch.ones(8))

    def between(self, h: Tensor) -> Tensor:
        y = h * self.average.clone()  # FAULT
        self.average += 1
        return y


class GrowingCache(Program):
    kind = Kind.UPSTREAM
    named = "cache"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.cache = torch.ones(1, 8)

    def between(self, h: Tensor) -> Tensor:
        self.cache = torch.cat([self.cache, h.detach()])  # FAULT
        return h * self.cache.sum(0)


class GlobalTensor(Program):
    kind = Kind.UPSTREAM
    named = "TOTAL"

    def between(self, h: Tensor) -> Tensor:
        TOTAL.add_(1)  # FAULT
        return h * TOTAL


TOTAL = torch.ones(8)


class SpectralNorm(Program):
    kind = Kind.UPSTREAM

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.normed = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))

    def between(self, h: Tensor) -> Tensor:
        return self.normed(h)  # FAULT


class WeightRebound(Program):
    kind = Kind.EXTERNAL

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.scale = nn.Parameter(torch.ones(8))
        self.other = nn.Parameter(torch.full((8,), 2.0))

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        self.scale, self.other = self.other, self.scale
        return y

    def between(self, h: Tensor) -> Tensor:
        return h * self.scale  # FAULT


class SharedAttribute(Program):
    """Two checkpoints write one attribute; each replays after both have."""

    kind = Kind.EXTERNAL
    forms = (SAVE,)

    def forward(self, x: Tensor) -> Tensor:
        for index in range(2):
            x = remat.checkpoint(region_name=f"layers.{index}")(self.body)(x)
        return x

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.noting, "noting", recompute=False)(x)
        remat.recompute_needs_tensor(h)
        return self.b((h * self.scale).sin())  # FAULT

    def noting(self, x: Tensor) -> Tensor:
        self.scale = float(x.detach().sum())
        return self.a(x)


class SharedTensor(SharedAttribute):
    kind = Kind.UPSTREAM
    named = "scale"

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.noting, "noting", recompute=False)(x)
        remat.recompute_needs_tensor(h)
        return self.b((h * self.scale).sin())  # FAULT

    def noting(self, x: Tensor) -> Tensor:
        self.scale = x.detach().sum(0)
        return self.a(x)


class DataOfKeptOutput(Program):
    kind = Kind.UPSTREAM
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        y = h.exp()
        h.data.mul_(2)  # FAULT
        return y


class StatisticsChangedBeforeTheirMarker(Program):
    """Nothing that needs a gradient: torch_remat does not see the change, and replay makes it again."""

    kind = Kind.UPSTREAM
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        with torch.no_grad():
            mean = remat.region(lambda t: t.mean(0), "mean", recompute=False)(h)
            mean.mul_(2)  # FAULT
            remat.recompute_needs_tensor(mean)
        return h * mean


class ParameterChanged(Program):
    kind = Kind.UPSTREAM
    named = "parameter a.weight"

    def body(self, x: Tensor) -> Tensor:
        self.a.weight.data.mul_(0.9)  # FAULT
        return super().body(x)

    def between(self, h: Tensor) -> Tensor:
        return h


class ScratchOfSavedRegion(Program):
    kind = Kind.UPSTREAM
    named = "variable scratch"
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        scratch = torch.zeros(8)
        y = remat.region(lambda t: (scratch.add_(1), t * 2)[1], "fills", recompute=False)(h)
        remat.recompute_needs_tensor(y)
        return y * scratch  # FAULT


class InputChangedThroughData(Program):
    kind = Kind.UPSTREAM
    named = "variable x"

    def body(self, x: Tensor) -> Tensor:
        x.data.mul_(2)  # FAULT
        return super().body(x)

    def between(self, h: Tensor) -> Tensor:
        return h


class KeywordInputChanged(Program):
    kind = Kind.UPSTREAM
    named = "variable scale"

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.scaled)(x, scale=torch.ones(8))

    def scaled(self, x: Tensor, *, scale: Tensor) -> Tensor:
        scale.mul_(2)  # FAULT
        return self.body(x * scale)

    def between(self, h: Tensor) -> Tensor:
        return h


class NumberIntoSavedRegion(Program):
    """What the saved region computes from is made again in replay, and is another one."""

    kind = Kind.RANDOM
    named = "Python's random state"
    forms = (SAVE,)

    def body(self, x: Tensor) -> Tensor:
        return remat.region(self.a, "a", recompute=False)(x * random.random())  # FAULT


# Errors.


class MissingMarker(Program):
    kind = Kind.PLACEHOLDER
    forms = (SAVE,)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=False)(x)
        return self.b(F.silu(h))  # FAULT


class MarkerInUntakenBranch(Program):
    kind = Kind.PLACEHOLDER
    forms = (SAVE,)

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=False)(x)
        if remat.is_recomputing():
            remat.recompute_needs_tensor(h)
        return self.b(h.exp())  # FAULT


class KeptOutputChanged(Program):
    kind = Kind.IN_PLACE
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        return F.relu_(h.detach()) + h  # FAULT


class KeptOutputChangedInRegion(Program):
    kind = Kind.IN_PLACE
    forms = (SAVE,)

    def between(self, h: Tensor) -> Tensor:
        return remat.region(self.changing, "changing", recompute=True)(h)

    def changing(self, h: Tensor) -> Tensor:
        h.add_(1)  # FAULT
        return h.sin()


# State alone.


class Appends(Program):
    kind = Kind.STATE_TWICE
    named = "seen"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.seen: list[int] = []

    def between(self, h: Tensor) -> Tensor:
        self.seen.append(h.shape[0])  # FAULT
        return h.exp()


class Counts(Program):
    kind = Kind.STATE_TWICE
    named = "calls"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0

    def between(self, h: Tensor) -> Tensor:
        y = h.exp()
        self.calls += 1  # FAULT
        return y


class ForwardHookCounts(Program):
    kind = Kind.STATE_TWICE
    named = "calls"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = 0
        self.act = nn.Tanh()

        def counting(*_: Any) -> None:
            self.calls += 1  # FAULT

        self.act.register_forward_hook(counting)

    def between(self, h: Tensor) -> Tensor:
        return self.act(h)


class CountsInDict(Program):
    kind = Kind.STATE_TWICE
    named = "calls"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.calls = {"between": 0}

    def between(self, h: Tensor) -> Tensor:
        self.calls["between"] = self.more()  # FAULT
        return h.exp()

    def more(self) -> int:
        return self.calls["between"] + 1


LOG: list[str] = []


class GlobalLog(Program):
    kind = Kind.STATE_TWICE
    named = "LOG"

    def between(self, h: Tensor) -> Tensor:
        LOG.append("between")  # FAULT
        return h.exp()


class BufferUpdated(Program):
    kind = Kind.STATE_TWICE
    named = "buffer average"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.register_buffer("average", torch.ones(8))

    def between(self, h: Tensor) -> Tensor:
        self.average.mul_(0.9).add_(h.detach().mean(0))  # FAULT
        return h.exp()


class BatchNorm(Program):
    kind = Kind.STATE_TWICE
    named = "buffer norm.running_mean"

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.norm = nn.BatchNorm1d(8)

    def between(self, h: Tensor) -> Tensor:
        return self.norm(h)  # FAULT


class UpdatedThenDropout(Program):
    """The buffer differs first, and harms no gradient; the dropout after it does."""

    kind = Kind.RANDOM

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.norm = nn.BatchNorm1d(8)

    def between(self, h: Tensor) -> Tensor:
        return F.dropout(self.norm(h), 0.5)  # FAULT


class TorchsWithoutRandomState(Program):
    kind = Kind.RANDOM
    forms = (BARE,)

    def forward(self, x: Tensor) -> Tensor:
        return torchs.checkpoint(self.body, x, use_reentrant=False, preserve_rng_state=False)

    def between(self, h: Tensor) -> Tensor:
        return F.dropout(h, 0.5)  # FAULT


class TorchsCounter(Program):
    kind = Kind.EXTERNAL
    named = "count"
    forms = (BARE,)

    def __init__(self, form: str = BARE) -> None:
        super().__init__(form)
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        return torchs.checkpoint(self.body, x, use_reentrant=False)

    def between(self, h: Tensor) -> Tensor:
        self.count += 1
        return h * self.count  # FAULT


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


PROGRAMS: tuple[type[Program], ...] = tuple(_subclasses(Program))
