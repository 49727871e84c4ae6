# SPDX-License-Identifier: Apache-2.0
"""What a Profiler records with, in the place of Paddle's native ``_Profiler``: prepare, start, stop with a result.

Paddle has one native profiler in a process, so there is one Engine: a Profiler that is made while another one has it
gets None, for good. Its recording fails where Paddle's does.
"""

from __future__ import annotations

import json
import os
import resource
import threading
import time
import weakref

from ..frontend.metadata import process_metadata
from ..frontend.recording import Recording
from ..trace import Trace
from .result import ProfilerResult
from .source import source

_lock = threading.Lock()
_owner: weakref.ref | None = None
_periods = 0  # results of this process so far: Paddle's span index


def _forget_the_parent() -> None:
    global _lock, _owner
    _lock, _owner = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_the_parent)


def create(profile) -> Engine | None:
    """That of a Profiler; None while another one's lives."""
    global _owner
    with _lock:
        if _owner is not None and _owner() is not None:
            return None
        engine = Engine(profile)
        _owner = weakref.ref(engine)
        return engine


class Engine:
    """Its profile is asked for its options when a period is prepared."""

    def __init__(self, profile) -> None:
        self._profile = weakref.ref(profile)
        self.recording: Recording | None = None
        self._next: Recording | None = None
        self._used_before: tuple[float, ...] = ()

    def prepare(self) -> None:
        """Makes ready; nothing is recorded yet."""
        self._next = self._profile()._new_recording(source())

    def start(self) -> None:
        """Records from here on."""
        if self._next is None:
            raise RuntimeError("(PreconditionNotMet) TracerState must be READY")
        self.recording, self._next = self._next, None
        for key, value in process_metadata().items():
            self.recording.add_metadata(key, value)
        self._used_before = _processor_times()
        self.recording.start()

    def stop(self) -> ProfilerResult | None:
        """Ends the period; what it has recorded."""
        global _periods
        recording = self.recording
        if recording is None or not (recording.is_running or recording.is_inherited):
            raise RuntimeError("(PreconditionNotMet) TracerState must be STARTED")
        if recording.is_inherited:  # it goes on in the parent
            return None
        extra_info = _thread_names() | _utilization(self._used_before, _processor_times())
        recording.add_metadata("ExtraInfo", json.dumps(extra_info))
        recording.add_metadata("span_index", json.dumps(str(_periods)))
        recording.stop()
        _periods += 1
        return ProfilerResult(Trace(recording.last_cycle_trace()))


def _processor_times() -> tuple[float, float, float, float]:
    """Seconds: now, used by this process, used by all, passed on all processors."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    busy = total = 0.0
    try:
        with open("/proc/stat") as file:
            ticks = [float(field) for field in file.readline().split()[1:9]]
        total = sum(ticks)
        busy = total - ticks[3] - ticks[4]  # idle, waiting for disks
    except (OSError, ValueError, IndexError):
        pass
    return time.monotonic(), used.ru_utime + used.ru_stime, busy, total


def _thread_names() -> dict[str, str]:
    """Of Python's threads, by the system's numbers, as Paddle's files have them."""
    threads = (thread for thread in threading.enumerate() if thread.native_id is not None)
    return {str(thread.native_id): thread.name for thread in threads}


def _utilization(before, after) -> dict[str, str]:
    """Of the period, as Paddle's files say it."""
    elapsed, own, busy, total = (now - then for now, then in zip(after, before, strict=True))
    return {
        "Process Cpu Utilization": f"{own / elapsed if elapsed > 0 else 0:.6f}",
        "System Cpu Utilization": f"{busy / total if total > 0 else 0:.6f}",
    }
