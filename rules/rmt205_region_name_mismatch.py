"""RMT205: the policy is asked about another name than the region's, or about one that it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, NameMismatch, UnregisteredName
from remat_lint.findings import Finding, Fix, Severity, Step
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import listed


class RegionNameMismatch(Rule):
    """## What it does
    Finds regions whose name comes from one method of an object and whose `recompute` comes from another
    method of the same object, each called with the local name of the region, where the two names are not
    the same: `self.remat_region_name("k")` with `self.remat_should_recompute("q")`.

    What the two methods are called does not matter; a variable between the call and the region is looked
    through. A variable that decides about several regions is left alone, and so are names that are
    computed.

    Also finds regions left to a policy whose name the class does not register: one that is not in its tuples
    `AVAILABLE_REMAT_SAVE_REGIONS` and `REQUIRED_REMAT_SAVE_REGIONS`, nor in those of a base, and one whose
    handle (`register_remat_region`) is made in a method and not in the body of a class.

    ## Why is this bad?
    It is a copy that was not changed everywhere. The policy decides about one region, and another one is
    saved or recomputed: nothing raises, and the region cannot be selected by its own name. A policy is made
    from the names that classes register: it never decides about another one.

    ## What to write instead
    The same local name in both calls, which the class registers. The fix writes the region's name into the
    call that decides.
    """

    code = "RMT205"
    name = "region-name-mismatch"
    severity = Severity.WARNING
    fix = "safe"
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
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Wave(nn.Module):
                AVAILABLE_REMAT_SAVE_REGIONS = ("sine",)

                def should_recompute_remat_region(self, local):
                    return local not in self.AVAILABLE_REMAT_SAVE_REGIONS

                def forward(self, x):
                    again = self.should_recompute_remat_region("sin")
                    return remat.region(torch.sin, "sin", recompute=again)(x)


            body = Wave()
            """,
            at=(14,),
        ),
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Module(nn.Module):
                recomputed = ("sine",)

                @staticmethod
                def register_remat_region(local):
                    return local

                def remat_should_recompute(self, local):
                    return local in self.recomputed


            class Wave(Module):
                def __init__(self):
                    super().__init__()
                    self.sine = Module.register_remat_region("sine")

                def forward(self, x):
                    again = self.remat_should_recompute(self.sine)
                    return remat.region(torch.sin, self.sine, recompute=again)(x)


            body = Wave()
            """,
            at=(24,),
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
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Module(nn.Module):
                recomputed = ("sine",)

                @staticmethod
                def register_remat_region(local):
                    return local

                def remat_should_recompute(self, local):
                    return local in self.recomputed


            class Wave(Module):
                sine = Module.register_remat_region("sine")

                def forward(self, x):
                    again = self.remat_should_recompute(self.sine)
                    return remat.region(torch.sin, self.sine, recompute=again)(x)


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
        for region in facts.of(UnregisteredName):
            made = (Step(region.made, "the handle is made here"),) if region.made is not None else ()
            yield self.at(region.place, _never_told(region), related=made)


def _never_told(region: UnregisteredName) -> str:
    if region.made is not None:
        return (
            f"the handle `{region.name}` of this region is made in a method: only an attribute of the class "
            "is registered, so no policy decides about the region. Make it in the body of the class."
        )
    return (
        f"region `{region.name}` is none of those that `{region.owner}` lists, {listed(region.listed)}: no "
        "policy decides about it. Write a name that is listed, or add this one to the list."
    )
