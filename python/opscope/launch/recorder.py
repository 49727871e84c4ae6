# SPDX-License-Identifier: Apache-2.0
"""Records one framework of this process: starts and stops windows at the steps that the plan names.

The program's own profiler reports the end of a step if it has one that counts steps, otherwise its optimizers do. While
another profiler records, this one does not, so that neither sees the other's marks and CUPTI has one user: the window
ends when the other one begins, and a new one begins at the next step after its end.
"""

from __future__ import annotations

import _thread
import math
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from ..log import quiet
from .files import Files
from .optimizer_steps import OptimizerSteps
from .plan import Plan


class Program(Protocol):
    """What a recorder needs of a framework."""

    name: str
    is_for_one_thread: bool  # only the thread that runs the framework may start and stop windows

    @property
    def waits_for_device(self) -> bool:
        """Whether stop() waits until a device has finished its work."""

    def watch(self, recorder: Recorder) -> None:
        """Calls the recorder's methods at the end of steps, and when another profiler begins."""

    def forget(self) -> None:
        """In a forked child: drops the parent's window."""

    def other_is_running(self) -> bool:
        """Whether a profiler of the program records now."""

    def start(self, path: str) -> None:
        """Starts a window that is recorded into this file."""

    def mark(self, step: int | None) -> None:
        """Ends the range of the last step, and begins that of this one (None: no step begins)."""

    def stop(self) -> int:
        """Ends the window. Returns how many events it has without the marks."""

    def distributed_info(self) -> dict[str, Any] | None:
        """What the framework knows of the job, at least ``rank``; None if it is not in one."""


class Recorder:
    """For one framework. All methods but ``end`` are called by the program's threads; none of them raises."""

    def __init__(self, program: Program, plan: Plan, files: Files) -> None:
        self._program, self._plan, self._files = program, plan, files
        self.reset()

    def reset(self) -> None:
        """Begins anew, in a forked child: its steps and windows are its own."""
        self._lock = threading.RLock()  # a thread of the parent may have held the old one
        self._optimizers = OptimizerSteps()
        self._is_over = False
        self._ends_at = math.inf  # by time.monotonic()
        self._step = 0
        self._window: int | None = None  # of the plan, that runs
        self._path = ""  # of its file
        self._is_marked = True  # False: the program marks its steps itself
        self._marked: int | None = None  # the step that has an open range
        self._is_busy = False
        self.why_not = ""
        self.has_recorded = False

    def begin(self) -> None:
        """Starts to record, now or when the plan says so."""
        self._guard(self._begin)

    def _begin(self) -> None:
        self._program.forget()
        self._follow_plan()
        if self._plan.seconds is None:
            return
        self._ends_at = time.monotonic() + self._plan.seconds
        if not self._program.is_for_one_thread:
            # Not a threading.Thread, which the program would see among its own.
            _thread.start_new_thread(self._end_after, (self._plan.seconds, self._files.process))

    def optimizer_stepped(self, optimizer: object) -> None:
        """Called after each step of an optimizer."""
        if self._is_marked and not self._is_over and self._optimizers.ends_step(optimizer):
            self._guard(self._step_ends)

    def profiler_stepped(self) -> None:
        """Called after each ``step()`` of a profiler of the program, which then counts instead of the optimizers."""
        if not self._is_over:
            self._guard(self._take_their_steps)

    def other_begins(self, name: str) -> None:
        """Called before another profiler of this process begins."""
        if not self._is_busy and not self._is_over:
            self._guard(lambda: self._make_way(name))

    def restart(self) -> None:
        """Ends the window and begins the next one at once, because the program can record more from now on."""
        if not self._is_over:
            self._guard(self._restart)

    def end(self) -> None:
        """Ends the window that runs, for good."""
        self._guard(self._end)

    def end_without_wait(self) -> None:
        """Ends the window, or leaves it as it is in its file where its end would wait for a device."""
        if self._window is None or not self._program.waits_for_device:
            self.end()
            return
        self._is_over, self._window, self.has_recorded = True, None, True
        self._files.keep(self._path)

    # ---- under the lock ---------------------------------------------------------------------

    def _guard(self, act: Callable[[], None]) -> None:
        with self._lock:
            if self._is_busy:  # a profiler of ours has called back
                return
            self._is_busy = True
            try:
                with quiet():
                    act()
            except Exception as error:  # the program must not notice
                self._fail(error)
            finally:
                self._is_busy = False

    def _fail(self, error: Exception) -> None:
        self._is_over = True
        self.why_not = f"{type(error).__name__}: {error}"
        if self._window is not None:
            self._window = None
            self._files.keep(self._path)

    def _follow_plan(self) -> None:
        wanted = self._plan.window(self._step)
        if self._window is not None and wanted != self._window:
            self._stop()
        if wanted is not None and self._window is None and not self._program.other_is_running():
            self._start(wanted)
        if self._plan.last is not None and self._step > self._plan.last:
            self._is_over = True

    def _start(self, window: int) -> None:
        self._path = self._files.new_name()
        try:
            self._program.start(self._path)
        except BaseException:
            self._files.settle(self._path)
            self._files.remove(self._path)
            raise
        self._files.settle(self._path)
        self._window = window
        self._mark(self._step)

    def _mark(self, step: int | None) -> None:
        if self._is_marked and step != self._marked:
            self._program.mark(step)
            self._marked = step

    def _stop(self) -> None:
        self._window = None
        info = self._program.distributed_info()
        self._mark(None)
        if self._program.stop() > 0:
            self.has_recorded = True
            self._files.finish(self._path, info)
        else:
            self._files.remove(self._path)

    def _step_ends(self) -> None:
        if time.monotonic() >= self._ends_at:
            self._end()
            return
        self._step += 1
        self._follow_plan()
        if self._window is not None:
            self._mark(self._step)

    def _take_their_steps(self) -> None:
        self._mark(None)
        self._is_marked = False
        self._step_ends()

    def _make_way(self, name: str) -> None:
        if self._window is not None:
            self._stop()
            self.why_not = f"the program records itself with {name}: not recorded meanwhile"

    def _restart(self) -> None:
        window = self._window
        if window is not None:
            self._stop()
            self._start(window)

    def _end(self) -> None:
        self._is_over = True
        if self._window is not None:
            self._stop()

    def _end_after(self, seconds: float, process: int) -> None:
        time.sleep(seconds)
        if self._files.process == process:
            self.end()
