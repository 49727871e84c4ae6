# SPDX-License-Identifier: Apache-2.0
"""Switches of torch that hold for the whole process, have no getter in Python, and that its profiler obeys."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import torch

_FORWARD_BACKWARD = "_ZN5torch8profiler4impl19get_fwd_bwd_enabledEv"


@functools.cache
def _switch(symbol: str) -> Callable[[], bool]:
    """The getter of a switch; a version of torch that has none has it on."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        getter = getattr(library, symbol)
    except (OSError, AttributeError):
        return lambda: True
    getter.restype = ctypes.c_bool
    return getter


def links_forward_to_backward() -> bool:
    """``torch._C._profiler._set_fwd_bwd_enabled_val``: whether arrows lead from forward to backward operators."""
    return _switch(_FORWARD_BACKWARD)()
