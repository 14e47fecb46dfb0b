"""RMT107: a saved output reaches a replayed region where torch_remat cannot see it."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import HiddenDependency, Kept, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class HiddenDependencyRule(Rule):
    """## What it does
    Finds regions that run again on replay and read a saved output which they were not handed as an
    argument of their own, or one level deep in a tuple or list: it comes through a closure, a
    `functools.partial`, a bound method, a dict, an object or a nested container.

    ## Why is this bad?
    torch_remat makes a saved region persist what it sees a replayed region receive. It looks at the
    arguments, one hop deep. What is hidden from it stays an empty placeholder, and the replayed
    region raises in backward.

    ## What to write instead
    Pass the output as an argument, or mark it: `remat.recompute_needs_tensor(y)`.
    """

    code = "RMT107"
    name = "hidden-dependency"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "gate", recompute=False)(x)
                return remat.region(lambda t: t * y, "mul", recompute=True)(x)
            """,
            at=(6,),
            runtime="placeholder",
        ),
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "gate", recompute=False)(x)
                return remat.region(lambda t, d: t * d["y"], "mul", recompute=True)(x, {"y": y})
            """,
            at=(6,),
            runtime="placeholder",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "gate", recompute=False)(x)
                return remat.region(lambda t, gate: t * gate, "mul", recompute=True)(x, y)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each output that is hidden from a region."""
        for hidden in facts.of(HiddenDependency):
            output = hidden.output
            when = "On replay" if hidden.kept is Kept.RECOMPUTE else "Where the policy replays it,"
            yield self.at(
                hidden.place,
                f"region `{hidden.region}` reads `{output.name}`, an output of region `{output.region}`, "
                f"through {hidden.way}, where torch_remat does not see it. {when} it finds an empty "
                f"placeholder, and backward raises. Pass `{output.name}` as an argument, or write "
                f"`remat.recompute_needs_tensor({output.name})` before the call.",
                related=output.steps,
            )
