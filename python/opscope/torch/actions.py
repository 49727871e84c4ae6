# SPDX-License-Identifier: Apache-2.0
"""Actions of a profiler at a step, and the activities that it can record.

Activities and device types are torch's own enums, so that values can be passed between the two profilers.
"""

from __future__ import annotations

from enum import Enum

import torch
from torch.autograd import DeviceType, ProfilerActivity, kineto_available
from torch.profiler import ProfilerAction as _TorchAction

from ..adapters.cuda import cupti_is_named
from ..user_warning import warn_user
from .errors import UnsupportedFeature
from .features import has

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "supported_activities"]


class ProfilerAction(Enum):
    """What the profiler does during a step; a schedule returns one of the first four."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    if has("ProfilerAction.DEVICE_STOPPED"):
        DEVICE_STOPPED = 4


def as_action(returned: object, step: int) -> ProfilerAction:
    """The ProfilerAction that a schedule returned for ``step``; members of torch.profiler's enumeration are accepted,
    too.
    """
    if isinstance(returned, ProfilerAction):
        return returned
    if isinstance(returned, _TorchAction) and returned.value in ProfilerAction._value2member_map_:
        return ProfilerAction(returned.value)
    raise TypeError(f"the schedule returned {returned!r} for step {step}, which is not a ProfilerAction")


_ActivityConfig = getattr(torch.profiler, "ProfilerActivityConfig", None)


def supported_activities() -> set[ProfilerActivity]:
    """The activities that this build of torch can record; CUDA also if OPSCOPE_CUPTI_LIB names a library."""
    named = {ProfilerActivity.CUDA} if cupti_is_named() else set()
    return torch.autograd._supported_activities() | named


def parse_activities(activities) -> tuple[set[ProfilerActivity], dict]:
    """Splits ``activities=`` into groups and the selection within each: a set of names of activity types or, if torch
    has it, a ProfilerActivityConfig.
    """
    groups: set[ProfilerActivity] = set()
    chosen: dict = {}

    def add(group) -> None:
        if group in groups:
            raise ValueError(f"Activity {group} specified more than once")
        groups.add(group)

    for item in activities:
        if isinstance(item, ProfilerActivity):
            add(item)
        elif isinstance(item, dict):
            for group, selection in item.items():
                add(group)
                chosen[group] = _choice(group, selection)
        else:
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
    return groups, chosen


def _choice(group: ProfilerActivity, selection):
    if _ActivityConfig is None:
        return set(selection)
    if not isinstance(selection, _ActivityConfig):
        return _ActivityConfig(activity_types=selection)
    if selection.profiler_configs:
        names = ", ".join(type(config).__name__ for config in selection.profiler_configs)
        raise UnsupportedFeature(f"activities with {names} for {group.name}", "neither counters nor kernels are read")
    return selection


def selections_of(chosen: dict) -> dict[ProfilerActivity, set[str]]:
    """Names of the selected activity types, for each group of which not all were selected."""
    if _ActivityConfig is None:
        return chosen
    return {group: set(config.activity_types) for group, config in chosen.items() if config.activity_types is not None}


# Group -> the sources that record it and can be paused.
_SOURCES = {ProfilerActivity.CPU: "torch", ProfilerActivity.CUDA: "cuda"}


def sources_to_toggle(enable: object, activities) -> list[str]:
    """The sources that ``toggle_collection_dynamic`` affects; a warning names other devices."""
    groups = set(activities)
    if not hasattr(type(enable), "__bool__") or not all(isinstance(group, ProfilerActivity) for group in groups):
        raise TypeError(
            "_toggle_collection_dynamic(): incompatible function arguments: a bool and some ProfilerActivity are "
            f"needed, not {enable!r} and {groups!r}"
        )
    for group in sorted(groups - set(_SOURCES), key=lambda group: group.name):
        warn_user(f"{group.name} activity cannot be toggled: it is not recorded")
    return [source for group, source in _SOURCES.items() if group in groups]


# The first group in this order that is recorded names the device in tables. Older versions of torch have fewer.
_DEVICE_NAMES = tuple(
    (getattr(ProfilerActivity, group), group.lower())
    for group in ("CUDA", "XPU", "MTIA", "HPU")
    if hasattr(ProfilerActivity, group)
)


def device_of(groups: set[ProfilerActivity]) -> str | None:
    """Name of the device of the recorded groups; None for CPU only."""
    for group, name in _DEVICE_NAMES:
        if group in groups:
            return name
    if ProfilerActivity.PrivateUse1 in groups:
        return torch._C._get_privateuse1_backend_name()
    return None


def device_is_available(device: str) -> bool:
    """Whether torch can use the device here. If OPSCOPE_CUPTI_LIB is set, that library decides. False for unknown
    devices.
    """
    if device == "cuda" and cupti_is_named():
        return True
    module = getattr(torch, device, None)
    available = getattr(module, "is_available", None)
    return bool(available()) if available is not None else False
