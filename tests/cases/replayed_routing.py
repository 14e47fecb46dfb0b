# select: RMT209
"""Choices that replay takes again, and what is done with them."""

import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn


def topk_under_a_policy(x, policy):
    def route(t):
        score, chosen = torch.topk(t.softmax(-1), 2)  # expect: RMT209
        return t.gather(-1, chosen) * score

    return remat.region(route, "route", recompute=policy("route"))(x)


def topk_in_replay(x):
    def route(t):
        return t.softmax(-1).topk(2).indices  # expect: RMT209

    chosen = remat.region(route, "route", recompute=True)(x)
    return x.gather(-1, chosen)


def bare(x):
    chosen = x.softmax(-1).argmax(-1)  # expect: RMT209
    return remat.region(torch.sin, "tail", recompute=True)(x[:, chosen])


def bare_one_hot(x):
    mask = F.one_hot(x.argmax(-1), 8)  # expect: RMT209
    return remat.region(torch.sin, "tail", recompute=True)(x * mask)


def derived(x):
    chosen = x.softmax(-1).topk(2).indices.flatten() // 2  # expect: RMT209
    order = torch.argsort(chosen, stable=True)
    counts = torch.bincount(chosen, minlength=4)
    return remat.region(torch.sin, "tail", recompute=True)(x.view(-1)[order]) * counts.sum()


def masks(x):
    chosen = x.softmax(-1).topk(1).indices  # expect: RMT209
    for expert in range(8):
        (row, _) = torch.where(chosen == expert)
        x = x + x.masked_select(chosen == expert).sum()
    return remat.region(torch.sin, "tail", recompute=True)(x)


def on_either_path(x, biased):
    if biased:
        chosen = (x + 1).topk(2).indices  # expect: RMT209
    else:
        chosen = x.sin().topk(2).indices
    return remat.region(torch.sin, "tail", recompute=True)(x.gather(-1, chosen))


def read_by_python(x):
    longest = x.softmax(-1).sum(-1).argmax().item()  # expect: RMT209
    return remat.region(torch.sin, "tail", recompute=True)(x[longest])


def decided_by_python(x):
    if x.sum(-1).argmax() > 2:  # expect: RMT209
        x = x + 1
    return remat.region(torch.sin, "tail", recompute=True)(x)


def largest_along_a_dimension(x):
    value, chosen = x.softmax(-1).max(dim=-1)  # expect: RMT209
    return remat.region(torch.sin, "tail", recompute=True)(x[:, chosen] * value)


def of_offsets(x, ends):
    rows = torch.arange(x.shape[0])
    return remat.region(torch.sin, "tail", recompute=True)(x[torch.searchsorted(ends, rows, right=True)])


def written_to_chosen_places(x):
    out = torch.zeros_like(x)
    out[x.softmax(-1).argmax(-1)] = 1  # expect: RMT209
    return remat.region(torch.sin, "tail", recompute=True)(x * out)


def handed_to_a_region(x, policy):
    chosen = remat.region(torch.argmax, "pick", recompute=policy("pick"))(x, -1)  # expect: RMT209
    remat.recompute_needs_tensor(chosen)
    return x[:, chosen]


class Router(nn.Module):
    def forward(self, x):
        return x.softmax(-1).topk(2)  # expect: RMT209


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        score, chosen = self.router(x)
        return remat.region(torch.sin, "tail", recompute=True)(self.dispatch(x, chosen))

    def dispatch(self, x, chosen):
        remat.recompute_needs_tensor(x)
        return x.gather(-1, chosen)


class Saved(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        score, chosen = remat.region(self.router, "router", recompute=False)(x)
        remat.recompute_needs_tensor(score, chosen)
        order = chosen.view(-1).argsort(stable=True)
        return x.gather(-1, chosen)[order]


class Unaware(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        score, chosen = self.router(x)
        return x.gather(-1, chosen)


def of_what_a_region_kept(x):
    score = remat.region(torch.cos, "score", recompute=False)(x)
    remat.recompute_needs_tensor(score)
    return x.gather(-1, score.topk(2).indices)


def values_only(x):
    return remat.region(torch.sin, "tail", recompute=True)(x.softmax(-1).topk(2).values - x.amax(-1, keepdim=True))


def not_taken(x):
    chosen = x.softmax(-1).topk(2).indices
    return remat.region(torch.sin, "tail", recompute=True)(x), chosen


def in_the_forward_only(x, load):
    if not remat.is_recomputing():
        load[x.softmax(-1).argmax(-1)] += 1
    return remat.region(torch.sin, "tail", recompute=True)(x)


def used_in_a_saved_region(x):
    chosen = x.softmax(-1).topk(2).indices
    return remat.region(torch.gather, "take", recompute=False)(x, -1, chosen)


def train_step(model, x, labels):
    loss = model(x).sum()
    loss.backward()
    return labels[loss.argmax(-1)]


def sample(logits):
    return logits[logits.softmax(-1).multinomial(1)]
