# SPDX-License-Identifier: Apache-2.0
"""Reads a long window in parts.

MegEngine's stop_profile() holds the GIL for a time in proportion to the length of the window, and its records need
memory. A timer thread decides when a part is due; the thread that runs MegEngine then takes it right after the next
operator that Python code applies. At that point no operation of MegEngine is incomplete, and errors of its worker would
be raised there anyway.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

from megengine.core._imperative_rt import core2
from megengine.jit import tracing

from .. import _core

_RECORDS = 80_000  # target number of records per part
_FIRST, _SHORTEST, _LONGEST = 0.04, 0.02, 0.2  # period of the parts in seconds; adapted after each part
_MOST_CALLS = 2000  # Python calls that are watched for a safe point; after them this part is skipped

_APPLY = frozenset(call for name, call in vars(core2).items() if name == "apply" or name.endswith("_cpp"))
_running: Parts | None = None


class Parts:
    """Calls `take`, which returns the number of records in the window, repeatedly until `end`. All methods are for the
    thread that runs MegEngine.
    """

    def __init__(self, take: Callable[[], int]) -> None:
        self._take = take
        self._process = os.getpid()
        self._taken, self._began = 0, time.perf_counter()
        self._period = _FIRST
        self._is_due = False
        self._calls = 0
        # The profile function to install; empty after the end, because a pending call may still run then.
        self._to_see = [self._see_call]
        self._ended = threading.Event()
        # Python runs pending calls, and the profile function that they set, on the main thread only.
        self._watches_calls = threading.current_thread() is threading.main_thread()
        self._thread = threading.Thread(target=self._tick, name="opscope-parts", daemon=True)
        global _running
        _running = self
        self._thread.start()

    def take_if_due(self) -> None:
        """Takes a part if one is due. Called at a point of the program at which that is safe."""
        if self._is_due and self._to_see:
            self._is_due = False
            taken, now = self._take(), time.perf_counter()
            self._is_due = False  # the timer may have set it again meanwhile
            records_per_second = max(taken - self._taken, 1) / max(now - self._began, 1e-9)
            self._period = min(max(_RECORDS / records_per_second, _SHORTEST), _LONGEST)
            self._taken, self._began = taken, now

    def end(self) -> None:
        """Stops taking parts."""
        self._forget()
        if self._process == os.getpid():  # a forked child has no such thread, and the event's lock may have been held
            self._ended.set()
            self._thread.join()

    def _forget(self) -> None:
        global _running
        _running = None
        self._to_see.clear()
        self._unwatch_calls()

    def _tick(self) -> None:
        while not self._ended.wait(self._period):
            self._is_due = True
            if self._watches_calls:
                self._calls = 0
                _core.megengine.set_profile_soon(self._to_see)

    def _see_call(self, _frame, event: str, call) -> None:
        self._calls += 1
        if not self._to_see or not self._is_due or self._calls > _MOST_CALLS:
            self._unwatch_calls()
        elif event == "c_return" and call in _APPLY and tracing.active_trace is None:
            self._unwatch_calls()
            self.take_if_due()

    def _unwatch_calls(self) -> None:
        if sys.getprofile() == self._see_call:
            sys.setprofile(None)


def _forget_parts_of_parent() -> None:
    """In a forked child: forgets the timer and the profile function of the parent."""
    if _running is not None:
        _running._forget()


os.register_at_fork(after_in_child=_forget_parts_of_parent)
