"""Calls functions of torch with a transposed matrix; says which results lie in memory as that does.

A script: nobody knows what calling everything leaves behind in torch, so it has a process of its own. Reads
``{namespace: [name, ...]}`` from standard input, writes the same for the named results, both as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")
import torch  # noqa: E402 - what it says of a missing numpy is silenced


def _arguments() -> list[tuple[Any, ...]]:
    t = (torch.rand(4, 6) + 0.1).t()
    index = torch.arange(6)
    return [
        (t,), (t, t), (t, 0.5), (t, t, t), (t, 0.1, 0.5), (t, 1), (t, -1), (t, (4,)), (t > 0.5, t, t),
        (t, 0, index), (t, 0, index[:, None].expand(6, 4)), (t, t > 0.5, 0.5),
    ]  # fmt: skip


def _outcome(namespace: str, name: str) -> Any:
    """What the first call that torch accepts gives."""
    if namespace == "torch.Tensor":
        function = getattr(torch.Tensor, name, None)
    else:
        function = getattr(importlib.import_module(namespace), name, None)
    for arguments in _arguments() if function is not None else ():
        try:
            return function(*arguments)
        except Exception:  # noqa: BLE001 - whatever it says of the wrong arguments
            continue
    return None


def _is_transposed(result: Any) -> bool:
    dense = isinstance(result, torch.Tensor) and result.layout is torch.strided
    return dense and result.shape == (6, 4) and not result.is_contiguous()


def _main() -> None:
    asked = json.load(sys.stdin)
    found = {
        space: [name for name in names if _is_transposed(_outcome(space, name))]
        for space, names in asked.items()
    }
    sys.stdout.write("\n" + json.dumps(found))


if __name__ == "__main__":
    _main()
