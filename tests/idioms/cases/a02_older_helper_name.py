"""A02: older names of the helpers, and a tuple that lists the regions of a class."""

import torch_remat as remat
from blocks import Block


class Mixer(Block):
    AVAILABLE_REMAT_SAVE_REGIONS = ("mix",)

    def should_recompute_remat_region(self, name):
        return name not in self.AVAILABLE_REMAT_SAVE_REGIONS

    def _mix(self, x):
        return x.cumsum(-1)

    def forward(self, x):
        return remat.region(
            self._mix, "mix", recompute=self.should_recompute_remat_region("mix")
        )(x)


MIXER = Mixer()


def body_mix(x):
    """runtime: ok"""
    return MIXER(x)


def body_mix_read(x):
    """runtime: placeholder"""
    return MIXER(x) * 2  # expect: RMT101 insert: MIXER_out = MIXER(x); remat.recompute_needs_tensor(MIXER_out)
