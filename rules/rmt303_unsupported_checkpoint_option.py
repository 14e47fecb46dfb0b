"""RMT303: an option that `remat.checkpoint` does not take."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import CheckpointOption, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class UnsupportedCheckpointOption(Rule):
    """## What it does
    Finds options of `remat.checkpoint` that raise: `preserve_rng_state=True`, a `determinism_check` that
    does not exist, `recompute_state_hooks` that is no tuple of objects, the options of
    `torch.utils.checkpoint` and unknown ones. Values that are not written literally are not judged.
    Hooks in a function under `torch.compile` are a warning.

    ## Why is this bad?
    `preserve_rng_state=True` raises `NotImplementedError`: torch would restore the random state at the
    start of the replay only, and what a skipped region drew would be missing. The others raise
    `TypeError` or `ValueError`, some of them only when the checkpoint runs. Under `torch.compile` hooks
    raise with `fullgraph=True`, and break the graph without it.

    ## What to write instead
    For random numbers, an object with `snapshot` and `restore`: `recompute_state_hooks=(RngHook(),)`.
    Leave out what torch_remat does not know.
    """

    code = "RMT303"
    name = "unsupported-checkpoint-option"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.checkpoint(region_name="block", preserve_rng_state=True)(torch.sin)(x)
            """,
            at=(6,),
            runtime="does not preserve torch's RNG state",
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.checkpoint(region_name="block", use_reentrant=False)(torch.sin)(x)
            """,
            at=(6,),
            runtime="unexpected keyword argument",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def block(x):
                return torch.sin(x)


            def step(x):
                return remat.checkpoint(region_name="block", determinism_check="default")(block)(x)


            body = block
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each option."""
        for option in facts.of(CheckpointOption):
            yield self.at(
                option.place,
                f"`{option.option}` {option.what}. {option.advice}",
                severity=None if option.certain else Severity.WARNING,
            )
