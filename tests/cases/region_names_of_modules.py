# select: RMT2,RMT3
"""Names of regions in modules, loops and helpers as model code writes them."""

import contextlib
import functools
import torch
import torch_remat as remat
import torch.utils.checkpoint as tuc
from torch import nn


def double(t):
    return t * 2


class Prebuilt(nn.Module):
    def __init__(self):
        super().__init__()
        self.mm = remat.region(self._mm, "mm", recompute=False)

    def _mm(self, t):
        return t * 2

    def forward(self, x):
        return self.mm(x)


class PrebuiltTwice(Prebuilt):
    def forward(self, x):
        x = self.mm(x)
        return self.mm(x)  # expect: RMT201


class Named(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return remat.region(double, self.name, recompute=True)(x)


class TwoNamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Named("a")
        self.b = Named("b")

    def forward(self, x):
        return self.b(self.a(x))


class SameNamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Named("a")
        self.b = Named("a")

    def forward(self, x):
        return self.b(self.a(x))  # expect: RMT201


class Lit(nn.Module):
    def forward(self, x):
        return remat.region(double, "lit", recompute=True)(x)


class TwoLit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Lit()
        self.b = Lit()

    def forward(self, x):
        x = self.a(x)
        return self.b(x)  # expect: RMT201


class Scoped(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Lit() for _ in range(4)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            with remat.name_scope(f"layers.{i}"):
                x = layer(x)
        return x


class Base(nn.Module):
    def forward(self, x):
        return remat.region(double, "base", recompute=True)(x)


class Child(Base):
    def forward(self, x):
        x = remat.region(double, "child", recompute=True)(x)
        return super().forward(x)


class BadChild(Base):
    def forward(self, x):
        x = super().forward(x)
        return remat.region(double, "base", recompute=True)(x)  # expect: RMT201


class Prefixed(nn.Module):
    prefix = ""

    def remat_region_name(self, local):
        return f"{self.prefix}.{local}" if self.prefix else local

    def forward(self, x):
        return remat.region(double, self.remat_region_name("p"), recompute=True)(x)


class Reuse(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = Prefixed()
        self.q = Prefixed()
        self.q.prefix = "q"

    def forward(self, x):
        return self.q(self.p(x))


PREBUILT, PREBUILT_TWICE, TWO_NAMED, SAME_NAMED, TWO_LIT, SCOPED, CHILD, BAD_CHILD, REUSE = Prebuilt(), PrebuiltTwice(), TwoNamed(), SameNamed(), TwoLit(), Scoped(), Child(), BadChild(), Reuse()


def body_wrapper_of_a_constructor(x):
    """runtime: ok"""
    return PREBUILT(x)


def body_wrapper_of_a_constructor_twice(x):
    """runtime: error"""
    return PREBUILT_TWICE(x)


def body_name_attributes(x):
    """runtime: ok"""
    return TWO_NAMED(x)


def body_equal_name_attributes(x):
    """runtime: error"""
    return SAME_NAMED(x)


def body_two_modules_with_a_literal_name(x):
    """runtime: error"""
    return TWO_LIT(x)


def body_stack_under_scopes(x):
    """runtime: ok"""
    return SCOPED(x)


def body_inherited_forward(x):
    """runtime: ok"""
    return CHILD(x)


def body_inherited_forward_with_the_same_name(x):
    """runtime: error"""
    return BAD_CHILD(x)


def body_prefix_of_an_object(x):
    """runtime: ok"""
    return REUSE(x)


def body_default_argument(x):
    """runtime: ok"""
    for i in range(4):
        step = lambda t, n=f"l{i}": remat.region(double, n, recompute=True)(t)
        x = step(x)
    return x


def body_tuc_inside(x):
    """runtime: ok"""
    def f(t):
        return remat.region(double, "in", recompute=True)(t)
    y = tuc.checkpoint(f, x, use_reentrant=False)
    return y * 2


def body_list_of_names(x, names=("a", "b")):
    """runtime: ok"""
    for i in range(len(names)):
        x = remat.region(double, names[i], recompute=True)(x)
    return x


def body_zip(x):
    """runtime: ok"""
    for name, fn in zip(("a", "b"), (torch.sin, torch.cos)):
        x = remat.region(fn, "f." + name, recompute=True)(x)
    return x


def body_str_format(x):
    """runtime: ok"""
    for i in range(5):
        x = remat.region(double, "f.{}".format(i), recompute=True)(x)
    return x


def body_percent(x):
    """runtime: ok"""
    for i in range(5):
        x = remat.region(double, "f.%d" % i, recompute=True)(x)
    return x


def body_while_break(x):
    """runtime: error"""
    n = 0
    while True:
        x = remat.region(double, "w", recompute=True)(x)  # expect: RMT201
        n += 1
        if n > 2:
            break
    return x


def body_break_on_value(x, limit=1):
    """runtime: ok"""
    for i in range(8):
        x = remat.region(double, f"w{i}", recompute=True)(x)
        if i >= limit:
            break
    return x


def body_early_return(x, flag=True):
    """runtime: ok"""
    if flag:
        return remat.region(double, "w", recompute=True)(x)
    y = remat.region(double, "w", recompute=True)(x)
    return y


def body_try_finally(x):
    """runtime: error"""
    try:
        x = remat.region(double, "w", recompute=True)(x)
    finally:
        x = remat.region(double, "w", recompute=True)(x)  # expect: RMT201
    return x


def body_dispatch(x, kind="a"):
    """runtime: ok"""
    table = {"a": torch.sin, "b": torch.cos}
    return remat.region(table[kind], "w", recompute=True)(x)


def body_map(x):
    """runtime: error"""
    sine = remat.region(torch.sin, "w", recompute=True)
    a, b = map(sine, (x, x))  # expect: RMT201
    return a + b


def body_alias(x):
    """runtime: error"""
    region = remat.region
    a = region(torch.sin, name="w", recompute=True)(x)
    b = region(torch.cos, name="w", recompute=False)(x)  # expect: RMT201
    return remat.region(torch.add, "add", recompute=True)(a, b)


def body_scope_object(x):
    """runtime: ok"""
    for i in range(4):
        scope = remat.name_scope(f"s{i}")
        with scope:
            x = remat.region(double, "w", recompute=True)(x)
    return x


def body_conditional_scope(x):
    """runtime: ok"""
    for i in range(4):
        with remat.name_scope(f"s{i}") if i else contextlib.nullcontext():
            x = remat.region(double, "w", recompute=True)(x)
    return x


def body_two_helpers(x):
    """runtime: ok"""
    def first(t):
        return remat.region(double, "first", recompute=True)(t)
    def second(t):
        return remat.region(double, "second", recompute=True)(t)
    return second(first(x))


def body_recursive(x):
    """runtime: ok"""
    def down(t, n):
        if n == 0:
            return t
        with remat.name_scope(f"d{n}"):
            t = remat.region(double, "w", recompute=True)(t)
        return down(t, n - 1)
    return down(x, 3)


def body_counter_names(x):
    """runtime: ok"""
    count = 0
    def name():
        nonlocal count
        count += 1
        return f"w{count}"
    x = remat.region(double, name(), recompute=True)(x)
    return remat.region(double, name(), recompute=True)(x)


def body_optional_output(x, aux=False):
    """runtime: ok"""
    def f(t):
        extra = None
        if aux:
            extra = t.sum()
        return t * 2, extra
    y, _ = remat.region(f, "w", recompute=True)(x)
    return y


def body_maybe_none(x, aux=True):
    """runtime: ok"""
    def f(t):
        if aux:
            return t * 2
    return remat.region(f, "w", recompute=True)(x)


def body_partial_output(x):
    """runtime: ok"""
    return remat.region(functools.partial(torch.mul, other=2), "w", recompute=True)(x)


def body_split(x):
    """runtime: ok"""
    a, *b = remat.region(lambda t: (t * 2).split(2, -1), "w", recompute=True)(x)
    return a + sum(b)


def body_list_comp_output(x):
    """runtime: ok"""
    parts = remat.region(lambda t: [p * 2 for p in t.unbind(0)], "w", recompute=True)(x)
    return torch.stack(list(parts))


def body_tuple_comp_output(x):
    """runtime: ok"""
    parts = remat.region(lambda t: tuple(p * 2 for p in t.unbind(0)), "w", recompute=True)(x)
    return torch.stack(list(parts))


def body_generator_output(x):
    """runtime: error"""
    parts = remat.region(lambda t: (p * 2 for p in t.unbind(0)), "w", recompute=True)(x)  # expect: RMT206
    return torch.stack(list(parts))


def body_item_output(x):
    """runtime: error"""
    n = remat.region(lambda t: t.sum().item(), "w", recompute=True)(x)  # expect: RMT206
    return x * n


def body_size_output(x):
    """runtime: error"""
    y, s = remat.region(lambda t: (t * 2, t.size()), "w", recompute=True)(x)  # expect: RMT206
    return y


def body_max_output(x):
    """runtime: ok"""
    return remat.region(lambda t: torch.max(t, -1), "w", recompute=True)(x)[0]


def body_topk(x):
    """runtime: ok"""
    v, i = remat.region(lambda t: t.topk(2), "w", recompute=True)(x)
    return v


def body_namedtuple_replace(x):
    """runtime: ok"""
    return remat.region(lambda t: torch.sort(t), "w", recompute=True)(x).values


def run_model_layers(x):
    """runtime: ok"""
    model = Scoped()
    for i, layer in enumerate(model.layers):
        layer.forward = remat.checkpoint(region_name=f"l{i}")(layer.forward)
    return model(x)


def run_partial(x):
    """runtime: ok"""
    ckpt = functools.partial(remat.checkpoint, preserve_rng_state=False)
    return ckpt(region_name="a")(double)(x)


def run_twice(x):
    """runtime: ok"""
    block = remat.checkpoint(region_name="a")(Lit())
    return block(block(x))


def run_list_output(x):
    """runtime: ok"""
    return torch.stack(list(remat.checkpoint()(lambda t: [t * 2, t * 3])(x)))


def run_maybe_tuple(x, flag=False):
    """runtime: ok"""
    def block(t):
        y = t * 2
        return (y, t) if flag else y
    return remat.checkpoint()(block)(x)
