"""What the rules about state that is written twice have in common."""

from __future__ import annotations

from remat_lint.analysis.facts import Outcome, Replayer, StateWrite, Written
from remat_lint.findings import Severity
from remat_lint.rules.wording import how_to_do_it_once, when_replayed

TENSORS = frozenset([Written.BUFFER, Written.INPUT, Written.STATISTICS])
"""What RMT502 is about; RMT501 is about the rest."""

_WRONG = (Outcome.COMPUTED, Outcome.OUTDATED, Outcome.UNFILLED, Outcome.SKIPPED, Outcome.RAISES)


def severity(write: StateWrite) -> Severity:
    """An error where it is known that backward raises, or that the gradients are wrong."""
    is_known = write.replayed.certain and write.replayed.assumed is None
    return Severity.ERROR if write.outcome in _WRONG and is_known else Severity.WARNING


def maybe(write: StateWrite) -> str:
    """A word for what the analyser does not know."""
    return "" if write.replayed.certain else "perhaps "


def does(write: StateWrite, verb: str, base: str) -> str:
    """What the code does with the state: ``verb``, or ``base`` where that is not known."""
    return verb if write.replayed.certain else f"may {base}"


def then(write: StateWrite) -> str:
    """When a consequence comes about."""
    when = when_replayed(write.replayed)
    return when if write.replayed.certain else f"if it does, {when}"


def outdated(write: StateWrite) -> str:
    """What happens to what was computed with before only the forward wrote."""
    return (
        f"`{write.target}` {does(write, 'changes', 'change')} here, in the forward only, after it was "
        f"computed with: {then(write)}, it is what the last write left, and the gradients are wrong"
    )


def unfilled(write: StateWrite) -> str:
    """What happens to what only a saved region filled."""
    return (
        f"`{write.target}` {does(write, 'is', 'be')} changed in a saved region, and was made outside it: "
        f"{then(write)}, it is made anew, the region is skipped, and the gradients are "
        "wrong"
    )


def advice(write: StateWrite) -> str:
    """What to write instead."""
    match write.outcome:
        case Outcome.UNFILLED:
            return "Return it from the region."
        case Outcome.RAISES:
            return "Keep it until the step is done."
        case Outcome.SKIPPED:
            return "Compute it under `torch.no_grad()`, or before the checkpoint."
        case Outcome.COMPUTED if write.written is Written.ITERATOR:
            return "Take it before the checkpoint and pass it as an argument."
        case Outcome.COMPUTED | Outcome.OUTDATED | Outcome.SWITCHED:
            return f"{_ELSEWHERE}."
        case Outcome.REPLACED:
            return "Return it, and keep it outside the checkpointed code."
        case _ if write.read and write.replayed.by is not Replayer.TORCH:
            return (
                f"{_ELSEWHERE}: the code also reads it, and what is read before a guarded change is another "
                "value on replay."
            )
        case _:
            return how_to_do_it_once(write)


_ELSEWHERE = "Pass its value as an argument, and change it outside the checkpointed code"
