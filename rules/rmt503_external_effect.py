"""RMT503: what checkpointed code does outside the program, it does again on replay."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ExternalEffect, ModuleFacts, Touched
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import guard, how_to_do_it_once, when_replayed

_TWICE = {
    Touched.OUTPUT: "it prints twice per step",
    Touched.LOG: "it logs twice per step",
    Touched.METRIC: "the metric is recorded twice per step",
    Touched.FILE: "the file is changed twice per step",
    Touched.PROCESS: "the work is started twice per step",
    Touched.QUEUE: "the queue moves on twice per step",
    Touched.SOCKET: "it goes over the network twice per step",
    Touched.DEVICE: "it acts on the device twice per step",
}


class RepeatedEffect(Rule):
    """## What it does
    Finds effects outside the program in code that a checkpoint replays: `print`, logging by any logger,
    metrics (tensorboard, Weights & Biases, MLflow, ...), files that are written, moved or deleted
    (`torch.save`, `shutil.copy`, ...), other programs and threads that are started, queues, connections,
    and calls that make the program wait for the GPU (`torch.cuda.synchronize`), give back its memory
    (`torch.cuda.empty_cache`) or reset its statistics (`torch.cuda.reset_peak_memory_stats`).

    Silent are effects that nobody sees twice: in a region with `recompute=False`, under
    `if not remat.is_recomputing():`, through a file or queue that the same call made, on paths that end in
    an error, under a condition that they switch off themselves (`if not self.warned: ...`), once-only forms
    (`warnings.warn`, `logger.warning_once`), and debug messages of `logging`, which are off by default.

    ## Why is this bad?
    A checkpoint runs the code a second time in backward. Logs show two lines for one step, metrics count
    double, files grow twice as fast, and a queue hands out an item that the forward did not see.

    ## What to write instead
    Guard it with `if not remat.is_recomputing():`, move it out of the checkpointed code, or into a region
    with `recompute=False`, which runs once. Detach what is computed under the guard only
    (`y.detach().norm()`): with gradients it would save tensors that the replay lacks.
    `torch.utils.checkpoint` has no such guard: move it out of the checkpointed function.
    """

    code = "RMT503"
    name = "external-effect"
    severity = Severity.WARNING
    fix = "unsafe"
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = x.sin()
                print("mean", y.mean().item())
                return y * y


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(6,),
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = x.sin()
                if not remat.is_recomputing():
                    print("mean", y.mean().item())
                return y * y


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each call."""
        for effect in facts.of(ExternalEffect):
            runs, then = ("runs", "") if effect.replayed.certain else ("may run", "if it does, ")
            when, twice = when_replayed(effect.replayed), _TWICE[effect.touched]
            yield self.at(
                effect.place,
                f"`{effect.operation}` {runs} again {when}: {then}{twice}. {how_to_do_it_once(effect)}",
                fix=guard(effect),
                chain=effect.replayed.chain,
            )
