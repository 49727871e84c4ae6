# SPDX-License-Identifier: Apache-2.0
"""``OpscopeCallback``, a callback that records steps of the ``Trainer`` of transformers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from ..frontend.framework import require
from ..frontend.options import DEFAULT_MAX_BYTES
from ..launch.hooks import call_on_exception
from ._arguments import torch_options
from ._training import DEFAULT_DIRPATH, Training, torch_profile

require(
    "transformers",
    "opscope.integrations.transformers needs the package transformers: `pip install transformers[torch]`",
)

from transformers import Trainer, TrainerCallback  # noqa: E402 - the message above names what to install


class OpscopeCallback(TrainerCallback):
    """Records steps of ``Trainer.train``; a step is one of the optimizer::

        from opscope.integrations.transformers import OpscopeCallback

        Trainer(model, arguments, train_dataset=rows, callbacks=[OpscopeCallback("traces", record_shapes=True)]).train()

    ``dirpath``: folder for a recording (``.opscope``) and a report (``.html``) of each window and rank.
    ``schedule``: callable from the number of steps since the beginning to a ProfilerAction
    (``opscope.torch.schedule``); None: five steps idle, one to warm up, five recorded, once. ``max_bytes``: limit of
    the memory for a window: bytes, or "64M". The other arguments are those of ``torch.profiler.profile``. TypeError and
    ValueError for values that are not allowed.

    The ranges ``ProfilerStep#N`` have the Trainer's ``global_step`` at the step's beginning. An exception in the loop
    ends the recording, which is written, and passes through.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike = DEFAULT_DIRPATH,
        *,
        schedule: Callable[[int], Any] | None = None,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
    ) -> None:
        self._options = torch_options(
            schedule=schedule,
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            max_bytes=max_bytes,
        )
        self._training = Training(dirpath)
        # A Trainer calls no callback when train() raises.
        call_on_exception(Trainer, "train", _end_callbacks)

    @property
    def files(self) -> list[str]:
        """Paths of the recordings that this process has written."""
        return self._training.windows.files

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The Trainer begins, at a step that a checkpoint may have."""
        write = self._training.windows.write
        profile = torch_profile(state.global_step, on_trace_ready=write, **self._options)
        self._training.begin(self, profile)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The optimizer has stepped."""
        self._training.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The Trainer has done all steps."""
        self._training.end()


def _end_callbacks(trainer: Trainer) -> None:
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, OpscopeCallback):
            callback._training.end()
