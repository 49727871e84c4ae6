# SPDX-License-Identifier: Apache-2.0
"""A program under torch: its steps, its profilers, and the windows of opscope.torch."""

from __future__ import annotations

import functools
import inspect
import json
import os
from typing import Any

import torch

from ..torch import enabled_flag, metadata
from ..torch.actions import ProfilerActivity
from ..torch.kineto_profile import _KinetoProfile
from ..torch.profile import profile
from ..torch.record_function import record_function
from . import hooks
from .program import Counts
from .recorder import Recorder

_torchs_profile = torch.profiler.profile


class _Window(_KinetoProfile):
    """Records all threads: the one that imports torch may not be the one that trains."""

    def __init__(self, path: str, max_bytes: int, *, with_cuda: bool) -> None:
        activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * with_cuda
        super().__init__(activities=activities, record_to=path, max_bytes=max_bytes)
        self._experimental["profile_all_threads"] = True


class TorchProgram:
    """``Program`` of program.py."""

    name = "torch"
    is_for_one_thread = False
    why_not = ""

    def __init__(self) -> None:
        self._uses_cuda = False
        self._process = os.getpid()
        self.forget()

    def forget(self) -> None:
        if self._process != os.getpid():
            self._process, self._uses_cuda = os.getpid(), False  # CUDA does not survive a fork
        self._window: _Window | None = None
        self._range: record_function | None = None  # range of the open step
        self._marks = 0
        self._groups = 0  # number of process groups whose facts the window has
        self._info: dict[str, Any] | None = None

    @property
    def waits_for_device(self) -> bool:
        return self._uses_cuda

    # ---- the program's own ------------------------------------------------------------------

    def watch(self, recorder: Recorder) -> None:
        _hook_optimizers(recorder)
        enabled_flag.watch(recorder.other_begins)
        for kind in (_torchs_profile, profile):
            hooks.call_after(kind, "step", lambda _: recorder.profiler_stepped())
        if torch.backends.cuda.is_built():
            # torch.cuda.is_available() would make CUDA unusable in processes that the program forks.
            torch.cuda._lazy_call(lambda: self._cuda_begins(recorder))

    def _cuda_begins(self, recorder: Recorder) -> None:
        if not self._uses_cuda:
            self._uses_cuda = True
            recorder.restart()

    def other_is_running(self) -> bool:
        return bool(torch.autograd.profiler._is_profiler_enabled)

    def rank(self) -> int | None:
        distributed = torch.distributed
        try:
            return distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else None
        except Exception:  # another thread has destroyed the process group between the two calls
            return None

    # ---- windows ----------------------------------------------------------------------------

    def start(self, path: str, max_bytes: int) -> None:
        self.forget()
        self._window = _Window(path, max_bytes, with_cuda=self._uses_cuda)
        self._window.start()

    def mark(self, step: int | None) -> None:
        last, self._range = self._range, None
        if last is not None:
            last.__exit__(None, None, None)
        if step is not None:
            self._add_job_facts()
            self._marks += 1
            self._range = record_function(f"ProfilerStep#{step}").__enter__()

    def stop(self) -> Counts:
        self._add_job_facts()
        self._window.stop()  # after a Ctrl-C in it, which leaves the window running, stop() is called again
        window, self._window = self._window, None
        counts = window.profiler.counts()
        return Counts(counts["recorded"] - self._marks, counts["dropped"])

    def distributed_info(self) -> dict[str, Any] | None:
        self._add_job_facts()
        return self._info

    def _add_job_facts(self) -> None:
        """Adds the facts of torch.distributed to the window, if the number of process groups has changed: a program
        creates them after the import of torch, and may have destroyed them at its end. If another thread destroys them
        meanwhile, the earlier facts stay.
        """
        distributed = torch.distributed
        try:
            if not distributed.is_available() or not distributed.is_initialized():
                return
            groups = distributed.get_pg_count()
            info = metadata.distributed_info() if groups != self._groups else None
        except Exception:
            return
        if info is not None:
            self._groups, self._info = groups, info
            self._window.profiler.add_metadata("distributedInfo", json.dumps(info, default=metadata.plain))


def _hook_optimizers(recorder: Recorder) -> None:
    """Reports each step of an optimizer when its range ``Optimizer.step#...`` has ended.

    torch's post hooks of a step run inside that range, and torch.compile removes them from all optimizers. Therefore
    this replaces the method itself, at the moment when torch replaces it too: when the first object of the class is
    made.
    """
    patch = torch.optim.Optimizer._patch_step_function

    @functools.wraps(patch)
    def _patch_step_function(self):
        patch(self)
        kind = type(self)
        if not getattr(kind.step, "_is_opscopes", False):
            kind.step = _stepping(kind.step, recorder)

    torch.optim.Optimizer._patch_step_function = _patch_step_function


def _stepping(step, recorder: Recorder):
    plain = getattr(step, "__wrapped__", step) if getattr(step, "hooked", False) else step

    def stepping(self, *args, **kwargs):
        if torch.compiler.is_compiling():  # compile the optimizer's own code, as without opscope
            return plain(self, *args, **kwargs)
        return hooks.called(step, recorder.optimizer_stepped, self, *args, **kwargs)

    functools.update_wrapper(stepping, step)
    del stepping.__wrapped__  # torch.compile would follow it to torch's hook and remove this one
    stepping.__signature__ = inspect.signature(step)
    stepping.hooked = stepping._is_opscopes = True
    return stepping
