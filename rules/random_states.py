"""What the rules about random numbers share: which of them reports a draw, and how it is told."""

from __future__ import annotations

from remat_lint.analysis.facts import Cover, Device, Inside, Kept, Random, RandomDraw, RandomKind
from remat_lint.findings import Severity

_STATES = {
    RandomKind.TORCH: "torch's random state",
    RandomKind.PYTHON: "the state of Python's `random`",
    RandomKind.NUMPY: "the state of `numpy.random`",
    RandomKind.SYSTEM: "the operating system",
}

_FUNCTIONS = {
    RandomKind.TORCH: "`torch.get_rng_state`, `torch.set_rng_state`; on a GPU those of `torch.cuda`",
    RandomKind.PYTHON: "`random.getstate`, `random.setstate`",
    RandomKind.NUMPY: "`numpy.random.get_state`, `numpy.random.set_state`",
}


_FUNCTIONS_ON = {
    Device.CPU: "`torch.get_rng_state`, `torch.set_rng_state`",
    Device.GPU: "`torch.cuda.get_rng_state`, `torch.cuda.set_rng_state`",
}


def rule_for(draw: RandomDraw) -> str | None:
    """The code of the rule that reports a draw; None where the replay does it no harm."""
    kind = draw.random.kind
    if kind is RandomKind.SYSTEM:
        return None if kept_region(draw) else "RMT402"
    if draw.cover is Cover.OTHER_HOOK:
        return "RMT403"
    if draw.cover is Cover.SWITCHED_OFF and kind is RandomKind.TORCH:
        return "RMT404"
    return "RMT401" if kept_region(draw) else "RMT402"


def severity_of(draw: RandomDraw) -> Severity:
    """An error where a replay draws other numbers for certain."""
    replayed = draw.replayed
    is_run = replayed.inside is None or replayed.inside.kept is Kept.RECOMPUTE
    certain = replayed.certain and replayed.assumed is None and is_run
    does_harm = draw.kept and draw.cover is not Cover.ONE_PHASE
    return Severity.ERROR if certain and does_harm else Severity.WARNING


def kept_region(draw: RandomDraw) -> Inside | None:
    """The region around a draw that no replay runs again."""
    inside = draw.replayed.inside
    return inside if inside is not None and inside.kept is Kept.SAVE else None


def what_draws(draw: RandomDraw) -> str:
    """What draws, and from which state, as the beginning of a sentence."""
    inside = draw.replayed.inside
    subject = f"`{draw.operation}`"
    if inside is not None and inside.place == draw.place:
        subject = f"region `{inside.region}`"
    elif draw.place == draw.replayed.place:
        subject = "the function of this checkpoint"
    verb = "draws" if draw.replayed.certain else "may draw"
    return f"{subject} {verb} from {_state_name(draw.random)}"


def harm(draw: RandomDraw) -> str:
    """What becomes of the gradients, and when."""
    inside, replayed = draw.replayed.inside, draw.replayed
    then = "" if replayed.certain else "if it does, "
    region = kept_region(draw)
    if region is not None and draw.alone:
        return (
            f"{then}replay skips region `{region.region}` and its draws. Nothing in view draws after it: "
            "that does no harm until something does, and gets other numbers than in the forward"
        )
    if region is not None:
        return (
            f"{then}replay skips region `{region.region}` and its draws, so that whatever draws after it "
            "gets other numbers than in the forward"
        )
    if not draw.kept:
        return (
            f"{then}the replay draws other numbers, and the gradients are right only as long as no operation "
            "behind it needs what comes out for backward"
        )
    wrong = "the replay draws other numbers, and the gradients are silently wrong"
    if draw.decides:
        wrong = (
            "the replay draws other numbers, and where it goes another way, backward raises or the gradients "
            "are silently wrong"
        )
    if inside is not None and inside.kept is Kept.POLICY:
        wrong = f"where the policy recomputes region `{inside.region}`, {wrong}"
    return f"{then}{wrong}"


def hook_to_write(random: Random) -> str:
    """What to write so that a state is restored."""
    known = _FUNCTIONS_ON[random.device] if random.device is not None else _FUNCTIONS.get(random.kind)
    functions = f" ({known})" if known is not None else ""
    return f"Restore that state with a hook, `recompute_state_hooks=(hook,)`{functions}"


def _state_name(random: Random) -> str:
    if random.kind is RandomKind.OBJECT:
        return f"the state of `{random.name}`" if random.name else "the state of its generator"
    on_device = f" on the {random.device.value}" if random.device is not None else ""
    return _STATES[random.kind] + on_device
