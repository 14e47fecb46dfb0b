"""Which draws of random numbers are found, as a table of small programs, each asked of torch_remat too.

``# draw`` ends the line of a draw that a replay does not repeat, ``# unkept`` that of one which no backward
needs, ``# one phase`` that of one which a guard keeps from one of the two, ``# hook`` that of a checkpoint
whose hook cannot work; no other line has a fact. ``run(x)`` makes its checkpoints; without one, ``body(x)``
runs under one. A program with a ``# draw`` has wrong gradients, any other right ones, unless its first line
says what it has: ``# runtime: ok``, or ``# runtime: not asked`` for what cannot be run twice alike.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import Cover, RandomDraw, StateHook
from remat_lint.gathering import gather
from remat_lint.project import Project
from remat_lint.rules.random_states import rule_for
from remat_lint.source import SourceFile
from tests.wrong_gradients import outcome

PRELUDE = """\
import contextlib, copy, functools, os, random, secrets, uuid
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
import torch_remat as remat
from torch import nn
def S(f, name="s"): return remat.region(f, name, recompute=False)
def R(f, name="r"): return remat.region(f, name, recompute=True)
M = remat.recompute_needs_tensor
class TorchHook:
    def snapshot(self):
        return torch.get_rng_state()
    def restore(self, state):
        torch.set_rng_state(state)
class PythonHook:
    def snapshot(self):
        return random.getstate()
    def restore(self, state):
        random.setstate(state)
def dropped(t):
    return F.dropout(t, 0.5).sin()
def hooked(f, *hooks):
    return remat.checkpoint(recompute_state_hooks=hooks)(f)
