# SPDX-License-Identifier: Apache-2.0
"""``schedule``: steps to skip, to warm up and to record; and the methods called between two steps.

Both are implemented in C++ and shared by all front ends; here they get torch's names. A schedule can be any callable
from a step number to a ProfilerAction.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index

from .. import _core
from ..frontend.schedule import transition_plans
from ..user_warning import warn_user
from . import features
from .actions import ProfilerAction
from .torch_shape import as_in_torch

_ACTIONS = {action.value: action for action in ProfilerAction}


@as_in_torch("schedule")
def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A schedule of cycles: ``wait`` idle steps, ``warmup`` steps, ``active`` recorded steps.

    ``skip_first`` idle steps come before the first cycle; ``skip_first_wait`` other than 0 leaves out
    the first cycle's wait. ``repeat`` cycles, for ever when 0.
    """
    plan = _core.Schedule(
        wait=_steps(wait),
        warmup=_steps(warmup),
        active=_steps(active),
        repeat=_steps(repeat),
        skip_first=_steps(skip_first),
        skip_first_wait=0 if skip_first_wait == 0 else 1,
    )
    if not plan.is_valid:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn_user("Profiler won't be using warmup, this can skew profiler results")

    # The comparison of each release of torch, because NaN and objects that are not numbers differ in it.
    is_negated = not features.behaves("asserts_with_message")

    def action_at(step: int) -> ProfilerAction:
        if not step >= 0 if is_negated else step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        return _ACTIONS[plan.at(step)]

    return action_at


_FOR_EVER = 2**63 - 1


def _steps(number: int) -> int:
    """An integer number of steps, limited to the range of a recording's counter."""
    return max(-1, min(index(number), _FOR_EVER))


def record_always(_step: int) -> ProfilerAction:
    """The schedule of a profile without one: record from start to stop."""
    return ProfilerAction.RECORD


TRANSITION_PLANS = transition_plans(
    ProfilerAction, {"prepare": "prepare_trace", "start": "start_trace", "stop": "stop_trace", "ready": "_trace_ready"}
)
