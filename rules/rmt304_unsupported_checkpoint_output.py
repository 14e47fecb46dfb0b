"""RMT304: a checkpointed function returns something that torch_remat does not take."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import CheckpointOutput, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class UnsupportedCheckpointOutput(Rule):
    """## What it does
    Finds checkpoints, made in view, of functions that return a dict, a container inside a container, an
    object, a number, `None` or a `None` among tensors, as far as the function can be seen.

    ## Why is this bad?
    torch_remat raises `RuntimeError` in the forward: a checkpoint returns a tensor, or a tuple or list
    of tensors. Other than a region it cannot return `None`.

    ## What to write instead
    Return the tensors in a flat tuple, and build what the caller wants from them outside. An output that
    is not always there can be an empty tensor, or a second checkpointed function.
    """

    code = "RMT304"
    name = "unsupported-checkpoint-output"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                return {"y": x * 2}


            def step(x):
                return remat.checkpoint(region_name="block")(body)(x)["y"]
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
                return x * 2


            def step(x):
                return {"y": remat.checkpoint(region_name="block")(body)(x)}
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each checkpoint."""
        for place, output in {output.place: output for output in facts.of(CheckpointOutput)}.items():
            yield self.at(
                place,
                f"{output.function} returns {output.what}: as the result of a checkpoint that raises in "
                "the forward. Return a tensor, or a flat tuple or list of tensors.",
            )
