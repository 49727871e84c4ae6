# SPDX-License-Identifier: Apache-2.0
"""The arguments of a profile, and the errors for those that cannot be recorded yet."""

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
    """Settings of one recording."""

    records_cpu: bool = True  # whether operators, ranges and calls of Python are recorded
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
    only_categories: list[str] | None = None  # categories in an exported trace; None: all
    # The arguments as given, for programs that read them.
    activity_filters: dict = field(default_factory=dict)
    experimental_config: Any = None
    custom_trace_id_callback: Callable[[], str] | None = None

    def needs(self, part: str) -> bool:
        """Whether the settings need this part of the adapter (adapters/parts.py)."""
        if part == "memory":
            return bool(self.profile_memory)
        if not self.records_cpu:
            return False
        if part == "stacks":
            return bool(self.with_stack or self.with_modules)
        return part != "hooks"  # how operators are recorded is said among the options

    def source_flags(self, lacks: list[str]) -> list[str] | None:
        """Flags for the PyTorch source, without those that need a part it lacks; None: not used.

        Without CPU activity torch calls no callbacks, but it still reports allocations.
        """
        if not self.records_cpu:
            if not self.profile_memory or "memory" in lacks:
                return None
            return ["memory", "all_threads"] if self.all_threads else ["memory"]
        requested = {
            "inputs": self.record_shapes or self.with_flops,
            "all_threads": self.all_threads,
            "overload_names": self.overload_names,
            "memory": self.profile_memory and "memory" not in lacks,
            "tensors": self.tensor_identities and "memory" not in lacks,
            "stacks": self.with_stack,
            "modules": self.with_modules,
        }
        return [flag for flag, is_requested in requested.items() if is_requested]

    @property
    def cuda_flags(self) -> list[str] | None:
        """Flags for the CUDA source; None: not used."""
        if self.use_device != "cuda" and self.monitor is None:
            return None
        requested = {"synchronization": self.cuda_sync_events, "memory": self.profile_memory}
        requested |= dict.fromkeys(self.monitor.cuda_flags if self.monitor is not None else (), True)
        return [flag for flag, is_requested in requested.items() if is_requested]

    @property
    def call_flags(self) -> list[str] | None:
        """Flags for the source of Python calls; None: not used."""
        if not self.records_cpu or not (self.with_stack or self.with_modules):
            return None
        requested = {
            "calls": self.with_stack,
            "garbage": self.with_stack and self.python_gc,
            "places": self.with_stack and behaves("records_call_sites"),
        }
        return [flag for flag, is_requested in requested.items() if is_requested]


def checked_timeout(seconds: float | None, name: str = "post_processing_timeout_s") -> float | None:
    """The limit in seconds for creating the events; checked when a recording is prepared, as in torch."""
    if seconds is not None and seconds < 0:
        raise ValueError(f"{name} must be non-negative")
    return seconds


def refuse_activities(groups, *, by_default: bool) -> None:
    """Raises for activities that exist here but cannot be recorded yet; ``by_default``: the user has named none."""
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


# Kineto's activity types in the CPU group.
_CPU_TYPES = frozenset(
    "CPU_OP USER_ANNOTATION EXTERNAL_CORRELATION CUDA_RUNTIME CUDA_DRIVER CPU_INSTANT_EVENT PYTHON_FUNCTION XPU_RUNTIME"
    " XPU_DRIVER PRIVATEUSE1_RUNTIME PRIVATEUSE1_DRIVER".split()
)
# Categories that the CUDA group adds to a file.
_CUDA_CATEGORIES = frozenset(
    "kernel gpu_memcpy gpu_memset gpu_user_annotation cuda_runtime cuda_driver overhead cuda_sync cuda_event"
    " cuda_memory graph_event_node graph_host_node".split()
)


def selected_categories(groups, selections) -> list[str] | None:
    """The categories of a trace file that ``activities=`` selects; None: all.

    Allocations belong to the CPU group, also those that are recorded without it.
    """
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
    """ "cuda" if it was requested and is available; other devices are not recorded yet."""
    return device if device == "cuda" and device_is_available(device) else None


def usable_device(device: str | None) -> str | None:
    """The device whose events can be recorded; warns with torch's text if it is not available."""
    if cuda_if_there(device):
        return device
    if device in ("cuda", "xpu", "hpu") and not device_is_available(device):
        name = device.upper()
        warn_user(f"{name} is not available, disabling {name} profiling")
    elif device == "privateuseone":
        warn_user(f"The {device} is not a valid device option.")
    elif device == "mtia":
        raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
    return None  # kernels of other devices cannot be recorded yet
