# SPDX-License-Identifier: Apache-2.0
"""What a profile was asked to record, and the answers to what it cannot record yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch.autograd import ProfilerActivity

from ..frontend.options import DEFAULT_MAX_BYTES
from ..user_warning import warn_user
from .actions import device_is_available, device_of
from .errors import UnsupportedFeature
from .features import behaves
from .monitor_config import MonitorConfig


@dataclass
class RecordingSettings:
    """What one recording needs to know."""

    records_cpu: bool = True  # operators, ranges and calls of Python
    record_shapes: bool = False
    profile_memory: bool = False
    with_flops: bool = False
    with_stack: bool = False
    with_modules: bool = False
    call_stacks: bool = False
    adjust_steps: bool = False
    python_gc: bool = False
    all_threads: bool = False
    overload_names: bool = False
    expose_metadata: bool = False
    cuda_sync_events: bool = False
    monitor: MonitorConfig | None = None
    trace_only: bool = False
    tensor_identities: bool = False
    use_device: str | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    at_cap: str = "stop"
    record_to: str = ""
    post_processing_timeout_s: float | None = None
    acc_events: bool = False
    only_categories: list[str] | None = None  # of an exported trace; None: all
    # As they were given, for programs that ask.
    activity_filters: dict = field(default_factory=dict)
    experimental_config: Any = None
    custom_trace_id_callback: Callable[[], str] | None = None

    def needs(self, part: str) -> bool:
        """Whether what was asked for is done by this part of the adapter (adapters/parts.py)."""
        if part == "memory":
            return bool(self.profile_memory)
        if not self.records_cpu:
            return False
        if part == "stacks":
            return bool(self.with_stack or self.with_modules)
        return part != "drop_ins"  # how operators are recorded is said among the options

    def source_flags(self, lacks: list[str]) -> list[str] | None:
        """For the PyTorch source, without what needs a part that it lacks; None: it is not asked. Without CPU activity
        torch has no callbacks, but reports allocations all the same."""
        if not self.records_cpu:
            if not self.profile_memory or "memory" in lacks:
                return None
            return ["memory", "all_threads"] if self.all_threads else ["memory"]
        asked = {
            "inputs": self.record_shapes or self.with_flops,
            "all_threads": self.all_threads,
            "overload_names": self.overload_names,
            "memory": self.profile_memory and "memory" not in lacks,
            "tensors": self.tensor_identities and "memory" not in lacks,
            "stacks": self.with_stack,
            "modules": self.with_modules,
        }
        return [flag for flag, is_asked in asked.items() if is_asked]

    @property
    def cuda_flags(self) -> list[str] | None:
        """For the CUDA source; None: it is not asked."""
        if self.use_device != "cuda" and self.monitor is None:
            return None
        asked = {"synchronization": self.cuda_sync_events, "memory": self.profile_memory}
        asked |= dict.fromkeys(self.monitor.cuda_flags if self.monitor is not None else (), True)
        return [flag for flag, is_asked in asked.items() if is_asked]

    @property
    def call_flags(self) -> list[str] | None:
        """For the source of Python's calls; None: it is not asked."""
        if not self.records_cpu or not (self.with_stack or self.with_modules):
            return None
        asked = {
            "calls": self.with_stack,
            "garbage": self.with_stack and self.python_gc,
            "places": self.with_stack and behaves("says where calls came from"),
        }
        return [flag for flag, is_asked in asked.items() if is_asked]


def checked_timeout(seconds: float | None, name: str = "post_processing_timeout_s") -> float | None:
    """The time that making the events may take; asked when a recording is prepared, as torch does."""
    if seconds is not None and seconds < 0:
        raise ValueError(f"{name} must be non-negative")
    return seconds


def refuse_activities(groups, *, by_default: bool) -> None:
    """Activities that exist here but are not recorded yet; with ``by_default`` the user has asked for none by name."""
    device = device_of(groups)
    if device is None or device == "cuda" or not device_is_available(device):
        return
    if by_default:
        warn_user(
            f"opscope.torch does not record {device} kernels yet: CPU activity only "
            "(pass activities=[ProfilerActivity.CPU] to say so)",
        )
        return
    raise UnsupportedFeature(f"activities=[ProfilerActivity.{device.upper()}]", f"{device} kernels are not recorded")


# Kineto's activity types of the CPU group.
_CPU_TYPES = frozenset(
    "CPU_OP USER_ANNOTATION EXTERNAL_CORRELATION CUDA_RUNTIME CUDA_DRIVER CPU_INSTANT_EVENT PYTHON_FUNCTION XPU_RUNTIME"
    " XPU_DRIVER PRIVATEUSE1_RUNTIME PRIVATEUSE1_DRIVER".split()
)
# What the CUDA group adds to a file, as categories.
_CUDA_CATEGORIES = frozenset(
    "kernel gpu_memcpy gpu_memset gpu_user_annotation cuda_runtime cuda_driver overhead cuda_sync cuda_event"
    " cuda_memory graph_event_node graph_host_node".split()
)


def selected_categories(groups, selections) -> list[str] | None:
    """The categories of a trace file that ``activities=`` leaves; None: all. Allocations are of the CPU group, also
    those that are recorded without it."""
    names = selections.get(ProfilerActivity.CPU)
    if names is None and ProfilerActivity.CPU in groups:
        return None
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(f"names of activity types are texts, not {name!r}")
        if name not in _CPU_TYPES:
            raise RuntimeError(f"Unknown or non-member activity type name: '{name}'")
    of_device = _CUDA_CATEGORIES if ProfilerActivity.CUDA in groups else frozenset()
    return sorted({name.lower() for name in names or ()} | of_device)


def cuda_if_there(device: str | None) -> str | None:
    """ "cuda" where it was asked for and is there; the others are not recorded yet."""
    return device if device == "cuda" and device_is_available(device) else None


def usable_device(device: str | None) -> str | None:
    """The device whose events can appear; warns in torch's words when it is not there."""
    if cuda_if_there(device):
        return device
    if device in ("cuda", "xpu", "hpu") and not device_is_available(device):
        name = device.upper()
        warn_user(f"{name} is not available, disabling {name} profiling")
    elif device == "privateuseone":
        warn_user(f"The {device} is not a valid device option.")
    elif device == "mtia":
        raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
    return None  # kernels of other devices are not recorded yet
