# SPDX-License-Identifier: Apache-2.0
"""The recorder of a Profiler, with the interface of Paddle's native ``_Profiler``: prepare, start, and stop with a
result.

Paddle has one native profiler per process, so there is one Engine: a Profiler that is created while another one has it
gets None, permanently, and fails to record as Paddle's does.
"""

from __future__ import annotations

import json
import os
import resource
import threading
import time
import weakref

from ..frontend.recording import Recording
from ..trace import Trace
from .recording import paddle_metadata
from .result import ProfilerResult
from .source import source

_lock = threading.Lock()
_owner: weakref.ref | None = None
_periods = 0  # number of results of this process so far: Paddle's span index


def _forget_the_parent() -> None:
    global _lock, _owner
    _lock, _owner = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_the_parent)


def create(profile) -> Engine | None:
    """The Engine for a Profiler; None while another Profiler has it."""
    global _owner
    with _lock:
        if _owner is not None and _owner() is not None:
            return None
        engine = Engine(profile)
        _owner = weakref.ref(engine)
        return engine


class Engine:
    """Reads the profile's options when a period is prepared."""

    def __init__(self, profile) -> None:
        self._profile = weakref.ref(profile)
        self.recording: Recording | None = None
        self._next: Recording | None = None
        self._used_before: tuple[float, ...] = ()

    def prepare(self) -> None:
        """Creates the recording; nothing is recorded yet."""
        self._next = self._profile()._new_recording(source())

    def start(self) -> None:
        """Starts to record."""
        if self._next is None:
            raise RuntimeError("(PreconditionNotMet) TracerState must be READY")
        self.recording, self._next = self._next, None
        profile = self._profile()
        options = {"targets": sorted(target.name for target in profile.targets)}
        options |= {name: bool(getattr(profile, name)) for name in ("record_shapes", "profile_memory", "with_flops")}
        for key, value in paddle_metadata(options).items():
            self.recording.add_metadata(key, value)
        self._used_before = _processor_times()
        self.recording.start()

    def stop(self) -> ProfilerResult | None:
        """Ends the period and returns its result."""
        global _periods
        recording = self.recording
        if recording is None or not (recording.is_running or recording.is_inherited):
            raise RuntimeError("(PreconditionNotMet) TracerState must be STARTED")
        if recording.is_inherited:  # forked child: it goes on in the parent
            return None
        extra_info = _thread_names() | _utilization(self._used_before, _processor_times())
        recording.add_metadata("ExtraInfo", json.dumps(extra_info))
        recording.add_metadata("span_index", json.dumps(str(_periods)))
        recording.stop()
        _periods += 1
        return ProfilerResult(Trace(recording.last_cycle_trace()))


def _processor_times() -> tuple[float, float, float, float]:
    """In seconds: the current time, and the processor time of this process, of all processes, and in total on all
    processors.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    busy = total = 0.0
    try:
        with open("/proc/stat") as file:
            ticks = [float(field) for field in file.readline().split()[1:9]]
        total = sum(ticks)
        busy = total - ticks[3] - ticks[4]  # idle, and waiting for I/O
    except (OSError, ValueError, IndexError):
        pass
    return time.monotonic(), used.ru_utime + used.ru_stime, busy, total


def _thread_names() -> dict[str, str]:
    """Names of Python's threads by system thread id, in the form of Paddle's files."""
    threads = (thread for thread in threading.enumerate() if thread.native_id is not None)
    return {str(thread.native_id): thread.name for thread in threads}


def _utilization(before, after) -> dict[str, str]:
    """CPU utilisation of the period, in the form of Paddle's files."""
    elapsed, own, busy, total = (now - then for now, then in zip(after, before, strict=True))
    return {
        "Process Cpu Utilization": f"{own / elapsed if elapsed > 0 else 0:.6f}",
        "System Cpu Utilization": f"{busy / total if total > 0 else 0:.6f}",
    }
