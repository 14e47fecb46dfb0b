"""RMT105: something that is no tensor is marked."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Fate, Marker, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule


class MarkerNotATensor(Rule):
    """## What it does
    Finds arguments of `remat.recompute_needs_tensor(...)` that are a tuple, a list, a dict, `None`
    or a number.

    ## Why is this bad?
    The marker takes tensors only. Anything else raises `RuntimeError` in the forward, with a
    checkpoint and without one.

    ## What to write instead
    Unpack what holds the tensors: `remat.recompute_needs_tensor(*outputs)`; mark an optional output
    under `if output is not None:`.
    """

    code = "RMT105"
    name = "marker-not-a-tensor"
    severity = Severity.ERROR
    fix = "safe"
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                pair = remat.region(lambda t: (t * 2, t * 3), "pair", recompute=False)(x)
                remat.recompute_needs_tensor(pair)
                return pair[0] + pair[1]
            """,
            at=(6,),
            runtime="expects Tensor arguments",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                pair = remat.region(lambda t: (t * 2, t * 3), "pair", recompute=False)(x)
                remat.recompute_needs_tensor(*pair)
                return pair[0] + pair[1]
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each argument that is certainly no tensor."""
        for marker in facts.of(Marker):
            if marker.fate is not Fate.NO_TENSOR:
                continue
            yield self.at(
                marker.place,
                f"{marker.arguments[0]} is {marker.why}: `remat.recompute_needs_tensor` takes tensors only "
                f"and raises in the forward. {_advice(marker)}",
                fix=Fix("edit-markers", marker.edit) if marker.edit is not None else None,
            )


def _advice(marker: Marker) -> str:
    if marker.why in ("a tuple", "a list", "a generator"):
        return f"Unpack it: write `*` before {marker.arguments[0]}."
    if marker.why == "a dict":
        return f"Unpack its values: write `*{marker.arguments[0].strip('`')}.values()`."
    return "Mark the outputs of the region that are tensors, and nothing else."
