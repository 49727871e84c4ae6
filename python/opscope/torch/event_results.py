# SPDX-License-Identifier: Apache-2.0
"""Results that ``torch.autograd.profiler.profile`` computes from its events, for every class with
``function_events``.
"""

from __future__ import annotations

from .events import PYTHON_FUNCTIONS
from .features import has
from .torch_shape import as_in_torch

_UNFINISHED = "<unfinished torch.autograd.profile>"


@as_in_torch("LegacyProfile")
class EventResults:
    """Totals, averages and the table of ``self.function_events``, with torch's names and signatures."""

    def _check_finish(self) -> None:
        """Raises before the end, as torch does up to 2.4; later versions have no events until then and raise
        nothing.
        """
        if self.kineto_results is None and not self.function_events:
            raise RuntimeError("Profiler didn't finish running")

    def _events_to_show(self):
        if has("LegacyProfile._check_finish"):
            self._check_finish()
        return self.function_events

    def __repr__(self) -> str:
        return _UNFINISHED if self.kineto_results is None else repr(self.function_events)

    def __str__(self) -> str:
        return _UNFINISHED if self.kineto_results is None else str(self.function_events)

    def _repr_html_(self) -> str | None:
        return self.function_events._repr_html_() if self.enabled and self.kineto_results is not None else None

    @property
    def self_cpu_time_total(self):
        """The sum of all self times on the CPU, microseconds."""
        return self._events_to_show().self_cpu_time_total

    def total_average(self):
        """One FunctionEventAvg with the key "Total" that sums all events."""
        return self._events_to_show().total_average()

    def key_averages(
        self,
        group_by_input_shape=False,
        group_by_stack_n=0,
        group_by_overload_name=False,
        include_python_functions=PYTHON_FUNCTIONS,
    ):
        """The events summed by name and, if requested, by shapes, stack and overload; with calls of Python if
        requested.
        """
        return self._events_to_show()._averages(
            bool(group_by_input_shape),
            group_by_stack_n,
            bool(group_by_overload_name),
            bool(include_python_functions),
            corrected=False,
        )

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
    ):
        """``EventList.table`` of the events."""
        return self._events_to_show().table(
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
        )