"""

OPERATIONS = {
    f"draws_{index}": f"""
        def body(x):
            return (x * {expression}).sin()  # draw
    """
    for index, expression in enumerate(
        [
            "torch.rand(4, 8)",
            "torch.randn(4, 8)",
            "torch.randint(1, 9, (4, 8))",
            "torch.randperm(8)",
            "torch.rand_like(x)",
            "torch.randn_like(x)",
            "torch.randint_like(x, 9)",
            "torch.normal(0.0, 1.0, (4, 8))",
            "torch.bernoulli(torch.full((4, 8), 0.5))",
            "torch.full((4, 8), 0.5).bernoulli()",
            "torch.poisson(torch.full((4, 8), 5.0))",
            "torch.binomial(torch.full((4, 8), 9.0), torch.tensor(0.5))",
            "torch.multinomial(torch.ones(4, 8), 8)",
            "torch.empty(4, 8).uniform_()",
            "torch.empty(4, 8).exponential_()",
            "torch.empty(4, 8).geometric_(0.5)",
            "torch.empty(4, 8).log_normal_()",
            "torch.empty(4, 8).cauchy_()",
            "torch.empty(4, 8).random_(9)",
            "torch.empty(4, 8).bernoulli_(0.5)",
            "torch.empty(4, 8, dtype=x.dtype).normal_()",
            "torch.ops.aten.rand_like(x)",
            "torch.ops.aten.bernoulli.default(torch.full((4, 8), 0.5))",
            "F.dropout(x, 0.5)",
            "F.dropout(x)",
            "F.dropout1d(x, 0.5)",
            "F.alpha_dropout(x, 0.5, training=True)",
            "F.feature_alpha_dropout(x, 0.5, True)",
            "torch.dropout(x, 0.5, True)",
            "torch.native_dropout(x, 0.5, True)[0]",
            "F.rrelu(x, training=True)",
            "torch.rrelu(x, training=True)",
            "F.gumbel_softmax(x)",
            "nn.init.normal_(torch.empty(4, 8))",
            "torch.nn.init.kaiming_uniform_(torch.empty(4, 8))",
            "nn.init.trunc_normal_(torch.empty(4, 8), std=0.02)",
            "F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5)[0]",
            "F.scaled_dot_product_attention(x[None], x[None], x[None], None, 0.5)[0]",
            "nn.Dropout(0.5)(x)",
            "nn.AlphaDropout()(x)",
            "nn.RReLU()(x)",
            "nn.Linear(8, 8)(x)",
            "nn.Embedding(4, 8).weight",
            "torch.distributions.Normal(0.0, 1.0).sample((4, 8))",
            "torch.distributions.Normal(torch.zeros(4, 8), 1.0).rsample()",
            "torch.distributions.Categorical(torch.ones(8)).sample((4, 8))",
            "random.random()",
            "random.gauss(0, 1)",
            "random.choice([1, 2, 3, 4, 5, 6, 7])",
            "random.randint(1, 1000)",
        ]
    )
}
"""Each draws, and backward needs what it drew."""

SILENT_OPERATIONS = {
    f"silent_{index}": f"""
        def body(x):
            return (x * {expression}).sin()
    """
    for index, expression in enumerate(
        [
            "F.dropout(x, 0.5, training=False)",
            "F.dropout(x, 0.5, False)",
            "F.dropout(x, 0.0)",
            "F.dropout(x, p=0)",
            "F.dropout(x, p=1.0)",
            "F.alpha_dropout(x, 0.5)",
            "F.feature_alpha_dropout(x)",
            "torch.dropout(x, 0.5, False)",
            "torch.dropout(x, 0.0, True)",
            "F.rrelu(x)",
            "torch.rrelu(x)",
            "F.scaled_dot_product_attention(x[None], x[None], x[None])[0]",
            "F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.0)[0]",
            "nn.Dropout(0.5).eval()(x)",
            "nn.Dropout(0.5).train(False)(x)",
            "nn.Dropout(0.0)(x)",
            "nn.Dropout(p=0)(x)",
            "nn.RReLU().eval()(x)",
            "nn.LayerNorm(8)(x)",
            "nn.Linear(8, 8, device='meta').weight.shape[0]",
            "torch.distributions.Normal(0.0, 1.0).log_prob(x)",
            "torch.distributions.Normal(x, 1.0).mean",
            "torch.zeros_like(x)",
        ]
    )
}
"""None draws."""

MODULES = {
    "modules_that_draw_in_training": """
        rrelu, gru, attention = nn.RReLU(), nn.GRU(8, 8, 2, dropout=0.5), nn.MultiheadAttention(8, 2, 0.5)
        layer = nn.TransformerEncoderLayer(8, 2, 8)
        pool = nn.FractionalMaxPool2d(1, output_size=(4, 8))
        stack = nn.TransformerEncoder(layer, 2)
        def body(x):
            x = rrelu(x)  # draw
            x = gru(x)[0]  # draw
            x = attention(x, x, x)[0]  # draw
            x = layer(x)  # draw
            x = pool(x[None])[0]  # draw
            return stack(x).sin()  # draw
    """,
    "modules_whose_dropout_is_off": """
        gru, attention = nn.GRU(8, 8, 2), nn.MultiheadAttention(8, 2)
        single = nn.GRU(8, 8, 1, dropout=0.5)
        layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=0.0)
        stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, dropout=0.0), 2)
        def body(x):
            x = attention(x, x, x)[0]
            return stack(layer(single(gru(x)[0])[0])).sin()
    """,
    "modules_in_evaluation": """
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).eval()
        attention = nn.MultiheadAttention(8, 2, dropout=0.5)
        attention.train(False)
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)
            def forward(self, t):
                return F.dropout(self.drop(t), 0.5, self.training)
        block = Block()
        block.eval()
        def body(x):
            return block(model(attention(x, x, x)[0])).sin()
    """,
    "evaluation_of_one_module_is_not_that_of_another": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)
            def forward(self, t):
                return self.drop(t)  # draw
        first = Block().eval()
        second = Block()
        def body(x):
            return second(first(x)).sin()
    """,
    "evaluation_and_back": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)
            def forward(self, t):
                return self.drop(t).sin()  # draw
        block = Block()
        def run(x):
            block.eval()
            y = remat.checkpoint()(block)(x)
            block.train()
            return remat.checkpoint()(block)(y)
    """,
    "dropout_that_depends_on_the_mode": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.p = 0.5
            def forward(self, t):
                if self.training:
                    t = t + torch.rand_like(t)  # draw
                return F.dropout(t, self.p, self.training).sin()  # draw
        block = Block()
        def body(x):
            return block(x)
    """,
    "a_probability_that_the_object_has": """
        class Block(nn.Module):
            def __init__(self, p):
                super().__init__()
                self.p = p
            def forward(self, t):
                return F.dropout(t, self.p, self.training).sin()
        block = Block(0.0)
        def body(x):
            return block(x)
    """,
    "a_module_of_its_own_kind": """
        class Drop(nn.Dropout):
            pass
        class Dense(nn.Linear):
            def __init__(self):
                super().__init__(8, 8)  # draw
        class Plain(nn.Linear):
            pass
        drop = Drop(0.5)
        def body(x):
            x = drop(x)  # draw
            x = Plain(8, 8)(x)  # draw
            return Dense()(x).sin()
    """,
    "a_module_made_in_the_forward": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(8, 8)  # draw
            def forward(self, t):
                return self.lin(t)
        outer = Block()
        def body(x):
            return outer(Block()(x)).sin()
    """,
    "a_sequence_of_modules": """
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
        def body(x):
            return model(x).sin()  # draw
    """,
    "an_autograd_function": """
        class Noise(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                noise = torch.rand_like(t)  # draw
                ctx.save_for_backward(noise)
                return t * noise
            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]
        def body(x):
            return Noise.apply(x)
    """,
}

REGIONS = {
    "recomputed_region": """
        def body(x):
            return R(lambda t: F.dropout(t, 0.5))(x).sin()  # draw
    """,
    "module_handed_to_a_recomputed_region": """
        drop = nn.Dropout(0.5)
        def body(x):
            return R(drop)(x).sin()  # draw
    """,
    "saved_region": """
        # runtime: ok
        def body(x):
            y = S(lambda t: F.dropout(t, 0.5))(x)  # draw
            M(y)
            return y.sin()
    """,
    "saved_region_before_a_draw": """
        def body(x):
            y = S(lambda t: F.dropout(t, 0.5))(x)  # draw
            M(y)
            return F.dropout(y.sin(), 0.5).sin()  # draw
    """,
    "saved_region_before_a_draw_with_a_hook": """
        def block(x):
            y = S(lambda t: F.dropout(t, 0.5))(x)
            M(y)
            return F.dropout(y.sin(), 0.5).sin()
        def run(x):
            return hooked(block, TorchHook())(x)
    """,
    "regions_are_nothing_to_torch_s_checkpoint": """
        def block(x):
            y = S(lambda t: F.dropout(t, 0.5))(x)
            return y * S(lambda t: random.random(), "n")(x)  # draw
        def run(x):
            return torch.utils.checkpoint.checkpoint(lambda t: block(t).sin(), x, use_reentrant=False)
    """,
    "drawn_without_gradients": """
        def body(x):
            with torch.no_grad():
                noise = torch.rand_like(x)  # draw
            return (x * noise).sin()
    """,
    "drawn_in_a_branch": """
        def body(x, flag=True):
            if flag:
                x = x * torch.rand_like(x)  # draw
            return x.sin()
    """,
    "two_calls_away": """
        def noise(t):
            return torch.rand_like(t)  # draw
        def scale(t):
            return t * noise(t)
        def body(x):
            return scale(x).sin()
    """,
}

SEEDS = {
    "kept_by_its_size": """
        import functools

        @functools.lru_cache(maxsize=None)
        def noise(size):
            return torch.rand(size)

        def body(x):
            return (x * noise(8)).sin()
    """,
    "kept_by_a_tensor_that_is_made_anew": """
        import functools

        @functools.lru_cache(maxsize=None)
        def noise(like):
            return torch.rand_like(like)  # draw

        def body(x):
            return (x * noise(x + 1)).sin()
    """,
    "seeded_before": """
        def body(x):
            torch.manual_seed(3)
            random.seed(3)
            return (F.dropout(x, 0.5) * random.random()).sin()
    """,
    "seeded_outside": """
        def run(x):
            torch.manual_seed(3)
            return remat.checkpoint()(lambda t: F.dropout(t, 0.5).sin())(x)  # draw
    """,
    "seeded_behind": """
        def body(x):
            y = F.dropout(x, 0.5)  # draw
            torch.manual_seed(3)
            return y.sin()
    """,
    "another_state_seeded": """
        def body(x):
            random.seed(3)
            return F.dropout(x, 0.5).sin()  # draw
    """,
    "seeded_on_one_path": """
        def body(x, flag=False):
            if flag:
                torch.manual_seed(3)
            return F.dropout(x, 0.5).sin()  # draw
    """,
    "seeded_in_a_helper": """
        def seed():
            torch.manual_seed(3)
        def noise(t):
            return torch.rand_like(t)
        def body(x):
            seed()
            y = x * noise(x)
            seed()
            return (y * noise(x)).sin()
    """,
    "seeded_in_a_saved_region": """
        def seeded(t):
            torch.manual_seed(3)
            return t * 2
        def body(x):
            y = S(seeded)(x)
            M(y)
            return F.dropout(y, 0.5).sin()  # draw
    """,
    "seeded_before_a_saved_region_that_draws": """
        def body(x):
            torch.manual_seed(3)
            y = S(lambda t: F.dropout(t, 0.5))(x)
            M(y)
            return F.dropout(y, 0.5).sin()  # draw
    """,
    "seeded_before_a_saved_region_that_does_not": """
        def body(x):
            torch.manual_seed(3)
            y = S(lambda t: t * 2)(x)
            M(y)
            return F.dropout(y, 0.5).sin()
    """,
    "fork_with_a_seed": """
        def body(x):
            with torch.random.fork_rng():
                torch.manual_seed(3)
                y = F.dropout(x, 0.5)
            return y.sin()
    """,
    "fork_without_a_seed": """
        def body(x):
            with torch.random.fork_rng():
                y = F.dropout(x, 0.5)  # draw
            return y.sin()
    """,
    "behind_a_fork_with_a_seed": """
        def body(x):
            with torch.random.fork_rng():
                torch.manual_seed(3)
                y = F.dropout(x, 0.5)
            return F.dropout(y, 0.5).sin()  # draw
    """,
    "fork_in_a_helper": """
        @contextlib.contextmanager
        def seeded(number):
            with torch.random.fork_rng():
                torch.manual_seed(number)
                yield
        def body(x):
            with seeded(3):
                y = F.dropout(x, 0.5)
            return y.sin()
    """,
    "behind_a_fork_in_a_helper": """
        @contextlib.contextmanager
        def seeded(number):
            state = torch.get_rng_state()
            torch.manual_seed(number)
            try:
                yield
            finally:
                torch.set_rng_state(state)
        def body(x):
            with seeded(3):
                y = F.dropout(x, 0.5)
            return F.dropout(y, 0.5).sin()  # draw
    """,
    "set_to_a_state_from_outside": """
        state = torch.get_rng_state()
        def body(x):
            torch.set_rng_state(state)
            return F.dropout(x, 0.5).sin()
    """,
    "set_to_a_state_of_its_own": """
        def body(x):
            state = torch.get_rng_state()
            y = F.dropout(x, 0.5)  # draw
            torch.set_rng_state(state)
            return F.dropout(y, 0.5).sin()  # draw
    """,
    "seeded_and_set_back_to_that": """
        def body(x):
            torch.manual_seed(3)
            state = torch.get_rng_state()
            y = F.dropout(x, 0.5)
            torch.set_rng_state(state)
            return F.dropout(y, 0.5).sin()
    """,
    "seeded_by_the_system": """
        # runtime: not asked
        def body(x):
            torch.seed()  # draw
            random.seed()  # draw
            return (F.dropout(x, 0.5) * random.random()).sin()
    """,
}

SOURCES = {
    "a_generator_of_the_module": """
        g = torch.Generator()
        def body(x):
            y = x * torch.rand(4, 8, generator=g)  # draw
            return (y + torch.empty(4, 8).normal_(generator=g)).sin()  # draw
    """,
    "a_generator_of_an_object": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.g = torch.Generator()
                self.rng = random.Random(0)
            def forward(self, t):
                t = t * torch.rand(4, 8, generator=self.g)  # draw
                return (t * self.rng.random()).sin()  # draw
        block = Block()
        def body(x):
            return block(x)
    """,
    "a_generator_made_in_the_body": """
        def make(seed):
            g = torch.Generator()
            g.manual_seed(seed)
            return g
        def body(x):
            y = x * torch.rand(4, 8, generator=torch.Generator())
            y = y * torch.rand(4, 8, generator=torch.Generator().manual_seed(3))
            y = y * random.Random(3).random()
            return (y * torch.rand(4, 8, generator=make(4))).sin()
    """,
    "a_generator_seeded_in_the_body": """
        g = torch.Generator()
        other = torch.Generator()
        def noise(generator):
            return torch.rand(4, 8, generator=generator)  # draw
        def body(x):
            g.manual_seed(3)
            return (x * noise(g) * noise(other)).sin()
    """,
    "a_generator_handed_in": """
        def block(x, g):
            return (x * torch.rand(4, 8, generator=g)).sin()  # draw
        def run(x):
            return remat.checkpoint()(block)(x, torch.Generator())
    """,
    "the_default_generator": """
        def body(x):
            torch.default_generator.manual_seed(3)
            return (x * torch.rand(4, 8, generator=torch.default_generator)).sin()
    """,
    "from_the_system": """
        # runtime: not asked
        from uuid import uuid4
        system = random.SystemRandom()
        def body(x):
            x = x * os.urandom(1)[0]  # draw
            x = x * uuid4().int  # draw
            x = x * secrets.randbelow(9)  # draw
            x = x * system.random()  # draw
            x = x * random.Random().random()  # draw
            return x.sin()
    """,
    "from_the_system_in_a_saved_region": """
        # runtime: not asked
        def body(x):
            y = S(lambda t: t * os.urandom(1)[0])(x)
            M(y)
            return y.sin()
    """,
    "an_imported_function": """
        from random import random as draw
        def body(x):
            return (x * draw()).sin()  # draw
    """,
    "branching_on_a_number": """
        def body(x):
            for _ in range(8):
                if torch.rand(()) < 0.5:  # draw
                    x = x.sin()
                else:
                    x = x * 2
            return x.sin()
    """,
    "drawn_outside": """
        def run(x):
            noise = torch.rand_like(x)
            return remat.checkpoint()(lambda t, n: (t * n).sin())(x, noise)
    """,
}

