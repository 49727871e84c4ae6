# SPDX-License-Identifier: Apache-2.0
"""What the integrations share: a profile over one training, and the files of its windows.

A trainer's callbacks report the beginning of the training, the end of each step and the end of the training. After the
beginning no exception reaches the trainer: a failure becomes one warning, and the training goes on unrecorded.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable
from typing import Any

from ..launch.files import Files
from ..trace import Trace
from ..user_warning import warn_user

DEFAULT_DIRPATH = "opscope-run"  # as that of `opscope run`
# Idle, warm-up and recorded steps, once: the first steps of a training are its slowest.
WAIT, WARMUP, ACTIVE = 5, 1, 5


def torch_profile(first: int, *, schedule: Callable | None, **options) -> Any:
    """A profile of opscope.torch whose steps are named from ``first`` on: the number of steps that a trainer has done.
    ``schedule`` counts from 0; None: WAIT, WARMUP, ACTIVE.
    """
    from ..torch import profile
    from ..torch import schedule as steps

    chosen = schedule or steps(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1)
    begun_at = 0
    made = profile(schedule=lambda step: chosen(step - begun_at), **options)
    made.step_num = begun_at = first
    made._keeps_each_cycle = True  # `Windows` writes a file of each
    return made


class Windows:
    """The files of the windows of one process in a folder, named as those of ``opscope run``:
    ``rankR-aA-HOST-PID-N.opscope``, and the report in a file of that name with ``.html``.
    """

    def __init__(self, dirpath: str | os.PathLike) -> None:
        if not isinstance(dirpath, (str, bytes, os.PathLike)):
            raise TypeError(f"dirpath must be the path of a folder, not {type(dirpath).__name__}")
        self.dirpath = os.fsdecode(dirpath)
        self.files: list[str] = []  # paths of the recordings
        self.count = 0  # windows so far, also those whose files cannot be written
        self._names: Files | None = None

    def write(self, profile: Any) -> None:
        """Writes the last window of a profile; as ``on_trace_ready``."""
        self.count += 1
        if self._names is None or self._names.process != os.getpid():
            self._names = Files(self.dirpath)
        try:
            os.makedirs(self.dirpath, exist_ok=True)
            path = self._names.new_name()
            trace = Trace(profile._last_recording.last_cycle_trace())  # with old torches a profile has all cycles
            trace.save(path)
            path = os.path.join(self.dirpath, self._names.finish(path, _distributed_info(profile)))
            self.files.append(path)
            stem = os.path.splitext(path)[0]
            trace.report(stem + ".html", title=os.path.basename(stem))
        except Exception as error:
            warn_user(f"opscope: a window of the training is not written: {_text_of(error)}", RuntimeWarning)


def _distributed_info(profile: Any) -> dict[str, Any] | None:
    """The framework's facts about the job; None: only the environment variables of the launcher are known."""
    if not type(profile).__module__.startswith("opscope.torch"):
        return None
    from ..torch.metadata import distributed_info

    return distributed_info()


class Training:
    """The profile of one training after the other, for one callback of a trainer."""

    def __init__(self, dirpath: str | os.PathLike = DEFAULT_DIRPATH) -> None:
        self.windows = Windows(dirpath)
        self._profile: Any = None
        self._process = 0
        self._before = 0  # windows before this training
        self._is_watched = False  # the end of the callback ends the training

    @property
    def is_recording(self) -> bool:
        """Whether the current step is recorded."""
        return self._profile is not None and self._profile.current_action.value >= 2

    def begin(self, owner: object, profile: Any) -> None:
        """Begins with the first step. ``owner``: the callback; when it is deleted, or the process exits, the training
        is over at the latest.
        """
        self.end()
        self._profile, self._process, self._before = profile, os.getpid(), self.windows.count
        if not self._is_watched:
            self._is_watched = True
            weakref.finalize(owner, self.end)
        self._do(profile.start)

    def step(self) -> None:
        """Ends a step and begins the next one."""
        if self._profile is not None:
            self._do(self._profile.step)

    def end(self) -> None:
        """Ends the training, also because of an exception: what is recorded so far is written. A second call does
        nothing.
        """
        profile = self._profile
        if profile is None:
            return
        self._do(profile.stop)
        if self._profile is not None and self.windows.count == self._before and self._process == os.getpid():
            warn_of_short_training(profile)
        self._profile = None

    def _do(self, act: Callable[[], Any]) -> None:
        try:
            if self._process == os.getpid():  # in a forked child there is no training
                act()
        except Exception as error:
            profile, self._profile = self._profile, None
            with contextlib.suppress(Exception):
                profile.stop()
            warn_user(f"opscope: the training goes on unrecorded: {_text_of(error)}", RuntimeWarning)


def warn_of_short_training(profile: Any) -> None:
    """For a training that left no window."""
    warn_user(
        f"opscope: no step of this training was recorded: it ended in step {profile.step_num}, before the schedule "
        "began to record",
        RuntimeWarning,
    )


def _text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
