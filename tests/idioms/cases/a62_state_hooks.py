"""A62: a hook for the generator covers a draw, a hook for something else does not."""

import torch
import torch.nn.functional as F
import torch_remat as remat


class RngHook:
    def snapshot(self):
        return torch.get_rng_state()

    def restore(self, state):
        torch.set_rng_state(state)


class MeshHook:
    mesh = None

    def snapshot(self):
        return self.mesh

    def restore(self, state):
        self.mesh = state


def hooked(x):
    return F.dropout(x, 0.5).sin()


def unhooked(x):
    return F.dropout(x, 0.5).sin()  # expect: RMT403


def run_hooked(x):
    """runtime: ok"""
    return remat.checkpoint(region_name="block", recompute_state_hooks=(RngHook(),))(hooked)(x)


def run_mesh_only(x):
    """runtime: wrong-gradient"""
    return remat.checkpoint(region_name="block", recompute_state_hooks=(MeshHook(),))(unhooked)(x)
