"""Which code a checkpoint runs again, through every way of applying one, and how it is reached.

Each row is a program and, for each of its calls ``print("name")`` that is found, the lines of the way to
it from the checkpoint. What is not listed is not found.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import ir
from remat_lint.analysis.analyser import Analyser
from remat_lint.analysis.deeds import Touch
from remat_lint.analysis.facts import ExternalEffect, ModuleFacts, RandomDraw, Touched
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import Value
from remat_lint.gathering import gather
from remat_lint.project import Project
from remat_lint.source import SourceFile
from remat_lint.wrapper_names import WrapperNames

IMPORTS = """\
import functools
import torch
import torch_remat as remat
import torch.utils.checkpoint
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper,
)
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
"""

CLASSES = """\
class A(nn.Module):
    def forward(self, x, flag=False):
        print("A")
        return x.sin()

class B(nn.Module):
    def forward(self, x):
        print("B")
        return x.cos()

class Inner(nn.Module):
    def forward(self, x):
        print("Inner")
        return x.tanh()

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x):
        return self.inner(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"a": A(), "b": B()})
        self.head = Inner()
    def forward(self, x):
        print("Model")
        for layer in self.layers.values():
            x = layer(x)
        return self.head(x)
"""

ROWS: dict[str, tuple[str, dict[str, list[str]]]] = {
    "a decorated method, which calls another one of its object": (
        """
        class Block(nn.Module):
            def helper(self, x):
                print("helper")
                return x.sin()
            @remat.checkpoint(region_name="r")
            def forward(self, x):
                return self.helper(x)

        def step(x):
            return Block()(x)
        """,
        {"helper": ["return Block()(x)", "return self.helper(x)"]},
    ),
    "a layer whose `__call__` puts the one of nn.Module under a checkpoint": (
        """
        class Layer(nn.Module):
            def __call__(self, *args):
                return remat.checkpoint(region_name="r")(super().__call__)(*args)

        class Block(Layer):
            def forward(self, x):
                print("forward")
                return x.sin()

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Block(), Block()])
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
        {"forward": ['return remat.checkpoint(region_name="r")(super().__call__)(*args)']},
    ),
    "a guard of torch_remat under a checkpoint of torch": (
        """
        def body(x):
            if not remat.is_recomputing():
                print("guarded")
            return x.sin()

        def step(x):
            return checkpoint(body, x, use_reentrant=False)
        """,
        {"guarded": ["return checkpoint(body, x, use_reentrant=False)"]},
    ),
    "a guard of torch_remat under its own checkpoint": (
        """
        def body(x):
            if not remat.is_recomputing():
                print("guarded")
            return x.sin()

        def step(x):
            return remat.checkpoint(region_name="r")(body)(x)
        """,
        {},
    ),
    "a function, called": (
        """
        def block(x):
            print("block")
            return x.sin()

        def run(x):
            return remat.checkpoint(region_name="r")(block)(x)
        """,
        {"block": ['return remat.checkpoint(region_name="r")(block)(x)']},
    ),
    "a part of a module": (
        """
        def run(x):
            return remat.checkpoint()(Outer())(x)
        """,
        {"Inner": ["return remat.checkpoint()(Outer())(x)", "return self.inner(x)"]},
    ),
    "a method in a wrapper that is called later": (
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.run = remat.checkpoint()(self.body)

            def body(self, x):
                print("body")
                return x.sin()

            def forward(self, x):
                return self.run(x)
        """,
        {"body": ["return self.run(x)"]},
    ),
    "layers of several classes, by items": (
        """
        def parallelize(model: Model):
            for name, layer in model.layers.items():
                layer.forward = remat.checkpoint(region_name=name)(layer.forward)
        """,
        {
            "A": ["layer.forward = remat.checkpoint(region_name=name)(layer.forward)"],
            "B": ["layer.forward = remat.checkpoint(region_name=name)(layer.forward)"],
        },
    ),
    "layers of several classes, by values": (
        """
        def parallelize(model: Model):
            for layer in model.layers.values():
                layer.forward = remat.checkpoint()(layer.forward)
        """,
        {
            "A": ["layer.forward = remat.checkpoint()(layer.forward)"],
            "B": ["layer.forward = remat.checkpoint()(layer.forward)"],
        },
    ),
    "layers by named_children": (
        """
        def parallelize(model: Model):
            for name, layer in model.layers.named_children():
                layer.forward = remat.checkpoint(region_name=name)(layer.forward)
        """,
        {
            "A": ["layer.forward = remat.checkpoint(region_name=name)(layer.forward)"],
            "B": ["layer.forward = remat.checkpoint(region_name=name)(layer.forward)"],
        },
    ),
    "a helper for each layer": (
        """
        def apply_ac(block):
            return remat.checkpoint()(block)

        def parallelize(model: Model):
            for name, layer in model.layers.items():
                model.layers[name].forward = apply_ac(layer.forward)
        """,
        {"A": ["return remat.checkpoint()(block)"], "B": ["return remat.checkpoint()(block)"]},
    ),
    "a comprehension": (
        """
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = [remat.checkpoint()(block) for block in (A(), B())]
        """,
        {
            "A": ["self.blocks = [remat.checkpoint()(block) for block in (A(), B())]"],
            "B": ["self.blocks = [remat.checkpoint()(block) for block in (A(), B())]"],
        },
    ),
    "a decorator": (
        """
        @remat.checkpoint(region_name="block")
        def block(x):
            print("block")
            return x.sin()
        """,
        {"block": ['@remat.checkpoint(region_name="block")']},
    ),
    "a partial of the checkpoint": (
        """
        ckpt = functools.partial(remat.checkpoint, region_name="r")

        def run(x):
            return ckpt()(A())(x)
        """,
        {"A": ["return ckpt()(A())(x)"]},
    ),
    "a wrapper that a function returns": (
        """
        def wrapped(block):
            def run(x):
                return remat.checkpoint()(block)(x)
            return run

        def step(x):
            return wrapped(A())(x)
        """,
        {"A": ["return remat.checkpoint()(block)(x)"]},
    ),
    "a closure around the old forward": (
        """
        def parallelize(model: Model):
            for layer in model.layers.values():
                old = layer.forward
                def forward(x, old=old):
                    print("closure")
                    return old(x)
                layer.forward = remat.checkpoint()(forward)
        """,
        {
            "closure": ["layer.forward = remat.checkpoint()(forward)"],
            "A": ["layer.forward = remat.checkpoint()(forward)", "return old(x)"],
            "B": ["layer.forward = remat.checkpoint()(forward)", "return old(x)"],
        },
    ),
    "no gradients, no replay": (
        """
        def run(x):
            with torch.no_grad():
                return remat.checkpoint()(A())(x)
        """,
        {},
    ),
    "something unknown": (
        """
        def run(block, x):
            return remat.checkpoint()(block)(x)
        """,
        {},
    ),
    "torch's checkpoint": (
        """
        def run(x):
            return torch.utils.checkpoint.checkpoint(A(), x, use_reentrant=False)
        """,
        {"A": ["return torch.utils.checkpoint.checkpoint(A(), x, use_reentrant=False)"]},
    ),
    "torch's checkpoint, by keyword": (
        """
        def run(x):
            return checkpoint(use_reentrant=False, function=A(), x=x)
        """,
        {"A": ["return checkpoint(use_reentrant=False, function=A(), x=x)"]},
    ),
    "torch's checkpoint, in two calls": (
        """
        def run(x):
            return checkpoint(use_reentrant=False)(A())(x)
        """,
        {"A": ["return checkpoint(use_reentrant=False)(A())(x)"]},
    ),
    "a partial of torch's checkpoint in an attribute": (
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.checkpoint = functools.partial(checkpoint, use_reentrant=False)
                self.inner = A()

            def forward(self, x):
                if self.training and self.gradient_checkpointing:
                    return self.checkpoint(self.inner, x)
                return self.inner(x)
        """,
        {"A": ["return self.checkpoint(self.inner, x)"]},
    ),
    "functions in a row, the last segment of which runs without": (
        """
        def run(x):
            return checkpoint_sequential([A(), B()], 2, x, use_reentrant=False)
        """,
        {"A": ["return checkpoint_sequential([A(), B()], 2, x, use_reentrant=False)"]},
    ),
    "any number of functions in a row": (
        """
        class Stack(nn.Module):
            def __init__(self, depth):
                super().__init__()
                self.blocks = nn.Sequential(*[A() for _ in range(depth)])

            def forward(self, x):
                return checkpoint_sequential(self.blocks, 4, x, use_reentrant=False)
        """,
        {"A": ["return checkpoint_sequential(self.blocks, 4, x, use_reentrant=False)"]},
    ),
    "a closure that a function makes": (
        """
        def create_custom_forward(module):
            def custom_forward(*inputs):
                return module(*inputs, flag=True)
            return custom_forward

        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([A() for _ in range(4)])

            def forward(self, x):
                for block in self.blocks:
                    x = checkpoint(create_custom_forward(block), x, use_reentrant=False)
                return x
        """,
        {
            "A": [
                "x = checkpoint(create_custom_forward(block), x, use_reentrant=False)",
                "return module(*inputs, flag=True)",
            ]
        },
    ),
    "a wrapped module": (
        """
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = checkpoint_wrapper(A(), checkpoint_impl=CheckpointImpl.NO_REENTRANT)

            def forward(self, x):
                return self.block(x)
        """,
        {"A": ["return self.block(x)"]},
    ),
    "a wrapped module that nobody calls": (
        """
        def parallelize(model: Model):
            for name, layer in model.layers.items():
                model.layers.register_module(name, checkpoint_wrapper(layer))
        """,
        {
            "A": ["model.layers.register_module(name, checkpoint_wrapper(layer))"],
            "B": ["model.layers.register_module(name, checkpoint_wrapper(layer))"],
        },
    ),
    "a wrapped module with a checkpoint of its own": (
        """
        def parallelize(model: Model):
            for name, layer in model.layers.items():
                wrapped = checkpoint_wrapper(layer, checkpoint_fn=checkpoint, use_reentrant=False)
                model.layers[name] = wrapped
        """,
        {
            "A": ["wrapped = checkpoint_wrapper(layer, checkpoint_fn=checkpoint, use_reentrant=False)"],
            "B": ["wrapped = checkpoint_wrapper(layer, checkpoint_fn=checkpoint, use_reentrant=False)"],
        },
    ),
    "the parts of a model that are of a class": (
        """
        def parallelize(model: Model):
            apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, (A, Inner)))
        """,
        {
            "A": ["apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, (A, Inner)))"],
            "Inner": ["apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, (A, Inner)))"],
        },
    ),
    "the parts of a model that nobody knows": (
        """
        def parallelize(model: Model, chosen):
            apply_activation_checkpointing(model, check_fn=lambda part: part in chosen)
        """,
        {},
    ),
    "the layers of transformers": (
        """
        from transformers.modeling_layers import GradientCheckpointingLayer

        class Layer(GradientCheckpointingLayer):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x, cache=None):
                if cache is not None:
                    print("cache")
                return self.inner(x)

        class Special(Layer):
            def forward(self, x, cache=None):
                print("special")
                return super().forward(x, cache)
        """,
        {
            "Inner": ["class Layer(GradientCheckpointingLayer):", "return self.inner(x)"],
            "special": ["class Special(Layer):"],
        },
    ),
    "the layers of transformers, decorated": (
        """
        from transformers.modeling_layers import GradientCheckpointingLayer

        def renamed(old, new):
            def wrap(function):
                @functools.wraps(function)
                def wrapped(*args, **kwargs):
                    if old in kwargs:
                        kwargs[new] = kwargs.pop(old)
                    return function(*args, **kwargs)
                return wrapped
            return wrap

        class Layer(GradientCheckpointingLayer):
            @renamed("past", "cache")
            def forward(self, x, cache=None, flag=None):
                if cache is not None:
                    print("cache")
                if flag is not None:
                    print("flag")
                return x.sin()
        """,
        {"flag": ["class Layer(GradientCheckpointingLayer):", "return function(*args, **kwargs)"]},
    ),
    "what is told where nothing is": (
        """
        import heapq

        def surplus(x, *rest, **options):
            unknown = [name for name in options if name != "flag"]
            if len(unknown) > 0:
                print("unknown")
            if len(rest) > 0:
                print("rest")
            found = []
            if len(found) > 0:
                print("before")
            for part in x:
                if len(found) > 0:
                    print("turn")
                found.append(part)
            if len(found) > 0:
                print("after")
            pushed = []
            heapq.heappush(pushed, 1)
            if len(pushed) > 0:
                print("pushed")
            more = []
            more += list(options)
            if len(more) > 0:
                print("more")
            return x.sin()

        def fill(names):
            names.append("a")

        def filled(x, **options):
            names = []
            fill(names)
            if len(names) > 0:
                print("filled")
            extra = [name for name in options]
            if len(extra) > 0:
                print("extra")
            return x.sin()

        SEEN = []

        def seen(x):
            if len(SEEN) > 0:
                print("seen")
            return x.sin()

        def step(x, **options):
            x = checkpoint(surplus, x, use_reentrant=False)
            x = checkpoint(seen, x, use_reentrant=False)
            return checkpoint(filled, x, use_reentrant=False, **options)
        """,
        {
            "turn": ["x = checkpoint(surplus, x, use_reentrant=False)"],
            "after": ["x = checkpoint(surplus, x, use_reentrant=False)"],
            "pushed": ["x = checkpoint(surplus, x, use_reentrant=False)"],
            "seen": ["x = checkpoint(seen, x, use_reentrant=False)"],
            "filled": ["return checkpoint(filled, x, use_reentrant=False, **options)"],
            "extra": ["return checkpoint(filled, x, use_reentrant=False, **options)"],
        },
    ),
    "the surplus of a layer that nothing in view calls": (
        """
        from transformers.modeling_layers import GradientCheckpointingLayer

        class Layer(GradientCheckpointingLayer):
            def forward(self, x, **options):
                unknown = [name for name in options if name != "flag"]
                if len(unknown) > 0:
                    print("unknown")
                return x.sin()
        """,
        {"unknown": ["class Layer(GradientCheckpointingLayer):"]},
    ),
    "a checkpoint in an attribute that is set elsewhere": (
        """
        class Down(nn.Module):
            def __init__(self):
                super().__init__()
                self.resnets = nn.ModuleList([A() for _ in range(4)])

            def forward(self, x):
                for resnet in self.resnets:
                    if torch.is_grad_enabled() and self.gradient_checkpointing:
                        x = self._gradient_checkpointing_func(resnet, x)
                    else:
                        x = resnet(x)
                return x
        """,
        {"A": ["x = self._gradient_checkpointing_func(resnet, x)"]},
    ),
    "a method called by name": (
        """
        class Down(nn.Module):
            def __init__(self):
                super().__init__()
                self.resnet = A()

            def forward(self, x):
                return self._gradient_checkpointing_func(self.resnet.__call__, x)
        """,
        {"A": ["return self._gradient_checkpointing_func(self.resnet.__call__, x)"]},
    ),
    "megatron": (
        """
        from megatron.core import tensor_parallel

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([A(), B()])
                self.norm = Inner()

            def get(self, index):
                return self.layers[index]

            def forward(self, x):
                def custom(start, end):
                    def run(x):
                        for index in range(start, end):
                            x = self.get(index)(x)
                        return x
                    return run
                x = tensor_parallel.checkpoint(custom(0, 2), False, x)
                return tensor_parallel.CheckpointWithoutOutput().checkpoint(self.norm, x)
        """,
        {
            "A": ["x = tensor_parallel.checkpoint(custom(0, 2), False, x)", "x = self.get(index)(x)"],
            "B": ["x = tensor_parallel.checkpoint(custom(0, 2), False, x)", "x = self.get(index)(x)"],
            "Inner": ["return tensor_parallel.CheckpointWithoutOutput().checkpoint(self.norm, x)"],
        },
    ),
    "timm": (
        """
        from timm.models import checkpoint_seq

        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([A() for _ in range(4)])

            def forward(self, x):
                return checkpoint_seq(self.blocks[1:], x)
        """,
        {"A": ["return checkpoint_seq(self.blocks[1:], x)"]},
    ),
    "all modules of a class": (
        """
        def parallelize(model: Model):
            for module in model.modules():
                if isinstance(module, (A, B)):
                    module.forward = remat.checkpoint()(module.forward)
        """,
        {
            "A": ["module.forward = remat.checkpoint()(module.forward)"],
            "B": ["module.forward = remat.checkpoint()(module.forward)"],
        },
    ),
    "all named modules of a class": (
        """
        def parallelize(model: Model):
            for name, module in model.named_modules():
                if isinstance(module, Inner):
                    module.forward = remat.checkpoint(region_name=name)(module.forward)
        """,
        {"Inner": ["module.forward = remat.checkpoint(region_name=name)(module.forward)"]},
    ),
    "a function for all modules": (
        """
        def give(module):
            if isinstance(module, A):
                module.forward = remat.checkpoint()(module.forward)

        def parallelize(model: Model):
            model.apply(give)
        """,
        {"A": ["module.forward = remat.checkpoint()(module.forward)"]},
    ),
    "a decorator of the project": (
        """
        def checkpointed(function):
            @functools.wraps(function)
            def run(*args, **kwargs):
                return checkpoint(function, *args, use_reentrant=False, **kwargs)
            return run

        @checkpointed
        def block(x):
            print("block")
            return x.sin()
        """,
        {"block": ["return checkpoint(function, *args, use_reentrant=False, **kwargs)"]},
    ),
    "a decorated method": (
        """
        def checkpointed(function):
            def run(self, *args):
                return checkpoint(functools.partial(function, self), *args, use_reentrant=False)
            return run

        class Block(nn.Module):
            @checkpointed
            def forward(self, x):
                print("block")
                return x.sin()
        """,
        {"block": ["return checkpoint(functools.partial(function, self), *args, use_reentrant=False)"]},
    ),
    "a class of the project around a module": (
        """
        class Checkpointed(nn.Module):
            def __init__(self, module):
                super().__init__()
                self.module = module

            def forward(self, *args):
                return checkpoint(self.module, *args, use_reentrant=False)

        def parallelize(model: Model):
            for name, layer in model.layers.items():
                model.layers[name] = Checkpointed(layer)
        """,
        {
            "A": ["return checkpoint(self.module, *args, use_reentrant=False)"],
            "B": ["return checkpoint(self.module, *args, use_reentrant=False)"],
        },
    ),
    "a forward that is a partial": (
        """
        def parallelize(model: Model):
            for layer in model.layers.values():
                layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False)
        """,
        {
            "A": ["layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False)"],
            "B": ["layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False)"],
        },
    ),
    "a forward that is a closure": (
        """
        def give(forward):
            def run(*args):
                return checkpoint(forward, *args, use_reentrant=False)
            return run

        def parallelize(model: Model):
            for layer in model.layers.values():
                layer.forward = give(layer.forward)
        """,
        {
            "A": ["return checkpoint(forward, *args, use_reentrant=False)"],
            "B": ["return checkpoint(forward, *args, use_reentrant=False)"],
        },
    ),
    "composable": (
        """
        from torch.distributed._composable import checkpoint as composable

        def parallelize(model: Model):
            composable(model.head)
        """,
        {"Inner": ["composable(model.head)"]},
    ),
    "layers by number": (
        """
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([A(), B()])

        def parallelize(stack: Stack):
            for i in range(len(stack.layers)):
                stack.layers[i] = checkpoint_wrapper(stack.layers[i])
        """,
        {
            "A": ["stack.layers[i] = checkpoint_wrapper(stack.layers[i])"],
            "B": ["stack.layers[i] = checkpoint_wrapper(stack.layers[i])"],
        },
    ),
    "layers that are made anew": (
        """
        def parallelize(model: Model):
            layers = {name: checkpoint_wrapper(layer) for name, layer in model.layers.items()}
            model.layers = nn.ModuleDict(layers)
        """,
        {
            "A": ["layers = {name: checkpoint_wrapper(layer) for name, layer in model.layers.items()}"],
            "B": ["layers = {name: checkpoint_wrapper(layer) for name, layer in model.layers.items()}"],
        },
    ),
    "children set by name": (
        """
        def parallelize(model: Model):
            for name, child in model.named_children():
                if name != "layers":
                    setattr(model, name, checkpoint_wrapper(child))
        """,
        {"Inner": ["setattr(model, name, checkpoint_wrapper(child))"]},
    ),
    "many layers of many classes": (
        "".join(
            f"""
        class L{number}(nn.Module):
            def forward(self, x):
                print("L{number}")
                return x.sin()
            """
            for number in range(6)
        )
        + """
        def parallelize(layers):
            for layer in (L0(), L1(), L2(), L3(), L4(), L5()):
                layer.forward = remat.checkpoint()(layer.forward)
        """,
        {f"L{number}": ["layer.forward = remat.checkpoint()(layer.forward)"] for number in range(6)},
    ),
    "a partial of the function": (
        """
        def run(x):
            return checkpoint(functools.partial(A(), flag=True), x, use_reentrant=False)
        """,
        {"A": ["return checkpoint(functools.partial(A(), flag=True), x, use_reentrant=False)"]},
    ),
    "a lambda": (
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = A()

            def forward(self, x):
                return checkpoint(lambda t: self.inner(t), x, use_reentrant=False)
        """,
        {"A": ["return checkpoint(lambda t: self.inner(t), x, use_reentrant=False)"] * 2},
    ),
    "a method that checkpoints what it is given": (
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = A()

            def maybe(self, function, *args):
                if self.training and self.gradient_checkpointing:
                    return checkpoint(function, *args, use_reentrant=False)
                return function(*args)

            def forward(self, x):
                return self.maybe(self.inner, x)
        """,
        {"A": ["return checkpoint(function, *args, use_reentrant=False)"]},
    ),
    "a checkpoint or none": (
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = A()

            def forward(self, x):
                run = functools.partial(checkpoint, use_reentrant=False) if self.training else plain
                return run(self.inner, x)

        def plain(function, *args):
            return function(*args)
        """,
        {"A": ["return run(self.inner, x)"]},
    ),
    "fairscale": (
        """
        from fairscale.nn import checkpoint_wrapper as wrap

        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([wrap(A()) for _ in range(4)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        """,
        {"A": ["x = block(x)"]},
    ),
    "deepspeed": (
        """
        import deepspeed

        def run(x):
            return deepspeed.checkpointing.checkpoint(A(), x)
        """,
        {"A": ["return deepspeed.checkpointing.checkpoint(A(), x)"]},
    ),
    "transformer engine": (
        """
        from megatron.core.extensions.transformer_engine import te_checkpoint
        from transformer_engine.pytorch import checkpoint as te

        def run(x, tracker, group):
            x = te_checkpoint(A(), False, tracker, group, x)
            return te(B(), x, get_rng_state_tracker=tracker)
        """,
        {
            "A": ["x = te_checkpoint(A(), False, tracker, group, x)"],
            "B": ["return te(B(), x, get_rng_state_tracker=tracker)"],
        },
    ),
}


class Printing(Analyser):
    """Notes each call of ``print``, whatever the analyser knows of it."""

    def call_external(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        if name == "builtins.print":
            self.note_deed(state, node, Touch(self.called(node), Touched.OUTPUT))
        return super().call_external(state, node, name, operands)


def effects(facts: ModuleFacts, source: SourceFile) -> dict[str, list[str]]:
    """The prints that a replay does again, by their text: the lines of the way."""
    lines = source.text.splitlines()

    def line(node: int) -> str:
        return lines[source.span(node).line - 1].strip()

    return {
        source.code(fact.place.node)[len('print("') : -len('")')]: [
            line(step.place.node) for step in fact.replayed.chain
        ]
        for fact in facts.of(ExternalEffect)
        if fact.replayed.assumed is None
    }


@pytest.mark.parametrize("title", ROWS)
def test_what_a_checkpoint_runs_again(title: str, tmp_path: Path) -> None:
    program, expected = ROWS[title]
    code = f"{IMPORTS}\n{CLASSES}\n{textwrap.dedent(program)}"
    source = SourceFile(str(tmp_path / "model.py"), code.encode())
    project = Project()
    project.add(source)
    facts = gather([Printing(project).analyse(source)], [source.path])[source.path]
    assert effects(facts, source) == expected


def entry(names: dict[str, object]) -> Callable[[object], object] | None:
    """What a program runs: a function of one tensor, or a model; None where nothing runs what it makes."""
    from torch import nn

    defined = {name: one for name, one in names.items() if getattr(one, "__module__", None) == "program"}
    parallelize = defined.get("parallelize")
    run = next((defined[name] for name in ("run", "step", "block") if name in defined), None)
    if inspect.isfunction(parallelize):
        models = [parallelize.__annotations__.get(one) for one in inspect.signature(parallelize).parameters]
        if len(models) == 1 and isinstance(models[0], type) and "forward" in vars(models[0]):
            model = models[0]()
            parallelize(model)
            return prepared(model)
    elif callable(run):
        return run if len(inspect.signature(run).parameters) == 1 else None
    else:
        kind = [one for one in defined.values() if isinstance(one, type) and issubclass(one, nn.Module)][-1]
        takes_depth = "depth" in inspect.signature(kind).parameters
        return prepared(kind(4) if takes_depth else kind()) if "forward" in vars(kind) else None
    return None


def prepared(model: Any) -> Any:
    """A model whose framework has switched gradient checkpointing on."""
    from torch.utils.checkpoint import checkpoint

    for module in model.modules():
        module.gradient_checkpointing = True
        module._gradient_checkpointing_func = functools.partial(checkpoint, use_reentrant=False)
    return model


@pytest.mark.parametrize("title", ROWS)
def test_the_runtime_does_again_what_is_found(title: str) -> None:
    torch = pytest.importorskip("torch", minversion="2.14")
    pytest.importorskip("torch_remat")
    program, expected = ROWS[title]
    printed: list[str] = []
    names: dict[str, object] = {"__name__": "program", "print": printed.append}
    try:
        code = f"{IMPORTS}\n{CLASSES}\n{textwrap.dedent(program)}"
        exec(compile(code, "program.py", "exec", dont_inherit=True), names)
    except ImportError as error:
        pytest.skip(str(error))
    run = entry(names)
    if run is None:
        pytest.skip("nothing in the program runs what it puts together")
    result: Any = run(torch.ones(2, requires_grad=True))
    forward = Counter(printed)
    if result.requires_grad:
        result.sum().backward()
    assert {name for name, number in Counter(printed).items() if number > forward[name]} == set(expected)


CONFIGURED = """
from lib import block_checkpoint

def run(x):
    return block_checkpoint(A(), x)

def wrap(x):
    return block_checkpoint(B())(x)

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = block_checkpoint(Inner())
"""


def test_a_checkpoint_that_the_settings_name_may_do_anything_else(tmp_path: Path) -> None:
    source = SourceFile(str(tmp_path / "model.py"), f"{IMPORTS}\n{CLASSES}\n{CONFIGURED}".encode())
    project = Project(wrappers=WrapperNames(checkpoint=frozenset(["lib.block_checkpoint"])))
    facts = Printing(project).analyse(source)
    assert effects(facts, source).keys() == {"A", "B", "Inner"}
    assert not any(fact.replayed.certain for fact in facts.of(ExternalEffect))


DRAWING = """\
import random
from lib import ckpt
from timm.models import checkpoint_seq


def body(x):
    return (x * random.random()).sin()


def run(x):
    return {call}
"""


@pytest.mark.parametrize(("call", "certain"), [("ckpt(body, x)", False), ("checkpoint_seq([body], x)", True)])
def test_a_checkpoint_that_the_settings_name_may_restore_nothing(call: str, certain: bool) -> None:
    """What is known by its name stays so where the settings name it too."""
    names = frozenset(["lib.ckpt", "timm.models.checkpoint_seq"])
    source = SourceFile("model.py", DRAWING.format(call=call).encode())
    facts = Analyser(Project(wrappers=WrapperNames(checkpoint=names))).analyse(source)
    (draw,) = facts.of(RandomDraw)
    assert draw.replayed.certain is certain


SHOWN = """\
import torch
import torch_remat as remat


def inner(fn):
    return remat.checkpoint(region_name="block")(fn)


def block_checkpoint(fn, x):
    return inner(fn)(x)


def hidden(fn, x):
    return torch.ops.library.checkpoint(fn, x)
"""


def test_a_checkpoint_that_the_settings_name_is_followed_where_it_is_seen(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(SHOWN, encoding="utf-8")
    path = tmp_path / "model.py"
    names = frozenset(["lib.block_checkpoint", "lib.hidden"])
    calls = "from lib import block_checkpoint, hidden\ndef run(x):\n    return {name}(A(), x)\n"
    for name, certain in (("block_checkpoint", {True}), ("hidden", {False})):
        path.write_text(f"{IMPORTS}\n{CLASSES}\n{calls.format(name=name)}", encoding="utf-8")
        source = SourceFile.read(path)
        facts = Printing(Project(wrappers=WrapperNames(checkpoint=names))).analyse(source)
        assert {fact.replayed.certain for fact in facts.of(ExternalEffect)} == certain


LAYERS = """\
from torch import nn


class GradientCheckpointingLayer(nn.Module):
    pass
"""
BERT = """\
import logging

from ...modeling_layers import GradientCheckpointingLayer


class Layer(GradientCheckpointingLayer):
    def forward(self, x):
        print("layer")
        return x
"""


def test_a_package_that_checkpoints_its_classes_is_known_by_its_own_name(tmp_path: Path) -> None:
    package = tmp_path / "transformers"
    (package / "models" / "bert").mkdir(parents=True)
    for folder in (package, package / "models", package / "models" / "bert"):
        (folder / "__init__.py").touch()
    (package / "modeling_layers.py").write_text(LAYERS, encoding="utf-8")
    path = package / "models" / "bert" / "modeling_bert.py"
    path.write_text(BERT, encoding="utf-8")
    source = SourceFile.read(path)
    assert effects(Printing(Project()).analyse(source), source) == {
        "layer": ["class Layer(GradientCheckpointingLayer):"]
    }