NUMPY = {
    "numpy": """
        import numpy as np
        rng = np.random.default_rng(3)
        def body(x):
            x = x * np.random.rand()  # draw
            x = x * float(rng.normal())  # draw
            x = x * float(np.random.default_rng(3).normal())
            x = x * np.random.RandomState(3).rand()
            np.random.seed(3)
            return (x * np.random.standard_normal()).sin()
    """,
    "numpy_from_the_system": """
        # runtime: not asked
        import numpy as np
        def body(x):
            return (x * float(np.random.default_rng().normal())).sin()  # draw
    """,
    "numpy_with_hooks": """
        import numpy as np
        from numpy.random import default_rng
        rng = default_rng(3)
        class OldHook:
            def snapshot(self):
                return np.random.get_state()
            def restore(self, state):
                np.random.set_state(state)
        class NewHook:
            def snapshot(self):
                return rng.bit_generator.state
            def restore(self, state):
                rng.bit_generator.state = state
        def block(x):
            return (x * np.random.rand() * float(rng.normal())).sin()
        def run(x):
            return hooked(block, OldHook(), NewHook())(x)
    """,
}

HOOKS = {
    "hook_for_torch": """
        def run(x):
            return hooked(lambda t: F.dropout(t, 0.5).sin(), TorchHook())(x)
    """,
    "hook_for_another_state": """
        def run(x):
            return hooked(lambda t: F.dropout(t, 0.5).sin(), PythonHook())(x)  # draw
    """,
    "two_hooks": """
        def run(x):
            return hooked(lambda t: (F.dropout(t, 0.5) * random.random()).sin(), PythonHook(), TorchHook())(x)
    """,
    "hook_for_one_generator": """
        g, other = torch.Generator(), torch.Generator()
        class GeneratorHook:
            def __init__(self, generator):
                self.generator = generator
            def snapshot(self):
                return self.generator.get_state()
            def restore(self, state):
                self.generator.set_state(state)
        HOOKS = (GeneratorHook(g),)
        def block(t):
            t = t * torch.rand(4, 8, generator=g)
            return (t * torch.rand(4, 8, generator=other)).sin()  # draw
        def run(x):
            return remat.checkpoint(recompute_state_hooks=HOOKS)(block)(x)
    """,
    "inherited_hook": """
        class Base:
            def restore(self, state):
                self.put(state)
        class Hook(Base):
            def snapshot(self):
                return {"cpu": torch.get_rng_state().clone(), "py": random.getstate()}
            def put(self, state):
                torch.set_rng_state(state["cpu"])
                random.setstate(state["py"])
        def run(x):
            return hooked(lambda t: (F.dropout(t, 0.5) * random.random()).sin(), Hook())(x)
    """,
    "composed_hook": """
        class Both:
            def __init__(self, *hooks):
                self.hooks = hooks
            def snapshot(self):
                return [hook.snapshot() for hook in self.hooks]
            def restore(self, state):
                for hook, part in zip(self.hooks, state):
                    hook.restore(part)
        hook = Both(TorchHook(), PythonHook())
        def run(x):
            return hooked(lambda t: (F.dropout(t, 0.5) * random.random()).sin(), hook)(x)
    """,
    "hook_that_asks_helpers": """
        def take():
            return torch.get_rng_state(), random.getstate()
        def give(cpu, python):
            torch.set_rng_state(cpu)
            random.setstate(python)
        class Hook:
            def snapshot(self):
                return take()
            def restore(self, state):
                give(*state)
        def run(x):
            y = hooked(lambda t: (F.dropout(t, 0.5) * random.random()).sin(), Hook())(x)
            return hooked(lambda t: (F.dropout(t, 0.5) * random.random()).sin(), Hook())(y)
    """,
    "hooks_from_a_function_and_a_list": """
        def hooks():
            return [PythonHook()]
        class Model:
            def __init__(self):
                self.hooks = [TorchHook()]
            def run(self, x):
                return remat.checkpoint(recompute_state_hooks=tuple(hooks() + self.hooks))(
                    lambda t: (F.dropout(t, 0.5) * random.random()).sin()
                )(x)
        def run(x):
            return Model().run(x)
    """,
    "hook_for_something_else": """
        class MeshHook:
            mesh = None
            def snapshot(self):
                return self.mesh
            def restore(self, state):
                self.mesh = state
        def run(x):
            return hooked(lambda t: F.dropout(t, 0.5).sin(), MeshHook())(x)  # draw
    """,
    "hook_that_nobody_knows": """
        # runtime: not asked
        def run(x, hook):
            return remat.checkpoint(recompute_state_hooks=(hook,))(lambda t: F.dropout(t, 0.5).sin())(x)
    """,
    "hook_without_restore": """
        # runtime: AttributeError
        class Hook:
            def snapshot(self):
                return torch.get_rng_state()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
    "hook_without_snapshot": """
        # runtime: AttributeError
        class Hook:
            def restore(self, state):
                torch.set_rng_state(state)
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
    "hook_with_an_inherited_stub": """
        # runtime: wrong-gradient
        class Hook(remat.RecomputeStateHook):
            def snapshot(self):
                return torch.get_rng_state()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
    "hook_that_restores_nothing": """
        # runtime: wrong-gradient
        class Hook:
            def snapshot(self):
                return torch.get_rng_state()
            def restore(self, state):
                pass
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
    "hook_that_returns_the_generator": """
        # runtime: wrong-gradient
        g = torch.Generator()
        class Hook:
            def snapshot(self):
                return g
            def restore(self, state):
                g.set_state(state.get_state())
        def run(x):
            f = lambda t: (t * torch.rand(4, 8, generator=g)).sin()
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(f)(x)  # hook
    """,
    "hook_that_returns_the_module_of_its_functions": """
        # runtime: wrong-gradient
        class Hook:
            def snapshot(self):
                return random
            def restore(self, state):
                random.setstate(state.getstate())
        def run(x):
            f = lambda t: (t * random.random()).sin()
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(f)(x)  # hook
    """,
    "hook_that_packs_the_generator": """
        # runtime: wrong-gradient
        g = torch.Generator()
        class Hook:
            def snapshot(self):
                return {"state": [g]}
            def restore(self, state):
                g.set_state(state["state"][0].get_state())
        def run(x):
            f = lambda t: (t * torch.rand(4, 8, generator=g)).sin()
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(f)(x)  # hook
    """,
    "hook_that_returns_its_own_dict": """
        # runtime: wrong-gradient
        counts = {"calls": 0}
        class Hook:
            def snapshot(self):
                return counts
            def restore(self, state):
                counts.update(state)
        def block(t):
            counts["calls"] += 1
            return (t * counts["calls"]).sin()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(block)(x)  # hook
    """,
    "hook_that_returns_a_copy_of_its_dict": """
        counts = {"calls": 0}
        class Hook:
            def snapshot(self):
                return dict(counts)
            def restore(self, state):
                counts.update(state)
        def block(t):
            counts["calls"] += 1
            return (t * counts["calls"]).sin()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(block)(x)
    """,
    "hook_that_adds": """
        # runtime: wrong-gradient
        class Counter:
            calls = 0
        counter = Counter()
        class Hook:
            def snapshot(self):
                return counter.calls
            def restore(self, state):
                counter.calls += state
        def block(t):
            counter.calls += 1
            return (t * counter.calls).sin()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(block)(x)  # hook
    """,
    "hook_that_sets_a_counter": """
        class Counter:
            calls = 0
        counter = Counter()
        class Hook:
            def snapshot(self):
                return counter.calls
            def restore(self, state):
                counter.calls = state
        def block(t):
            counter.calls += 1
            torch.manual_seed(counter.calls)
            return F.dropout(t, 0.5).sin()
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(block)(x)
    """,
    "hook_that_keeps_the_state_in_itself": """
        # runtime: wrong-gradient
        class Hook:
            def snapshot(self):
                self.saved = torch.get_rng_state()
            def restore(self, state):
                torch.set_rng_state(self.saved)
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
    "hook_that_enters_a_context": """
        # runtime: wrong-gradient
        class Hook:
            def snapshot(self):
                return torch.get_rng_state()
            def restore(self, state):
                torch.random.fork_rng().__enter__()
                del state
        def run(x):
            return remat.checkpoint(recompute_state_hooks=(Hook(),))(dropped)(x)  # hook
    """,
}

TORCH_CHECKPOINT = {
    "torch_s_default_generators_are_restored": """
        def run(x):
            return torch.utils.checkpoint.checkpoint(dropped, x, use_reentrant=False)
    """,
    "others_are_not": """
        g = torch.Generator()
        def block(t):
            return (t * random.random() + torch.rand(4, 8, generator=g)).sin()  # draw
        def run(x):
            return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    """,
    "switched_off": """
        def block(t):
            return F.dropout(t, 0.5).sin()  # draw
        def run(x):
            return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
    """,
    "switched_off_for_the_reentrant_one": """
        def block(t):
            return F.dropout(t, 0.5).sin()  # draw
        def run(x):
            return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=True, preserve_rng_state=False)
    """,
}

UNKEPT = {
    "noise_that_is_added": """
        def body(x):
            noise = torch.randn_like(x) * 0.1  # unkept
            y = x.sin() + noise
            return y * 2
    """,
    "noise_that_is_added_and_read": """
        def body(x):
            y = x + torch.randn_like(x)  # draw
            return y * y
    """,
    "noise_that_is_multiplied": """
        def body(x):
            return x.sin() * torch.rand_like(x)  # draw
    """,
    "number_that_scales": """
        def body(x):
            scale = random.random() + 1.0  # unkept
            return x.sin() * scale
    """,
    "number_of_a_tensor_that_scales": """
        def body(x):
            return x.sin() / torch.rand(()).item()  # unkept
    """,
    "number_that_scales_what_is_read": """
        def body(x):
            x = x * random.random()  # draw
            x = x.cos()
            return x
    """,
    "number_that_scales_in_a_loop": """
        def body(x):
            scale = 1.0
            for _ in range(3):
                x = x.sin() * scale
                scale = random.random()  # draw
            return x
    """,
    "noise_of_a_function_that_is_called": """
        def noisy(t):
            return t + torch.randn_like(t)  # draw
        def body(x):
            return noisy(x).sin()
    """,
    "noise_in_a_closure": """
        def body(x):
            noise = torch.randn_like(x)  # draw
            def scale(t):
                return t * noise
            return scale(x)
    """,
    "a_mask_that_is_drawn_last": """
        def body(x):
            return F.dropout(x.sin(), 0.5)  # draw
    """,
}

DECORATED = {
    "hooks_of_a_decorated_method": """
        # runtime: not asked
        HOOKS = (TorchHook(),)
        class Block(nn.Module):
            @remat.checkpoint(recompute_state_hooks=HOOKS)
            def forward(self, x):
                return (x * torch.rand(1) * random.random()).sin()  # draw
        BLOCK = Block()
        def run(x):
            return BLOCK(x)
    """,
    "hooks_of_a_decorated_method_that_cover_what_it_draws": """
        HOOKS = (TorchHook(),)
        class Block(nn.Module):
            @remat.checkpoint(recompute_state_hooks=HOOKS)
            def forward(self, x):
                return (x * torch.rand(1)).sin()
        BLOCK = Block()
        def run(x):
            return BLOCK(x)
    """,
}

PHASES = {
    "drawn_in_the_forward_only": """
        # runtime: wrong-gradient
        def block(x):
            if not remat.is_recomputing():
                torch.rand(1)  # one phase
            return F.dropout(x, 0.5).sin()
        def run(x):
            return hooked(block, TorchHook())(x)
    """,
    "drawn_in_the_replay_only": """
        # runtime: wrong-gradient
        def block(x):
            if remat.is_recomputing():
                torch.rand(1)  # one phase
            return F.dropout(x, 0.5).sin()
        def run(x):
            return hooked(block, TorchHook())(x)
    """,
    "drawn_once_and_kept": """
        # runtime: wrong-gradient
        class Block(nn.Module):
            noise = None
            def forward(self, t):
                if self.noise is None:
                    self.noise = torch.randn(8)  # one phase
                return F.dropout(t * self.noise, 0.5).sin()
        block = Block()
        def run(x):
            return hooked(block, TorchHook())(x)
    """,
    "drawn_once_and_kept_as_the_last": """
        class Block(nn.Module):
            noise = None
            def forward(self, t):
                t = F.dropout(t, 0.5).sin()
                if self.noise is None:
                    self.noise = torch.randn(8)
                return t * self.noise
        block = Block()
        def run(x):
            return hooked(block, TorchHook())(x)
    """,
    "drawn_in_the_forward_only_without_a_hook": """
        def body(x):
            if not remat.is_recomputing():
                torch.rand(1)
            return x.sin()
    """,
}

OTHER_PACKAGES = {
    "depth_that_is_dropped": """
        from timm.layers import DropPath, drop_path
        drop, none = DropPath(0.1), DropPath(0.0)
        def body(x):
            x = drop_path(x, 0.1)
            x = drop_path(x, 0.1, True)  # draw
            return none(x) + drop(x.sin())  # draw
    """,
    "depth_that_is_dropped_by_a_subclass": """
        from timm.models.layers import DropPath
        class Mine(DropPath):
            pass
        drop = Mine(drop_prob=0.1)
        def body(x):
            return x + drop(x.sin())  # draw
    """,
    "rows_that_are_dropped": """
        from torchvision.ops import StochasticDepth, stochastic_depth
        drop = StochasticDepth(0.1, "row")
        def body(x):
            x = stochastic_depth(x, 0.1, "row", False)
            x = stochastic_depth(x, 0.1, "row")  # draw
            return x + drop(x.sin())  # draw
    """,
    "attention_of_another_package": """
        from flash_attn import flash_attn_func
        def body(x):
            y = flash_attn_func(x, x, x)
            return flash_attn_func(y, y, y, dropout_p=0.1)  # draw
    """,
}

KEPT = {
    "noise_that_is_drawn_once": """
        @functools.lru_cache
        def noise(size):
            return torch.rand(size)
        def body(x):
            return (x * noise(8)).sin()
    """,
    "noise_that_an_object_keeps": """
        class Block(nn.Module):
            @functools.cached_property
            def noise(self):
                return torch.rand(8)
            def forward(self, x):
                return (x * self.noise).sin()
        body = Block()
    """,
    "noise_that_an_object_of_the_call_keeps": """
        class Noise:
            @functools.cached_property
            def values(self):
                return torch.rand(8)  # draw
        def body(x):
            return (x * Noise().values).sin()
    """,
}

METHODS = {
    "add_draws": """
        class W:
            def __add__(self, o):
                return o * torch.rand(1)  # draw
        w = W()
        def body(x):
            return (w + x).sin()
    """,
    "matmul_draws": """
        class W(nn.Module):
            def __matmul__(self, o):
                return F.dropout(o, 0.5)  # draw
        w = W()
        def body(x):
            return (w @ x).sin()
    """,
    "neg_draws": """
        class W:
            def __init__(self, x):
                self.x = x
            def __neg__(self):
                return self.x * torch.rand(1)  # draw
        def body(x):
            return (-W(x)).sin()
    """,
    "enter_draws": """
        class W:
            def __enter__(self):
                return torch.rand(1)  # draw
            def __exit__(self, *a):
                return False
        def body(x):
            with W() as m:
                return (x * m).sin()
    """,
    "forward_pre_hook_draws": """
        def pre(m, args):
            return (args[0] * torch.rand(1),)  # draw
        lin = nn.Linear(8, 8)
        lin.register_forward_pre_hook(pre)
        def body(x):
            return lin(x).sin()
    """,
    "forward_hook_draws": """
        def post(m, args, out):
            return F.dropout(out, 0.5)  # draw
        lin = nn.Linear(8, 8)
        lin.register_forward_hook(post)
        def body(x):
            return lin(x).sin()
    """,
    "forward_hook_on_self_draws": """
        class Body(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(8, 8)
                self.register_forward_pre_hook(self.noise)
            def noise(self, m, args):
                return (args[0] * torch.rand(1),)  # draw
            def forward(self, x):
                return self.lin(x).sin()
        body = Body()
    """,
    "forward_hook_lambda": """
        lin = nn.Linear(8, 8)
        lin.register_forward_hook(lambda m, a, out: out * torch.rand(1))  # draw
        def body(x):
            return lin(x).sin()
    """,
    "forward_hook_custom_module": """
        class Sub(nn.Module):
            def forward(self, x):
                return x * 2
        sub = Sub()
        sub.register_forward_hook(lambda m, a, out: out * torch.rand(1))  # draw
        def body(x):
            return sub(x).sin()
    """,
    "forward_hook_in_loop": """
        def noise(m, args, out):
            return out * torch.rand(1)  # draw
        net = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        for m in net:
            m.register_forward_hook(noise)
        def body(x):
            return net(x).sin()
    """,
    "forward_hook_in_loop_modules": """
        def noise(m, args, out):
            return out * torch.rand(1)  # draw
        net = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        for m in net.modules():
            m.register_forward_hook(noise)
        def body(x):
            return net(x).sin()
    """,
    "forward_hook_keyword_kwargs": """
        def noise(m, args, kwargs, out):
            return out * torch.rand(1)  # draw
        lin = nn.Linear(8, 8)
        lin.register_forward_hook(noise, with_kwargs=True)
        def body(x):
            return lin(x).sin()
    """,
    "forward_pre_hook_kwargs": """
        def noise(m, args, kwargs):
            return (args[0] * torch.rand(1),), kwargs  # draw
        lin = nn.Linear(8, 8)
        lin.register_forward_pre_hook(noise, with_kwargs=True)
        def body(x):
            return lin(x).sin()
    """,
    "a_backward_hook_draws_nothing_in_forward": """
        def noise(m, gi, go):
            return None
        lin = nn.Linear(8, 8)
        lin.register_full_backward_hook(noise)
        def body(x):
            return lin(x).sin()
    """,
    "a_hook_that_is_gone": """
        lin = nn.Linear(8, 8)
        handle = lin.register_forward_hook(lambda m, a, out: out * torch.rand(1))
        handle.remove()
        def body(x):
            return lin(x).sin()
    """,
    "a_module_that_is_not_called": """
        lin = nn.Linear(8, 8)
        lin.register_forward_hook(lambda m, a, out: out * torch.rand(1))
        def body(x):
            return lin.forward(x).sin()
    """,
    "a_state_that_a_context_puts_back": """
        class Seeded:
            def __enter__(self):
                self.state = torch.get_rng_state()
                torch.manual_seed(3)
            def __exit__(self, *error):
                torch.set_rng_state(self.state)
        def body(x):
            with Seeded():
                noise = torch.rand_like(x)
            return (x * noise).sin()
    """,
}

PROGRAMS = {
    **OPERATIONS,
    **SILENT_OPERATIONS,
    **MODULES,
    **REGIONS,
    **SEEDS,
    **SOURCES,
    **NUMPY,
    **HOOKS,
    **TORCH_CHECKPOINT,
    **UNKEPT,
    **DECORATED,
    **PHASES,
    **METHODS,
    **KEPT,
    **OTHER_PACKAGES,
}


def code_of(name: str) -> str:
    code = PRELUDE + textwrap.dedent(PROGRAMS[name])
    return code if "def run(x" in code else f"{code}def run(x):\n    return remat.checkpoint()(body)(x)\n"


def kind_of(draw: RandomDraw) -> str:
    if draw.cover is Cover.ONE_PHASE:
        return "one phase"
    return "draw" if draw.kept else "unkept"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_analyser_finds(name: str) -> None:
    code = code_of(name)
    source = SourceFile("model.py", code.encode())
    facts = gather([analyse(source, Project())], [source.path])[source.path]
    draws = {(fact.place, kind_of(fact)) for fact in facts.of(RandomDraw) if rule_for(fact) is not None}
    hooks = {(fact.place, "hook") for fact in facts.of(StateHook)}
    found = {(source.span(place.node).line, kind) for place, kind in draws | hooks}
    expected = {
        (number, match[1])
        for number, line in enumerate(code.splitlines(), start=1)
        if (match := re.search(r"# (draw|unkept|one phase|hook)$", line))
    }
    assert found == expected


def test_what_makes_a_model_is_no_body() -> None:
    """No checkpoint is in view: the block may be checkpointed, the function that makes it and runs it not."""
    code = textwrap.dedent("""
        import torch
        import torch.nn.functional as F
        import torch_remat as remat
        from torch import nn
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(8, 8)
            def forward(self, x):
                y = remat.region(self.lin, "lin", recompute=True)(x)
                return F.dropout(y, 0.5)
        def main():
            x = torch.randn(4, 8)
            return Block()(x)
        def again():
            x = torch.randn(4, 8)
            return Block()(x)
    """)
    source = SourceFile("model.py", code.encode())
    facts = gather([analyse(source, Project())], [source.path])[source.path]
    found = [source.code(fact.place.node) for fact in facts.of(RandomDraw)]
    assert found == ["F.dropout(y, 0.5)"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_remat_says_the_same(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch_remat")
    if name in NUMPY:
        pytest.importorskip("numpy")
    if name in OTHER_PACKAGES:
        pytest.importorskip("timm")
        pytest.importorskip("torchvision")
        pytest.importorskip("flash_attn")
    code = code_of(name)
    said = re.search(r"^# runtime: (.*)$", code, re.MULTILINE)
    if said is not None and said[1] == "not asked":
        return
    path = tmp_path / "program.py"
    path.write_text(code)
    expected = said[1] if said is not None else "wrong-gradient" if "# draw" in code else "ok"
    assert outcome(path).startswith(expected)
