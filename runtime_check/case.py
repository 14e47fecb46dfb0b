"""What is checked: a module, its inputs, a loss; and the factory that makes them.

A factory takes no argument and returns ``(module, inputs)`` or a ``Case``. ``inputs`` is a
tensor, a tuple or list of positional arguments, or a dict of keyword arguments.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from remat_lint.runtime_check.errors import UsageError, in_one_line

Factory = Callable[[], Any]


@dataclass
class Case:
    """One training step.

    Attributes:
        module: what is trained.
        args: its positional arguments.
        kwargs: its keyword arguments.
        loss: turns the module's output into a number; without it all floating outputs are summed up
            with fixed random weights.
        set_policy: called with the glob patterns of the regions to save, before each run, also before
            those without regions; with it, the module's own flags are taken as they are. Without it the
            check decides for every region whose ``recompute=`` is not a constant.
        step: replaces the call of the module and the loss: it gets the module and the arguments, and
            returns the number that backward starts from.
        layers: the path of the container of blocks, ``layers`` or ``model.layers``, where it is not to be
            found: the longest list of modules of one class.
        optimizer: makes the optimizer of ``--optimizer-step`` from the parameters; plain gradient descent
            without it.
    """

    module: nn.Module
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    loss: Callable[[Any], Tensor] | None = None
    set_policy: Callable[[tuple[str, ...]], None] | None = None
    step: Callable[..., Tensor] | None = None
    layers: str | None = None
    optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None


def load_factory(target: str) -> Factory:
    """The factory that ``package.module:name`` stands for.

    Raises:
        UsageError: where there is none.
    """
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(
            f"{target!r} names no factory: write package.module:factory, as in examples.llama.case:build"
        )
    if "/" in module_name or module_name.startswith(".") or module_name.endswith(".py"):
        raise UsageError(f"{module_name} is a file: write the module's name, as in examples.llama.case:build")
    value: Any = _import(module_name)
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise UsageError(_no_such_name(module_name, value, part))
        value = getattr(value, part)
    if not callable(value):
        raise UsageError(
            f"{target} is no function but {_described(value)}: name a factory that returns (module, inputs)"
        )
    factory: Factory = value
    return factory


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing and (name == missing or name.startswith(missing + ".")):
            raise UsageError(
                f"there is no module {missing} in the current folder or among the installed packages"
            ) from error
        raise UsageError(f"module {name} does not import: {in_one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"module {name} does not import: {in_one_line(error)}") from error


def _no_such_name(module_name: str, value: Any, part: str) -> str:
    close = difflib.get_close_matches(part, [name for name in dir(value) if not name.startswith("_")], 1)
    hint = f": did you mean {close[0]}?" if close else ""
    return f"module {module_name} has no attribute {part}{hint}"


def make_case(factory: Factory, target: str) -> Case:
    """Call the factory and make a case of what it returns.

    Raises:
        UsageError: where the factory raises, or returns something else than it should.
    """
    try:
        made = factory()
    except (Exception, SystemExit) as error:
        raise UsageError(f"factory {target} raised {in_one_line(error)}") from error
    if isinstance(made, Case):
        case = made
    elif isinstance(made, (tuple, list)) and len(made) == 2:
        case = _from_pair(made[0], made[1], target)
    else:
        raise UsageError(f"factory {target} returned {_described(made)}: return (module, inputs) or a Case")
    if not isinstance(case.module, nn.Module):
        raise UsageError(
            f"factory {target} returned {_described(case.module)} where the module should be:"
            " return (module, inputs) with an nn.Module in front"
        )
    if any(_is_compiled(part) for part in case.module.modules()):
        raise UsageError(
            f"factory {target} returned a compiled module: checkpoints in it are not seen, give an eager one"
        )
    if not callable(case.set_policy or len):
        raise UsageError(
            f"factory {target}: set_policy of a Case is {_described(case.set_policy)}, not a function"
        )
    if not isinstance(case.args, tuple) or not isinstance(case.kwargs, dict):
        raise UsageError(f"factory {target}: a Case takes args as a tuple and kwargs as a dict")
    return case


def _is_compiled(module: nn.Module) -> bool:
    """Does ``torch.compile`` stand around it, or ``Module.compile`` in it?"""
    is_wrapper = type(module).__module__.startswith("torch._dynamo")
    return is_wrapper or getattr(module, "_compiled_call_impl", None) is not None


def _from_pair(module: Any, inputs: Any, target: str) -> Case:
    if isinstance(inputs, Tensor):
        return Case(module, (inputs,))
    if isinstance(inputs, dict) and all(isinstance(key, str) for key in inputs):
        return Case(module, kwargs=inputs)
    if isinstance(inputs, (tuple, list)):
        return Case(module, tuple(inputs))
    raise UsageError(
        f"factory {target} returned {_described(inputs)} as inputs: return a tensor,"
        " a tuple of arguments, or a dict of keyword arguments"
    )


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"an object of type {type(value).__qualname__}"
