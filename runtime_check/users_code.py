"""Which code is the user's: neither torch's, torch_remat's, this package's, nor the standard library's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from types import CodeType, FrameType

import torch
import torch_remat


def _package_folder(path: str | None) -> str:
    assert path is not None
    return os.path.dirname(os.path.realpath(path)) + os.sep


_NOT_THE_USERS = (
    _package_folder(torch.__file__),
    _package_folder(torch_remat.__file__),
    _package_folder(__file__),
)
_STANDARD_LIBRARY = os.path.realpath(sysconfig.get_paths()["stdlib"]) + os.sep


@functools.cache
def is_user_code(filename: str) -> bool:
    """Is this file, as code objects name it, the user's?"""
    if filename.startswith("<"):
        return False
    path = os.path.realpath(filename)
    if path.startswith(_NOT_THE_USERS):
        return False
    return not path.startswith(_STANDARD_LIBRARY) or "site-packages" in path


def user_frames(outermost: CodeType | None = None) -> Iterator[FrameType]:
    """The running frames of the user's code, the innermost first.

    ``outermost`` is a function of this package: what called it is no part of the step any more.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost:
        if is_user_code(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back
