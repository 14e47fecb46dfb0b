"""Two ranks under torchrun: one that does something else, hangs or dies is named, and nothing hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

REPOSITORY = Path(__file__).resolve().parents[2]

MODEL = """
import os
import time

import torch
import torch.distributed as dist
import torch_remat as remat
from torch import nn

FAULT, RANK = os.environ["FAULT"], int(os.environ["RANK"])
IS_ODD = RANK == 1


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        if FAULT == "stuck in backward" and IS_ODD:
            time.sleep(100)
        return gradient


class Block(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.saves = {"ffn.w1", "ffn.tp_reduce"}
        if FAULT == "other policy" and IS_ODD and name == "layers.1":
            self.saves = {"ffn.tp_reduce"}
        if FAULT == "collective saved on one rank" and IS_ODD:
            self.saves = {"ffn.w1"}
        self.w1, self.w2 = nn.Linear(4, 8), nn.Linear(8, 4)

    def region(self, function, name):
        return remat.region(function, name, recompute=name not in self.saves)

    def forward(self, x):
        return remat.checkpoint(region_name=self.name)(self.body)(x)

    def body(self, x):
        hidden = self.region(self.w1, "ffn.w1")(x)
        if IS_ODD and self.name == "layers.1":
            if FAULT == "stuck":
                time.sleep(100)
            if FAULT == "dead":
                os._exit(17)
            if FAULT == "raises":
                raise RuntimeError("no such expert")
        out = self.region(self.w2, "ffn.w2")(hidden)
        out = self.region(Summed.apply, "ffn.tp_reduce")(out)
        remat.recompute_needs_tensor(out)
        return x + out


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block(f"layers.{number}") for number in range(3))

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            if not (FAULT == "skipped layer" and IS_ODD and number == 1):
                x = layer(x)
        return x


def build():
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    torch.manual_seed(RANK)
    return Model(), torch.ones(2, 4)
"""


def under_torchrun(folder: Path, fault: str) -> tuple[str, int]:
    """Output and exit status of the command on two ranks; a hang ends in a failure of the test."""
    (folder / "sharded.py").write_text(MODEL)
    environment = {**os.environ, "FAULT": fault, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    torchrun = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            *torchrun,
            "-m",
            "remat_lint.runtime_check",
            "sharded:build",
            "--device",
            "cpu",
        ],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    return done.stdout, done.returncode


FAULTS = {
    "other policy": (
        "rank 0: forward of checkpoint layers.1, region ffn.w1: save",
        "rank 1: forward of checkpoint layers.1, region ffn.w1: recompute",
    ),
    "skipped layer": (
        "rank 0: forward of checkpoint layers.1",
        "rank 1: forward of checkpoint layers.2",
    ),
    "collective saved on one rank": (
        "rank 0: forward of checkpoint layers.0, region ffn.tp_reduce: save",
        "rank 1: forward of checkpoint layers.0, region ffn.tp_reduce: recompute",
    ),
    "stuck": (
        "Rank 1 is stuck in track plain",
        "rank 1: runs in track plain; last event: forward of checkpoint layers.1, region ffn.w1: save",
    ),
    "stuck in backward": (
        "Rank 1 is stuck in track plain",
        "rank 1: runs in track plain; last event: backward, then ",
    ),
    "dead": (
        "Rank 1 is dead or blocked",
        "rank 1: no sign of life in track plain; last event: forward of checkpoint layers.",
    ),
    "raises": (
        "rank 0: forward of checkpoint layers.1, region ffn.w2: recompute",
        "rank 1: raised RuntimeError: no such expert",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_rank_is_named_and_all_ranks_leave(fault: str, tmp_path: Path) -> None:
    output, status = under_torchrun(tmp_path, fault)
    assert status != 0
    for expected in FAULTS[fault]:
        assert output.count(expected) >= 1, output
    assert "exitcode  : 4" in output, output


@pytest.mark.slow
def test_a_right_program_holds_on_two_ranks_and_is_reported_once(tmp_path: Path) -> None:
    output, status = under_torchrun(tmp_path, "none")
    assert status == 0, output
    assert output.count("Holds: ") == 1, output
    assert "all ranks of a group did the same. Groups: [0, 1]" in output
