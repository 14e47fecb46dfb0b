"""A69: names of torch_remat before 0.2 are said to be old, and not analysed."""

import torch_remat as remat


def forward(x, fn):
    y = remat.op(fn, "n", policy=remat.SAVE)(x)  # expect: RMT207
    return y + 1
