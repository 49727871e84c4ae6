# SPDX-License-Identifier: Apache-2.0
"""What a profile was asked to record, and the answers to what it cannot record yet."""

from __future__ import annotations

import functools
import json
import warnings
from dataclasses import dataclass

from torch.autograd import ProfilerActivity

from .actions import device_is_available, device_of
from .errors import UnsupportedFeature

# torch_source_flags of include/opscope/torch_source.h.
_INPUTS, _ALL_THREADS, _OVERLOAD_NAMES, _MEMORY = 1, 2, 4, 8

DEFAULT_MAX_BYTES = 1 << 30

# Of torch's _ExperimentalConfig, with a value that is not the default.
_EXPERIMENTAL_FIELDS = {
    "performance_events": ["an event"],
    "profile_all_threads": True,
    "capture_overload_names": True,
    "custom_profiler_config": "a configuration",
}


@dataclass
class RecordingSettings:
    """What one recording needs to know."""

    record_shapes: bool = False
    profile_memory: bool = False
    with_flops: bool = False
    all_threads: bool = False
    overload_names: bool = False
    trace_only: bool = False
    use_device: str | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    at_cap: str = "stop"
    record_to: str = ""
    post_processing_timeout_s: float | None = None
    acc_events: bool = False

    @property
    def source_flags(self) -> int:
        """For the PyTorch source."""
        return (
            _INPUTS * bool(self.record_shapes or self.with_flops)
            | _ALL_THREADS * self.all_threads
            | _OVERLOAD_NAMES * self.overload_names
            | _MEMORY * bool(self.profile_memory)
        )


def refuse_later_arguments(**arguments) -> None:
    """Raises UnsupportedFeature for the first argument whose data are not recorded yet."""
    reasons = {
        "with_stack": "Python and TorchScript stacks are not recorded",
        "with_modules": "the module hierarchy is not recorded",
    }
    for name, reason in reasons.items():
        value = arguments.get(name)
        if value:
            shown = value if isinstance(value, bool) else type(value).__name__
            raise UnsupportedFeature(f"{name}={shown}", reason)


def checked_timeout(seconds: float | None) -> float | None:
    """The time that making the events may take; asked when a recording is prepared, as torch does."""
    if seconds is not None and seconds < 0:
        raise ValueError("post_processing_timeout_s must be non-negative")
    return seconds


def refuse_activities(groups, selections, *, by_default: bool) -> None:
    """Activities that exist here but are not recorded yet; with ``by_default`` the user has asked for none by name."""
    for group, names in selections.items():
        if group == ProfilerActivity.CPU or names:
            raise UnsupportedFeature(
                "activities={...}", "single activity types cannot be selected", "the ProfilerActivity itself"
            )
    device = device_of(groups)
    if device is None or not device_is_available(device):
        return
    if by_default:
        warnings.warn(
            f"opscope.torch does not record {device} kernels yet: CPU activity only "
            "(pass activities=[ProfilerActivity.CPU] to say so)",
            stacklevel=4,
        )
        return
    raise UnsupportedFeature(f"activities=[ProfilerActivity.{device.upper()}]", f"{device} kernels are not recorded")


def read_experimental_config(config) -> dict:
    """The fields of an _ExperimentalConfig; refuses those that ask for what is not recorded yet."""
    if config is None:
        return {}
    state = config.__getstate__()
    fields = {name: state[at] for name, at in _positions(type(config)).items()}
    if fields.get("performance_events"):
        raise UnsupportedFeature(
            "experimental_config with performance_events", "CPU counters are not read", _SAME_CONFIG
        )
    if _monitor_is_asked(fields.get("custom_profiler_config", "")):
        raise UnsupportedFeature(
            "experimental_config with the cupti_monitor backend", "device kernels are not recorded", _SAME_CONFIG
        )
    return fields


@functools.cache
def _positions(kind: type) -> dict[str, int]:
    """Where a field stands in the state of a config, which alone can be read: versions of torch differ in that."""
    plain, positions = kind().__getstate__(), {}
    for name, value in _EXPERIMENTAL_FIELDS.items():
        try:
            state = kind(**{name: value}).__getstate__()
        except TypeError:  # a version that has no such field
            continue
        positions[name] = [one != other for one, other in zip(plain, state, strict=True)].index(True)
    return positions


_SAME_CONFIG = "torch.profiler with the same experimental_config"


def _monitor_is_asked(raw: str) -> bool:
    if not raw:
        return False
    try:
        parsed = json.loads(raw)
    except json.JSONDecodeError:
        return raw == "cupti_monitor"
    return isinstance(parsed, dict) and (parsed.get("backend") == "cupti_monitor" or bool(parsed.get("cupti_monitor")))


def usable_device(device: str | None) -> str | None:
    """The device whose events can appear; warns in torch's words when it is not there."""
    if device in ("cuda", "xpu", "hpu") and not device_is_available(device):
        name = device.upper()
        warnings.warn(f"{name} is not available, disabling {name} profiling", stacklevel=4)
    elif device == "privateuseone":
        warnings.warn(f"The {device} is not a valid device option.", stacklevel=4)
    elif device == "mtia":
        raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
    return None  # device kernels are not recorded yet
