"""What the source says of a class's regions: ``remat-lint manifest``, asked in a process of its own.

The checker knows nothing of the analyser; they meet in the manifest.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

from torch import nn

import remat_lint
from remat_lint.manifest import ManifestError, from_json
from remat_lint.runtime_check.agreement import Declared, entry_of
from remat_lint.runtime_check.errors import UsageError

NAME = "the source"
"""How a prediction is called beside the files of manifests."""


def predicted_class(kind: type[nn.Module]) -> Declared:
    """The entry that ``remat-lint manifest`` writes for a class.

    Raises:
        UsageError: where the class has no file, the analysis fails or shows no region of the class.
    """
    try:
        file = inspect.getfile(kind)
    except (OSError, TypeError) as error:
        raise UsageError(f"--against-source: {kind.__qualname__} has no source file") from error
    command = [sys.executable, "-m", "remat_lint", "manifest", file]
    # A checkout that is not installed is found from any folder that way.
    paths = [str(Path(remat_lint.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines() or ["no reason given"]
        raise UsageError(f"--against-source: remat-lint manifest {file} failed: {reason[-1]}")
    try:
        manifest = from_json(done.stdout)
    except ManifestError as error:
        raise UsageError(f"--against-source: {error}") from error
    return entry_of(manifest, f"{kind.__module__}.{kind.__qualname__}", NAME, "--against-source")
