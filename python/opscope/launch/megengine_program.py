# SPDX-License-Identifier: Apache-2.0
"""A program under MegEngine: its steps, its profilers, and the windows of opscope.megengine."""

from __future__ import annotations

import os
from typing import Any

from megengine.core._imperative_rt import core2
from megengine.optimizer import Optimizer
from megengine.utils import profiler as _original

from ..frontend.session import Session
from ..megengine.profiler import Profiler
from ..megengine.window import Window
from ..trace import Trace
from . import hooks
from .program import Counts
from .recorder import Recorder

# MegEngine's own marks are records too. A window with more records than this surely has operators; a smaller window is
# read to count them.
_FEW = 1000
_MARKS = ("ProfilerStep#", "StartProfile", "StopProfile")


class MegEngineProgram:
    """``Program`` of program.py. MegEngine has one recorder, for one thread and not for forked children."""

    name = "megengine"
    is_for_one_thread = True
    waits_for_device = True

    def __init__(self) -> None:
        self._process = os.getpid()
        self.forget()

    @property
    def why_not(self) -> str:
        is_forked = self._process != os.getpid()
        return "MegEngine does not work in a forked child of a process that has imported it" if is_forked else ""

    def forget(self) -> None:
        self._window: Window | None = None
        self._path = ""
        self._has_open_step = False

    # ---- the program's own ------------------------------------------------------------------

    def watch(self, recorder: Recorder) -> None:
        hooks.call_after(Optimizer, "step", recorder.optimizer_stepped)
        for kind, name in ((_original.Profiler, "megengine.utils.profiler"), (Profiler, "opscope.megengine")):
            hooks.call_before(kind, "start", lambda _, name=name: recorder.other_begins(name))
            hooks.call_after(kind, "step", lambda _: recorder.profiler_stepped())

    def other_is_running(self) -> bool:
        return _original._running_profiler is not None

    # ---- windows ----------------------------------------------------------------------------

    def start(self, path: str, max_bytes: int) -> None:
        if self.why_not:
            raise RuntimeError(self.why_not)
        self.forget()
        self._path = path
        self._window = Window(Session(), with_backtrace=False, max_bytes=max_bytes, at_cap="stop", record_to=path)
        self._window.begin(dict(Profiler.valid_options))

    def mark(self, step: int | None) -> None:
        if self._has_open_step:
            core2.stop_step()
            self._window.step()
        self._has_open_step = step is not None

    def stop(self) -> Counts:
        try:
            core2.full_sync()
        except Exception:  # an error of the program's operators; the window holds what ran before it
            pass
        window, self._window = self._window, None
        if window is None:
            raise RuntimeError("an interrupt has left MegEngine's window without its end")
        window.end()
        counts = window.counts()
        recorded = counts["recorded"]
        if recorded <= _FEW:
            recorded = self._operators_in(window.trace, is_in_file=recorded > 0)
        return Counts(recorded, counts["dropped"])

    def _operators_in(self, trace: Trace, is_in_file: bool) -> int:
        recorded = sum(not name.startswith(_MARKS) for name in map(str, trace.spans.name))
        if recorded > 0 and not is_in_file:  # the records cannot be read: MegEngine's own file was
            trace.save(self._path)
        return recorded

    def rank(self) -> int | None:
        info = self.distributed_info()
        return None if info is None else info["rank"]

    def distributed_info(self) -> dict[str, Any] | None:
        import megengine.distributed as distributed

        if not distributed.is_distributed():
            return None
        return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
