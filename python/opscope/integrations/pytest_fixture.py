# SPDX-License-Identifier: Apache-2.0
"""The object of the fixture ``opscope_profile``: records a part of a test. Imports the engine when it records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from opscope.trace import Trace

__all__ = ["OPTIONS", "RecordedTest", "flag_error"]

OPTIONS = ("shapes", "memory", "stack", "framework")


def flag_error(options: dict[str, Any]) -> str | None:
    """An error text if a flag is not a bool; otherwise None."""
    wrong = [name for name, value in options.items() if name != "framework" and not isinstance(value, bool)]
    return f"{wrong[0]} should be True or False, not {options[wrong[0]]!r}" if wrong else None


class RecordedTest:
    """Records what runs in its ``with`` block, once per test.

    >>> opscope_profile = RecordedTest(True)
    >>> with opscope_profile(shapes=True):
    ...     for _ in range(3):
    ...         y = torch.ones(2).relu()
    ...         opscope_profile.step()
    >>> len(opscope_profile.trace.steps_summary())
    3
    """

    def __init__(self, is_on: bool, **options: Any):
        self._is_on = is_on
        #: Defaults of what to record; those of the marker, if the test has one.
        self.options = options
        self._steps = 0
        self._trace: Trace | None = None
        #: The profile object of the front end, such as ``opscope.torch.profile``; None if nothing is recorded.
        self.profiler: Any = None

    def __call__(self, **options: Any) -> RecordedTest:
        """What to record: ``shapes``, ``memory`` and ``stack`` are flags, ``framework`` is "torch", "paddle" or
        "megengine" (default: the one that is imported). TypeError for another name, and for a flag that is not a bool.
        """
        for name in options:
            if name not in OPTIONS:
                raise TypeError(f"opscope_profile takes {', '.join(OPTIONS)}, not {name}")
        wrong = flag_error(options)
        if wrong:
            raise TypeError(wrong)
        self.options = {**self.options, **options}
        return self

    def __enter__(self) -> RecordedTest:
        if not self._is_on:
            return self
        if self.profiler is not None:
            pytest.fail("opscope: opscope_profile records one block of a test, and this is its second", pytrace=False)
        from opscope.integrations.framework_profile import new_profile

        try:
            profiler = new_profile(**self.options, steps=True)
            profiler.__enter__()
            self.profiler = profiler
        except (ImportError, ValueError, RuntimeError, AssertionError) as error:  # MegEngine's refusals are the last
            why_not = str(error)
        if self.profiler is None:
            pytest.fail(f"opscope cannot record this test: {why_not}", pytrace=False)
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.profiler is not None:
            self.profiler.__exit__(*exception)

    def step(self) -> None:
        """Ends a step; the next one begins. Without a call the block is one step."""
        if self.profiler is not None:
            self.profiler.step()
            self._steps += 1

    @property
    def trace(self) -> Trace | None:
        """What was recorded, after the block; None if nothing was. What follows the last ``step()`` is left out."""
        if self.profiler is None:
            return None
        if self._trace is None:
            whole = self.profiler.trace
            self._trace = whole.cut(f"step < {self._steps}") if self._steps else whole
        return self._trace
