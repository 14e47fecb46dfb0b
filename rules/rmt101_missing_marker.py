"""RMT101: a saved output is read by a bare operation without a marker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint.analysis.facts import BareRead, Kept, ModuleFacts, Output
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule


class MissingMarker(Rule):
    """## What it does
    Finds operations outside every region that read the output of a region which may be skipped on
    replay (`recompute=False`, or a `recompute=` that a policy decides), where no
    `remat.recompute_needs_tensor(...)` asked for that output on every path.

    ## Why is this bad?
    On replay a saved region is skipped. Its output is an empty placeholder, unless a marker, or a
    `recompute=True` region that takes the output as an argument, made the region persist it. The
    forward passes; backward raises, and only under a policy that saves the region. Views and
    metadata (`y.view(...)`, `y.shape`) need no marker, but a view is as empty as its output.

    ## What to write instead
    The marker, directly before the statement that reads: on the consumer's side, so that the output
    is kept only where it is needed. A marker on any view serves all that shares the storage.
    """

    code = "RMT101"
    name = "missing-marker"
    severity = Severity.ERROR
    fixable = True
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                both = remat.region(lambda t: t * 2, "w13", recompute=False)(x)
                gate, up = both.chunk(2, dim=-1)
                return F.silu(gate) * up
            """,
            at=(8,),
            runtime="placeholder",
        ),
    )
    passes = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                both = remat.region(lambda t: t * 2, "w13", recompute=False)(x)
                gate, up = both.chunk(2, dim=-1)
                remat.recompute_needs_tensor(gate, up)
                return F.silu(gate) * up
            """
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                return remat.region(F.silu, "act", recompute=True)(y)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each statement that is the first to read on some path."""
        for read in facts.of(BareRead):
            fix = Fix("insert-marker", read.insertion) if read.insertion is not None else None
            steps = tuple(dict.fromkeys(step for output in read.outputs for step in output.steps))
            yield self.at(
                read.place,
                _message(read),
                severity=Severity.ERROR if read.certain else Severity.WARNING,
                fix=fix,
                related=steps,
                unfixable=read.obstacle,
            )


def _message(read: BareRead) -> str:
    names = _listed([f"`{output.name}`" for output in read.outputs])
    several = len(read.outputs) > 1
    reads = f"{read.operation} reads {names}" if read.certain else f"{read.operation} may copy, and so read, {names}"
    regions = _listed(list(dict.fromkeys(f"`{output.region}`" for output in read.outputs)))
    one_region = regions.count("`") == 2
    what = f"the {'outputs' if several else 'output'} of region{'' if one_region else 's'} {regions}"
    when = "is" if one_region else "are"
    saved = all(output.kept is Kept.SAVE for output in read.outputs)
    condition = "" if saved else f" Where the policy saves {'it' if one_region else 'them'},"
    placeholder = "placeholders" if several else "an empty placeholder"
    return (
        f"{reads}, {what}, without a marker.{condition or ' On replay'}"
        f"{' ' if condition else ' '}the region{'' if one_region else 's'} {when} skipped"
        f"{' on replay' if condition else ''}, {'they are' if several else 'it is'} {placeholder}, "
        f"and backward raises here. Write `remat.recompute_needs_tensor({_arguments(read.outputs)})` before it."
    )


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _arguments(outputs: Sequence[Output]) -> str:
    return ", ".join(output.name for output in outputs)
