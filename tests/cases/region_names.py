# select: RMT201,RMT202
"""Names of regions, and regions inside regions."""

import contextlib
from functools import partial

import torch
import torch_remat as remat
from torch import nn


def double(t):
    return t * 2


def wave(t):
    return remat.region(torch.sin, "wave", recompute=True)(t)


def named(t, name):
    return remat.region(torch.sin, name, recompute=True)(t)


def either(t, flag):
    if flag:
        return remat.region(torch.sin, "wave", recompute=True)(t)
    return t


class Wave(nn.Module):
    def forward(self, x):
        return remat.region(torch.sin, "wave", recompute=True)(x)


class Helped(nn.Module):
    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix

    def remat_region_name(self, local):
        return f"{self.prefix}.{local}"

    def forward(self, x):
        return remat.region(torch.sin, self.remat_region_name("wave"), recompute=True)(x)


class Pair(nn.Module):
    def __init__(self, prefix="pair"):
        super().__init__()
        self.first = Helped(f"{prefix}.first")
        self.second = Helped(f"{prefix}.second")

    def forward(self, x):
        return self.second(self.first(x))


class Shared(nn.Module):
    def __init__(self, prefix="shared"):
        super().__init__()
        self.layer = Helped(f"{prefix}.layer")

    def forward(self, x):
        return self.layer(self.layer(x))  # expect: RMT201


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.waves = nn.ModuleList([Wave(), Wave()])

    def forward(self, x):
        for layer in self.waves:
            x = layer(x)
        return x

    def checkpointed(self, x):
        return remat.checkpoint(region_name="stack")(self.run)(x)

    def run(self, x):
        for layer in self.waves:
            x = layer(x)  # expect: RMT201
        return x


class Separate(nn.Module):
    def __init__(self):
        super().__init__()
        self.waves = nn.ModuleList([Wave(), Wave()])

    def forward(self, x):
        for index, layer in enumerate(self.waves):
            x = remat.checkpoint(region_name=f"waves.{index}")(layer)(x)
        return x


WAVE, PAIR, SHARED, STACK, SEPARATE = Wave(), Pair(), Shared(), Stack(), Separate()


def body_two_regions(x):
    """runtime: error"""
    x = remat.region(torch.sin, "wave", recompute=False)(x)
    return remat.region(torch.cos, "wave", recompute=True)(x)  # expect: RMT201


def body_three_regions(x):
    """runtime: error"""
    x = remat.region(torch.sin, "wave", recompute=True)(x)
    x = remat.region(torch.cos, "wave", recompute=True)(x)  # expect: RMT201
    return remat.region(torch.tanh, "wave", recompute=True)(x)  # expect: RMT201


def body_other_names(x):
    """runtime: ok"""
    x = remat.region(torch.sin, "wave.0", recompute=True)(x)
    return remat.region(torch.cos, "wave.1", recompute=True)(x)


def body_same_helper_twice(x):
    """runtime: error"""
    x = wave(x)
    return wave(x)  # expect: RMT201


def body_helper_and_region(x):
    """runtime: error"""
    x = wave(x)
    return remat.region(torch.cos, "wave", recompute=True)(x)  # expect: RMT201


def body_helper_with_names(x):
    """runtime: ok"""
    return named(named(x, "a"), "b")


def body_helper_with_one_name(x):
    """runtime: error"""
    x = named(x, "a")
    return named(x, name="a")  # expect: RMT201


def body_wrapper_twice(x):
    """runtime: error"""
    sine = remat.region(torch.sin, "wave", recompute=True)
    x = sine(x)
    return sine(x)  # expect: RMT201


def body_wrapper_on_exclusive_branches(x, flag=True):
    """runtime: ok"""
    sine = remat.region(torch.sin, "wave", recompute=True)
    if flag:
        y = sine(x)
    else:
        with contextlib.nullcontext():
            y = sine(x)
    return y * 2


def body_correlated_branches(x, flag=True):
    """runtime: ok"""
    if flag:
        x = remat.region(torch.sin, "wave", recompute=True)(x)
    x = x * 2
    if not flag:
        x = remat.region(torch.cos, "wave", recompute=True)(x)
    return x


def body_branch_and_after(x, flag=True):
    """runtime: error"""
    if flag:
        x = remat.region(torch.sin, "wave", recompute=True)(x)
    return remat.region(torch.cos, "wave", recompute=True)(x)  # expect: RMT201


def body_elif(x, kind="b"):
    """runtime: ok"""
    if kind == "a":
        x = remat.region(torch.sin, "wave", recompute=True)(x)
    elif kind == "b":
        x = remat.region(torch.cos, "wave", recompute=True)(x)
    else:
        x = remat.region(torch.tanh, "wave", recompute=True)(x)
    return x


def body_match(x, kind="b"):
    """runtime: ok"""
    match kind:
        case "a":
            x = remat.region(torch.sin, "wave", recompute=True)(x)
        case _:
            x = remat.region(torch.cos, "wave", recompute=True)(x)
    return x


def body_conditional_expression(x, flag=True):
    """runtime: ok"""
    sine = remat.region(torch.sin, "wave", recompute=True)
    return sine(x) if flag else remat.region(torch.cos, "wave", recompute=True)(x)


