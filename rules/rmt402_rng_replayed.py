"""RMT402: random numbers are drawn in replayed code, and nothing restores their state."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Cover, ModuleFacts, RandomDraw, RandomKind, Replayer
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.random_states import harm, hook_to_write, rule_for, severity_of, what_draws


class RngReplayed(Rule):
    """## What it does
    Finds random numbers that are drawn in code which a checkpoint runs again, bare or in a RECOMPUTE
    region, where nothing restores the random state before: dropout in all its forms, `torch.rand` and its
    like, samples of distributions, initial weights, Python's `random`, `numpy.random`, generators of your
    own, and what comes from the operating system (`os.urandom`, `uuid4`, a generator without a seed).

    ## Why is this bad?
    `torch_remat` restores no random state by itself. The replay draws the next numbers of the stream
    instead of those of the forward: another dropout mask, other noise. Backward then multiplies with
    activations of a network that never ran. Nothing raises, and the gradients are wrong.

    `torch.utils.checkpoint` restores torch's default generators, and no others.

    Silent where the same numbers are drawn again: after a seed in the replayed code, or where the first
    draw is kept (`if self.noise is None: self.noise = torch.randn(...)`, `functools.cache`). A warning
    where the numbers decide no more than whether something is printed or counted.

    Modules draw in training only, as far as the linter sees it: one that a constructor puts into evaluation
    (`self.teacher = Teacher().eval()`) is said to stay there, unless a call of `train()` on the model is in
    view. A `model.train()` in another script does put it back into training, with its dropout. What must
    stay in evaluation is put there by an override of `train`.

    ## What to write instead
    A state hook (`remat.RecomputeStateHook`): any object with `snapshot` and `restore`, with nothing to
    inherit. `torch_remat` asks it for the state in the forward and gives it back before the replay.
    `torch.get_rng_state` and `torch.set_rng_state` are the CPU generator's: a hook for draws on a GPU takes
    those of `torch.cuda`, as below. Where there can be no hook (the operating system), or to be rid of the
    question: draw outside the checkpoint and pass the result in. A draw in a SAVE region runs once and is
    right, but what draws after it needs a hook all the same (RMT401).
    """

    code = "RMT402"
    name = "rng-replayed"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                return F.dropout(x, 0.5).sin()


            def run(x):
                return remat.checkpoint()(body)(x)
            """,
            at=(6,),
            runtime="wrong-gradient",
        ),
        Example(
            """
            import random
            from torch.utils.checkpoint import checkpoint


            def body(x):
                return (x * random.random()).sin()


            def run(x):
                return checkpoint(body, x, use_reentrant=False)
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
                return F.dropout(x, 0.5).sin()


            def run(x):
                return remat.checkpoint(recompute_state_hooks=(TorchRandomState(),))(body)(x)
            """
        ),
        Example(
            """
            import random
            from torch.utils.checkpoint import checkpoint


            def body(x, scale):
                return (x * scale).sin()


            def run(x):
                return checkpoint(body, x, random.random(), use_reentrant=False)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each draw."""
        for draw in facts.of(RandomDraw):
            if rule_for(draw) == self.code:
                yield self.at(
                    draw.place, _message(draw), severity=severity_of(draw), chain=draw.replayed.chain
                )


def _message(draw: RandomDraw) -> str:
    draws, wrong = what_draws(draw), harm(draw)
    outside = "raw outside the checkpoint and pass the result in."
    if draw.cover is Cover.ONE_PHASE:
        return (
            f"{draws}, but not in both the forward and the replay: what draws after it gets other numbers in "
            "the replay. Draw in both, or from a generator of its own."
        )
    if draw.random.kind is RandomKind.SYSTEM:
        return f"{draws}, whose numbers nobody can restore: {wrong}. D{outside}"
    if draw.replayed.by is Replayer.TORCH:
        return f"{draws}, which `torch.utils.checkpoint` does not restore: {wrong}. D{outside}"
    if draw.replayed.assumed is not None:
        wrong = f"{draws}. Unless the checkpoint that replays this has a state hook for that, {wrong}"
    elif draw.cover is Cover.SOMETIMES:
        return (
            f"{draws}, and a condition decides whether the checkpoint has the hook for that: {wrong}. "
            f"Give the hook in any case, or d{outside}"
        )
    elif draw.cover is Cover.UNKNOWN:
        wrong = f"{draws}, which nothing in view restores: {wrong}"
    else:
        wrong = f"{draws}, which no state hook restores: {wrong}"
    return f"{wrong}. {hook_to_write(draw.random)}, or d{outside}"
