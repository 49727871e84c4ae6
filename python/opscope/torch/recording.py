# SPDX-License-Identifier: Apache-2.0
"""One cycle of a profile: a recording of the process, and the results once it has stopped."""

from __future__ import annotations

import logging
import os
import time

from .. import _core
from ..trace import Trace
from ..user_warning import warn_user
from . import source
from .compat import compat_is_asked
from .events import EventList, unfilled_events
from .inner_profile import InnerProfile
from .python_calls import call_costs, start_calls
from .settings import FLAGS_OF_MEMORY
from .told_flag import tell_torch
from .torch_switches import links_forward_to_backward

# The least that a cycle of acc_events is given when the cycles before it have used the memory up.
_LEAST_BYTES = 1 << 16

_log = logging.getLogger("torch.autograd.profiler")  # where programs that care listen
_OUT_OF_TIME = (
    "Profiler timed out after {:.3f} seconds, when the recording had been read: returning partial results with 0 "
    "events. The recording is whole: export_chrome_trace(), save() and trace have all of it"
)


def _no_events(device: str | None) -> EventList:
    events = EventList(use_device=device)
    events._tree_built = True
    return events


class Recording(InnerProfile):
    """A recording and what is computed from it; made by ``prepare_trace``.

    ``earlier``: the cycles before it, whose events are listed with its own (acc_events).
    """

    def __init__(self, settings, trace_id: str, flight, earlier: list[_core.KeptRecording] | None = None) -> None:
        began = time.perf_counter_ns()
        super().__init__()
        self.trace_id = trace_id
        self._settings = settings
        self._earlier = earlier or []
        self._session = _core.Session(
            max_bytes=self._make_room(),
            at_cap=settings.at_cap,
            native_threads="all" if settings.all_threads else "attached",
            adapter=source.adapter(),
            source_flags=settings.source_flags & ~self._flags_left_out(),
            flight=flight.core,
            record_to=settings.record_to,
        )
        self._calls = None
        self._has_warned = False
        self._is_counted = False
        self._process: int | None = None  # that has started it
        self._started_ns = 0
        self._joined: _core.Trace | None = None  # of all cycles
        self._events: EventList | None = None
        self._earlier_events: EventList | None = None  # while this one is not over
        self._stopped = False
        self._stats.profiler_prepare_call_duration_us = _microseconds_since(began)

    def _flags_left_out(self) -> int:
        """What the adapter for this torch cannot do; told in the recording where it was asked for."""
        asked = {
            "memory": bool(self._settings.profile_memory),
            "stacks": bool(self._settings.with_stack or self._settings.with_modules),
            "drop_ins": False,  # said among the options
        }
        self._lacks = [part for part in source.left_out() if asked.get(part, True)]
        return FLAGS_OF_MEMORY if "memory" in self._lacks else 0

    def _make_room(self) -> int:
        """Bytes for this cycle: what those before it leave. With keep_newest the oldest of them give way."""
        settings, earlier = self._settings, self._earlier
        if settings.at_cap == "keep_newest":
            for at, kept in enumerate(earlier):
                if 2 * sum(cycle.bytes for cycle in earlier) <= settings.max_bytes:
                    break
                earlier[at] = kept.without_events()
        left = settings.max_bytes - sum(cycle.bytes for cycle in earlier)
        return max(left, min(_LEAST_BYTES, settings.max_bytes))

    @property
    def is_inherited(self) -> bool:
        """It was started before this process was forked; it goes on in the parent, and here it is over."""
        return self._process is not None and self._process != os.getpid()

    @property
    def is_running(self) -> bool:
        """Between start and stop."""
        return self._is_counted and not self.is_inherited

    @property
    def is_finished(self) -> bool:
        """It was stopped: a recording records once."""
        return self._stopped or self.is_inherited

    def start(self) -> None:
        """Records from here on, on this thread and wherever torch carries its observers."""
        began = time.perf_counter_ns()
        # Measured at the first use, with a window of its own: before this one opens.
        costs = call_costs() if self._settings.call_flags is not None else ""
        self._session.start()
        if costs:
            self._session.add_own_cost(costs)
        if self._lacks:
            self._session.add_metadata("opscope.parts_left_out", str(len(self._lacks)))
        # kCallStacksKey and kAdjustStepsKey of include/opscope/torch_source.h.
        if self._settings.call_stacks:
            self._session.add_metadata("opscope.call_stacks", "1")
        if self._settings.adjust_steps:
            self._session.add_metadata("opscope.adjust_steps", "1")
        if self._settings.call_flags is not None:
            try:
                hold = source.adapter().hold if self._settings.tensor_identities else 0
                self._calls = start_calls(self._session, self._settings.call_flags, hold=hold)
            except BaseException:
                self._session.stop()
                raise
        self._process = os.getpid()
        self._is_counted = True
        tell_torch(+1)
        self._started_ns = time.perf_counter_ns()
        self._stats.profiler_enable_call_duration_us = _microseconds_since(began)
        self._warn_of_file()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        began = time.perf_counter_ns()
        if self._calls is not None:
            self._tell_unseen(*self._calls.stop())
        self._session.stop(links_forward_to_backward())
        if not self._stopped:
            self._stats.profiler_disable_call_duration_us = _microseconds_since(began)
            self._stats.profiling_window_duration_sec = (began - self._started_ns) / 1e9
        self._stopped = True
        self._uncount()
        self._warn_of_file()

    def _tell_unseen(self, replaced: int, idle: int) -> None:
        for key, threads in (("opscope.calls_unseen", replaced), ("opscope.idle_threads", idle)):
            if threads:
                self.add_metadata(key, str(threads))

    def pause(self, paused: bool) -> None:
        """Lets operators and ranges that begin from here on pass unrecorded, or no longer."""
        self._session.pause(paused)

    def _warn_of_file(self) -> None:
        warning = self._session.file_warning()
        if warning and not self._has_warned:
            self._has_warned = True
            warn_user(warning, RuntimeWarning)

    def _uncount(self) -> None:
        if self._is_counted:
            self._is_counted = False
            if not self.is_inherited:
                tell_torch(-1)

    def __del__(self) -> None:
        # Dropped while running: the session stops by itself, the flag needs us.
        try:
            self._uncount()
        except Exception:  # at the end of the interpreter torch's modules may be gone
            pass

    def add_metadata(self, key: str, json: str) -> bool:
        """False when the recording was already read."""
        return self._session.add_metadata(key, json)

    def counts(self) -> dict[str, int]:
        """recorded, dropped, bytes, threads, chunks."""
        return self._session.counts()

    # ---- results ----------------------------------------------------------------------------

    def cycles(self) -> list[_core.KeptRecording]:
        """This cycle, if it is over, and those before it, oldest first. REQUIRES acc_events."""
        return [*self._earlier, self._session.keep()] if self._stopped and not self.is_inherited else self._earlier

    def last_cycle_trace(self) -> _core.Trace:
        """The recording of this cycle alone; read at the first use."""
        if self._settings.acc_events and self._stopped and not self.is_inherited:
            self._session.keep()  # a recording that was read cannot be kept any more
        return self._session.trace()

    def _whole_trace(self) -> _core.Trace:
        if not self._earlier:
            return self.last_cycle_trace()
        if self._joined is None:
            self._joined = _core.read_kept(self.cycles())
        return self._joined

    @property
    def trace(self) -> Trace:
        """The recording as tables, with acc_events that of all cycles; read at the first use."""
        if self._stopped or not self._earlier:
            return Trace(self._whole_trace())
        return Trace(_core.read_kept(self._earlier))

    @property
    def function_events(self) -> EventList:
        """The events as torch lists them; those of earlier cycles, or none, while the recording runs."""
        if self._events is not None:
            return self._events
        if not self.is_finished:
            return self._events_so_far()
        began = time.perf_counter_ns()
        trace = self._whole_trace()
        self._stats.parse_kineto_call_duration_us = _microseconds_since(began)
        if _is_out_of_time(began, self._settings.post_processing_timeout_s):
            self._events = _no_events(self.use_device)
            return self._events
        began = time.perf_counter_ns()
        self._events = self._events_of(trace)
        self._stats.function_events_build_tree_call_duration_us = _microseconds_since(began)
        self._stats.number_of_events = len(self._events)
        return self._events

    def events_anew(self, limit: float | None) -> EventList:
        """The events of this cycle alone, made for this call; none when reading took `limit` seconds."""
        began = time.perf_counter_ns()
        trace = self.last_cycle_trace()
        return _no_events(self.use_device) if _is_out_of_time(began, limit) else self._events_of(trace)

    def _events_so_far(self) -> EventList:
        if not self._earlier:
            return _no_events(self.use_device)
        if self._earlier_events is None:
            self._earlier_events = self._events_of(_core.read_kept(self._earlier))
        return self._earlier_events

    def _events_of(self, trace: _core.Trace) -> EventList:
        columns = _core.FunctionEvents(trace, use_device=self.use_device or "", only_torch_flops=compat_is_asked())
        columns.exposes_metadata = self._settings.expose_metadata
        return unfilled_events(
            columns,
            use_device=self.use_device,
            profile_memory=self._settings.profile_memory,
            with_flops=self._settings.with_flops,
        )

    def collected(self) -> _core.FunctionEvents:
        """What this cycle alone has collected, for KinetoResults."""
        columns = _core.FunctionEvents(self.last_cycle_trace(), use_device=self.use_device or "", as_collected=True)
        columns.exposes_metadata = self._settings.expose_metadata
        return columns


def _is_out_of_time(began: int, limit: float | None) -> bool:
    if limit is None or (time.perf_counter_ns() - began) / 1e9 < limit:
        return False
    _log.warning("%s", _OUT_OF_TIME.format(limit))
    return True


def _microseconds_since(began: int) -> int:
    return max(1, (time.perf_counter_ns() - began) // 1000)
