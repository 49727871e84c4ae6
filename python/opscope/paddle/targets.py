# SPDX-License-Identifier: Apache-2.0
"""``ProfilerTarget``: the devices that a Profiler can record."""

from __future__ import annotations

from collections.abc import Iterable

import paddle
from paddle.profiler import profiler as _original
from paddle.profiler.profiler import ProfilerTarget

from ..adapters.cuda import cupti_is_named
from ..user_warning import warn_user


def supported_targets() -> list[ProfilerTarget]:
    """The targets of this build of Paddle; the GPU also if OPSCOPE_CUPTI_LIB names a library."""
    supported = list(_original._get_supported_targets())
    if cupti_is_named() and ProfilerTarget.GPU not in supported:
        supported.insert(1, ProfilerTarget.GPU)  # behind the CPU, as in builds for GPUs
    return supported


def usable_targets(targets: Iterable[ProfilerTarget] | None) -> list[ProfilerTarget] | set[ProfilerTarget]:
    """The requested targets that can be recorded, or all if none were requested. Warns about each of the others."""
    supported = supported_targets()
    if not targets:
        return supported
    requested = list(targets)
    for target in requested:
        if target not in supported:
            warn_user(f"Profiling {target} is not supported in current context.")
    return {target for target in requested if target in supported}


def refuse_absent(custom_device_types: list[str], targets: Iterable[ProfilerTarget]) -> None:
    """Raises for targets that do not exist, with the errors of Paddle's native profiler."""
    if not custom_device_types or ProfilerTarget.CUSTOM_DEVICE not in targets:
        return
    there = paddle.device.get_all_custom_device_type() or ()
    for device in custom_device_types:
        if device not in there:
            raise RuntimeError(f"(NotFound) {device} interface not found.")
