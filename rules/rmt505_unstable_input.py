"""RMT505: what may be another value on replay decides what checkpointed code computes."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Decides, ModuleFacts, UnstableInput, Unsteady
from remat_lint.findings import Finding, Place, Severity, Step
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import when_replayed

_DECIDES = {
    Decides.BRANCH: "decides which code runs",
    Decides.INDEX: "decides what is taken",
    Decides.VALUE: "goes into what is computed",
    Decides.SEED: "seeds a random state",
}


class UnstableInputRule(Rule):
    """## What it does
    Finds values that a replay reads anew and that decide what checkpointed code computes: the time, the
    environment, files, `id` and `hash` of objects that are made anew, threads, the memory in use, and
    globals that a function counts up or flips. A branch, the number of turns of a loop, an index, an
    operand of a tensor operation, or the seed of what is drawn from then on decides.

    Finds state as well that the code around a checkpoint sets to something else between its forward and
    backward: globals, attributes of objects and classes, context variables, items of containers. A loop that
    sets it anew for each layer does that, and so does the end of a `with` that puts it back.

    Silent where the value is only logged, measured or stored, where the branch does nothing else, and where
    it was read before the checkpoint began: when the module was loaded, by a constructor, by a caller that
    passes it in. Silent about state that is set before the first checkpoint only, that is set to an equal
    value or put back to the one that the forward found, and where backward comes before.

    ## Why is this bad?
    Autograd keeps the operations of the forward and fills in the tensors that the replay computes. Where
    the replay takes another branch, backward raises if it saves fewer tensors or other shapes; if they
    happen to fit, or only a factor differs, the gradients are silently wrong.

    ## What to write instead
    Read the value before the checkpoint and pass it to the checkpointed function as an argument, or keep
    it where the model is built.
    """

    code = "RMT505"
    name = "unstable-input"
    severity = Severity.WARNING
    grades = True
    fails = (
        Example(
            """
            import time

            import torch_remat as remat


            def body(x):
                y = x * (time.perf_counter() % 1.0)
                return y.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(7,),
            runtime="wrong-gradient",
        ),
        Example(
            """
            import torch_remat as remat


            class Schedule:
                def __init__(self):
                    self.noise = 1.0


            schedule = Schedule()


            def body(x):
                return (x * schedule.noise).sin()


            def run(x):
                for _ in range(2):
                    schedule.noise += 0.5
                    x = remat.checkpoint(region_name="layers")(body)(x)
                return x
            """,
            at=(13,),
            runtime="wrong-gradient",
        ),
    )
    passes = (
        Example(
            """
            import time

            import torch_remat as remat

            factor = time.perf_counter() % 1.0


            def body(x, factor):
                y = x * factor
                return y.sin()


            def run(x):
                return remat.checkpoint(region_name="layers.0")(body)(x, factor)
            """
        ),
        Example(
            """
            import torch_remat as remat


            class Schedule:
                def __init__(self):
                    self.noise = 1.0


            schedule = Schedule()


            def body(x, noise):
                return (x * noise).sin()


            def run(x):
                for _ in range(2):
                    schedule.noise += 0.5
                    x = remat.checkpoint(region_name="layers")(body)(x, schedule.noise)
                return x
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each value, where it first decides."""
        for one in facts.of(UnstableInput):
            if one.written is not None:
                yield self._of_caller(one, one.written)
                continue
            surely = one.unsteady is Unsteady.TIME and one.replayed.certain
            is_known = surely and one.replayed.assumed is None
            read = () if one.read == one.place else (Step(one.read, f"`{one.what}` is read {{here}}"),)
            yield self.at(
                one.place,
                f"`{one.what}` {_DECIDES[one.decides]} here, and {_differs(surely=surely)} "
                f"{when_replayed(one.replayed)}: {'' if surely else 'if it is, '}{_consequence(one)}. "
                "Read it before the checkpoint, and pass it in as an argument.",
                severity=Severity.ERROR if is_known else Severity.WARNING,
                related=read,
                chain=one.replayed.chain,
            )

    def _of_caller(self, one: UnstableInput, written: Place) -> Finding:
        """State is not what it was when the replay comes to it."""
        surely = one.replayed.certain
        return self.at(
            one.place,
            f"`{one.what}` {_DECIDES[one.decides]} here, and the code that calls the checkpoint "
            f"{'sets' if surely else 'may set'} it to something else between the forward and backward: "
            f"{_if_at_all(one)}the replay computes with another value, and "
            f"{_consequence(one)}. Pass it to the checkpointed function as an argument.",
            severity=Severity.ERROR if surely and one.reached else Severity.WARNING,
            related=(Step(written, f"`{one.what}` is set {{here}}"),),
            chain=one.replayed.chain,
        )


def _if_at_all(one: UnstableInput) -> str:
    if one.replayed.certain:
        return "" if one.reached else "if backward comes to this checkpoint, "
    return "if it does, "


def _differs(*, surely: bool) -> str:
    return "is another value" if surely else "may be another value"


def _consequence(one: UnstableInput) -> str:
    if one.decides is Decides.SEED:
        return "the replay draws other numbers, and the gradients are silently wrong"
    if one.decides is Decides.VALUE:
        return "the gradients are silently wrong"
    return "backward raises, or the gradients are silently wrong"
