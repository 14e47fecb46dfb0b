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


    def unlisted(self, x):
        return remat.region(  # expect: RMT205
            self._mix, "mixed", recompute=self.should_recompute_remat_region("mixed")
        )(x)


class Later(Mixer):
    """A list of its own, and the names of its base."""

    REQUIRED_REMAT_SAVE_REGIONS = ["route", *("send", "receive")]

    def forward(self, x):
        x = remat.region(
            self._mix, self.remat_region_name("route"), recompute=self.should_recompute_remat_region("route")
        )(x)
        return remat.region(
            self._mix, self.remat_region_name("mix"), recompute=self.should_recompute_remat_region("mix")
        )(x)

    def of_no_policy(self, x):
        return remat.region(self._mix, "tail", recompute=False)(x)

    def of_a_longer_name(self, x):
        return remat.region(
            self._mix, "layers.mixer", recompute=self.should_recompute_remat_region("mix")
        )(x)

    def of_another_policy(self, x, policy):
        name = self.remat_region_name("mix")
        return remat.region(self._mix, name, recompute=policy.get("recompute_mix"))(x)

    def of_a_computed_name(self, x, stage):
        return remat.region(
            self._mix, f"mix.{stage}", recompute=self.should_recompute_remat_region(f"mix.{stage}")
        )(x)

    def unlisted_again(self, x):
        again = self.should_recompute_remat_region("root")
        return remat.region(self._mix, self.remat_region_name("root"), recompute=again)(x)  # expect: RMT205


class Open(Mixer):
    AVAILABLE_REMAT_SAVE_REGIONS = tuple(sorted(globals()))

    def forward(self, x):
        return remat.region(self._mix, "any", recompute=self.should_recompute_remat_region("any"))(x)


class Told(Mixer):
    def __init__(self):
        super().__init__()
        self.AVAILABLE_REMAT_SAVE_REGIONS = ("told",)

    def forward(self, x):
        return remat.region(self._mix, "told", recompute=self.should_recompute_remat_region("told"))(x)


MIXER = Mixer()


def body_mix(x):
    """runtime: ok"""
    return MIXER(x)


def body_unlisted(x):
    """runtime: ok"""
    return MIXER.unlisted(x)


def body_later(x):
    """runtime: ok"""
    return Later()(x)


def body_mix_read(x):
    """runtime: placeholder"""
    return MIXER(x) * 2  # expect: RMT101 insert: MIXER_out = MIXER(x); remat.recompute_needs_tensor(MIXER_out)
