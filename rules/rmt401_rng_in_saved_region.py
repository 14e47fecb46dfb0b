"""RMT401: a SAVE region draws random numbers, and no state hook restores their state."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RandomDraw
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.random_states import harm, hook_to_write, rule_for, what_draws


class RngInSavedRegion(Rule):
    """## What it does
    Finds random numbers that are drawn in a SAVE region of a checkpoint without a state hook for them.

    ## Why is this bad?
    The region's own numbers are right: replay skips it, and its mask is kept. But replay skips its draws as
    well, so the random state is behind: whatever the replay draws after the region, from the same state, are
    other numbers than those of the forward. Draws that come later in the block are silently wrong (RMT402),
    today or once somebody adds one; as long as there are none, the gradients are right. In the example
    below, the second dropout gets another mask when it is replayed, and so the gradients are wrong.

    ## What to write instead
    A state hook (`remat.RecomputeStateHook`): any object with `snapshot` and `restore`, with nothing to
    inherit, in the tuple `recompute_state_hooks` of the checkpoint. `torch_remat` takes the state behind
    each SAVE region in the forward, and restores it where the replay skips the region.

    `torch.get_rng_state` and `torch.set_rng_state` are the CPU generator's. Numbers that are drawn on a GPU
    come from that of `torch.cuda`; the hook below restores both, and runs without a GPU, too.
    """

    code = "RMT401"
    name = "rng-in-saved-region"
    severity = Severity.WARNING
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: F.dropout(t, 0.5), "drop", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return F.dropout(y, 0.5).sin()


            def run(x):
                return remat.checkpoint()(body)(x)
            """,
            at=(6,),
            runtime="wrong-gradient",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch.nn.functional as F
            import torch_remat as remat


            class TorchRandomState:
                def snapshot(self):
                    return torch.get_rng_state(), torch.cuda.get_rng_state_all()

                def restore(self, state):
                    cpu, gpus = state
                    torch.set_rng_state(cpu)
                    torch.cuda.set_rng_state_all(gpus)


            def body(x):
                y = remat.region(lambda t: F.dropout(t, 0.5), "drop", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return F.dropout(y, 0.5).sin()


            def run(x):
                return remat.checkpoint(recompute_state_hooks=(TorchRandomState(),))(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each draw."""
        for draw in facts.of(RandomDraw):
            if rule_for(draw) == self.code:
                hooks = ", which no state hook restores:"
                if draw.replayed.assumed is not None:
                    hooks = ". Unless the checkpoint that replays this has a state hook for that,"
                yield self.at(
                    draw.place,
                    f"{what_draws(draw)}{hooks} {harm(draw)}. {hook_to_write(draw.random)}.",
                    chain=draw.replayed.chain,
                )
