"""RMT403: a state hook does not restore what it takes, or not what is drawn from."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RandomDraw, StateHook
from remat_lint.findings import Finding, Place, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.random_states import harm, hook_to_write, rule_for, severity_of, what_draws


class IncompleteStateHook(Rule):
    """## What it does
    Finds state hooks that cannot work: without `snapshot` or `restore`, with a `restore` that does not use
    what it is given, sets no random state, seeds it, adds to it, puts it back as it was (as in `fork_rng`),
    or draws from it afterwards; and with a `snapshot` that returns the state itself instead of a copy, or a
    copy that is older. A hook that enters a context which it never leaves is a warning where it restores
    its state all the same, and so is one that restores it under some condition only. And it finds draws
    from a random state that none of the hooks of their checkpoint restores.

    ## Why is this bad?
    `torch_remat` calls `snapshot` in the forward and gives its result to `restore` before the replay,
    several times where there are SAVE regions, and again for each further backward. A method that is
    missing raises then. Everything else here leaves the state as it is, or sets it to that of another
    moment, such as what a later `snapshot` left in `self`: the replay draws other numbers, and the
    gradients are silently wrong. A hook restores its own state only: one for torch does nothing
    for Python's `random`, nor for a `torch.Generator` of your own.

    The states of GPUs are not that of the CPU. A hook for the one does nothing for the other, which is found
    where a draw says where it is (`torch.rand(4)`, `torch.rand(4, device="cuda")`). Dropout is where its
    input is, and nobody knows that here: either hook will do.

    ## What to write instead
    A hook (`remat.RecomputeStateHook`: any object with both methods, with nothing to inherit) for each state
    that is drawn from: `snapshot` returns a copy of the whole state, `restore` sets the state to it. On a
    GPU, torch's state is that of `torch.cuda.get_rng_state` and `torch.cuda.set_rng_state`.
    """

    code = "RMT403"
    name = "incomplete-state-hook"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import random
            import torch
            import torch_remat as remat


            class TorchRandomState:
                def snapshot(self):
                    return torch.get_rng_state()

                def restore(self, state):
                    torch.set_rng_state(state)


            def run(x):
                hooks = (TorchRandomState(),)
                return remat.checkpoint(recompute_state_hooks=hooks)(lambda t: (t * random.random()).sin())(x)
            """,
            at=(16,),
            runtime="wrong-gradient",
        ),
        Example(
            """
            import torch
            import torch.nn.functional as F
            import torch_remat as remat


            class TorchRandomState:
                def snapshot(self):
                    return torch.get_rng_state()


            def run(x):
                hooks = (TorchRandomState(),)
                return remat.checkpoint(recompute_state_hooks=hooks)(lambda t: F.dropout(t, 0.5).sin())(x)
            """,
            at=(13,),
            runtime="AttributeError",
        ),
    )
    passes = (
        Example(
            """
            import random
            import torch_remat as remat


            class PythonRandomState:
                def snapshot(self):
                    return random.getstate()

                def restore(self, state):
                    random.setstate(state)


            def run(x):
                hooks = (PythonRandomState(),)
                return remat.checkpoint(recompute_state_hooks=hooks)(lambda t: (t * random.random()).sin())(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for the hooks of each checkpoint, and for each draw."""
        hooks: dict[Place, list[StateHook]] = {}
        for hook in facts.of(StateHook):
            hooks.setdefault(hook.place, []).append(hook)
        for place, found in hooks.items():
            told = " ".join(f"state hook `{hook.hook}` {hook.what}. {hook.advice}" for hook in found)
            breaks = any(hook.breaks for hook in found)
            yield self.at(place, told, severity=Severity.ERROR if breaks else Severity.WARNING)
        for draw in facts.of(RandomDraw):
            if rule_for(draw) == self.code:
                yield self.at(
                    draw.place, _message(draw), severity=severity_of(draw), chain=draw.replayed.chain
                )


def _message(draw: RandomDraw) -> str:
    return (
        f"{what_draws(draw)}, which none of the checkpoint's state hooks restores: {harm(draw)}. "
        f"{hook_to_write(draw.random)}."
    )
