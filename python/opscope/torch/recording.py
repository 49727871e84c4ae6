# SPDX-License-Identifier: Apache-2.0
"""One cycle of a profile: a recording of the process, and the results once it has stopped."""

from __future__ import annotations

import logging
import os
import threading
import time

import torch

from .. import _core
from ..frontend import cuda_activity, recording
from ..frontend.session import Session
from ..user_warning import warn_user
from . import source
from .compat import compat_is_requested
from .enabled_flag import notify_torch
from .events import EventList, unfilled_events
from .features import left_out_of_lists
from .inner_profile import InnerProfile
from .python_calls import calls_source
from .torch_switches import links_forward_to_backward

_log = logging.getLogger("torch.autograd.profiler")  # torch's logger, to which programs add handlers
_OUT_OF_TIME = (
    "Profiler timed out after {:.3f} seconds, when the recording had been read: returning partial results with 0 "
    "events. The recording is whole: export_chrome_trace(), save() and trace have all of it"
)

_NOTHING_RECORDED = (
    "nothing was recorded: no operator ran on the thread that started the profile, while other threads ran; "
    "experimental_config=_ExperimentalConfig(profile_all_threads=True) records the operators of all threads"
)
# Processor time of other threads from which on they count as working: more than two clock reads or the end of a thread.
_SOME_WORK_NS = 200_000


def _no_events(device: str | None) -> EventList:
    events = EventList(use_device=device)
    events._tree_built = True
    return events


