# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of the integrations when a profiler, a callback or a handler is made, not when it records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..sizes import byte_count


def check_schedule(schedule: Any, example: str) -> None:
    """TypeError for a schedule that cannot be called; ``example``: one that can."""
    if schedule is not None and not callable(schedule):
        kind = type(schedule).__name__
        raise TypeError(f"schedule must be a callable from a step's number to an action ({example}), not {kind}")


def checked_members(name: str, values: Any, kinds: tuple[type, ...], example: str) -> list[Any]:
    """``values`` as a list. TypeError if it is not an iterable of one or more members of ``kinds``."""
    members = list(values) if isinstance(values, Iterable) else []
    if not members or not all(isinstance(each, kinds) for each in members):
        raise TypeError(f"{name} must be a list of one or more members, such as {example}, not {values!r}")
    return members


def checked_flags(*, max_bytes: int | str, **flags: bool) -> dict[str, Any]:
    """The arguments for a profile. TypeError for a flag that is no bool; TypeError, ValueError for ``max_bytes``."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return {**flags, "max_bytes": byte_count(max_bytes, "max_bytes")}


def torch_options(*, schedule: Any, activities: Iterable[Any] | None, **others: Any) -> dict[str, Any]:
    """Arguments for `torch_profile`. TypeError, ValueError for values that are not allowed."""
    check_schedule(schedule, "opscope.torch.schedule(wait=5, warmup=1, active=5, repeat=1)")
    if activities is not None:
        from ..torch import ProfilerActivity

        example = "[torch.profiler.ProfilerActivity.CPU]"
        activities = checked_members("activities", activities, (ProfilerActivity, dict), example)
    return {"schedule": schedule, "activities": activities, **checked_flags(**others)}
