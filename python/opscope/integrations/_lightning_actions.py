# SPDX-License-Identifier: Apache-2.0
"""The methods of ``OpscopeProfiler`` that a Trainer of Lightning calls, without the base class: there are two of them
(lightning.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..frontend.options import DEFAULT_MAX_BYTES
from ._arguments import torch_options
from ._training import DEFAULT_DIRPATH, Training, torch_profile

_EPOCH = "run_training_epoch"
# Actions that end a step: a batch of fit(), with its optimizer; in validate(), test() and predict() there is no other.
_ENDS = ("run_training_batch",)
_ENDS_OF_EVALUATION = (".validation_step", ".test_step", ".predict_step")


class Actions:
    """Records steps of ``Trainer.fit``, ``validate``, ``test`` or ``predict``; in fit() a step is a training batch::

        from opscope.integrations.lightning import OpscopeProfiler

        Trainer(profiler=OpscopeProfiler("traces", record_shapes=True)).fit(model)

    ``dirpath``: folder for a recording (``.opscope``) and a report (``.html``) of each window and rank.
    ``schedule``: callable from the number of steps since the beginning to a ProfilerAction
    (``opscope.torch.schedule``); None: five steps idle, one to warm up, five recorded, once. ``max_bytes``: limit of
    the memory for a window: bytes, or "64M". The other arguments are those of ``torch.profiler.profile``. TypeError and
    ValueError for values that are not allowed.

    The ranges ``ProfilerStep#N`` have the Trainer's number of the batch, and actions are ranges
    ``[pl][profile]ACTION``. An exception in the loop ends the recording, which is written, and passes through.
    """

    _stage: str | None = None

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
        training = Training(dirpath)
        super().__init__(dirpath=dirpath)
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
        self._training = training
        self._open: dict[str, Any] = {}  # ranges of actions
        self._depth = 0  # of actions in `with profile()`
        self._fits = False  # in fit()
        self._waits = False  # for the first epoch of fit()

    __init__.__qualname__ = "OpscopeProfiler.__init__"  # the name in Python's messages about arguments

    @property
    def files(self) -> list[str]:
        """Paths of the recordings that this process has written."""
        return self._training.windows.files

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        """Called before fit(), validate(), test() or predict()."""
        super().setup(stage=stage, local_rank=local_rank, log_dir=log_dir)
        self._fits = self._waits = stage == "fit"
        if not self._fits:
            self._begin(0)

    def _begin(self, first: int) -> None:
        write = self._training.windows.write
        self._training.begin(self, torch_profile(first, on_trace_ready=write, **self._options))

    def start(self, action_name: str) -> None:
        """An action begins: it is a range in the recording, as PyTorchProfiler names it."""
        if self._waits and action_name == _EPOCH:
            self._waits = False
            # A checkpoint has been loaded by now, and so the number of batches before.
            self._begin(self._lightning_module.trainer.fit_loop.epoch_loop.total_batch_idx + 1)
        is_within_step = action_name != _EPOCH  # a range around steps would cross the first and the last one
        if self._training.is_recording and is_within_step and action_name not in self._open:
            from ..torch import record_function

            self._open[action_name] = record_function(f"[pl][profile]{action_name}").__enter__()

    def stop(self, action_name: str) -> None:
        """An action ends, and with some a step."""
        self._close(action_name)
        if action_name.endswith(_ENDS if self._fits else _ENDS_OF_EVALUATION):
            self._training.step()

    @contextmanager
    def profile(self, action_name: str = "") -> Iterator[str]:
        """A block as an action. An exception that leaves the outermost one ends the training."""
        if not isinstance(self, Actions):  # Trainer(profiler=OpscopeProfiler) calls this first, with the name alone
            raise TypeError("Trainer takes an object, such as profiler=OpscopeProfiler(), not the class")
        self._depth += 1
        try:
            self.start(action_name)
            yield action_name
        except BaseException:
            self._close(action_name)
            if self._depth == 1:
                self._end()
            raise
        else:
            self.stop(action_name)
        finally:
            self._depth -= 1

    def _close(self, action_name: str) -> None:
        opened = self._open.pop(action_name, None)
        if opened is not None:
            opened.__exit__(None, None, None)

    def _end(self) -> None:
        while self._open:
            self._close(next(reversed(self._open)))
        self._training.end()

    def teardown(self, stage: str | None) -> None:
        """Called behind fit(), validate(), test() or predict()."""
        if "_training" in self.__dict__:  # otherwise the constructor raised, and the base class' __del__ calls this
            self._end()
            super().teardown(stage=stage)

    def summary(self) -> str:
        """What the Trainer logs at the end: the names of the files."""
        return "\n".join(["opscope has recorded:", *self.files]) if self.files else ""
