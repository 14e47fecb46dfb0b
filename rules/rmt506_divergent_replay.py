"""RMT506: a guard on the phase changes what is computed, not only what is recorded."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Divergence, DivergentReplay, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import when_replayed


class DivergentReplayRule(Rule):
    """## What it does
    Finds guards on `remat.is_recomputing()` that change what is computed: a name that stands for something
    else on replay and is used afterwards, a function that returns something else on replay, an operation
    with gradients that runs in one of the two phases only, or is given something else.

    Silent where both arms compute the same, whatever they record beside it, and where the replay does more
    only after everything that keeps tensors for backward.

    ## Why is this bad?
    The replay refills the tensors that the forward saved, in order. With other values the gradients are
    silently wrong; with another number of tensors backward raises `CheckpointError`.

    ## What to write instead
    Compute the same in both phases, and guard only what is recorded. What is computed for a record only
    goes under `torch.no_grad()`.
    """

    code = "RMT506"
    name = "divergent-replay"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                if not remat.is_recomputing():
                    x = x * 2
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(6,),
            runtime="wrong-gradient",
        ),
        Example(
            """
            import torch_remat as remat

            NORMS = []


            def body(x):
                if not remat.is_recomputing():
                    NORMS.append(x.norm().item())
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(8,),
            runtime="A different number of tensors",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                x = x * 2
                if not remat.is_recomputing():
                    print(x.shape)
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
        Example(
            """
            import torch
            import torch_remat as remat

            NORMS = []


            def body(x):
                if not remat.is_recomputing():
                    with torch.no_grad():
                        NORMS.append(x.norm().item())
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each statement."""
        found = {divergent.place: divergent for divergent in facts.of(DivergentReplay)}
        for divergent in found.values():
            is_known = divergent.replayed.certain and divergent.replayed.assumed is None
            yield self.at(
                divergent.place,
                _message(divergent),
                severity=Severity.ERROR if is_known else Severity.WARNING,
                chain=divergent.replayed.chain,
            )


_SAME = "Compute the same in both phases, and guard only what is recorded."


def _message(divergent: DivergentReplay) -> str:
    what, when = f"`{divergent.what}`", when_replayed(divergent.replayed)
    certain = divergent.replayed.certain
    gradients = "" if certain else "if its result has gradients, "
    match divergent.divergence:
        case Divergence.NAME:
            differs = "is something else" if certain else "may be something else"
            return (
                f"{what} {differs} {when}: {'' if certain else 'if it is, '}the forward's operations get "
                f"other values for backward, and the gradients are wrong. {_SAME}"
            )
        case Divergence.RESULT:
            differs = "returns something else" if certain else "may return something else"
            return (
                f"{what} {differs} {when}: {'' if certain else 'if it does, '}the forward's operations get "
                f"other values for backward, or another number of them. {_SAME}"
            )
        case Divergence.OPERATION:
            return (
                f"{what} keeps tensors for backward, and does not run {when}: {gradients}another number of "
                "tensors is saved, and backward raises. Compute the same in both phases; what is only "
                "recorded goes under `torch.no_grad()`."
            )
        case Divergence.REPLAY_OPERATION:
            return (
                f"{what} keeps tensors for backward, and runs only {when}: {gradients}backward takes them "
                "for those of the forward, and raises or is wrong. Compute the same in both phases."
            )
        case Divergence.OPERAND:
            return (
                f"{what} keeps tensors for backward, and is given something else {when}: "
                f"{gradients}the gradients are wrong. {_SAME}"
            )