def body_module_twice(x):
    """runtime: error"""
    x = WAVE(x)
    return WAVE(x)  # expect: RMT201


def body_modules_with_prefixes(x):
    """runtime: ok"""
    return PAIR(x)


def body_shared_module(x):
    """runtime: error"""
    return SHARED(x)


def body_loop_over_a_module(x):
    """runtime: error"""
    for _ in range(5):
        x = WAVE(x)  # expect: RMT201
    return x


def body_loop_under_scopes(x):
    """runtime: ok"""
    for index in range(5):
        with remat.name_scope(f"turn.{index}"):
            x = WAVE(x)
    return x


def body_loop_under_one_scope(x):
    """runtime: error"""
    with remat.name_scope("loop"):
        for _ in range(5):
            x = WAVE(x)  # expect: RMT201
    return x


def body_loop_enters_one_scope(x):
    """runtime: error"""
    for _ in range(5):
        with remat.name_scope("turn"):
            x = remat.region(torch.sin, "wave", recompute=True)(x)  # expect: RMT201
    return x


def body_nested_loops_inner_scope_only(x):
    """runtime: error"""
    for _ in range(2):
        for index in range(2):
            with remat.name_scope(f"turn.{index}"):
                x = remat.region(torch.sin, "wave", recompute=True)(x)  # expect: RMT201
    return x


def body_nested_loops(x):
    """runtime: ok"""
    for outer in range(2):
        for inner in range(5):
            with remat.name_scope(f"{outer}.{inner}"):
                x = remat.region(torch.sin, "wave", recompute=True)(x)
    return x


def body_names_of_a_loop(x):
    """runtime: ok"""
    for index in range(5):
        x = remat.region(torch.sin, f"wave.{index}", recompute=True)(x)
    return x


def body_names_of_a_list(x):
    """runtime: ok"""
    for name, function in (("a", torch.sin), ("b", torch.cos)):
        x = remat.region(function, name, recompute=True)(x)
    return x


def body_names_of_a_dict(x):
    """runtime: ok"""
    for name, function in {"a": torch.sin, "b": torch.cos}.items():
        x = remat.region(function, name, recompute=True)(x)
    return x


def body_counted_names(x):
    """runtime: ok"""
    index = 0
    while index < 3:
        x = remat.region(torch.sin, f"wave.{index}", recompute=True)(x)
        index += 1
    return x


def body_iterated_names(x):
    """runtime: ok"""
    names = iter(["a", "b"])
    x = remat.region(torch.sin, next(names), recompute=True)(x)
    return remat.region(torch.cos, next(names), recompute=True)(x)


def body_same_expression(x, stage=3):
    """runtime: error"""
    x = remat.region(torch.sin, f"mix.{stage}", recompute=True)(x)
    return remat.region(torch.cos, f"mix.{stage}", recompute=True)(x)  # expect: RMT201


def body_same_expression_of_another_value(x, stage=3):
    """runtime: ok"""
    x = remat.region(torch.sin, f"mix.{stage}", recompute=True)(x)
    stage = stage + 1
    return remat.region(torch.cos, f"mix.{stage}", recompute=True)(x)


def body_other_expressions(x, stage=3):
    """runtime: ok"""
    x = remat.region(torch.sin, f"mix.{stage}", recompute=True)(x)
    return remat.region(torch.cos, f"mix.{stage + 1}", recompute=True)(x)


def body_computed_name_through_a_helper(x, stage=3):
    """runtime: error"""
    x = named(x, f"mix.{stage}")
    return named(x, f"mix.{stage}")  # expect: RMT201


def body_loop_that_breaks(x):
    """runtime: ok"""
    for _ in range(5):
        x = remat.region(torch.sin, "wave", recompute=True)(x)
        break
    return x


def body_loop_that_returns(x):
    """runtime: ok"""
    while True:
        return remat.region(torch.sin, "wave", recompute=True)(x)


def body_loop_of_one_turn(x):
    """runtime: ok"""
    for _ in range(1):
        x = remat.region(torch.sin, "wave", recompute=True)(x)
    return x


def body_loop_until_done(x):
    """runtime: ok"""
    done = False
    while not done:
        x = remat.region(torch.sin, "wave", recompute=True)(x)
        done = True
    return x


def body_comprehension(x):
    """runtime: error"""
    parts = [remat.region(torch.sin, "wave", recompute=True)(part) for part in x.unbind(0)]  # expect: RMT201
    return torch.stack(parts)


def body_comprehension_with_names(x):
    """runtime: ok"""
    parts = [
        remat.region(torch.sin, f"wave.{index}", recompute=True)(part) for index, part in enumerate(x.unbind(0))
    ]
    return torch.stack(parts)


def body_slash_in_a_name(x):
    """runtime: error"""
    x = remat.region(torch.sin, "a/b", recompute=True)(x)
    with remat.name_scope("a"):
        return remat.region(torch.cos, "b", recompute=True)(x)  # expect: RMT201


