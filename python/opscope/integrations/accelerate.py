# SPDX-License-Identifier: Apache-2.0
"""``OpscopeProfileKwargs``, a handler with which ``Accelerator.profile`` records by opscope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..frontend.framework import require
from ..frontend.options import DEFAULT_MAX_BYTES
from ._arguments import check_schedule, checked_flags
from ._training import DEFAULT_DIRPATH, Windows, warn_of_short_training

require("accelerate", "opscope.integrations.accelerate needs the package accelerate: `pip install accelerate`")

from accelerate.utils import ProfileKwargs  # noqa: E402 - the message above names what to install


@dataclass
class OpscopeProfileKwargs(ProfileKwargs):
    """``accelerate.utils.ProfileKwargs`` whose profile is one of opscope.torch::

        from opscope.integrations.accelerate import OpscopeProfileKwargs

        handler = OpscopeProfileKwargs(dirpath="traces", schedule_option=dict(wait=5, warmup=1, active=5, repeat=1))
        accelerator = Accelerator(kwargs_handlers=[handler])
        with accelerator.profile() as prof:
            for batch in loader:
                ...
                prof.step()

    ``dirpath``: folder for a recording (``.opscope``) and a report (``.html``) of each window and rank.
    ``schedule``: callable from the number of a step to a ProfilerAction, instead of ``schedule_option``; with neither,
    the whole block is one window, as Accelerate has it. ``max_bytes``: limit of the memory for a window: bytes, or
    "64M". The other arguments are those of ``ProfileKwargs``; ``on_trace_ready`` is called when the window is written.
    TypeError and ValueError for values that are not allowed.

    An exception in the block ends the recording, which is written, and passes through.
    """

    dirpath: str | os.PathLike = DEFAULT_DIRPATH
    schedule: Callable[[int], Any] | None = None
    max_bytes: int | str = DEFAULT_MAX_BYTES

    def __post_init__(self) -> None:
        check_schedule(self.schedule, "opscope.torch.schedule(wait=5, warmup=1, active=5, repeat=1)")
        if self.schedule is not None and self.schedule_option is not None:
            raise ValueError("schedule and schedule_option say the same thing: give one of them")
        if self.on_trace_ready is not None and not callable(self.on_trace_ready):
            raise TypeError(f"on_trace_ready must be callable, not {type(self.on_trace_ready).__name__}")
        self._chosen_activities(), self._chosen_schedule()  # raise for wrong ones
        names = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
        self._options = checked_flags(max_bytes=self.max_bytes, **{name: getattr(self, name) for name in names})
        self._windows = Windows(self.dirpath)

    @property
    def __class__(self) -> type:
        # Accelerator looks a handler up by exactly this class.
        return ProfileKwargs

    @property
    def files(self) -> list[str]:
        """Paths of the recordings that this process has written."""
        return self._windows.files

    def to_dict(self) -> dict[str, Any]:
        """All arguments."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_kwargs(self) -> dict[str, Any]:
        """The arguments that are not the defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in self.to_dict().items() if value != defaults[name]}

    def build(self) -> Any:
        """The ``opscope.torch.profile`` of ``Accelerator.profile``."""
        from ..torch import profile as base

        windows, windows_before = self._windows, self._windows.count

        class profile(base):
            __module__, __qualname__, __doc__ = base.__module__, base.__qualname__, base.__doc__

            def stop(self) -> None:
                was_running = self._session.is_started
                super().stop()
                if was_running and windows.count == windows_before:
                    warn_of_short_training(self)

        activities, steps = self._chosen_activities(), self._chosen_schedule()
        return profile(activities=activities, schedule=steps, on_trace_ready=self._write, **self._options)

    def _chosen_activities(self) -> list[Any] | None:
        if self.activities is None:
            return None
        if isinstance(self.activities, str) or not isinstance(self.activities, Iterable) or not self.activities:
            raise TypeError(
                f"activities must be a list of one or more names, such as ['cpu'], not {self.activities!r}; the folder "
                "of the recordings is the argument dirpath"
            )
        return [self._get_profiler_activity(name) for name in self.activities]

    def _chosen_schedule(self) -> Callable[[int], Any] | None:
        if self.schedule_option is None:
            return self.schedule
        from ..torch import schedule

        if not isinstance(self.schedule_option, Mapping):
            raise TypeError(f"schedule_option must be a dict, not {type(self.schedule_option).__name__}")
        try:
            return schedule(**self.schedule_option)
        except TypeError as error:
            raise TypeError(f"schedule_option: {error}") from None
        except AssertionError as error:
            raise ValueError(f"schedule_option: {error}") from None

    def _write(self, profile: Any) -> None:
        self._windows.write(profile)
        if self.on_trace_ready is not None:
            self.on_trace_ready(profile)
