# SPDX-License-Identifier: Apache-2.0
"""The names of ``paddle.profiler``, recorded by opscope.

Change ``import paddle.profiler as profiler`` to ``import opscope.paddle as profiler``.
docs/reference/paddle.md lists what exists and what differs on purpose.
"""

from . import import_paddle  # isort: skip  # noqa: F401  first: says what to do without Paddle

import paddle.profiler as _original

from ..frontend.on_demand import wait_for_requests
from . import profiler, profiler_statistic, timer, utils  # noqa: F401
from .errors import UnsupportedFeature
from .profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    SortedKeys,
    SummaryView,
    TracerEventType,
    export_chrome_tracing,
    export_protobuf,
    get_profiler,
    make_scheduler,
)
from .record_event import RecordEvent
from .result import ProfilerResult, load_profiler_result
from .source import AdapterMissing

__all__ = [
    "AdapterMissing",
    "Profiler",
    "ProfilerResult",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "SummaryView",
    "TracerEventType",
    "UnsupportedFeature",
    "export_chrome_tracing",
    "export_protobuf",
    "get_profiler",
    "load_profiler_result",
    "make_scheduler",
]  # without the submodules: programs use this module under the name `profiler`


def __getattr__(name: str):
    return getattr(_original, name)


wait_for_requests("paddle")
