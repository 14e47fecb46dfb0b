"""What a torch operation does with the data of its tensor arguments.

In: the name of a function, a method, an attribute or an ``nn`` module. Out: an ``Operation``,
or None where the table does not know the name. No torch is imported; the data are two files
beside this one, read at the first question:

* ``table.json`` is written by ``scripts/generate_torch_ops.py`` from PyTorch's operator schemas,
  signatures and tags. Every name of the public namespaces is in it; what a schema cannot say is
  READ there.
* ``corrections.py`` is hand-written: what no schema says, each with its reason. It wins.

    >>> method("transpose").layout
    <Layout.PERMUTES: 'permutes'>
    >>> function("torch.nn.functional.relu").indirect_inplace
    'inplace'
"""

from __future__ import annotations

from remat_lint.torch_ops.einsum import einsum_is_view
from remat_lint.torch_ops.loader import attribute, function, method, module
from remat_lint.torch_ops.operation import Effect, Layout, Operation, Result, Switch

__all__ = [
    "Effect",
    "Layout",
    "Operation",
    "Result",
    "Switch",
    "attribute",
    "einsum_is_view",
    "function",
    "method",
    "module",
]
