"""State hooks in source text: which generator they set back, how they are written, how they fail to."""

from __future__ import annotations

from collections.abc import Callable

from tests.replay.axes import Hook, Style
from tests.replay.deeds import OBJECTS, Stream

_STATES = {
    Stream.TORCH: ("torch.get_rng_state()", "torch.set_rng_state(state)"),
    Stream.PYTHON: ("random.getstate()", "random.setstate(state)"),
    Stream.NUMPY: ("np.random.get_state()", "np.random.set_state(state)"),
    Stream.GENERATOR: ("self.source.get_state()", "self.source.set_state(state)"),
    Stream.PYTHON_OBJECT: ("self.source.getstate()", "self.source.setstate(state)"),
    Stream.NUMPY_OBJECT: ("self.source.bit_generator.state", "self.source.bit_generator.state = state"),
    Stream.NUMPY_LEGACY_OBJECT: ("self.source.get_state()", "self.source.set_state(state)"),
    Stream.COUNTER: ("self.source.value", "self.source.value = state"),
}
_LIVE = {
    Stream.TORCH: ("torch.default_generator", "torch.set_rng_state(state.get_state())"),
    Stream.PYTHON: ("random", "random.setstate(state.getstate())"),
    Stream.NUMPY: ("np.random", "np.random.set_state(state.get_state())"),
    Stream.GENERATOR: ("self.source", "self.source.set_state(state.get_state())"),
    Stream.PYTHON_OBJECT: ("self.source", "self.source.setstate(state.getstate())"),
    Stream.NUMPY_OBJECT: (
        "self.source.bit_generator",
        "self.source.bit_generator.state = state.state",
    ),
    Stream.NUMPY_LEGACY_OBJECT: ("self.source", "self.source.set_state(state.get_state())"),
    Stream.COUNTER: ("self.source", "self.source.value = state.value"),
}
_NAMES = {
    Stream.TORCH: "TorchState",
    Stream.PYTHON: "PythonState",
    Stream.NUMPY: "NumpyState",
    Stream.GENERATOR: "GeneratorState",
    Stream.PYTHON_OBJECT: "DiceState",
    Stream.NUMPY_OBJECT: "NumpyGeneratorState",
    Stream.NUMPY_LEGACY_OBJECT: "LegacyNumpyState",
    Stream.COUNTER: "CounterState",
}
_ASIDE = (Stream.PYTHON, Stream.NUMPY, Stream.TORCH)
_MESH = """\
class Mesh:
    current = 0


class MeshState:
    def snapshot(self):
        return Mesh.current

    def restore(self, state):
        Mesh.current = state
"""
_TOGETHER = """\
class Together:
    def __init__(self, *hooks):
        self.hooks = hooks

    def snapshot(self):
        return [hook.snapshot() for hook in self.hooks]

    def restore(self, states):
        for hook, state in zip(self.hooks, states):
            hook.restore(state)
"""
_ENTERED = """\
class Entered:
    def snapshot(self):
        return torch.get_rng_state()

    def restore(self, state):
        self.fork = torch.random.fork_rng(devices=[])
        self.fork.__enter__()
        torch.set_rng_state(state)
"""


def hook_source(
    hook: Hook, style: Style, streams: tuple[Stream, ...], objects_of: Callable[[Stream], list[str]]
) -> tuple[str, str]:
    """Class definitions, and the expression for ``recompute_state_hooks``, empty without a hook.

    ``objects_of`` gives the expressions for the objects that hold the state of a stream.
    """
    if hook is Hook.NONE:
        return "", ""
    wanted = _wanted(hook, streams)
    if hook is Hook.MESH:
        return _MESH, "(MeshState(),)"
    if hook is Hook.ENTERED:
        return _ENTERED, "(Entered(),)"
    if style is Style.TOGETHER:
        return _all_in_one(wanted), "(Everything(),)"
    classes = "\n\n".join(_class(hook, style, stream) for stream in wanted)
    sources = [(stream, objects_of(stream) if stream in OBJECTS else [""]) for stream in wanted]
    made = [f"{_NAMES[stream]}({source})" for stream, found in sources for source in found]
    if style is Style.COMPOSED:
        return f"{classes}\n\n{_TOGETHER}", f"(Together({', '.join(made)}),)"
    if style is Style.LIST:
        return classes, f"[{', '.join(made)}]"
    return classes, f"({', '.join(made)},)"


def covers(hook: Hook, stream: Stream) -> bool:
    """The hook sets the stream back, if the program is about it."""
    return hook is Hook.RIGHT and stream is not Stream.UNRESTORABLE


def _wanted(hook: Hook, streams: tuple[Stream, ...]) -> tuple[Stream, ...]:
    if hook is Hook.WRONG:
        return tuple(other for other in _ASIDE if other not in streams)[:1]
    return streams or (Stream.TORCH,)


def _all_in_one(wanted: tuple[Stream, ...]) -> str:
    """One class for several generators, whose snapshot is a tuple."""
    snapshots = ", ".join(_STATES[stream][0] for stream in wanted)
    lines = ["class Everything:", "    def snapshot(self):", f"        return ({snapshots},)", ""]
    lines.append("    def restore(self, states):")
    for place, stream in enumerate(wanted):
        lines += [f"        state = states[{place}]", f"        {_STATES[stream][1]}"]
    return "\n".join([*lines, ""])


def _class(hook: Hook, style: Style, stream: Stream) -> str:
    name = _NAMES[stream]
    snapshot, restore = (_LIVE if hook is Hook.LIVE else _STATES)[stream]
    if hook is Hook.NOOP:
        restore = "pass"
    if style is Style.STATIC:
        return _static(name, snapshot, restore)
    if style is Style.DICT:
        snapshot, restore = f'{{"state": {snapshot}}}', restore.replace("state)", 'state["state"])')
        restore = restore.replace("= state", '= state["state"]')
    if style is Style.PROTOCOL:
        return _methods(f"{name}(remat.RecomputeStateHook)", stream, snapshot, restore)
    if style is Style.INHERITED:
        base = _methods(f"{name}Base", stream, snapshot, restore)
        return f'{base}\n\nclass {name}({name}Base):\n    """The same."""\n'
    if style is Style.SUPER:
        base = _methods(f"{name}Base", stream, snapshot, restore)
        own = _methods(f"{name}({name}Base)", Stream.NOTHING, "super().snapshot()", "super().restore(state)")
        return f"{base}\n\n{own}"
    return _methods(name, stream, snapshot, "" if hook is Hook.HALF else restore)


def _methods(header: str, stream: Stream, snapshot: str, restore: str) -> str:
    lines = [f"class {header}:"]
    if stream in OBJECTS:
        lines += ["    def __init__(self, source):", "        self.source = source", ""]
    lines += ["    def snapshot(self):", f"        return {snapshot}", ""]
    if restore:
        lines += ["    def restore(self, state):", f"        {restore}", ""]
    return "\n".join(lines)


def _static(name: str, snapshot: str, restore: str) -> str:
    return (
        f"class {name}:\n    @staticmethod\n    def snapshot():\n        return {snapshot}\n\n"
        f"    @staticmethod\n    def restore(state):\n        {restore}\n"
    )
