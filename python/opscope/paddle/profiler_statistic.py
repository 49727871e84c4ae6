# SPDX-License-Identifier: Apache-2.0
"""``paddle.profiler.profiler_statistic``: Paddle's own module, which accepts our results like its own."""

from paddle.profiler import profiler_statistic as _original
from paddle.profiler.profiler_statistic import SortedKeys

__all__ = ["SortedKeys"]


def __getattr__(name: str):
    return getattr(_original, name)
