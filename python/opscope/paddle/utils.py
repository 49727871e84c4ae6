# SPDX-License-Identifier: Apache-2.0
"""``paddle.profiler.utils``: its names, with our RecordEvent and loader. Flags are read from Paddle's module on
access.
"""

from __future__ import annotations

from paddle.profiler import utils as _original

from .record_event import RecordEvent
from .result import load_profiler_result

__all__ = ["RecordEvent", "in_profiler_mode", "load_profiler_result", "wrap_optimizers"]


def in_profiler_mode() -> bool:
    """Whether a profiler, ours or Paddle's, is between start and stop."""
    return _original._is_profiler_used


def wrap_optimizers() -> None:
    """Makes ``step`` of Paddle's optimizers record "Optimization Step"; once per process."""
    _original.wrap_optimizers()


def __getattr__(name: str):
    return getattr(_original, name)  # the flags as they are now, and ranges for nvprof
