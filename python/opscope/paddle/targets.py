# SPDX-License-Identifier: Apache-2.0
"""``ProfilerTarget``: what a Profiler can record of."""

from __future__ import annotations

from collections.abc import Iterable

import paddle
from paddle.profiler import profiler as _original
from paddle.profiler.profiler import ProfilerTarget

from ..adapters.cuda import cupti_is_named
from ..user_warning import warn_user


def supported_targets() -> list[ProfilerTarget]:
    """Those of this build of Paddle; the GPU also where OPSCOPE_CUPTI_LIB names a library for it."""
    supported = list(_original._get_supported_targets())
    if cupti_is_named() and ProfilerTarget.GPU not in supported:
        supported.insert(1, ProfilerTarget.GPU)  # behind the CPU, as in builds for GPUs
    return supported


def usable_targets(targets: Iterable[ProfilerTarget] | None) -> list[ProfilerTarget] | set[ProfilerTarget]:
    """Of those that were asked for; all where none were. Each of the others is told in a warning."""
    supported = supported_targets()
    if not targets:
        return supported
    asked = list(targets)
    for target in asked:
        if target not in supported:
            warn_user(f"Profiling {target} is not supported in current context.")
    return {target for target in asked if target in supported}


def refuse_absent(custom_device_types: list[str], targets: Iterable[ProfilerTarget]) -> None:
    """As Paddle's native profiler, which it would be passed to."""
    if not custom_device_types or ProfilerTarget.CUSTOM_DEVICE not in targets:
        return
    there = paddle.device.get_all_custom_device_type() or ()
    for device in custom_device_types:
        if device not in there:
            raise RuntimeError(f"(NotFound) {device} interface not found.")
