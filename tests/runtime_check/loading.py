"""Programs of these tests as packages of their own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded_alone(name: str) -> ModuleType:
    """The file of this name beside this one, as a package of its own.

    What a step may change outside its module is looked for in the package that the module comes from: in
    this folder's, that would be the globals of every test.
    """
    full = f"remat_check_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]
