# SPDX-License-Identifier: Apache-2.0
"""``patch()``: programs that import torch.profiler themselves use opscope, without an edit."""

from __future__ import annotations

import sys
from typing import Any

import torch.autograd.profiler
import torch.profiler
import torch.profiler.profiler

from ..frontend.patching import Patch, Patching
from . import legacy_profile, tensorboard
from .actions import ProfilerAction
from .kineto_profile import _KinetoProfile
from .profile import profile
from .record_function import record_function
from .schedule import schedule
from .trace_handler import tensorboard_trace_handler

# Name in torch.profiler -> replacement. ProfilerActivity and DeviceType stay torch's own.
_REPLACEMENTS: dict[str, Any] = {
    "profile": profile,
    "_KinetoProfile": _KinetoProfile,
    "record_function": record_function,
    "schedule": schedule,
    "tensorboard_trace_handler": tensorboard_trace_handler,
    "ProfilerAction": ProfilerAction,
}

# Name in torch.autograd.profiler -> replacement. record_function stays there: torch makes its own ranges with it, and
# compiles it.
_LEGACY_REPLACEMENTS: dict[str, Any] = {"profile": legacy_profile.profile}

# Names that documents use and torch.profiler lacks. tensorboard can also be imported as a module.
_ADDITIONS: dict[str, Any] = {"Profiler": profile, "tensorboard": tensorboard}
_ADDED_MODULE = "torch.profiler.tensorboard"

# Packages that keep the originals: torch makes ranges with its own record_function, and opscope records those.
_patching = Patching("opscope.torch.patch()", left_alone=("torch", "opscope"))


def patch() -> Patch:
    """Makes ``torch.profiler`` hand out opscope's names, for libraries that import it themselves (trainers of
    Lightning, Accelerate, transformers, ...).

    Replaces ``profile``, ``_KinetoProfile``, ``record_function``, ``schedule``, ``tensorboard_trace_handler`` and
    ``ProfilerAction`` in ``torch.profiler``, ``profile`` in ``torch.autograd.profiler``, and what modules other than
    torch's hold of these by ``from torch.profiler import ...``. Adds ``torch.profiler.Profiler`` and
    ``torch.profiler.tensorboard``, which documents name. Names that a function, a class or an object holds keep what
    they had: call it before the program defines those. Undone at the end of ``with patch():``, or by the
    result: ``undo = patch()``, later ``undo()`` (or ``undo.undo()``).

    Raises RuntimeError while an earlier patch stands. Any thread; other threads see the change name by name.
    """
    return _patching.apply(
        replacements=[
            (torch.profiler, _REPLACEMENTS),
            (torch.profiler.profiler, _REPLACEMENTS),
            (torch.autograd.profiler, _LEGACY_REPLACEMENTS),
        ],
        additions=[(torch.profiler.__dict__, _ADDITIONS), (sys.modules, {_ADDED_MODULE: tensorboard})],
    )
