# SPDX-License-Identifier: Apache-2.0
"""The CUDA source of this process: kernels, copies and calls, as CUPTI tells them, for every front end."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from .. import _core

_LIBRARY = Path(_core.__file__).parent / "lib/libopscope_cuda.so"


def cupti_is_named() -> bool:
    """OPSCOPE_CUPTI_LIB names a libcupti: whether there is a device is then that library's word."""
    return bool(os.environ.get("OPSCOPE_CUPTI_LIB"))


@functools.cache
def cuda_source() -> _core.cuda.CudaSource | None:
    """It, loaded at the first call; None where this opscope was built without."""
    try:
        return _core.cuda.load_source(_LIBRARY)
    except _core.Error:
        return None
