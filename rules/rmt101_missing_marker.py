"""RMT101: a saved output is read by a bare operation without a marker."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import BareRead, Kept, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import marker_to_write, what_is_read


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
    grades = True
    fix = "safe"
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
            if read.resident:
                continue
            fix = Fix("edit-markers", read.insertion) if read.insertion is not None else None
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
    verb = "reads" if read.certain else "may read"
    what = f"{read.operation} {verb} {what_is_read(read)} without a marker."
    text = f"{what} {_failure(read)} {marker_to_write(read)}"
    return text[0].upper() + text[1:]


def _failure(read: BareRead) -> str:
    several = len({output.region for output in read.outputs}) > 1
    left = "empty placeholders" if len(read.outputs) > 1 else "an empty placeholder"
    skips = f"replay skips the region{'s' if several else ''} and leaves {left}: backward raises here"
    skips += "." if read.certain else " if it does."
    if all(output.kept is Kept.SAVE for output in read.outputs):
        return skips[0].upper() + skips[1:]
    return f"Under a policy that saves {'them' if several else 'it'}, {skips}"
