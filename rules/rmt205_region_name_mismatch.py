"""RMT205: the helpers that name a region and decide about it were given different names."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, NameMismatch
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule


class RegionNameMismatch(Rule):
    """## What it does
    Finds regions whose name comes from one method of an object and whose `recompute` comes from another
    method of the same object, each called with the local name of the region, where the two names are not
    the same: `self.remat_region_name("k")` with `self.remat_should_recompute("q")`.

    What the two methods are called does not matter; a variable between the call and the region is looked
    through. A variable that decides about several regions is left alone, and so are names that are
    computed.

    ## Why is this bad?
    It is a copy that was not changed everywhere. The policy decides about one region, and another one is
    saved or recomputed: nothing raises, and the region cannot be selected by its own name.

    ## What to write instead
    The same local name in both calls. The fix writes the region's name into the call that decides.
    """

    code = "RMT205"
    name = "region-name-mismatch"
    severity = Severity.WARNING
    fixable = True
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Wave(nn.Module):
                def remat_region_name(self, local):
                    return f"wave.{local}"

                def remat_should_recompute(self, local):
                    return True

                def forward(self, x):
                    return remat.region(
                        torch.sin, self.remat_region_name("sin"), recompute=self.remat_should_recompute("cos")
                    )(x)


            body = Wave()
            """,
            at=(14,),
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Wave(nn.Module):
                def remat_region_name(self, local):
                    return f"wave.{local}"

                def remat_should_recompute(self, local):
                    return True

                def forward(self, x):
                    again = self.remat_should_recompute("both")
                    x = remat.region(torch.sin, self.remat_region_name("sin"), recompute=again)(x)
                    return remat.region(torch.cos, self.remat_region_name("cos"), recompute=again)(x)


            body = Wave()
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each region."""
        for pair in facts.of(NameMismatch):
            yield self.at(
                pair.place,
                f"this region is named after `{pair.name}`, and the policy is asked about `{pair.policy}`: "
                f"it decides about another region. Write `{pair.name}` in both calls.",
                fix=Fix("replace-code", pair.edit),
            )
