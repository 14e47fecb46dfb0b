"""How often each region runs, in forward and replay together, for the blocks that models are made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, check  # noqa: E402


def maybe() -> bool:
    """What a policy would be asked: the check decides it."""
    return True


class FeedForward(nn.Module):
    """The gated feed-forward of a language model in two regions."""

    def __init__(self, dim: int = 8) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, 2 * dim, bias=False)
        self.w3 = nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = remat.region(lambda x: (self.w1(x), self.w3(x)), "w13", recompute=maybe())(x)
        remat.recompute_needs_tensor(gate, up)
        return remat.region(self.w2, "w2", recompute=maybe())(F.silu(gate) * up)


class VisionBlock(nn.Module):
    """Attention over patches and a feed-forward, both behind norms, in the names of vision models."""

    def __init__(self, dim: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.w1, self.w2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        qkv = remat.region(self.qkv, "attn.qkv", recompute=maybe())(self.norm1(x))
        parts = [part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in qkv.chunk(3, -1)]
        mixed = remat.region(F.scaled_dot_product_attention, "attn.inner", recompute=maybe())(*parts)
        remat.recompute_needs_tensor(mixed)
        out = remat.region(self.proj, "attn.proj", recompute=maybe())(mixed.transpose(1, 2).flatten(2))
        remat.recompute_needs_tensor(out)
        x = x + out
        hidden = remat.region(self.w1, "mlp.w1", recompute=maybe())(self.norm2(x))
        remat.recompute_needs_tensor(hidden)
        out = remat.region(self.w2, "mlp.w2", recompute=maybe())(F.gelu(hidden))
        remat.recompute_needs_tensor(out)
        return x + out


class Router(nn.Module):
    """Two experts for each row. The decision is saved, whatever the policy: it is made once."""

    def __init__(self, dim: int = 8, experts: int = 4) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))
        self.decisions = 0

    def decide(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.decisions += 1
        weights, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        return weights, chosen

    def dispatch(self, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = remat.region(self.decide, "router", recompute=False)(x)
        remat.recompute_needs_tensor(weights, chosen)
        return remat.region(self.dispatch, "experts", recompute=maybe())(x, weights, chosen)


class Stack(nn.Module):
    """Two blocks, each one checkpoint."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList([make(), make()])

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            x = remat.checkpoint(region_name=f"layers.{index}")(layer)(x)
        return x


def checked(make: Callable[[], nn.Module]) -> CheckResult:
    return check(lambda: (Stack(make), torch.randn(2, 5, 8)), Options(device="cpu"))


@pytest.mark.parametrize(
    ("make", "regions"),
    [
        (FeedForward, ("w13", "w2")),
        (VisionBlock, ("attn.qkv", "attn.inner", "attn.proj", "mlp.w1", "mlp.w2")),
    ],
)
def test_a_saved_region_runs_once_and_another_one_twice(
    make: Callable[[], nn.Module], regions: tuple[str, ...]
) -> None:
    """Under every combination: 4 and 32 policies."""
    result = checked(make)
    expected = {}
    for size in range(len(regions) + 1):
        for saved in itertools.combinations(regions, size):
            name = {0: "none", len(regions): "all"}.get(size, " + ".join(saved))
            expected[name] = {region: {1 if region in saved else 2} for region in regions}
    found = {one.name: {region: set(one.totals(region)) for region in regions} for one in result.policies}
    assert found == expected
    assert [one.findings for one in result.policies if one.verdict.value != "equal"] == []
    assert result.exit_status == 0, result.noise


def test_the_decision_of_a_router_is_made_once() -> None:
    result = checked(Router)
    experts = {one.name: one.totals("experts") for one in result.results}
    assert experts == {"none": (2, 2), "all": (1, 1), "experts": (1, 1)}
    assert all(one.totals("router") == (1, 1) for one in result.results)
    assert result.exit_status == 0
