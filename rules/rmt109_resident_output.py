"""RMT109: a bare read works only because the region's operation keeps its own output."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import BareRead, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import marker_to_write, what_is_read


class ResidentOutput(Rule):
    """## What it does
    Finds operations outside every region that read a saved output without a marker, where the
    operation that ends the region (`sigmoid`, `tanh`, `relu`, `exp`, `softmax`, `norm`, ...) keeps its
    own output for backward, so that it is there on replay after all.

    ## Why is this bad?
    It works by luck. The output is gone, and backward raises, as soon as the input needs no gradient,
    a saved-tensors hook is active around the block (offloading, for instance), the region runs under
    `no_grad`, or somebody puts another operation behind the last one of the region.

    ## What to write instead
    The marker, directly before the statement that reads. It costs nothing: the output is kept anyway.
    """

    code = "RMT109"
    name = "resident-output"
    severity = Severity.WARNING
    fix = "safe"
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                gate = remat.region(torch.sigmoid, "gate", recompute=False)(x)
                return x * gate
            """,
            at=(7,),
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                gate = remat.region(torch.sigmoid, "gate", recompute=False)(x)
                remat.recompute_needs_tensor(gate)
                return x * gate
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each statement that is the first to read on some path."""
        for read in facts.of(BareRead):
            if not read.resident:
                continue
            fix = Fix("edit-markers", read.insertion) if read.insertion is not None else None
            message = (
                f"{read.operation} reads {what_is_read(read)} without a marker. It works only because the "
                "last operation of the region keeps its own output for backward: under a saved-tensors hook, "
                f"or where the input needs no gradient, backward raises. {marker_to_write(read)}"
            )
            yield self.at(
                read.place,
                message[0].upper() + message[1:],
                fix=fix,
                related=tuple(dict.fromkeys(step for output in read.outputs for step in output.steps)),
                unfixable=read.obstacle,
            )
