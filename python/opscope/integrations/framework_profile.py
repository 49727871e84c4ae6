# SPDX-License-Identifier: Apache-2.0
"""A profile of the framework that a program uses, for hosts that serve all of them: notebooks and pytest.

>>> profile = new_profile(shapes=True)
>>> with profile:
...     y = torch.ones(2, 3).relu()
>>> profile.trace.summary()[0]["on"]
'host'
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

__all__ = ["FRAMEWORKS", "framework_in_use", "new_profile"]

FRAMEWORKS = ("torch", "paddle", "megengine")  # in the order in which they are chosen


def framework_in_use() -> str:
    """The framework that is imported already, else the first one that is installed. ImportError if none is."""
    imported = (name for name in FRAMEWORKS if name in sys.modules)
    installed = (name for name in FRAMEWORKS if importlib.util.find_spec(name) is not None)
    name = next(imported, None) or next(installed, None)
    if name is None:
        raise ImportError(
            "opscope records torch, paddle or megengine, and none of them is installed: pip install torch"
        )
    return name


def new_profile(
    framework: str | None = None,
    *,
    shapes: bool = False,
    memory: bool = False,
    stack: bool = False,
    steps: bool = False,
) -> Any:
    """The front end's profile object, to be used in a ``with`` statement; ``trace`` has the result. It writes no file.

    ``framework``: one of FRAMEWORKS; None is `framework_in_use`. ``shapes``, ``memory``: shapes of inputs, and
    allocations; MegEngine's records always have what there is of both. ``stack``: calls of Python. ``steps``: each
    ``step()`` ends a step. ValueError for what the framework does not have, ImportError if it is not installed.
    """
    framework = framework or framework_in_use()
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework should be one of {', '.join(FRAMEWORKS)}, not {framework!r}")
    if framework == "torch":
        import opscope.torch as front

        schedule = (lambda step: front.ProfilerAction.RECORD) if steps else None  # without one, steps are not recorded
        return front.profile(schedule=schedule, record_shapes=shapes, profile_memory=memory, with_stack=stack)
    if framework == "paddle":
        if stack:
            raise ValueError("calls of Python are recorded with torch and megengine, not with paddle")
        return _paddle_profiler(shapes, memory)
    import opscope.megengine as front

    class Profiler(front.Profiler):
        def dump(self) -> None:
            """The trace is enough: MegEngine's own writes a file when it goes."""

    return Profiler(with_backtrace=stack)


def _paddle_profiler(shapes: bool, memory: bool) -> Any:
    import opscope.paddle as front

    class Profiler(front.Profiler):
        """Gives Paddle's one recorder back when it stops. Otherwise no other profile could record as long as the host
        keeps this one: the next cell of a notebook, the next test.
        """

        _stopped_recording = None

        def stop(self) -> None:
            try:
                super().stop()
            finally:
                self._stopped_recording, self.profiler = self._last_recording, None

        @property
        def _last_recording(self) -> Any:
            return self._stopped_recording or super()._last_recording

    return Profiler(on_trace_ready=_write_nothing, record_shapes=shapes, profile_memory=memory)


def _write_nothing(profiler: Any) -> None:
    """Paddle's default writes a file into the working folder."""
