"""A63: saved tensors are offloaded by hooks around the checkpoint; under compile they are not supported."""

import torch
import torch_remat as remat


def to_cpu(t):
    return t.cpu()


def to_gpu(t):
    return t


def body(x):
    return x.sin() * 2


def run_offloaded(x):
    """runtime: ok"""
    with remat.saved_tensors_hooks(to_cpu, to_gpu):
        return remat.checkpoint(region_name="blk")(body)(x)


@torch.compile
def compiled(x):
    return remat.checkpoint(region_name="blk", saved_tensors_hooks=(to_cpu, to_gpu))(body)(x)  # expect: RMT303
