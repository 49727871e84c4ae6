# SPDX-License-Identifier: Apache-2.0
"""``OpscopeCallback``, a callback that records steps of ``paddle.Model.fit``."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..frontend.options import DEFAULT_MAX_BYTES
from ..launch.hooks import call_on_exception
from ..paddle import Profiler, ProfilerTarget, make_scheduler
from ._arguments import check_schedule, checked_flags, checked_members
from ._training import ACTIVE, DEFAULT_DIRPATH, WAIT, WARMUP, Training

from paddle import Model  # isort: skip
from paddle.callbacks import Callback  # isort: skip

_callbacks: weakref.WeakSet[OpscopeCallback] = weakref.WeakSet()


class OpscopeCallback(Callback):
    """Records steps of ``Model.fit``; a step is a batch::

        from opscope.integrations.paddle import OpscopeCallback

        model.fit(rows, callbacks=[OpscopeCallback("traces", record_shapes=True)])

    ``dirpath``: folder for a recording (``.opscope``) and a report (``.html``) of each window and rank.
    ``schedule``: callable from the number of a step to a ProfilerState (``opscope.paddle.make_scheduler``), or the
    first step and the one behind the last; None: five steps idle, one to warm up, five recorded, once. ``max_bytes``:
    limit of the memory for a window: bytes, or "64M". The other arguments are those of ``paddle.profiler.Profiler``.
    TypeError and ValueError for values that are not allowed.

    The ranges ``ProfileStep#N`` count the batches of all epochs. An exception in the loop ends the recording, which is
    written, and passes through.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike = DEFAULT_DIRPATH,
        *,
        schedule: Callable[[int], Any] | tuple[int, int] | None = None,
        targets: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_flops: bool = False,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
    ) -> None:
        super().__init__()
        if not isinstance(schedule, tuple):
            check_schedule(schedule, "opscope.paddle.make_scheduler(closed=5, ready=1, record=5, repeat=1)")
        elif not _is_range(schedule):
            raise ValueError(f"schedule must be the first step and the one behind the last, not {schedule!r}")
        flags = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_flops": with_flops}
        self._options = checked_flags(max_bytes=max_bytes, **flags)
        if targets is not None:
            example = "[paddle.profiler.ProfilerTarget.CPU]"
            targets = checked_members("targets", targets, (ProfilerTarget,), example)
        self._options["targets"] = targets
        self._schedule = schedule or make_scheduler(closed=WAIT, ready=WARMUP, record=ACTIVE, repeat=1)
        self._training = Training(dirpath)
        # Model.fit calls no callback when it raises.
        _callbacks.add(self)
        call_on_exception(Model, "fit", _end_training)

    @property
    def files(self) -> list[str]:
        """Paths of the recordings that this process has written."""
        return self._training.windows.files

    def set_model(self, model: Model | None = None) -> None:
        """The model of fit(), before it begins."""
        if not isinstance(self, OpscopeCallback):  # with the class in `callbacks` this is the first call
            raise TypeError("callbacks takes objects, such as OpscopeCallback(), not the class")
        super().set_model(model)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """fit() begins."""
        self._training.end()  # Paddle has one profiler at a time
        write = self._training.windows.write
        self._training.begin(self, Profiler(scheduler=self._schedule, on_trace_ready=write, **self._options))

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """A batch is done."""
        self._training.step()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """fit() has done all epochs."""
        self._training.end()


def _is_range(schedule: tuple) -> bool:
    return [type(step) for step in schedule] == [int, int] and 0 <= schedule[0] < schedule[1]


def _end_training(model: Model) -> None:
    for callback in list(_callbacks):
        if callback.model is model:
            callback._training.end()
