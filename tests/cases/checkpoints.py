# select: RMT3
"""How checkpoints are made, nested, and what they return."""

from dataclasses import dataclass
from functools import partial

import torch
import torch.utils.checkpoint
import torch_remat as remat
from torch import nn
from torch_remat import checkpoint


def wave(t):
    return torch.sin(t)


def add(t, other):
    return t + other


class Hook:
    def snapshot(self):
        return torch.get_rng_state()

    def restore(self, state):
        torch.set_rng_state(state)


HOOK = Hook()


# --- RMT301


def run_curried(x):
    """runtime: ok"""
    return remat.checkpoint()(wave)(x)


def run_as_torch(x):
    """runtime: error"""
    return remat.checkpoint(wave)(x)  # expect: RMT301


def run_as_torch_with_arguments(x):
    """runtime: error"""
    return remat.checkpoint(add, x, x)  # expect: RMT301


def run_as_torch_with_options(x):
    """runtime: error"""
    return checkpoint(wave, x, use_reentrant=False)  # expect: RMT301


def run_name_by_position(x):
    """runtime: error"""
    return remat.checkpoint("wave")(wave)(x)  # expect: RMT301


def run_lambda(x):
    """runtime: error"""
    return remat.checkpoint(lambda t: wave(t))(x)  # expect: RMT301


def run_decorated_without_parentheses(x):
    """runtime: error"""

    @remat.checkpoint  # expect: RMT301
    def block(t):
        return wave(t)

    return block(x)


def run_decorated(x):
    """runtime: ok"""

    @remat.checkpoint()
    def block(t):
        return wave(t)

    return block(x)


def run_options_from_a_dict(x):
    """runtime: ok"""
    options = {"region_name": "wave"}
    return remat.checkpoint(**options)(wave)(x)


def run_partial(x):
    """runtime: ok"""
    named = partial(remat.checkpoint, determinism_check="default")
    return named(region_name="wave")(wave)(x)


def run_other_checkpoint(x):
    """runtime: ok"""
    return torch.utils.checkpoint.checkpoint(wave, x, use_reentrant=False)


# --- RMT303


def run_preserve(x):
    """runtime: error"""
    return remat.checkpoint(preserve_rng_state=True)(wave)(x)  # expect: RMT303


def run_do_not_preserve(x):
    """runtime: ok"""
    return remat.checkpoint(preserve_rng_state=False)(wave)(x)


def run_preserve_by_configuration(x, preserve=False):
    """runtime: ok"""
    return remat.checkpoint(preserve_rng_state=preserve)(wave)(x)


def run_reentrant(x):
    """runtime: error"""
    return remat.checkpoint(use_reentrant=False)(wave)(x)  # expect: RMT303


def run_early_stop(x):
    """runtime: error"""
    return remat.checkpoint(region_name="wave", early_stop=False)(wave)(x)  # expect: RMT303


def run_context(x):
    """runtime: error"""
    return remat.checkpoint(context_fn=None)(wave)(x)  # expect: RMT303


def run_misspelled(x):
    """runtime: error"""
    return remat.checkpoint(name="wave")(wave)(x)  # expect: RMT303


def run_determinism(x):
    """runtime: ok"""
    return remat.checkpoint(determinism_check="default")(wave)(x)


def run_unknown_determinism(x):
    """runtime: error"""
    return remat.checkpoint(determinism_check="strict")(wave)(x)  # expect: RMT303


def run_hook(x):
    """runtime: ok"""
    return remat.checkpoint(recompute_state_hooks=(HOOK,))(wave)(x)


def run_hook_in_a_list(x):
    """runtime: ok"""
    return remat.checkpoint(recompute_state_hooks=[Hook()])(wave)(x)


def run_hook_class(x):
    """runtime: error"""
    return remat.checkpoint(recompute_state_hooks=(Hook,))(wave)(x)  # expect: RMT303


def run_single_hook(x):
    """runtime: error"""
    return remat.checkpoint(recompute_state_hooks=Hook())(wave)(x)  # expect: RMT303


def run_hook_class_alone(x):
    """runtime: error"""
    return remat.checkpoint(recompute_state_hooks=Hook)(wave)(x)  # expect: RMT303


def run_no_hooks(x):
    """runtime: error"""
    return remat.checkpoint(recompute_state_hooks=None)(wave)(x)  # expect: RMT303


@torch.compile(backend="eager")
def compiled_with_hooks(x):
    return remat.checkpoint(recompute_state_hooks=(HOOK,))(wave)(x)  # expect: RMT303


@torch.compile(backend="eager")
def compiled_without_hooks(x):
    return remat.checkpoint(region_name="wave")(wave)(x)


# --- RMT302


def inner(t):
    return remat.checkpoint(region_name="inner")(wave)(t)  # expect: RMT302