def body_scope_again(x):
    """runtime: error"""
    with remat.name_scope("a"):
        x = wave(x)
    with remat.name_scope("a"):
        return wave(x)  # expect: RMT201


def body_two_scopes(x):
    """runtime: ok"""
    with remat.name_scope("a"):
        x = wave(x)
    with remat.name_scope("b"):
        return wave(x)


def body_scopes_of_a_tuple(x):
    """runtime: ok"""
    for scope in ("a", "b"):
        with remat.name_scope(scope):
            x = wave(x)
    return x


def body_scope_and_none(x):
    """runtime: ok"""
    with remat.name_scope("a"):
        x = wave(x)
    return wave(x)


def body_scope_inside_a_helper(x):
    """runtime: ok"""

    def scoped(t, index):
        with remat.name_scope(f"turn.{index}"):
            return wave(t)

    for index in range(3):
        x = scoped(x, index)
    return x


def body_scope_of_a_context_manager(x):
    """runtime: ok"""

    @contextlib.contextmanager
    def turn(index):
        with remat.name_scope(f"turn.{index}"):
            yield

    for index in range(3):
        with turn(index):
            x = wave(x)
    return x


def body_scope_on_a_stack(x):
    """runtime: ok"""
    for index in range(3):
        with contextlib.ExitStack() as stack:
            stack.enter_context(remat.name_scope(f"turn.{index}"))
            x = wave(x)
    return x


def body_inert_names(x):
    """runtime: ok"""

    def inner(t):
        t = remat.region(torch.sin, "wave", recompute=False)(t)
        return remat.region(torch.cos, "wave", recompute=False)(t)

    return remat.region(inner, "wave", recompute=False)(x)


def body_names_inside_a_recomputed_region(x):
    """runtime: error"""

    def inner(t):
        return remat.region(torch.sin, "wave", recompute=False)(t)  # expect: RMT201

    return remat.region(inner, "wave", recompute=True)(x)


def body_helper_with_a_condition(x):
    """runtime: ok"""
    return either(either(x, True), False)


def body_fallback(x):
    """runtime: ok"""
    try:
        return remat.region(torch.sin, "wave", recompute=True)(x)
    except NotImplementedError:
        return remat.region(torch.cos, "wave", recompute=True)(x)


def body_by_phase(x):
    """runtime: ok"""
    if remat.is_recomputing():
        return remat.region(torch.sin, "wave", recompute=True)(x)
    return remat.region(torch.sin, "wave", recompute=True)(x)


def body_partials(x):
    """runtime: error"""
    sine = partial(remat.region, torch.sin, recompute=True)
    x = sine("wave")(x)
    return sine("wave")(x)  # expect: RMT201


def body_layers_of_a_stack(x):
    """runtime: error"""
    return STACK(x)


def run_stack_under_one_checkpoint(x):
    """runtime: error"""
    return STACK.checkpointed(x)


def run_one_checkpoint_for_each_layer(x):
    """runtime: ok"""
    return SEPARATE(x)


def run_two_checkpoints(x):
    """runtime: ok"""
    x = remat.checkpoint(region_name="a")(wave)(x)
    return remat.checkpoint(region_name="b")(wave)(x)


def run_plain_and_checkpointed(x):
    """runtime: ok"""
    wave(wave(x)).sum().backward()
    return remat.checkpoint(region_name="b")(wave)(x)


def body_recompute_in_a_saved_helper(x):
    """runtime: error"""

    def helper(t):
        return remat.region(torch.sin, "inner", recompute=True)(t)  # expect: RMT202

    def outer(t):
        return helper(t) * 2

    return remat.region(outer, "outer", recompute=False)(x)


class Inner(nn.Module):
    def forward(self, x):
        return remat.region(torch.sin, "inner", recompute=True)(x)  # expect: RMT202


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return remat.region(self.inner, "outer", recompute=False)(x)


OUTER = Outer()


def body_recompute_in_a_saved_module(x):
    """runtime: error"""
    return OUTER(x)


def body_recompute_two_levels_down(x):
    """runtime: error"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=True)(t)  # expect: RMT202

    def middle(t):
        return remat.region(inner, "middle", recompute=True)(t)  # expect: RMT202

    return remat.region(middle, "outer", recompute=False)(x)


def body_saved_between(x):
    """runtime: error"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=True)(t)  # expect: RMT202

    def middle(t):
        return remat.region(inner, "middle", recompute=False)(t)

    return remat.region(middle, "outer", recompute=True)(x)


def body_saved_in_saved(x):
    """runtime: ok"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=False)(t)

    return remat.region(inner, "outer", recompute=False)(x)


def body_recompute_in_recompute(x):
    """runtime: ok"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=True)(t)

    return remat.region(inner, "outer", recompute=True)(x)


def body_policy_inside_saved(x, policy=lambda name: False):
    """runtime: ok"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=policy("inner"))(t)

    return remat.region(inner, "outer", recompute=False)(x)


def body_recompute_inside_policy(x, policy=lambda name: True):
    """runtime: ok"""

    def inner(t):
        return remat.region(torch.sin, "inner", recompute=True)(t)

    return remat.region(inner, "outer", recompute=policy("outer"))(x)
