"""The source text of a case, and which of its lines are to blame."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template

from tests.replay.axes import OF_TORCH, Case, Consumer, Container, Flow, Form, Guard, Owner, Region, Site
from tests.replay.deeds import OBJECTS, Stream
from tests.replay.hooks import hook_source

PRELUDE = """\
import collections
import datetime
import functools
import io
import itertools
import logging
import os
import queue
import random
import secrets
import sys
import time
import uuid
import warnings

import numpy as np
import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

LOGGER = logging.getLogger("model")


def policy(name):
    return name in RECOMPUTED


RECOMPUTED = set()
"""
BLAME = "!"


@dataclass(frozen=True)
class Program:
    """A case as text. ``blamed`` are the lines that do the deed, or hand what does it to a region."""

    case: Case
    source: str
    blamed: frozenset[int]
    hook_lines: frozenset[int]


@dataclass(frozen=True)
class Line:
    """A line of a program under way."""

    text: str
    blamed: bool = False


Lines = list[Line]


def program_of(case: Case) -> Program:
    """The program of a case."""
    return _Writer(case).program()


def _lines(text: str, names: Mapping[str, str] | None = None) -> Lines:
    """The lines of a template, its parts named."""
    if names is not None:
        text = Template(text).safe_substitute(names)
    found = []
    for raw in text.rstrip("\n").split("\n"):
        blamed = raw.startswith(BLAME)
        body = raw.removeprefix(BLAME)
        found.append(Line(body, blamed))
    return found


def _indented(lines: Iterable[Line], depth: int = 1) -> Lines:
    return [Line("    " * depth + line.text if line.text else "", line.blamed) for line in lines]


def _under(header: str, body: Lines, *, blamed: bool = False) -> Lines:
    return [Line(header, blamed), *_indented(body or [Line("pass")])]


def _code(template: str, names: Mapping[str, str]) -> Lines:
    """Statements of a deed: ``!    indented`` keeps its indentation."""
    return _lines(template, names) if template else []


class _Writer:
    """Writes one program; ``before`` stands at the top of the module, ``methods`` in the block's class."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._before: Lines = []
        self._methods: Lines = []
        self._made: Lines = []

    def program(self) -> Program:
        case = self._case
        for text in dict.fromkeys(site.deed.setup for site in case.sites if site.deed.setup):
            self._before += [*_lines(text), Line("")]
        body = self._body()
        hooks, options = self._hooks()
        tail = self._block(body, options)
        lines = [*_lines(PRELUDE), Line(""), *self._before, *self._parts(), *_lines(hooks)]
        hook_start = len(lines) - len(_lines(hooks)) if hooks else len(lines)
        lines += tail
        hook_lines = {*range(hook_start + 1, len(lines) - len(tail) + 1)}
        applied = ("recompute_state_hooks", "applied()")
        hook_lines |= {number for number, line in enumerate(lines, 1) if any(a in line.text for a in applied)}
        blamed = {number for number, line in enumerate(lines, 1) if line.blamed}
        source = "\n".join(line.text for line in lines) + "\n"
        return Program(case, source, frozenset(blamed), frozenset(hook_lines))

    # -- owners

    def _names(self, index: int, within: Container) -> dict[str, str]:
        """How the code of a site names its parts."""
        parts = self._case.sites[index].deed.parts
        owner = self._case.owner
        if owner is Owner.GLOBALS:
            return {name: f"{name}_{index}".upper() for name in parts}
        if owner is Owner.NONLOCAL:
            return {name: f"{name}_{index}" for name in parts}
        if owner is Owner.SELF and within in (Container.SUBMODULE, Container.TWO_CALLS):
            return {name: f"self.{name}" for name in parts}
        holder = {Owner.SELF: "self", Owner.MODULE: "PARTS"}.get(owner, "parts")
        return {name: f"{holder}.{name}_{index}" for name in parts}

    def _declared(self, index: int) -> Lines:
        """``global`` or ``nonlocal`` for the parts that the code assigns to."""
        word = {Owner.GLOBALS: "global", Owner.NONLOCAL: "nonlocal"}.get(self._case.owner)
        names = self._names(index, Container.INLINE)
        rebound = self._case.sites[index].deed.rebound
        return [Line(f"{word} {names[name]}") for name in rebound] if word else []

    def _parts(self) -> Lines:
        """The global that holds the parts, or the globals that they are."""
        case = self._case
        made = self._constructions()
        if not made or case.owner in (Owner.SELF, Owner.NONLOCAL):
            return []
        if case.owner is Owner.GLOBALS:
            return [*(Line(f"{name.upper()} = {text}") for name, text, _ in made), Line("")]
        return [*self._class("Parts", made, []), Line("PARTS = Parts()"), Line("")]

    def _constructions(self) -> list[tuple[str, str, bool]]:
        """Name, constructor and whether it is a buffer, of every part."""
        return [
            (f"{name}_{index}", text, name in site.deed.buffers)
            for index, site in enumerate(self._case.sites)
            for name, text in site.deed.parts.items()
            if not self._in_a_submodule(site)
        ]

    def _in_a_submodule(self, site: Site) -> bool:
        own = site.container in (Container.SUBMODULE, Container.TWO_CALLS)
        return own and self._case.owner is Owner.SELF

    @staticmethod
    def _class(
        name: str, made: list[tuple[str, str, bool]], methods: Lines, extra: Lines | None = None
    ) -> Lines:
        init = [Line("super().__init__()")]
        for part, text, is_buffer in made:
            assign = f'self.register_buffer("{part}", {text})' if is_buffer else f"self.{part} = {text}"
            init.append(Line(assign))
        init += extra or []
        body = [*_under("def __init__(self):", init), Line(""), *methods]
        return [*_under(f"class {name}(nn.Module):", body), Line("")]

    # -- the body

    def _body(self) -> Lines:
        body: Lines = []
        whole = any(site.deed.whole for site in self._case.sites)
        if not whole:
            body.append(Line("t = t * 1.5"))
        for index, site in enumerate(self._case.sites):
            body += self._flow(index, site)
        consumer = {
            Consumer.SIN: "return t.sin()",
            Consumer.RECOMPUTED: 'return remat.region(torch.sin, "tail", recompute=True)(t)',
            Consumer.SAVED: 'return remat.region(torch.sin, "tail", recompute=False)(t)',
        }[self._case.consumer]
        return [*body, Line(consumer)]

    def _flow(self, index: int, site: Site) -> Lines:
        looped = site.flow is Flow.LOOP
        name = f'f"deed{index}.{{step}}"' if looped else f'"deed{index}"'
        lines = [*self._site(index, site, name), Line("t = y")]
        if looped:
            return _under("for step in range(2):", lines)
        if site.flow is Flow.BRANCH:
            return _under("if t.shape[0] > 2:", lines)
        if site.flow is Flow.WITH:
            return _under(f'with remat.name_scope("part{index}"):', lines)
        if site.flow is Flow.TRY:
            return [*_under("try:", lines), *_under("finally:", [Line("pass")])]
        return lines

    def _site(self, index: int, site: Site, name: str) -> Lines:
        if site.container is Container.INLINE:
            return self._deed(index, site)
        defined, callee, arguments = self._callee(index, site)
        marker = [Line("remat.recompute_needs_tensor(y)")]
        if site.region is Region.BARE:
            blamed = site.container in (Container.LAMBDA, Container.DIRECT) and _does(site)
            return [*defined, Line(f"y = {callee}({arguments})", blamed)]
        recompute = {Region.SAVE: "False", Region.RECOMPUTE: "True"}.get(site.region, f'policy("{index}")')
        call = f"y = remat.region({callee}, {name}, recompute={recompute})({arguments})"
        kept = marker if site.region is not Region.RECOMPUTE else []
        return [*defined, Line(call, _does(site)), *kept]

    def _callee(self, index: int, site: Site) -> tuple[Lines, str, str]:
        """What has to be written before the call, the function, and its arguments."""
        names = self._names(index, site.container)
        function = f"deed{index}"
        with_parts = self._case.owner in (Owner.ARGUMENT, Owner.CLOSURE) and bool(site.deed.parts)
        if site.container is Container.DIRECT:
            return [], names[site.deed.callable], "t"
        if site.container is Container.LAMBDA:
            text = f"lambda t: {Template(site.deed.expression or '').safe_substitute(names)}"
            if site.region is Region.BARE:
                return [Line(f"{function} = {text}", _does(site))], function, "t"
            return [], text, "t"
        code = [*self._deed(index, site), Line("return y")]
        if site.container is Container.LOCAL:
            return _under(f"def {function}(t):", self._with_declarations(index, code)), function, "t"
        if site.container is Container.FUNCTION:
            signature = "t, parts" if with_parts else "t"
            code = self._with_declarations(index, code)
            self._before += [*_under(f"def {function}({signature}):", code), Line("")]
            return [], function, signature
        if site.container is Container.METHOD:
            code = self._with_declarations(index, code)
            self._methods += [*_under(f"def _{function}(self, t):", code), Line("")]
            return [], f"self._{function}", "t"
        return [], self._submodule(index, site, code), "t"

    def _submodule(self, index: int, site: Site, code: Lines) -> str:
        made = [
            (name, text, name in site.deed.buffers)
            for name, text in site.deed.parts.items()
            if self._case.owner is Owner.SELF
        ]
        forward = _under("def forward(self, t):", self._with_declarations(index, code))
        self._before += self._class(f"Inner{index}", made, forward)
        self._made.append(Line(f"self.inner{index} = Inner{index}()"))
        if site.container is Container.SUBMODULE:
            return f"self.inner{index}"
        mix = _under(f"def _mix{index}(self, t):", [Line(f"return self.inner{index}(t)")])
        self._methods += [*mix, Line("")]
        return f"self._mix{index}"

    def _with_declarations(self, index: int, code: Lines) -> Lines:
        return [*self._declared(index), *code]

    def _deed(self, index: int, site: Site) -> Lines:
        names = self._names(index, site.container)
        declared = self._declared(index) if site.deed.whole else []
        use = _code(site.deed.use, names)
        if site.deed.whole and declared:
            use = _declared_inside(use, declared)
        write = _code(site.deed.write, names)
        return [*self._guarded(index, site.guard, write), *use]

    def _guarded(self, index: int, guard: Guard, write: Lines) -> Lines:
        if not write or guard is Guard.NONE:
            return write
        if guard is Guard.EARLY:
            inner = [
                *self._declared(index),
                *_under("if remat.is_recomputing():", [Line("return")]),
                *write,
            ]
            return [*_under(f"def note{index}(t):", inner), Line(f"note{index}(t)")]
        if guard is Guard.NAME:
            return [Line("first = not remat.is_recomputing()"), *_under("if first:", write)]
        if guard is Guard.ELSE:
            return [*_under("if remat.is_recomputing():", [Line("pass")]), *_under("else:", write)]
        condition = "t.ndim == 2 and not" if guard is Guard.BOTH else "not"
        return _under(f"if {condition} remat.is_recomputing():", write)

    # -- the checkpoint

    def _hooks(self) -> tuple[str, str]:
        case = self._case
        text, made = hook_source(case.hook, case.style, case.streams, self._objects_of)
        if not made:
            return "", ""
        if case.style.value == "literal at the call":
            return text, f", recompute_state_hooks={made}"
        self._hook_made = f"HOOKS = {made}"
        return text, ", recompute_state_hooks=HOOKS"

    def _objects_of(self, stream: Stream) -> list[str]:
        """The objects of a stream, as the module level names them."""
        sites = enumerate(self._case.sites)
        return [
            self._object_of(index, site, OBJECTS[stream])
            for index, site in sites
            if site.deed.draws is stream
        ]

    def _object_of(self, index: int, site: Site, part: str) -> str:
        if self._case.owner is Owner.GLOBALS:
            return f"{part}_{index}".upper()
        if self._case.owner is not Owner.SELF:
            return f"PARTS.{part}_{index}"
        if self._in_a_submodule(site):
            return f"BLOCK.inner{index}.{part}"
        return f"BLOCK.{part}_{index}"

    def _block(self, body: Lines, options: str) -> Lines:
        case = self._case
        hooks = [Line(self._hook_made)] if "=HOOKS" in options else []
        decorator = [Line(f'@remat.checkpoint(region_name="r"{options})')]
        decorators = decorator if case.form is Form.DECORATED else []
        defined = self._module(body, decorators) if case.is_module else self._function(body, decorators)
        first = [*hooks, *defined] if case.form is Form.DECORATED else [*defined, *hooks]
        return [*first, Line(""), *self._step(options)]

    def _global_declarations(self) -> Lines:
        return [
            line
            for index, site in enumerate(self._case.sites)
            if site.container is Container.INLINE and not site.deed.whole
            for line in self._declared(index)
        ]

    def _module(self, body: Lines, decorators: Lines) -> Lines:
        made = self._constructions() if self._case.owner is Owner.SELF else []
        forward = [*decorators, *_under("def forward(self, t):", [*self._global_declarations(), *body])]
        block = self._class("Block", made, [*self._methods, *forward], self._made)
        two = self._case.form in (Form.LAYERS, Form.LAYERS_CALL)
        instance = "LAYERS = nn.ModuleList([Block(), Block()])" if two else "BLOCK = Block()"
        switched = "LAYERS.eval()" if two else "BLOCK.eval()"
        return [*block, Line(instance), *([Line(switched)] if self._case.evaluated else [])]

    def _function(self, body: Lines, decorators: Lines) -> Lines:
        owner = self._case.owner
        parts = self._constructions()
        signature = "t, parts" if owner is Owner.ARGUMENT and parts else "t"
        function = [*decorators, *_under(f"def block({signature}):", [*self._global_declarations(), *body])]
        if owner is Owner.CLOSURE and parts:
            made = [*_under("def make(parts):", [*function, Line("return block")]), Line("")]
            return [*made, Line("BLOCK = make(PARTS)")]
        if owner is Owner.NONLOCAL and parts:
            values = [Line(f"{name} = {text}") for name, text, _ in parts]
            made = [*_under("def make():", [*values, Line(""), *function, Line("return block")]), Line("")]
            return [*made, Line("BLOCK = make()")]
        return [*function, Line(""), Line("BLOCK = block")]

    def _step(self, options: str) -> Lines:
        form = self._case.form
        passed = "x, PARTS" if self._case.owner is Owner.ARGUMENT and self._constructions() else "x"
        applied = f'remat.checkpoint(region_name="r"{options})'
        text = (_TORCH_STEPS if form in OF_TORCH else _STEPS)[form]
        return _lines(
            textwrap.dedent(text).format(applied=applied, options=options, passed=passed).strip("\n")
        )