def run_nested_through_a_function(x):
    """runtime: error"""
    return remat.checkpoint(region_name="outer")(inner)(x)


def run_nested_in_a_region(x):
    """runtime: error"""

    def outer(t):
        return remat.region(inner, "inner", recompute=True)(t)

    return remat.checkpoint(region_name="outer")(outer)(x)


def run_nested_in_a_saved_region(x):
    """runtime: error"""

    def outer(t):
        return remat.region(inner, "inner", recompute=False)(t)

    return remat.checkpoint(region_name="outer")(outer)(x)


def run_nested_wrapper(x):
    """runtime: error"""
    checkpointed = remat.checkpoint(region_name="inner")(wave)

    def outer(t):
        return checkpointed(t)  # expect: RMT302

    return remat.checkpoint(region_name="outer")(outer)(x)


def run_one_after_the_other(x):
    """runtime: ok"""
    x = remat.checkpoint(region_name="first")(wave)(x)
    return remat.checkpoint(region_name="second")(wave)(x)


def run_other_checkpoint_inside(x):
    """runtime: ok"""

    def outer(t):
        return torch.utils.checkpoint.checkpoint(wave, t, use_reentrant=False)

    return remat.checkpoint(region_name="outer")(outer)(x)


def run_other_checkpoint_around(x):
    """runtime: ok"""

    def outer(t):
        return remat.checkpoint(region_name="inner")(wave)(t)

    return torch.utils.checkpoint.checkpoint(outer, x, use_reentrant=False)


class Inner(nn.Module):
    def forward(self, x):
        return remat.checkpoint(region_name="inner")(wave)(x)  # expect: RMT302


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return remat.checkpoint(region_name="outer")(self.inner)(x)


OUTER = Outer()


def run_nested_module(x):
    """runtime: error"""
    return OUTER(x)


class Feed(nn.Module):
    def forward(self, x):
        return remat.checkpoint(region_name="feed")(wave)(x)  # expect: RMT302


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.feed = Feed()

    def forward(self, x):
        return self.feed(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def wrap_layers(model: Model):
    for index, layer in enumerate(model.layers):
        layer.forward = remat.checkpoint(region_name=f"layers.{index}")(layer.forward)


def run_wrapped_layers(x):
    """runtime: error"""
    model = Model()
    wrap_layers(model)
    return model(x)


# --- RMT304


@dataclass
class Record:
    rows: torch.Tensor


def run_tuple(x):
    """runtime: ok"""
    a, b = remat.checkpoint()(lambda t: (t * 2, t * 3))(x)
    return a + b


def run_dict(x):
    """runtime: error"""
    return remat.checkpoint()(lambda t: {"y": t * 2})(x)["y"]  # expect: RMT304


def run_none_in_a_tuple(x):
    """runtime: error"""
    return remat.checkpoint()(lambda t: (t * 2, None))(x)[0]  # expect: RMT304


def run_number_in_a_tuple(x):
    """runtime: error"""
    return remat.checkpoint()(lambda t: (t * 2, 1))(x)[0]  # expect: RMT304


def run_nested_tuple(x):
    """runtime: error"""
    return remat.checkpoint()(lambda t: (t, (t, t)))(x)[0]  # expect: RMT304


def run_record(x):
    """runtime: error"""
    return remat.checkpoint()(lambda t: Record(t * 2))(x).rows  # expect: RMT304


def run_falls_off_its_end(x):
    """runtime: error"""

    def block(t):
        t = t * 2

    remat.checkpoint()(block)(x)  # expect: RMT304
    return x * 2


def run_returns_on_one_path(x, flag=True):
    """runtime: ok"""

    def block(t):
        if flag:
            return t * 2
        raise ValueError

    return remat.checkpoint()(block)(x)


def run_wrapper(x):
    """runtime: error"""
    block = remat.checkpoint(region_name="block")(lambda t: {"y": t * 2})  # expect: RMT304
    return block(x)["y"]


@remat.checkpoint(region_name="pack")  # expect: RMT304
def pack(x):
    return {"y": x * 2}


def run_decorated_pack(x):
    """runtime: error"""
    return pack(x)["y"]


class Packing(nn.Module):
    def forward(self, x):
        return {"y": x * 2}


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Packing()


def wrap_block(model: Packed):
    model.block.forward = remat.checkpoint(region_name="block")(model.block.forward)  # expect: RMT304


def run_wrapped_block(x):
    """runtime: error"""
    model = Packed()
    wrap_block(model)
    return model.block(x)["y"]


class Method(nn.Module):
    @remat.checkpoint(region_name="forward")
    def forward(self, x):
        return x * 2


METHOD = Method()


def run_decorated_method(x):
    """runtime: ok"""
    return METHOD(x)
