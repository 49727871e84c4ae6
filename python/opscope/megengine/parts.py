# SPDX-License-Identifier: Apache-2.0
"""When a long window is taken in parts: MegEngine's stop holds the GIL for as long as what it stops was, and its
records hold their memory.

A clock says when a part is due; the thread that runs MegEngine takes it right after the next operator that Python
code has applied. Nothing of MegEngine's is half done there, and what its worker failed at is raised there anyway.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable

from megengine.core._imperative_rt import core2
from megengine.jit import tracing

_RECORDS = 80_000  # of a part
_FIRST, _SHORTEST, _LONGEST = 0.04, 0.02, 0.2  # seconds; how long a part takes to record is found by the one before
_MOST_CALLS = 2000  # of Python's that are looked at for a place; a program that does something else is left alone

_APPLY = frozenset(call for name, call in vars(core2).items() if name == "apply" or name.endswith("_cpp"))
_recording: Parts | None = None  # whose place is looked for; what is pending may run when it has ended


class Parts:
    """Calls `take`, which returns how many records the window has by then, again and again until `end`. All methods
    are for the thread that runs MegEngine.
    """

    def __init__(self, take: Callable[[], int]) -> None:
        self._take = take
        self._process = os.getpid()
        self._taken, self._began = 0, time.perf_counter()
        self._period = _FIRST
        self._is_due = False
        self._calls = 0
        self._ended = threading.Event()
        # Python runs what is pending, and asks for profile functions, in this thread alone.
        self._finds_places = threading.current_thread() is threading.main_thread()
        self._thread = threading.Thread(target=self._tick, name="opscope-parts", daemon=True)
        global _recording
        _recording = self
        self._thread.start()

    def take_if_due(self) -> None:
        """At a place of the program's that is as good as any."""
        if self._is_due and not self._ended.is_set() and self._process == os.getpid():
            self._is_due = False
            taken, now = self._take(), time.perf_counter()
            records_per_second = max(taken - self._taken, 1) / max(now - self._began, 1e-9)
            self._period = min(max(_RECORDS / records_per_second, _SHORTEST), _LONGEST)
            self._taken, self._began = taken, now

    def end(self) -> None:
        """Nothing is taken from here on."""
        global _recording
        _recording = None
        self._ended.set()
        self._leave_calls()
        if self._process == os.getpid():  # a child of a fork has no such thread
            self._thread.join()

    def _tick(self) -> None:
        while not self._ended.wait(self._period):
            self._is_due = True
            if self._finds_places:
                ctypes.pythonapi.Py_AddPendingCall(_look_for_place, None)  # refused where many wait: at the next tick

    def see_calls(self) -> None:
        """From here on, for a while, unless somebody else does."""
        if self._is_due and sys.getprofile() is None:
            self._calls = 0
            sys.setprofile(self._see_call)

    def _see_call(self, _frame, event: str, call) -> None:
        self._calls += 1
        if event == "c_return" and call in _APPLY and tracing.active_trace is None:
            self._leave_calls()
            self.take_if_due()
        elif self._calls > _MOST_CALLS or not self._is_due:
            self._leave_calls()

    def _leave_calls(self) -> None:
        if sys.getprofile() == self._see_call:
            sys.setprofile(None)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def _look_for_place(_) -> int:
    """Between two instructions of the program, which may stand anywhere."""
    if _recording is not None:
        _recording.see_calls()
    return 0