def _declared_inside(use: Lines, declared: Lines) -> Lines:
    """A whole deed's inner function declares the names that it assigns to."""
    at = next((place for place, line in enumerate(use) if line.text.startswith("def ")), None)
    return [*declared, *use] if at is None else [*use[: at + 1], *_indented(declared), *use[at + 1 :]]


def _does(site: Site) -> bool:
    return any(line.startswith(BLAME) for line in f"{site.deed.write}\n{site.deed.use}".splitlines())


_STEPS = {
    Form.CALL: """
        def step(x):
            return {applied}(BLOCK)({passed})
        """,
    Form.HELD: """
        run = {applied}(BLOCK)


        def step(x):
            return run({passed})
        """,
    Form.DECORATED: """
        def step(x):
            return BLOCK({passed})
        """,
    Form.PATCHED: """
        BLOCK.forward = {applied}(BLOCK.forward)


        def step(x):
            return BLOCK({passed})
        """,
    Form.LAYERS: """
        for layer in LAYERS:
            layer.forward = {applied}(layer.forward)


        def step(x):
            for layer in LAYERS:
                x = layer({passed})
            return x
        """,
    Form.LAYERS_CALL: """
        def step(x):
            for layer in LAYERS:
                x = {applied}(layer)({passed})
            return x
        """,
    Form.TWICE: """
        def step(x):
            for _ in range(2):
                x = {applied}(BLOCK)({passed})
            return x
        """,
    Form.PARTIAL: """
        applied = functools.partial(remat.checkpoint, region_name="r"{options})


        def step(x):
            return applied()(BLOCK)({passed})
        """,
    Form.HELPER: """
        def checkpointed(function, *args):
            return {applied}(function)(*args)


        def step(x):
            return checkpointed(BLOCK, {passed})
        """,
}
_TORCH_STEPS = {
    Form.TORCH: """
        def step(x):
            return checkpoint(BLOCK, {passed}, use_reentrant=False)
        """,
    Form.TORCH_NO_RNG: """
        def step(x):
            return checkpoint(BLOCK, {passed}, use_reentrant=False, preserve_rng_state=False)
        """,
    Form.TORCH_REENTRANT: """
        def step(x):
            return checkpoint(BLOCK, {passed}, use_reentrant=True)
        """,
    Form.TORCH_REENTRANT_NO_RNG: """
        def step(x):
            return checkpoint(BLOCK, {passed}, use_reentrant=True, preserve_rng_state=False)
        """,
    Form.SEQUENTIAL: """
        MODEL = nn.Sequential(BLOCK, nn.Identity())


        def step(x):
            return checkpoint_sequential(MODEL, 2, x, use_reentrant=False)
        """,
    Form.WRAPPER: """
        WRAPPED = checkpoint_wrapper(BLOCK)


        def step(x):
            return WRAPPED(x)
        """,
}
