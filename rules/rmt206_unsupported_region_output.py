"""RMT206: a region's function returns something that torch_remat does not take."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RegionOutput
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class UnsupportedRegionOutput(Rule):
    """## What it does
    Finds regions whose function returns a dict, a container inside a container, a set, a generator, an
    object, a number, a string or nothing, as far as the function can be seen. A new tensor that requires
    grad (a parameter, or `torch.zeros(..., requires_grad=True)`) is no result of a region either.

    ## Why is this bad?
    Under a checkpoint torch_remat raises `RuntimeError` in the forward: it takes a tensor, or a tuple or
    list (a `NamedTuple` too) of tensors and `None`.

    ## What to write instead
    Return the tensors in a flat tuple, and put them into other containers outside the region. Numbers
    and sizes can be worked out outside as well: they need no marker.
    """

    code = "RMT206"
    name = "unsupported-region-output"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                packed = remat.region(lambda t: {"y": t * 2}, "pack", recompute=True)(x)
                return packed["y"]
            """,
            at=(5,),
            runtime="must return a Tensor",
        ),
        Example(
            """
            import torch_remat as remat


            def halves(x):
                return x * 2, x.shape[0]


            def body(x):
                y, size = remat.region(halves, "halves", recompute=True)(x)
                return y * size
            """,
            at=(9,),
            runtime="must return a Tensor",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y, bias = remat.region(lambda t: (t * 2, None), "pack", recompute=True)(x)
                return {"y": y, "bias": bias}["y"]
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each region call."""
        for place, output in {output.place: output for output in facts.of(RegionOutput)}.items():
            yield self.at(
                place,
                f"region `{output.region}` returns {output.what}: under a checkpoint torch_remat raises in "
                "the forward. Return a tensor, or a flat tuple or list of tensors and `None`.",
            )
