"""The record that describes one torch operation, and its vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Effect(str, Enum):
    """What the operation does with the data of its arguments."""

    VIEW = "view"
    """The result shares storage with its sources, and no data is read."""

    RESHAPE = "reshape"
    """A view, unless the layout of the source forces a copy, which reads."""

    CAST = "cast"
    """The source itself where dtype and device are equal already, else a copy, which reads."""

    DROPOUT = "dropout"
    """The source itself when not training or ``p == 0``, else reads and draws random numbers."""

    READ = "read"
    """Reads data; the result is new."""

    METADATA = "metadata"
    """Reads shape, dtype, device and the like, never data; the result holds none of the storage."""

    REGISTER = "register"
    """Touches no data and returns nothing, a handle or the tensor: hooks, ``requires_grad_``."""


class Layout(str, Enum):
    """What a view does to contiguity."""

    KEEPS = "keeps"
    """A contiguous tensor stays contiguous."""

    PERMUTES = "permutes"
    """Dimensions change places."""

    SLICES = "slices"
    """Contiguous where the first dimension is cut, not elsewhere."""

    BREAKS = "breaks"
    """Strides that a contiguous tensor does not have."""


class Result(str, Enum):
    """What comes back."""

    TENSOR = "tensor"
    TENSORS = "tensors"
    """A tuple or list of tensors."""

    VALUE = "value"
    """A number, bool, size, string, dtype: no tensor."""

    NONE = "none"
    SELF = "self"
    """The argument that the operation wrote to, or registered something on."""

    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Switch:
    """A parameter that decides whether an operation draws random numbers: not at the values of ``off``.

    Of a module it is one of its constructor, or ``training``. ``default`` is what it is where it is left out.
    """

    parameter: str
    default: object
    off: tuple[object, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Operation:
    """One function, method, attribute or module call.

    All names in ``sources``, ``metadata_only`` and ``writes`` are names of parameters; the
    receiver of a method is ``self``, the first argument of a function usually ``input``.
    """

    name: str
    effect: Effect
    result: Result
    layout: Layout | None = None
    """Of a VIEW only."""

    parameters: tuple[str, ...] = ()
    """In order, without the receiver. Where overloads differ: those of the one with most positions, then the
    names that only the others have. Empty where nothing is known."""

    constructor: tuple[str, ...] = ()
    """Of a module only: the parameters of its ``__init__``, where ``p`` and ``inplace`` are found."""

    sources: tuple[str, ...] = ()
    """The parameters whose storage the result of a VIEW, RESHAPE, CAST or DROPOUT shares."""

    metadata_only: tuple[str, ...] = ()
    """Parameters that may be tensors and whose data is never read."""

    writes: tuple[str, ...] = ()
    """Parameters that are changed in place, where they are given."""

    variadic: str | None = None
    """The parameter that takes all remaining positional arguments: ``tensors`` of ``meshgrid``."""

    draws: bool = False
    """Draws random numbers, with some arguments at least."""

    switches: tuple[Switch, ...] = ()
    """What switches that off, each alone."""

    draws_unless_given: str | None = None
    """A parameter that holds the random numbers where it is given: ``_random_samples``."""

    draws_like: str | None = None
    """Of a module only: the parameter of its constructor that is a module, which draws for it."""

    constructor_draws: bool = False
    """Of a module only: its weights are drawn when it is made."""

    keeps_output: bool = False
    """Autograd saves the result for backward, so a region that ends here persists it (SEMANTICS 1.6)."""

    keeps_output_if_tensor: str | None = None
    """The same, but only where this parameter is a tensor: the exponent of ``pow``."""

    keeps_results: tuple[int, ...] = ()
    """Of several results, the positions of those that autograd saves: ``(1,)``, the indices, for ``topk``."""

    keeps_order: bool = False
    """Of a READ only: dimensions of the result lie in memory as those of the operands do, so that the result
    of a transposed operand is not contiguous either."""

    indirect_inplace: str | None = None
    """A bool parameter (of a module: of its constructor) that makes it change its input and return it."""
