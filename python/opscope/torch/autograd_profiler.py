# SPDX-License-Identifier: Apache-2.0
"""The names of ``torch.autograd.profiler``, recorded by opscope.

Change ``import torch.autograd.profiler as profiler`` to ``import opscope.torch.autograd_profiler as profiler``.
Ranges for other tools (``emit_itt``, ``emit_nvtx``), the count of steps and small things are torch's own; so is every
other name that torch's module has, as torch has it at that moment (``_is_profiler_enabled``).
"""

from __future__ import annotations

import torch.autograd.profiler
from torch.autograd.profiler import EnforceUnique, KinetoStepTracker, MemRecordsAcc, emit_itt, emit_nvtx

from .errors import UnsupportedFeature
from .events import EventList
from .function_event import FunctionEvent
from .legacy_profile import profile
from .record_function import record_function

__all__ = [
    "profile",
    "record_function",
    "emit_itt",
    "emit_nvtx",
    "load_nvprof",
    "EnforceUnique",
    "parse_nvprof_trace",
    "KinetoStepTracker",
    "EventList",
    "FunctionEvent",
    "MemRecordsAcc",
]


def load_nvprof(path):
    """Raises UnsupportedFeature: nvprof ended with CUDA 12, and its databases are not read."""
    raise _no_nvprof("load_nvprof()")


def parse_nvprof_trace(path):
    """Raises UnsupportedFeature: nvprof ended with CUDA 12, and its databases are not read."""
    raise _no_nvprof("parse_nvprof_trace()")


def _no_nvprof(what: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        what,
        "nvprof is gone since CUDA 12 and its databases are not read",
        "torch.autograd.profiler.load_nvprof for an old file; record anew with opscope.torch.profile or Nsight Systems",
    )


def __getattr__(name: str):
    return getattr(torch.autograd.profiler, name)
