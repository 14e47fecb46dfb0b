"""What a check ran on, and what its word is worth there."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

_PRESSURE = Path("/proc/pressure/cpu")


class Evidence(str, Enum):
    """How far a check went: what it says something about."""

    STRUCTURE = "structure"
    SHIM = "shim"
    CPU_BITWISE = "cpu_bitwise"
    CUDA_BITWISE = "cuda_bitwise"
    CUDA_BENCHMARK = "cuda_benchmark"

    @property
    def meaning(self) -> str:
        """A sentence for people; where no values were compared, it says that."""
        return _MEANING[self]


_MEANING = {
    Evidence.STRUCTURE: (
        "Only names, order and counts of regions were seen. No values were compared,"
        " so nothing here says that values are equal."
    ),
    Evidence.SHIM: "Values were compared bit for bit on the CPU, with stand-ins for torch's placeholders.",
    Evidence.CPU_BITWISE: "Values were compared bit for bit on the CPU.",
    Evidence.CUDA_BITWISE: "Values were compared bit for bit on CUDA.",
    Evidence.CUDA_BENCHMARK: "Values were compared bit for bit on CUDA, and steps were timed there.",
}

METADATA_ONLY = (
    "torch's own determinism check compares shapes and types. That it passes says nothing about values."
)


@dataclass(frozen=True)
class CpuPressure:
    """Share of the last 10, 60 and 300 seconds in which something waited for a CPU, in percent."""

    avg10: float
    avg60: float
    avg300: float


@dataclass(frozen=True)
class Environment:
    """Versions, machine and settings that results and times depend on.

    ``placeholders`` is ``real`` or ``stand-in``; ``cpu_pressure`` is None where the system does not tell.
    """

    remat_lint: str | None
    torch: str
    torch_remat: str | None
    python: str
    platform: str
    device: str
    device_name: str | None
    threads: int
    float32_matmul_precision: str
    cudnn_allows_tf32: bool
    deterministic_algorithms: bool
    cudnn_benchmark: bool
    placeholders: str
    cpu_pressure: CpuPressure | None


def environment(device: str, *, uses_stand_ins: bool) -> Environment:
    """What is so now, for a check on ``device``."""
    on_cuda = torch.device(device).type == "cuda"
    return Environment(
        remat_lint=_version("remat-lint"),
        torch=torch.__version__,
        torch_remat=_version("torch-remat"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        device=device,
        device_name=torch.cuda.get_device_name(torch.device(device)) if on_cuda else None,
        threads=torch.get_num_threads(),
        float32_matmul_precision=torch.get_float32_matmul_precision(),
        cudnn_allows_tf32=bool(torch.backends.cudnn.allow_tf32),
        # On CUDA the bench turns the one on and the other off while it runs.
        deterministic_algorithms=on_cuda or torch.are_deterministic_algorithms_enabled(),
        cudnn_benchmark=not on_cuda and bool(torch.backends.cudnn.benchmark),
        placeholders="stand-in" if uses_stand_ins else "real",
        cpu_pressure=cpu_pressure(),
    )


def cpu_pressure() -> CpuPressure | None:
    """The line ``some`` of ``/proc/pressure/cpu``; None where there is no such file."""
    try:
        lines = _PRESSURE.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    some = next((line.split()[1:] for line in lines if line.startswith("some ")), [])
    shares = dict(field.split("=", 1) for field in some)
    try:
        return CpuPressure(*(float(shares[name]) for name in ("avg10", "avg60", "avg300")))
    except KeyError:
        return None


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
