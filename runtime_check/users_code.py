"""Which code is the user's: neither torch's, torch_remat's, this package's, nor the standard library's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from types import FrameType

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


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost running frame of the user's code, from the caller's caller outwards."""
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None and not is_user_code(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
