# SPDX-License-Identifier: Apache-2.0
"""Whether a run keeps the limits of a project: the rows of `opscope.Trace.check`."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

from opscope import _core
from opscope.table import ResultRows

__all__ = ["TraceCheck", "check_limits", "limit_texts"]


class TraceCheck(ResultRows):
    """What `opscope.Trace.check` found: a dict per limit, in their order.

    >>> result = trace.check({"spans": {"min": 1, "max": 1}})
    >>> [(row["limit_kind"], row["value"], row["passed"]) for row in result]
    [('min', 2.0, True), ('max', 2.0, False)]
    >>> result.passed, result.crossed
    (False, ['spans is 2, more than 1'])
    """

    def __init__(self, rows: _core.ComputedTable):
        super().__init__(rows, "rows")
        for row in self:
            row["passed"] = bool(row["passed"])  # tables have numbers

    @property
    def passed(self) -> bool:
        """True if no limit is crossed."""
        return all(row["passed"] for row in self)

    @property
    def crossed(self) -> list[str]:
        """A sentence for each limit that is crossed."""
        return [row["message"] for row in self if not row["passed"]]


def check_limits(trace: Any, limits: Mapping[str, Mapping[str, float | str]], baseline: Any) -> TraceCheck:
    """`opscope.Trace.check`, where traces are whatever has a ``_core``."""
    return TraceCheck(_core.check(trace._core, limit_texts(limits), _core_of(baseline)))


def limit_texts(limits: Mapping[str, Mapping[str, float | str]]) -> list[tuple[str, str, str]]:
    """The limits as ``_core`` takes them: metric, kind, number. Raises ValueError if ``limits`` is empty."""
    if not isinstance(limits, Mapping):
        raise TypeError(f'limits are a dict such as {{"spans": {{"max": 5}}}}, not {limits!r}')
    texts = []
    for metric, kinds in limits.items():
        if not isinstance(kinds, Mapping) or not kinds:
            raise TypeError(f'the limits of {metric} are a dict such as {{"max": 5}}, not {kinds!r}')
        texts += [(metric, kind, _number_text(metric, kind, number)) for kind, number in kinds.items()]
    if not texts:
        raise ValueError("there is no limit")
    return texts


def _core_of(baseline: Any) -> _core.Trace | None:
    if baseline is None:
        return None
    if hasattr(baseline, "_core"):
        return baseline._core
    if isinstance(baseline, (str, bytes, os.PathLike)):
        return _core.open_trace(baseline, 0, "")
    if isinstance(baseline, Sequence) and all(isinstance(path, (str, bytes, os.PathLike)) for path in baseline):
        return _core.merge_traces(list(baseline), [], 5.0)
    raise TypeError(f"a baseline is a Trace, a file or a list of files, not {baseline!r}")


def _number_text(metric: str, kind: str, number: Any) -> str:
    if isinstance(number, str):
        return number
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise TypeError(f'{metric}: {kind} is a number or a text such as "5%", not {number!r}')
    # The repr() of NumPy's numbers names their type.
    return repr(int(number) if isinstance(number, numbers.Integral) else float(number))
