"""RMT106: a saved output is changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import InPlaceWrite, Kept, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class SavedOutputModified(Rule):
    """## What it does
    Finds in-place changes (`y.add_(1)`, `y += x`, `y[:, 0] = 0`, `out=y`) of the output of a region
    which may be skipped on replay, or of a view of it.

    ## Why is this bad?
    What a saved region hands to the replay is the tensor that it returned in the forward. Changed
    meanwhile, it is another one: backward raises, or, where the change goes around autograd
    (`.data`), the gradients are silently wrong. A marker does not help.

    ## What to write instead
    The operation that returns a new tensor (`y = y + x`), or change a copy (`y.clone()`), or move
    the change into the region.
    """

    code = "RMT106"
    name = "saved-output-modified"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                y.add_(1.0)
                return y.sin()
            """,
            at=(7,),
            runtime="modified in-place",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return (y + 1.0).sin()
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each change."""
        for write in facts.of(InPlaceWrite):
            output = write.output
            when = "" if output.kept is Kept.SAVE else " where the policy saves the region"
            yield self.at(
                write.place,
                f"{write.operation} changes `{output.name}` in place, which region `{output.region}` keeps "
                f"for the replay: backward raises{when}, marker or not. "
                f"Change a copy (`{output.name}.clone()`), or use the operation that returns a new tensor.",
                related=output.steps,
            )
