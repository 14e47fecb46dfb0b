"""RMT209: replay chooses again which elements are taken.

A code of its own, since nothing raises for certain and nobody can say from the source that the two choices
differ: a matter of policy for those who route, hence opt-in.
"""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Kept, ModuleFacts, ReplayedChoice
from remat_lint.findings import Finding, Severity, Step
from remat_lint.rule import Example, Rule


class ReplayedRouting(Rule):
    """## What it does
    Finds discrete choices (`topk`, `sort`, `argsort`, `argmax`, `argmin`, `max` and `min` along a dimension,
    `kthvalue`, `mode`, `median`, `multinomial`) that replay takes again: in a region with `recompute=True` or
    left to a policy, or outside of regions in code that declares regions or marks. They are reported where
    what they chose is an index, counts elements, or is read by Python. Opt-in: select it by its full code.

    It is silent where the choice is among the outputs of a `recompute=False` region, which replay finds
    unchanged. Comparisons, `searchsorted` and `bucketize` are no choices here: models compare whole numbers
    with them, which nothing rounds.

    ## Why is this bad?
    Numbers that are computed twice may differ in the last bit: kernels with atomic sums, or tuned anew, round
    differently. A choice between two that are almost equal then sends a token to another expert than in the
    forward. Other shapes raise in backward; equal ones give wrong gradients, and nothing says so.

    ## What to write instead
    Take the choice in a region of its own with `recompute=False`, and mark what it returns where bare
    operations read it. Indices are small.
    """

    code = "RMT209"
    name = "replayed-routing"
    severity = Severity.WARNING
    opt_in = True
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def route(x, save=False):
                score, chosen = x.softmax(-1).topk(2)
                return remat.region(torch.mul, "scale", recompute=not save)(x.gather(-1, chosen), score)


            body = route
            """,
            at=(6,),
        ),
        Example(
            """
            import torch_remat as remat


            def pick(x):
                return x[x.softmax(-1).sum(-1).argsort()]


            def body(x, save=False):
                return remat.region(pick, "pick", recompute=not save)(x) + 1
            """,
            at=(5,),
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat


            def pick(x):
                return x.softmax(-1).topk(2)


            def body(x):
                score, chosen = remat.region(pick, "pick", recompute=False)(x)
                remat.recompute_needs_tensor(score, chosen)
                return x.gather(-1, chosen) * score
            """
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                score = remat.region(torch.cos, "score", recompute=False)(x)
                remat.recompute_needs_tensor(score)
                return x.gather(-1, score.argmax(-1, keepdim=True))
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each operation that chooses."""
        reported = set()
        for choice in facts.of(ReplayedChoice):
            if choice.place in reported:
                continue
            reported.add(choice.place)
            yield self.at(
                choice.place,
                f"`{choice.operation}` chooses between elements, and replay chooses again{_where(choice)}. "
                "Where a kernel rounds differently the second time it may choose others: other shapes raise "
                "in backward, equal ones give wrong gradients. Choose in a region with `recompute=False`.",
                related=(Step(choice.use, "what it chose is taken here"),),
            )


def _where(choice: ReplayedChoice) -> str:
    if choice.kept is None:
        return ", outside of every region"
    when = "" if choice.kept is Kept.RECOMPUTE else " under a policy that recomputes it"
    return f", in region `{choice.region}`{when}"
