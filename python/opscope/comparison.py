# SPDX-License-Identifier: Apache-2.0
"""What changed from one run to another: the rows of a comparison, its steps and its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opscope import _core
from opscope.preview import TableText
from opscope.table import ResultRows

__all__ = ["TraceDiff", "compare"]


class TraceDiff(ResultRows):
    """What `opscope.diff` found: a dict per name, the largest difference first.

    ``steps`` compares the durations of steps, ``memory`` the peak of each device.

    >>> changes = trace.diff(trace)
    >>> [(row["name"], row["status"], row["delta_ns"]) for row in changes]
    [('aten::add', 'matched', 0), ('aten::mm', 'matched', 0)]
    >>> changes.steps["a_count"], list(changes.memory)
    (0, [])
    """

    def __init__(self, rows: _core.ComputedTable, steps: _core.ComputedTable, memory: _core.ComputedTable, text: str):
        super().__init__(rows, "rows")
        self._text = text
        #: One dict: numbers of samples, mean durations, their difference and how certain it is.
        self.steps: dict[str, Any] = ResultRows(steps, "steps")[0]
        #: A dict per device with allocations.
        self.memory = ResultRows(memory, "memory")

    def table(self) -> str:
        """The same as tables for people, as ``opscope diff`` prints them."""
        return TableText(self._text)


def compare(a: Any, b: Any, by: str, where: str | None) -> TraceDiff:
    """`opscope.diff`, where traces are whatever has a ``_core``."""
    return TraceDiff(*_core.diff(_cores(a), _cores(b), by, where))


def _cores(runs: Any) -> list[_core.Trace]:
    if hasattr(runs, "_core"):
        return [runs._core]
    if isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)) and all(hasattr(run, "_core") for run in runs):
        if not runs:
            raise ValueError("a side of a comparison needs at least one Trace")
        return [run._core for run in runs]
    raise TypeError(f"a side of a comparison is a Trace or a list of Traces, not {runs!r}")
