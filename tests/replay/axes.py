"""The choices that make a program: what it does, where, in whose state, under which checkpoint and hook."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.replay.deeds import OBJECTS, Deed, Stream


class Region(str, Enum):
    """What surrounds the deed."""

    BARE = "bare"
    RECOMPUTE = "recompute"
    SAVE = "save"
    POLICY = "policy"


class Container(str, Enum):
    """What the deed's code is written in."""

    INLINE = "inline"
    LOCAL = "local function"
    FUNCTION = "function"
    METHOD = "method"
    SUBMODULE = "submodule"
    TWO_CALLS = "submodule two calls away"
    LAMBDA = "lambda"
    DIRECT = "handed as it is"


class Flow(str, Enum):
    """The statement that the deed stands in."""

    STRAIGHT = "straight"
    LOOP = "loop"
    BRANCH = "branch"
    WITH = "with"
    TRY = "try"


class Guard(str, Enum):
    """How the deed is kept out of replay."""

    NONE = "no guard"
    IF = "if not"
    EARLY = "early return"
    NAME = "held in a name"
    ELSE = "else"
    BOTH = "and"


class Owner(str, Enum):
    """Where the parts of the deed are."""

    SELF = "self"
    MODULE = "attributes of a global"
    GLOBALS = "globals"
    ARGUMENT = "attributes of an argument"
    CLOSURE = "attributes of a closed-over object"
    NONLOCAL = "nonlocals"


class Form(str, Enum):
    """How the checkpoint is applied."""

    CALL = "call"
    HELD = "held"
    DECORATED = "decorated"
    PATCHED = "forward patched"
    LAYERS = "forward of layers patched"
    LAYERS_CALL = "layers called"
    TWICE = "one body twice"
    PARTIAL = "partial"
    HELPER = "helper"
    TORCH = "torch, not reentrant"
    TORCH_NO_RNG = "torch, random state not preserved"
    TORCH_REENTRANT = "torch, reentrant"
    TORCH_REENTRANT_NO_RNG = "torch, reentrant, random state not preserved"
    SEQUENTIAL = "torch, sequential"
    WRAPPER = "torch, wrapper"


OF_TORCH = (
    Form.TORCH,
    Form.TORCH_NO_RNG,
    Form.TORCH_REENTRANT,
    Form.TORCH_REENTRANT_NO_RNG,
    Form.SEQUENTIAL,
    Form.WRAPPER,
)
OF_MODULES = (Form.PATCHED, Form.LAYERS, Form.LAYERS_CALL, Form.SEQUENTIAL, Form.WRAPPER)
OF_TWO_LAYERS = (Form.LAYERS, Form.LAYERS_CALL, Form.TWICE)


class Hook(str, Enum):
    """What the checkpoint's hook covers."""

    NONE = "no hook"
    RIGHT = "right"
    WRONG = "for another generator"
    MESH = "for a mesh"
    HALF = "without restore"
    LIVE = "live reference"
    NOOP = "restores nothing"
    ENTERED = "context entered and never left"


class Style(str, Enum):
    """How the hook is written."""

    PLAIN = "plain"
    INHERITED = "inherited"
    SUPER = "super"
    COMPOSED = "composed"
    SEVERAL = "several"
    DICT = "dict of states"
    PROTOCOL = "protocol"
    STATIC = "static methods"
    LIST = "in a list"
    LITERAL = "literal at the call"
    TOGETHER = "one class for all"


class Consumer(str, Enum):
    """What reads the result at the end of the body."""

    SIN = "sin"
    RECOMPUTED = "recomputed region"
    SAVED = "saved region"


@dataclass(frozen=True)
class Site:
    """One deed in its place."""

    deed: Deed
    region: Region = Region.BARE
    container: Container = Container.INLINE
    flow: Flow = Flow.STRAIGHT
    guard: Guard = Guard.NONE


@dataclass(frozen=True)
class Case:
    """One program."""

    sites: tuple[Site, ...]
    owner: Owner = Owner.SELF
    form: Form = Form.CALL
    hook: Hook = Hook.NONE
    style: Style = Style.PLAIN
    consumer: Consumer = Consumer.SIN
    evaluated: bool = False
    """The model is switched to evaluation."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """What is drawn from and can be set back, each once."""
        drawn = (site.deed.draws for site in self.sites)
        quiet = (Stream.NOTHING, Stream.UNRESTORABLE)
        return tuple(dict.fromkeys(stream for stream in drawn if stream not in quiet))

    @property
    def is_module(self) -> bool:
        """The body is a module's forward."""
        return self.owner is Owner.SELF or self.form in OF_MODULES

    def __str__(self) -> str:
        sites = " then ".join(
            f"{s.deed} [{s.region.value}, {s.container.value}, {s.flow.value}, {s.guard.value}]"
            for s in self.sites
        )
        around = (self.owner, self.form, self.hook, self.style, self.consumer)
        evaluated = " | eval()" if self.evaluated else ""
        return f"{sites} | {', '.join(choice.value for choice in around)}{evaluated}"


def possible(case: Case) -> bool:
    """Whether the choices go together."""
    return _around_possible(case) and all(_site_possible(site, case) for site in case.sites)


def _around_possible(case: Case) -> bool:
    function_only = (Owner.ARGUMENT, Owner.CLOSURE, Owner.NONLOCAL)
    if case.form in OF_MODULES and case.owner in function_only:
        return False
    if case.form is Form.DECORATED and case.owner in (Owner.CLOSURE, Owner.NONLOCAL):
        return False
    if case.form in OF_TORCH and (case.hook is not Hook.NONE or case.consumer is not Consumer.SIN):
        return False
    if case.hook is Hook.NONE and case.style is not Style.PLAIN:
        return False
    if case.hook not in (Hook.NONE, Hook.RIGHT, Hook.WRONG) and case.style not in (
        Style.PLAIN,
        Style.LITERAL,
    ):
        return False
    objects = [stream for stream in case.streams if stream in OBJECTS]
    if objects and case.hook not in (Hook.NONE, Hook.WRONG, Hook.MESH) and not _reachable(case):
        return False
    if case.evaluated and not (case.owner is Owner.SELF and all(s.deed.in_training for s in case.sites)):
        return False
    return not (objects and case.hook is not Hook.NONE and case.style in (Style.STATIC, Style.TOGETHER))


def _reachable(case: Case) -> bool:
    """A hook can be given the object that is drawn from."""
    if case.owner is Owner.NONLOCAL:
        return False
    in_the_module = case.owner is Owner.SELF
    return not (in_the_module and case.form in (*OF_TWO_LAYERS, Form.DECORATED))


def _site_possible(site: Site, case: Case) -> bool:
    deed = site.deed
    in_region = site.region is not Region.BARE
    plain = site.flow is Flow.STRAIGHT and site.guard is Guard.NONE
    if deed.whole:
        return not in_region and site.container is Container.INLINE and plain
    if site.container is Container.INLINE and in_region:
        return False
    if site.container in (Container.METHOD, Container.SUBMODULE, Container.TWO_CALLS) and not case.is_module:
        return False
    if site.container is Container.FUNCTION and case.owner in (Owner.SELF, Owner.NONLOCAL) and deed.parts:
        return False
    if site.container is Container.LAMBDA and (deed.expression is None or (deed.rebound and not deed.write)):
        return False
    if site.container is Container.DIRECT and not deed.callable:
        return False
    return site.guard is Guard.NONE or bool(deed.write)
