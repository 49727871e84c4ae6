# SPDX-License-Identifier: Apache-2.0
"""The names of ``torch.profiler``, recorded by opscope.

Change ``from torch.profiler import ...`` to ``from opscope.torch import ...``. What is there, what
raises UnsupportedFeature and what differs on purpose: docs/reference/torch.md.
"""

import sys

from . import import_torch  # isort: skip  # noqa: F401  first: says what to do without torch

from ..frontend.on_demand import wait_for_requests
from . import autograd_profiler, tensorboard
from .actions import DeviceType, ProfilerAction, ProfilerActivity, kineto_available, supported_activities
from .averages import FunctionEventAvg
from .compat import compat
from .errors import UnsupportedFeature
from .event_metadata import EventMetadata
from .events import EventList
from .execution_trace import ExecutionTraceObserver
from .experimental_config import _ExperimentalConfig
from .function_event import FunctionEvent, Interval, Kernel
from .kineto_profile import _KinetoProfile
from .patch import Patch, patch
from .profile import profile
from .record_function import record_function
from .schedule import schedule
from .source import AdapterMissing, build_adapter
from .trace_handler import tensorboard_trace_handler

from torch._C._profiler import RecordScope  # isort: skip
from torch.profiler import KinetoStepTracker, itt  # isort: skip

# assigning `torch.profiler = opscope.torch` removes the submodule's name
_torch_profiler = sys.modules["torch.profiler"]

__all__ = [
    "AdapterMissing",
    "DeviceType",
    "EventList",
    "EventMetadata",
    "ExecutionTraceObserver",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "KinetoStepTracker",
    "Patch",
    "ProfilerAction",
    "ProfilerActivity",
    "RecordScope",
    "UnsupportedFeature",
    "_ExperimentalConfig",
    "_KinetoProfile",
    "autograd_profiler",
    "build_adapter",
    "compat",
    "itt",
    "kineto_available",
    "patch",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard",
    "tensorboard_trace_handler",
]


# Names that newer releases of torch also have here: plain values and submodules.
__all__ += [name for name in _torch_profiler.__all__ if name not in __all__]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str):
    if name == "Profiler":  # the name in torch's documents; torch.profiler itself never had it
        return profile
    return getattr(_torch_profiler, name)  # private names and submodules that some programs use


wait_for_requests("torch")
