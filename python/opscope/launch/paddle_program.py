# SPDX-License-Identifier: Apache-2.0
"""A program under PaddlePaddle: its steps, its profilers, and the windows of opscope.paddle."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.base.core import TracerEventType
from paddle.profiler import Profiler as _paddles_profiler
from paddle.profiler import ProfilerTarget
from paddle.profiler import utils as _utils

from ..frontend.session import Session
from ..paddle import phases
from ..paddle.profiler import Profiler
from ..paddle.record_event import RecordEvent
from ..paddle.recording import Recording, paddle_metadata
from ..paddle.source import source
from ..paddle.targets import usable_targets
from . import hooks
from .program import Counts
from .recorder import Recorder


class PaddleProgram:
    """``Program`` of program.py."""

    name = "paddle"
    is_for_one_thread = False
    why_not = ""

    def __init__(self) -> None:
        self._targets = usable_targets(None)
        self.forget()

    def forget(self) -> None:
        self._session: Session | None = None
        self._recording: Recording | None = None
        self._range: RecordEvent | None = None  # range of the open step
        self._marks = 0
        self._is_in_use = False  # phases.begin_use() has no end_use() yet

    @property
    def waits_for_device(self) -> bool:
        return ProfilerTarget.GPU in self._targets

    # ---- the program's own ------------------------------------------------------------------

    def watch(self, recorder: Recorder) -> None:
        _utils.wrap_optimizers()  # adds Paddle's ranges of optimizer steps, as its profilers do
        for name in paddle.optimizer.__all__:
            kind = getattr(paddle.optimizer, name)
            hooks.call_after(kind, "step", recorder.optimizer_stepped)
            hooks.call_after(kind, "minimize", lambda optimizer: _minimized(optimizer, recorder))
        for kind, name in ((_paddles_profiler, "paddle.profiler"), (Profiler, "opscope.paddle")):
            hooks.call_before(kind, "start", lambda profiler, name=name: _begins(profiler, name, recorder))
            hooks.call_after(
                kind, "step", lambda profiler: None if profiler.timer_only else recorder.profiler_stepped()
            )

    def other_is_running(self) -> bool:
        return bool(_utils._is_profiler_used)

    def rank(self) -> int | None:
        return None  # as distributed_info

    # ---- windows ----------------------------------------------------------------------------

    def start(self, path: str, max_bytes: int) -> None:
        self.forget()
        self._session = Session()
        self._recording = Recording(
            self._session, self._targets, source(), [], max_bytes=max_bytes, at_cap="stop", record_to=path
        )
        for key, value in paddle_metadata({"targets": sorted(target.name for target in self._targets)}).items():
            self._recording.add_metadata(key, value)
        phases.begin_use()
        self._is_in_use = True
        try:
            self._session.start()
            self._recording.start()
        except BaseException:
            self._is_in_use = False
            phases.end_use()
            raise

    def mark(self, step: int | None) -> None:
        last, self._range = self._range, None
        if last is not None:
            last.end()
        if step is not None:
            self._marks += 1
            self._range = RecordEvent(name=f"ProfileStep#{step}", event_type=TracerEventType.ProfileStep)
            self._range.begin()

    def stop(self) -> Counts:
        self._session.stop()
        if self._is_in_use:  # False if a Ctrl-C interrupted the first call after end_use()
            self._is_in_use = False
            phases.end_use()
        self._recording.stop()
        counts = self._recording.counts()
        return Counts(counts["recorded"] - self._marks, counts["dropped"])

    def distributed_info(self) -> dict[str, Any] | None:
        return None  # Paddle reads rank and size from the same variables as opscope


def _minimized(optimizer: object, recorder: Recorder) -> None:
    if paddle.in_dynamic_mode():  # in static mode the step only adds operators to a program
        recorder.optimizer_stepped(optimizer)


def _begins(profiler: Any, name: str, recorder: Recorder) -> None:
    if not profiler.timer_only:
        recorder.other_begins(name)
