"""Two ranks under torchrun: one that does something else, hangs or dies is named, and nothing hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

REPOSITORY = Path(__file__).resolve().parents[2]

MODEL = """
import os
import random
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
        out = self.region(self.w2, "ffn.w2")(hidden)
        out = self.region(Summed.apply, "ffn.tp_reduce")(out)
        remat.recompute_needs_tensor(out)
        if FAULT == "random on one rank" and IS_ODD:
            out = out * random.random()
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
            "--json",
            "record.json",
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
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_rank_is_named_and_all_ranks_leave(fault: str, tmp_path: Path) -> None:
    output, status = under_torchrun(tmp_path, fault)
    assert status != 0
    for expected in FAULTS[fault]:
        assert output.count(expected) >= 1, output
    assert "exitcode  : 4" in output, output
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["exit_status"], record["ranks"]["agree"]) == ("ranks differ", 4, False)
    assert record["ranks"]["suspects"] == ([1] if fault in NAMES_A_RANK else [])
    assert record["ranks"]["findings"][0] in output


NAMES_A_RANK = ("stuck", "stuck in backward", "dead")
"""Of two ranks that differ, none has the majority."""


@pytest.mark.slow
def test_a_right_program_holds_on_two_ranks_and_is_reported_once(tmp_path: Path) -> None:
    output, status = under_torchrun(tmp_path, "none")
    assert status == 0, output
    assert output.count("Holds bit for bit") == 1, output
    assert "all ranks of a group did the same. Groups: [0, 1]" in output
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["ranks"]["agree"]) == ("holds", True)


@pytest.mark.slow
def test_the_worst_rank_decides_and_its_report_is_the_one_that_is_shown(tmp_path: Path) -> None:
    output, status = under_torchrun(tmp_path, "random on one rank")
    assert status != 0
    assert "exitcode  : 1" in output, output
    assert "    rank 0: exit status 0\n    rank 1: exit status 1\n" in output, output
    assert output.count("Broken under") == 1, output
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["exit_status"]) == ("broken", 1)
    assert record["ranks"]["findings"] == ["rank 0: exit status 0", "rank 1: exit status 1"]
    assert "Holds bit for bit" not in output


@pytest.fixture
def group_of_one() -> Iterator[None]:
    dist = torch.distributed
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group_of_one")
def test_collectives_are_named_as_users_call_them_and_not_changed() -> None:
    import torch.distributed._functional_collectives as functional

    from remat_lint.runtime_check.collectives import Collectives

    dist, found = torch.distributed, []
    tensor = torch.ones(2, 4)
    with Collectives(found.append) as mode:
        dist.all_reduce(tensor)
        dist.barrier()
        dist.broadcast(tensor, 0)
        dist.all_gather([torch.empty(2, 4)], tensor)
        total = functional.all_reduce(tensor, "sum", dist.group.WORLD) * 2
    assert found[:4] == [
        "all_reduce float32[2, 4] over 1 ranks",
        "barrier over 1 ranks",
        "broadcast float32[2, 4] over 1 ranks",
        "all_gather float32 over 1 ranks",
    ]
    assert [name.partition(" ")[0] for name in found[4:]] == ["all_reduce"]
    assert torch.equal(total, torch.full((2, 4), 2.0))
    assert mode.operations > len(found)


def test_a_process_that_is_alone_has_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    from remat_lint.runtime_check.ranks import joined

    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as guard:
        assert guard is None
    assert not torch.distributed.is_initialized()


def test_an_environment_without_a_store_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from remat_lint.runtime_check.errors import UsageError
    from remat_lint.runtime_check.ranks import joined

    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with (
        pytest.raises(UsageError, match=r"RANK, MASTER_ADDR, MASTER_PORT is not: start .* torchrun"),
        joined(),
    ):
        pass
