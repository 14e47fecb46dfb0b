"""What the rules about random numbers share: which of them reports a draw, and how it is told."""

from __future__ import annotations

from remat_lint.analysis.facts import Cover, Kept, Random, RandomDraw, RandomKind, Replayer
from remat_lint.findings import Severity

_STATES = {
    RandomKind.TORCH: "torch's random state",
    RandomKind.PYTHON: "the state of Python's `random`",
    RandomKind.NUMPY: "the state of `numpy.random`",
    RandomKind.SYSTEM: "the operating system",
}

_HOOKS = {
    RandomKind.TORCH: "`torch.get_rng_state()`",
    RandomKind.PYTHON: "`random.getstate()`",
    RandomKind.NUMPY: "`numpy.random.get_state()`",
}


def rule_for(draw: RandomDraw) -> str | None:
    """The code of the rule that reports a draw; None where the replay does it no harm."""
    kind = draw.random.kind
    if kind is RandomKind.SYSTEM:
        return None if _is_kept(draw) else "RMT402"
    if draw.cover is Cover.OTHER_HOOK:
        return "RMT403"
    if draw.cover is Cover.SWITCHED_OFF and kind is RandomKind.TORCH:
        return "RMT404"
    return "RMT401" if _is_kept(draw) else "RMT402"


def severity_of(draw: RandomDraw) -> Severity:
    """An error where a replay draws other numbers for certain."""
    replayed = draw.replayed
    is_run = replayed.inside is None or replayed.inside.kept is Kept.RECOMPUTE
    certain = replayed.certain and replayed.assumed is None and is_run
    return Severity.ERROR if certain else Severity.WARNING


def _is_kept(draw: RandomDraw) -> bool:
    """Whether the draw is in a region that no replay runs again."""
    return draw.replayed.inside is not None and draw.replayed.inside.kept is Kept.SAVE


def state_name(random: Random) -> str:
    """How a message calls a random state."""
    if random.kind is RandomKind.OBJECT:
        return f"the state of `{random.name}`" if random.name else "the state of its generator"
    return _STATES[random.kind]


def what_draws(draw: RandomDraw) -> str:
    """``F.dropout`` draws from torch's random state."""
    inside = draw.replayed.inside
    subject = f"`{draw.operation}`"
    if inside is not None and inside.place == draw.place:
        subject = f"region `{inside.region}`"
    verb = "draws" if draw.replayed.certain else "may draw"
    return f"{subject} {verb} from {state_name(draw.random)}"


def hook_to_write(random: Random) -> str:
    """What to write where a hook can help."""
    if random.kind is RandomKind.OBJECT:
        held = f"that of `{random.name}`" if random.name else "that of the generator"
        return f"Give the checkpoint a `RecomputeStateHook` that takes and restores {held}"
    return (
        "Give the checkpoint a `RecomputeStateHook` whose `snapshot` returns "
        f"{_HOOKS[random.kind]} and whose `restore` sets it (`recompute_state_hooks=(hook,)`)"
    )


def what_replay_does(draw: RandomDraw) -> str:
    """What happens to the gradients, and when."""
    inside, replayed = draw.replayed.inside, draw.replayed
    when = "the replay"
    if inside is not None and inside.kept is Kept.POLICY:
        when = f"where the policy recomputes region `{inside.region}`, the replay"
    if not replayed.certain:
        return f"if it does, {when} draws other numbers, and the gradients are silently wrong"
    return f"{when} draws other numbers, and the gradients are silently wrong"


def is_by_torch(draw: RandomDraw) -> bool:
    """Whether ``torch.utils.checkpoint`` replays the draw."""
    return draw.replayed.by is Replayer.TORCH
