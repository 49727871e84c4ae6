# SPDX-License-Identifier: Apache-2.0
"""Records one framework of this process: starts and stops windows at the steps that the plan or a request names.

The program's own profiler reports the end of a step if it has one that counts steps, otherwise its optimizers do. While
another profiler records, this one does not, so that neither sees the other's marks and CUPTI has one user: the window
ends when the other one begins, and a new one of the plan begins at the next step after its end.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable

from ..log import quiet
from .demand import MAX_BYTES, Demand, max_bytes
from .files import Files
from .optimizer_steps import OptimizerSteps
from .plan import Plan
from .program import Program

_PLANNED = "a window of `opscope run` is recorded"
_ENDING = "the last window ends with this step"
_OTHER = "the program records itself"
_CUDA_BEGAN = "the program initialised CUDA meanwhile; a new request records the device, too"


class Recorder:
    """Records one framework. The program's threads and the control thread call its methods; none of them raises."""

    def __init__(self, program: Program, plan: Plan, files: Files, demand_files: Files | None = None) -> None:
        """``demand_files``: files of windows on demand; None: the process takes no requests."""
        self._program, self._plan = program, plan
        self._files, self._demand_files = files, demand_files
        self.reset()

    def reset(self) -> None:
        """Starts anew, at step 0 without a window; called in a forked child."""
        self._lock = threading.RLock()  # a thread of the parent may have held the old one
        self._optimizers = OptimizerSteps()
        self._is_plan_over = False
        self._is_over = False
        self._ends_at = math.inf  # of time.monotonic()
        self._step = 0
        self._step_began = time.monotonic()
        self._step_seconds: deque[float] = deque(maxlen=16)  # lengths of the last steps
        self._window: int | Demand | None = None  # the running window: a number of the plan, or a request's window
        self._demand: Demand | None = None  # the requested window that waits for its first step, or runs
        self._path = ""  # of the window's file
        self._marks_steps = True  # False: the program's own profiler marks its steps
        self._marked_step: int | None = None  # the step whose range is open
        self._is_busy = False
        self.why_not = ""
        self.has_recorded = False

    def begin(self) -> None:
        """Starts to record, now or at the plan's first step."""
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
        if self._marks_steps and not self._is_over and self._optimizers.ends_step(optimizer):
            self._guard(self._step_ends)

    def profiler_stepped(self) -> None:
        """Called after each ``step()`` of a profiler of the program, which then counts instead of the optimizers."""
        if not self._is_over:
            self._guard(self._count_profilers_step)

    def other_begins(self, name: str) -> None:
        """Called before another profiler of this process begins."""
        if not self._is_busy and not self._is_over:
            self._guard(lambda: self._stop_for_other(name))

    def restart(self) -> None:
        """Ends the window and begins the next one at once, because the program can record more from now on."""
        if not self._is_over:
            self._guard(self._restart)

    def end(self) -> None:
        """Ends the running window; no other one begins."""
        self._guard(self._end)

    def end_without_wait(self) -> None:
        """Ends the window. If that would wait for a device, leaves the file as it is."""
        window = self._window
        if window is None or not self._program.waits_for_device:
            self.end()
            return
        self._is_over, self._window, self.has_recorded = True, None, True
        file = self._files_of(window).list_file(self._path)
        self._end_demand("failed", "the program has left without an end: the file ends where it was", file)

    # ---- on demand --------------------------------------------------------------------------

    @property
    def last_step(self) -> int:
        """The number of the current step; 0: no step has ended."""
        return self._step

    @property
    def step_seconds(self) -> float:
        """Median length of the last steps in seconds; 0: no step has ended."""
        lengths = sorted(self._step_seconds)
        return lengths[len(lengths) // 2] if lengths else 0.0

    @property
    def why_nothing(self) -> str:
        """Why this process has no file, although no window of it failed."""
        if self._plan.is_empty:
            return "no recording was requested"
        if self._step >= self._plan.first:
            return "no operator was recorded"
        ended = f"the program ended in step {self._step}" if self._step else "no optimizer and no profiler has stepped"
        return f"step {self._plan.first} did not begin: {ended}"

    def state(self) -> tuple[str, str]:
        """One of "ready", "recording" and "unavailable", and why a request would be refused. Waits for no lock."""
        if self._program.why_not or self._is_over:
            return "unavailable", self._program.why_not or self.why_not or "its recording has ended"
        if self._demand is not None:
            return "recording", "another request is served"
        if self._window is not None:
            return "recording", _ENDING if isinstance(self._window, Demand) else _PLANNED
        if self._program.other_is_running():
            return "unavailable", _OTHER
        return "ready", ""

    def demand(self, demand: Demand) -> None:
        """Accepts a requested window, which waits for its first step, or ends it at once with the reason."""
        if not self._lock.acquire(timeout=1):
            demand.end("failed", "a window is started or ended now")
            return
        try:
            state, why_not = self.state()
            if state != "ready":
                demand.end("failed", why_not)
            elif self._step >= demand.first:
                demand.end("late", f"step {self._step} had begun when the request came")
            else:
                demand.wait(self.step_seconds)
                self._demand = demand
        finally:
            self._lock.release()

    def end_late_demand(self) -> None:
        """Ends a requested window whose time limit has passed."""
        demand = self._demand  # read once, because the program's threads may end it meanwhile
        why_not = "" if demand is None else demand.why_too_late()
        if why_not:
            self._guard(lambda: self._cut_demand(demand, why_not))

    def _cut_demand(self, demand: Demand, why_not: str) -> None:
        if self._demand is not demand:  # another thread has ended it
            return
        if self._window is not self._demand or self._window is None:
            self._end_demand("failed", why_not)
        elif self._program.is_for_one_thread:
            # Its file is complete when the program's thread has stopped the window, at the next step.
            self._end_demand("failed", f"{why_not}; {self._program.name} stops it at the next step")
        else:
            self._stop(why_not)

    def _end_demand(self, status: str, why_not: str = "", file: str = "") -> None:
        demand, self._demand = self._demand, None
        if demand is not None:
            demand.end(status, why_not, file)

    # ---- under the lock ---------------------------------------------------------------------

    def _guard(self, act: Callable[[], None]) -> None:
        with self._lock:
            if self._is_busy:  # called from a profiler that this recorder uses
                return
            self._is_busy = True
            try:
                with quiet():
                    act()
            except Exception as error:  # the program must not see the exception
                self._fail(error)
            finally:
                self._is_busy = False

    def _fail(self, error: Exception) -> None:
        window, self._window = self._window, None
        why_not = f"{type(error).__name__}: {error}"
        file = ""
        if window is not None:
            file = self._files_of(window).list_file(self._path)
            with contextlib.suppress(Exception):  # otherwise the window would record until the process ends
                self._program.stop()
            self._marked_step = None
        if self._demand is not None and self._demand.first <= self._step:
            self._end_demand("failed", why_not, file)  # the next request may succeed
            return
        self._end_demand("failed", why_not)
        self._is_over, self.why_not = True, why_not

    def _files_of(self, window: int | Demand) -> Files:
        return self._demand_files if isinstance(window, Demand) else self._files

    def _wanted(self) -> int | Demand | None:
        planned = None if self._is_plan_over else self._plan.window(self._step)
        if planned is None and self._demand is not None and self._demand.has(self._step):
            return self._demand
        return planned

    def _follow_plan(self) -> None:
        wanted = self._wanted()
        if self._window is not None and wanted != self._window:
            self._stop()
        if wanted is not None and self._window is None and not self._program.other_is_running():
            self._start(wanted)
        if self._demand is not None and self._demand is not self._window and self._step >= self._demand.first:
            is_planned = self._window is not None
            self._end_demand("failed", _PLANNED if is_planned else _OTHER)
        if self._plan.last is not None and self._step > self._plan.last:
            self._end_plan()

    def _end_plan(self) -> None:
        self._is_plan_over = True
        self._is_over = self._is_over or self._demand_files is None

    def _start(self, window: int | Demand) -> None:
        if not isinstance(window, Demand):
            self._start_program(self._files, MAX_BYTES)
        else:
            try:
                self._start_program(self._demand_files, max_bytes(self._demand_files.folder))
            except Exception as error:
                self._end_demand("failed", f"{type(error).__name__}: {error}")
                return
            window.begin()
        self._window = window
        self._mark(self._step)

    def _start_program(self, files: Files, limit: int) -> None:
        self._path = files.new_name()
        try:
            self._program.start(self._path, limit)
        except BaseException:
            files.remove_second_process_id(self._path)
            files.remove(self._path)
            raise
        files.remove_second_process_id(self._path)

    def _mark(self, step: int | None) -> None:
        if self._marks_steps and step != self._marked_step:
            self._program.mark(step)
            self._marked_step = step

    def _stop(self, why_not: str = "") -> None:
        """Ends the window. ``why_not``: why it ends before it is complete."""
        window, self._window = self._window, None
        files = self._files_of(window)
        info = None
        try:
            try:
                info = self._program.distributed_info()
                self._mark(None)
            except Exception as error:  # the program destroys its process group, for example
                why_not = why_not or f"{type(error).__name__}: {error}"
                self._marked_step = None
            counts = self._program.stop()
        except BaseException:
            self._window = window  # It still records. `_fail` stops it; after a Ctrl-C, the next step or the exit does.
            raise
        file = ""
        if counts.recorded > 0:
            self.has_recorded = True
            file = files.finish(self._path, info)
        else:
            files.remove(self._path)
            why_not = why_not or "no operator was recorded in these steps"
        if counts.dropped > 0:
            why_not = why_not or f"{counts.dropped} events did not fit into the file"
        if window is self._demand:
            self._end_demand("failed" if why_not else "complete", why_not, file)

    def _step_ends(self) -> None:
        now = time.monotonic()
        if now >= self._ends_at:
            self._end_seconds()
        self._step_seconds.append(now - self._step_began)
        self._step_began = now
        self._step += 1
        if self._is_over:
            return
        self._follow_plan()
        if self._window is not None:
            self._mark(self._step)

    def _count_profilers_step(self) -> None:
        self._mark(None)
        self._marks_steps = False
        self._step_ends()

    def _stop_for_other(self, name: str) -> None:
        if self._window is not None:
            why_not = f"the program records itself with {name}"
            self._stop(why_not)
            self.why_not = f"{why_not}: not recorded meanwhile"

    def _restart(self) -> None:
        window = self._window
        if window is not None:
            self._stop(_CUDA_BEGAN)
            if not isinstance(window, Demand):
                self._start(window)

    def _end(self) -> None:
        self._is_over = True
        if self._window is not None:
            self._stop(f"the program has ended in step {self._step}")
        self._end_demand("failed", f"the program has ended in step {self._step}")

    def _end_seconds(self) -> None:
        self._ends_at = math.inf
        if self._demand_files is None:
            self._end()
            return
        self._end_plan()
        if self._window is not None and not isinstance(self._window, Demand):
            self._stop()

    def _end_after(self, seconds: float, process: int) -> None:
        time.sleep(seconds)
        if self._files.process == process:
            self._guard(self._end_seconds)
