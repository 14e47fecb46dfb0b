"""The deeds in families of one kind: what holds for one of a family holds for all."""

from __future__ import annotations

from tests.replay.deeds import Deed, Stream
from tests.replay.draws import DRAWS, SILENT
from tests.replay.effects import BUFFERS, COUNTERS, EFFECTS_OUTSIDE, NORMS, QUIET, USED, WHOLE


def _drawing(stream: Stream) -> list[Deed]:
    return [deed for deed in DRAWS if deed.draws is stream]


FAMILIES: dict[str, list[Deed]] = {
    "functions of torch": [deed for deed in _drawing(Stream.TORCH) if not deed.parts],
    "modules of torch": [deed for deed in _drawing(Stream.TORCH) if deed.parts],
    **{stream.value: _drawing(stream) for stream in Stream if stream not in (Stream.TORCH, Stream.NOTHING)},
    "silent": [deed for deed in SILENT if not deed.parts],
    "silent modules": [deed for deed in SILENT if deed.parts],
    "counters": COUNTERS,
    "effects outside": EFFECTS_OUTSIDE,
    "buffers": BUFFERS,
    "norms": NORMS,
    "state that is used": USED,
    "quiet": QUIET,
    "whole": WHOLE,
}

ALL: list[Deed] = [deed for deeds in FAMILIES.values() for deed in deeds]
