# SPDX-License-Identifier: Apache-2.0
"""Process-wide switches of torch that its profiler obeys and that have no getter in Python."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import torch

_FORWARD_BACKWARD = "_ZN5torch8profiler4impl19get_fwd_bwd_enabledEv"


@functools.cache
def _switch(symbol: str) -> Callable[[], bool]:
    """The getter of a switch; in a version of torch without it the switch is on."""
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
