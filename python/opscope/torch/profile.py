# SPDX-License-Identifier: Apache-2.0
"""``profile``: records a program, all of it or the steps that a schedule chooses."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

from torch.autograd import ProfilerActivity
from torch.autograd.profiler import KinetoStepTracker
from torch.profiler.profiler import profile as _TorchsProfile

from ..frontend.options import DEFAULT_MAX_BYTES
from ..frontend.schedule import bound_plans, run_plan
from ..user_warning import warn_user
from .actions import ProfilerAction, as_action, parse_activities, supported_activities
from .compile_support import compile_as
from .execution_trace import observer_from_environment
from .features import behaves
from .kineto_profile import _KinetoProfile
from .record_function import record_function
from .schedule import TRANSITION_PLANS, record_always
from .torch_shape import as_in_torch, as_written

PROFILER_STEP_NAME = "ProfilerStep"
# Older releases report each step to Kineto's daemon, whether one runs or not.
_ALWAYS_REPORTS_STEPS = "KINETO_USE_DAEMON" not in _TorchsProfile.step.__code__.co_consts
_SAVE, _STOPPED = ProfilerAction.RECORD_AND_SAVE, getattr(ProfilerAction, "DEVICE_STOPPED", None)


@as_in_torch("profile")
class profile(_KinetoProfile):
    """Records a program::

        with profile(schedule=schedule(wait=1, warmup=1, active=3)) as prof:
            for batch in loader:
                train(batch)
                prof.step()
        print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    ``schedule``: a callable from the step number to a ProfilerAction; without one everything from
    start to stop is recorded. ``on_trace_ready(prof)`` runs at the end of every cycle. The other
    arguments are those of ``torch.profiler.profile``. ``record_to``, ``max_bytes``, ``at_cap`` and ``dump_...`` are
    opscope's own: ``help(opscope.frontend.options.OwnOptions)``.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any | None = None,
        execution_trace_observer: Any | None = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        record_to: str | os.PathLike | None = None,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        at_cap: str = "stop",
        dump_to: str | os.PathLike | None = None,
        dump_on_signal: int | None = None,
        dump_on_exception: bool = False,
        dump_if_no_step_for: float | None = None,
    ) -> None:
        activities = None if activities is None else list(activities)
        _require_activity(activities, use_cuda)
        as_written(_KinetoProfile.__init__)(
            self,
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer or observer_from_environment(),
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
            record_to=record_to,
            max_bytes=max_bytes,
            at_cap=at_cap,
            dump_to=dump_to,
            dump_on_signal=dump_on_signal,
            dump_on_exception=dump_on_exception,
            dump_if_no_step_for=dump_if_no_step_for,
        )
        self.schedule = schedule or record_always
        self.record_steps = bool(schedule)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.step_rec_fn: record_function | None = None
        self.current_action = _checked(self.schedule(self.step_num), self.step_num)
        KinetoStepTracker.init_step_count(PROFILER_STEP_NAME)
        self._reports_steps = _ALWAYS_REPORTS_STEPS or bool(os.environ.get("KINETO_USE_DAEMON", ""))

    @functools.cached_property
    def action_map(self) -> dict[tuple[ProfilerAction, ProfilerAction | None], list[Callable[[], Any]]]:
        """Methods to call between a step of one action and a step of the next one (None: the end)."""
        # Created on access: its bound methods keep the profile alive, and a profile that is dropped while running
        # should end at once.
        return bound_plans(self, TRANSITION_PLANS)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        try:
            try:
                self._session.exception_leaves(exc_type)
            finally:
                self.stop()
        finally:
            KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)
            if self.execution_trace_observer:
                self.execution_trace_observer.cleanup()

    def start(self) -> None:
        """Begins with the action of the current step."""
        self._begin(lambda: self._transit_action(ProfilerAction.NONE, self.current_action))
        self._open_step()

    def stop(self) -> None:
        """Ends the cycle and passes a recording to ``on_trace_ready``; a second call does nothing."""
        self._close_step()
        self._finish(lambda: self._transit_action(self.current_action, None))

    def step(self) -> None:
        """Ends the current step and begins the next one.

        Without a running profile it only counts: the next start begins with that step's action.
        """
        following = self.step_num + 1
        if self.step_rec_fn is not None:
            self._close_step()
        action = self.schedule(following)  # before any change, because a schedule may raise
        if type(action) is not ProfilerAction or action is _STOPPED:
            action = _checked(action, following)
        previous, self.current_action = self.current_action, action
        self.step_num = following
        if self._session.is_started:
            if self._session.dumps_by_itself:
                self._session.step()
            # Shortcut for equal actions with nothing to do: most steps of a long job are idle.
            if previous is not action or action is _SAVE or "action_map" in self.__dict__:
                self._transit_action(previous, action)
            if self._reports_steps:
                KinetoStepTracker.increment_step(PROFILER_STEP_NAME)
            if self.record_steps:
                self.step_rec_fn = record_function(f"ProfilerStep#{following}").__enter__()

    def _open_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"{PROFILER_STEP_NAME}#{self.step_num}").__enter__()

    def _close_step(self) -> None:
        if self.step_rec_fn is not None:
            # Cleared first: if the following raises, stop() must not close it again.
            step, self.step_rec_fn = self.step_rec_fn, None
            step.__exit__(None, None, None)

    def _transit_action(self, previous, following) -> None:
        changed = self.__dict__.get("action_map")
        if changed is not None:
            for act in changed.get((previous, following), ()):
                act()
            return
        run_plan(self, TRANSITION_PLANS.get((previous, following), ()))

    def _trace_ready(self) -> None:
        if self.on_trace_ready:
            self.on_trace_ready(self)


compile_as(profile, _TorchsProfile)


def _checked(returned: object, step: int) -> ProfilerAction:
    """The action that a schedule has returned for a step, checked."""
    action = as_action(returned, step)
    if action is _STOPPED:
        raise ValueError(
            "ProfilerAction.DEVICE_STOPPED is set internally by the "
            "profiler and must not be returned by a user-provided schedule"
        )
    return action


def _require_activity(activities: list | None, use_cuda: bool | None) -> None:
    """AssertionError if the arguments request no activity."""
    groups: set = set()
    if activities is not None and behaves("validates_activities_first"):
        parse_activities(activities)
    for item in supported_activities() if activities is None else activities:
        if isinstance(item, (dict, ProfilerActivity)):
            groups.update(item if isinstance(item, dict) else (item,))
    if use_cuda is not None:
        warn_user("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        groups = groups | {ProfilerActivity.CUDA} if use_cuda else groups - {ProfilerActivity.CUDA}
    if not groups:
        raise AssertionError("No valid profiler activities found")