class Recording(InnerProfile, recording.Recording):
    """A recording and the results computed from it; created by ``prepare_trace``.

    With acc_events its events include those of the previous cycles.
    """

    _events: EventList | None = None  # set in the object at the first access

    def __init__(self, settings, trace_id: str, session: Session) -> None:
        began = time.perf_counter_ns()
        InnerProfile.__init__(self)
        self.trace_id = trace_id
        self._settings = settings
        adapter = source.adapter()
        self._lacks = [part for part in source.left_out() if settings.needs(part)]
        recording.Recording.__init__(
            self,
            session,
            max_bytes=settings.max_bytes,
            at_cap=settings.at_cap,
            native_threads="all" if settings.all_threads else "attached",
            sources=[*_sources_of_torch(settings, adapter, self._lacks), *_sources_of_calls(settings, adapter)],
            cuda_flags=settings.cuda_flags,
            record_to=settings.record_to,
            adds_up=settings.acc_events,
        )
        self._torch_is_notified = False  # notify_torch(+1) was called
        self._started_ns = 0
        self._others_at_start: tuple[int, int] | None = None
        links_forward_to_backward()  # caches its lookup now; later, the recording would contain the lookup's calls
        self._earlier_events: EventList | None = None  # until this one has ended
        self._stats.profiler_prepare_call_duration_us = _microseconds_since(began)

    def start(self) -> None:
        """Starts to record, on this thread and on all to which torch propagates its observers."""
        began = time.perf_counter_ns()
        if self._settings.cuda_flags is not None:
            cuda_activity.set_torch_profiled(source.adapter().kineto_is_idle())
        self._session.begin(self._core)
        if not self._settings.records_cpu:
            self.pause(True, "torch")  # allocations are still recorded
        if self._lacks:
            self._core.add_metadata("opscope.parts_left_out", str(len(self._lacks)))
        # kCallStacksKey and kAdjustStepsKey of include/opscope/window_facts.h.
        if self._settings.call_stacks:
            self._core.add_metadata("opscope.call_stacks", "1")
        if self._settings.adjust_steps:
            self._core.add_metadata("opscope.adjust_steps", "1")
        if self._settings.records_cpu and not self._settings.all_threads:
            self._others_at_start = _cpu_of_other_threads()
        self._torch_is_notified = True
        notify_torch(+1)
        self._started_ns = time.perf_counter_ns()
        self._stats.profiler_enable_call_duration_us = _microseconds_since(began)
        self._warn_of_start()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        began = time.perf_counter_ns()
        is_first = self.is_running
        others_ran = is_first and self._others_ran()
        try:
            if is_first:
                self._add_facts_of_end(others_ran)
        finally:  # whatever fails before, the recording ends
            try:
                self._end()
            finally:
                if is_first:
                    self._stats.profiler_disable_call_duration_us = _microseconds_since(began)
                    self._stats.profiling_window_duration_sec = (began - self._started_ns) / 1e9
                self._notify_torch_of_end()
        self._warn_of_file()
        if others_ran and self.counts()["recorded"] == 0:
            warn_user(_NOTHING_RECORDED)

    def _add_facts_of_end(self, others_ran: bool) -> None:
        if not links_forward_to_backward():
            self._core.add_metadata("opscope.forward_backward", "false")  # kForwardBackwardKey of window_facts.h
        thread = threading.get_native_id()
        # a thread other than the main one
        if self._settings.cuda_flags is not None and thread != os.getpid():
            self._core.add_metadata("opscope_stopping_thread", str(thread))  # kStoppingThreadKey of function_events.h
        if others_ran:
            self._core.add_metadata("opscope.other_threads_ran", "1")  # kOthersRanKey
        if self._settings.monitor is not None:
            self._settings.monitor.describe(self._core)

    def _others_ran(self) -> bool:
        """Whether other threads of the process worked during the recording; False if that is unknown, because the
        recording ends on another thread than it began.
        """
        if self._others_at_start is None:
            return False
        thread, cpu_ns = _cpu_of_other_threads()
        return thread == self._others_at_start[0] and cpu_ns - self._others_at_start[1] > _SOME_WORK_NS

    def _synchronize_device(self) -> None:
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()

    def _notify_torch_of_end(self) -> None:
        if self._torch_is_notified:
            self._torch_is_notified = False
            if not self.is_inherited:
                notify_torch(-1)

    def __del__(self) -> None:
        # Dropped while running: the session stops by itself, but the flag must be cleared here.
        try:
            self._notify_torch_of_end()
        except Exception:  # at the interpreter's end, torch's modules may be gone
            pass

    # ---- results ----------------------------------------------------------------------------

    @property
    def function_events(self) -> EventList:
        """The events in torch's list; while the recording runs, those of earlier cycles."""
        if self._events is not None:
            return self._events
        if not self.is_finished:
            return self._events_so_far()
        # If two threads compute it at the same time, both get the same list. No lock: a forked child could not take it.
        return self.__dict__.setdefault("_events", self._read_events())

    def _read_events(self) -> EventList:
        began = time.perf_counter_ns()
        trace = self._core.whole_trace()
        self._stats.parse_kineto_call_duration_us = _microseconds_since(began)
        if _is_out_of_time(began, self._settings.post_processing_timeout_s):
            return _no_events(self.use_device)
        began = time.perf_counter_ns()
        events = self._events_of(trace)
        self._stats.function_events_build_tree_call_duration_us = _microseconds_since(began)
        self._stats.number_of_events = len(events)
        return events

    def reread_events(self, limit: float | None) -> EventList:
        """A new list of the events of this cycle alone; empty if reading took longer than `limit` seconds."""
        began = time.perf_counter_ns()
        trace = self.last_cycle_trace()
        return _no_events(self.use_device) if _is_out_of_time(began, limit) else self._events_of(trace)

    def _events_so_far(self) -> EventList:
        if not self._core.has_earlier:
            return _no_events(self.use_device)
        if self._earlier_events is None:
            self._earlier_events = self._events_of(self._core.whole_trace())
        return self._earlier_events

    def _events_of(self, trace: _core.Trace) -> EventList:
        columns = _core.torch.FunctionEvents(
            trace,
            use_device=self.use_device or "",
            only_torch_flops=compat_is_requested(),
            **left_out_of_lists(),
        )
        columns.exposes_metadata = self._settings.expose_metadata
        return unfilled_events(
            columns,
            use_device=self.use_device,
            profile_memory=self._settings.profile_memory,
            with_flops=self._settings.with_flops,
        )

    def collected(self, *, as_listed: bool) -> _core.torch.FunctionEvents:
        """The raw events of this cycle alone, for KinetoResults; ``as_listed``: without those that torch does not
        list.
        """
        left_out = left_out_of_lists() if as_listed else {}
        columns = _core.torch.FunctionEvents(
            self.last_cycle_trace(), use_device=self.use_device or "", as_collected=True, **left_out
        )
        columns.exposes_metadata = self._settings.expose_metadata
        return columns


def _sources_of_torch(settings, adapter, lacks: list[str]) -> list[tuple[_core.Source, list[str]]]:
    flags = settings.source_flags(lacks)
    return [] if flags is None else [(adapter, flags)]


def _cpu_of_other_threads() -> tuple[int, int]:
    """The calling thread's id, and the processor time of all other threads of the process in nanoseconds."""
    return threading.get_ident(), time.process_time_ns() - time.thread_time_ns()


def _sources_of_calls(settings, adapter) -> list[tuple[_core.Source, list[str]]]:
    if settings.call_flags is None:
        return []
    flags = settings.call_flags
    hold = adapter.hold if settings.tensor_identities else 0
    return [(calls_source(all_calls="calls" in flags, hold=hold), flags)]


def _is_out_of_time(began: int, limit: float | None) -> bool:
    # TypeError for values that are not a time, as in torch
    if limit is None or time.perf_counter_ns() - began < int(limit * 1e9):
        return False
    _log.warning("%s", _OUT_OF_TIME.format(limit))
    return True


def _microseconds_since(began: int) -> int:
    return max(1, (time.perf_counter_ns() - began) // 1000)
