import torch_remat as remat

SEEN = []


def body(x):
    y = x.sin()
    # what came in
    if not remat.is_recomputing():
        SEEN.append(x.shape)  # its shape
        SEEN.append(x.dtype)
    if x.shape[0] > 1 and not remat.is_recomputing():
        SEEN.append(1)
    return y


def step(x):
    return remat.checkpoint(region_name="block")(body)(x)
