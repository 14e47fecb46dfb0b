"""RMT101: a saved output is read by a bare operation without a marker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint.analysis.facts import BareRead, Kept, ModuleFacts
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
    text = f"{read.operation} {_reads(read)} without a marker. {_failure(read)} {_advice(read)}"
    return text[0].upper() + text[1:]


def _reads(read: BareRead) -> str:
    """What is read: ``reads `gate` and `up`, outputs of region `w13`,``."""
    verb = "reads" if read.certain else "may read"
    regions = list(dict.fromkeys(output.region for output in read.outputs))
    origin = f"of region{'s' if len(regions) > 1 else ''} {_listed(regions)}"
    several = len(read.outputs) > 1
    names = [output.name for output in read.outputs if output.name]
    if not names:
        return f"{verb} the output{'s' if several else ''} {origin}"
    return f"{verb} {_listed(names)}, {'outputs' if several else 'an output'} {origin},"


def _failure(read: BareRead) -> str:
    several = len({output.region for output in read.outputs}) > 1
    left = "empty placeholders" if len(read.outputs) > 1 else "an empty placeholder"
    skips = f"replay skips the region{'s' if several else ''} and leaves {left}: backward raises here"
    skips += "." if read.certain else " if it does."
    if all(output.kept is Kept.SAVE for output in read.outputs):
        return skips[0].upper() + skips[1:]
    return f"Under a policy that saves {'them' if several else 'it'}, {skips}"


def _advice(read: BareRead) -> str:
    if read.insertion is None:
        return f"Write `remat.recompute_needs_tensor(...)` before it ({read.obstacle})."
    targets = read.insertion.targets
    marker = f"remat.recompute_needs_tensor({', '.join(target.expression for target in targets)})"
    unnamed = [target.expression for target in targets if target.hoist is not None]
    first = f"Give it a name first (`{unnamed[0]} = ...`), then write" if unnamed else "Write"
    return f"{first} `{marker}` before this statement."


def _listed(words: Sequence[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
