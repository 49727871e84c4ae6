# SPDX-License-Identifier: Apache-2.0
"""EventList: the list behind ``events()`` and ``key_averages()``.

The list of a recording is filled at first use (lazy_list.py): ``len``, truth, ``key_averages`` and the totals are
answered from the columns.
"""

from __future__ import annotations

import operator
from typing import Any

import torch.autograd.profiler_util as _torchs

from .. import _core
from ..frontend.lazy_list import unfill, unfilled_kind
from ..frontend.whole_file import whole_file
from ..preview import PreviewList, TableText
from . import event_frame
from .averages import FunctionEventAvg, average_of
from .compat import compat_is_requested
from .constructed_event import build_tree
from .event_display import preview_of_events
from .event_shares import set_shares
from .features import has
from .function_event import _require
from .torch_shape import as_in_torch

# Spellings of devices that are allowed in sort keys and metrics.
_DEVICE_SPELLINGS = ("cuda", "xpu", "privateuse1")


# Characters that would end a frame or a line of export_stacks.
_FRAME_TEXT = str.maketrans(" ;\t\n", "____")


def _device_neutral(name: str) -> str:
    for spelling in _DEVICE_SPELLINGS:
        name = name.replace(spelling, "device")
    return name


# Releases of torch that always have a row for each Python call.
PYTHON_FUNCTIONS = not has("EventList.key_averages(include_python_functions)")
_HAS_OVERLOADS = has("FunctionEventAvg.overload_name")
_DEEPEST = 2**31 - 1  # values of stack depth


@as_in_torch("EventList")
class EventList(PreviewList, _torchs.EventList):
    """A list of FunctionEvent or FunctionEventAvg objects, with tables, averages and exports.

    Derived from torch's class only so that isinstance() accepts it as one.
    """

    def __init__(self, *args, **kwargs) -> None:
        self._use_device = kwargs.pop("use_device", None)
        self._profile_memory = kwargs.pop("profile_memory", False)
        self._with_flops = kwargs.pop("with_flops", False)
        self._tree_built = False
        self._columns = None  # the recording of these events, as long as the list is unchanged
        self._made_of = None  # for averages: (the events, the grouping, the averages as computed)
        self._note = ""  # a line that is printed below the table
        self._loss = ""  # another one, about data that the recording lacks
        list.__init__(self, *args, **kwargs)  # torch's __init__ would set the attributes anew

    def __str__(self) -> str:
        return str(self.table())

    def _preview(self):
        return preview_of_events(self)

    def _build_tree(self) -> None:
        """Sets parents and children of events that a program has created; those of a recording have theirs already."""
        if self._columns is None:
            build_tree(self)
        self._tree_built = True

    @property
    def self_cpu_time_total(self):
        """The sum of all self times on the CPU, microseconds."""
        columns = self._valid_columns()
        if columns is not None:
            return columns.self_cpu_time_total()
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
        time_unit=None,
        *,
        corrected=False,
        style="torch",
    ):
        """The events as a table, in torch's layout.

        ``sort_by``: an attribute, in descending order (``cuda_``, ``xpu_`` and ``privateuse1_`` stand for ``device_``);
        by default the order of the list. ``row_limit=-1`` prints all rows; totals always include all rows.
        ``time_unit``: "s", "ms" or "us" for every time; by default each time has its own unit. ``corrected``: for
        averages, the table of ``key_averages(corrected=True)``. ``style="plain"``: complete names at the end of the
        line, percentages that add up to 100, and a row for what ``row_limit`` leaves out; the widths have no effect.
        """
        if style not in ("torch", "plain"):
            raise ValueError(f"style must be 'torch' or 'plain', not {style!r}")
        rows = self._corrected() if corrected else self
        if len(rows) == 0:
            return TableText("" if compat_is_requested() else rows._loss)
        if header is not None and not isinstance(header, str):
            raise TypeError(f"sequence item 2: expected str instance, {type(header).__name__} found as the header")
        events = rows
        if sort_by is not None:
            attribute = _device_neutral(sort_by)
            events = sorted(rows, key=lambda event: getattr(event, attribute), reverse=True)
        use_device = events[0].use_device
        if not use_device and any(event.self_device_time_total > 0 for event in events):
            raise RuntimeError("use_device is None, but there is device performance data.")
        limit = _whole_limit(row_limit)
        try:
            text = _core.torch.table(
                events,
                row_limit=limit,
                max_src_column_width=max_src_column_width,
                max_name_column_width=max_name_column_width,
                max_shapes_column_width=max_shapes_column_width,
                header=header,
                top_level_events_only=bool(top_level_events_only),
                time_unit=time_unit,
                profile_memory=bool(self._profile_memory),
                with_flops=bool(self._with_flops),
                use_device=use_device,
                compat_swapped_cells=compat_is_requested(),
                note="\n".join(line for line in (rows._note, "" if compat_is_requested() else rows._loss) if line),
                plain=style == "plain",
            )
        except _core.Error as error:
            _require(not str(error).startswith("Expected "), str(error))  # an assertion of torch's
            raise
        if rows._valid_columns() is None:  # recorded events are not made into objects for it
            set_shares(events, row_limit=limit, top_level_only=bool(top_level_events_only))
        return TableText(text)

    def _corrected(self):
        """These averages without the overhead of recording; ValueError if it cannot be subtracted."""
        events, grouping, as_made = self._made_of or (None, None, [])
        if self._note:
            return self
        if events is None or len(self) != len(as_made) or any(map(operator.is_not, self, as_made)):
            raise ValueError(
                "corrected=True needs averages as key_averages() made them; see key_averages(corrected=True)"
            )
        return events._averages(*grouping, corrected=True)

    def key_averages(
        self,
        group_by_input_shapes=False,
        group_by_stack_n=0,
        group_by_overload_name=False,
        include_python_functions=PYTHON_FUNCTIONS,
        *,
        corrected=False,
    ):
        """The events summed by name and, if requested, by shapes, top of the stack and overload.

        ``include_python_functions``: also rows for calls of Python functions and modules, which ``with_stack=True``
        records. ``corrected``: CPU times without the overhead of recording, as measured on this machine
        (docs/reference/overhead.md). Raises ``opscope.Error`` if the recording does not contain that overhead,
        ``ValueError`` if the events were changed.
        """
        return self._averages(
            bool(group_by_input_shapes),
            group_by_stack_n,
            bool(group_by_overload_name),
            bool(include_python_functions),
            corrected=corrected,
        )

    def _averages(self, by_shapes=False, stack_n=0, by_overload=False, python_functions=PYTHON_FUNCTIONS, *, corrected):
        _require(self._tree_built, "Expected tree to be built before calling key_averages")
        columns = self._valid_columns()
        if len(self) > 0:
            stack_n = _checked_depth(stack_n)
        grouping = (by_shapes, stack_n, by_overload, python_functions)
        note = ""
        if corrected:
            if columns is None:
                raise ValueError("corrected=True needs the events as they were recorded; these were changed")
            rows, note = columns.corrected_averages(*grouping)
            averages = [average_of(columns, row) for row in rows]
        elif columns is not None:
            averages = [average_of(columns, row) for row in columns.averages(*grouping)]
        else:
            averages = _sum_by_key(self, *grouping)
        for average in averages:
            average.stack = average.stack[:stack_n]
            if not by_shapes:
                average.input_shapes = ""
            if not by_overload and _HAS_OVERLOADS:
                average.overload_name = ""
        made = EventList(
            averages,
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )
        made._made_of = (self, grouping, averages)
        made._note = note
        made._loss = self._loss
        return made

    def total_average(self):
        """One FunctionEventAvg with the key "Total" that sums all events."""
        columns = self._valid_columns()
        if columns is not None:
            return average_of(columns, columns.total(), key="Total")
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path) -> None:
        """Writes the events as a plain array of Chrome trace events; ``profile.export_chrome_trace`` writes more."""
        from .legacy_chrome import write_event_array

        write_event_array(self, path, self._use_device or "cuda")

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that ``export_stacks`` accepts."""
        return ["self_cpu_time_total", *(f"self_{device}_time_total" for device in _DEVICE_SPELLINGS)]

    def export_stacks(self, path: str, metric: str):
        """Writes a line for each event with a stack and at least 1 us: ``outermost;...;innermost 12``.

        Blanks, semicolons and line ends in a frame become ``_``. The file appears under its name when it is complete.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: " + str(self.supported_export_stacks_metrics()))
        attribute = _device_neutral(metric)
        columns = self._valid_columns()
        if columns is not None:
            columns.export_stacks(path, attribute == "self_device_time_total")
            return
        with whole_file(path) as file:
            for event in self:
                value = int(getattr(event, attribute)) if event.stack else 0
                if value > 0:
                    frames = ";".join(frame.translate(_FRAME_TEXT) for frame in reversed(event.stack))
                    file.write(f"{frames} {value}\n")

    def to_table(self):
        """The list as an ``opscope.Table``, for Polars, DuckDB and pyarrow, which do not accept a list.

        Times are in microseconds. Numbers of recorded events are not copied.
        """
        return event_frame.to_table(self)

    def to_pandas(self) -> Any:
        """The list as a ``pandas.DataFrame``; numbers of recorded events are not copied. Times in microseconds."""
        return event_frame.to_pandas(self)

    def to_arrow(self) -> Any:
        """The list as a ``pyarrow.Table``; numbers of recorded events are not copied."""
        return event_frame.to_table(self).to_arrow()

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule interface, for readers that do not check first whether this is a list."""
        return event_frame.to_table(self).__arrow_c_stream__(requested_schema)

    def _valid_columns(self):
        """The columns if this list still holds exactly their events, unchanged; otherwise None."""
        if self._columns is not None and self._columns.mirrors(self):
            return self._columns
        return None


def _whole_limit(limit) -> int:
    """The number of rows of torch's loop for a limit; -1, all rows, if the row count never equals it."""
    if isinstance(limit, float) and limit.is_integer():
        limit = int(limit)
    return min(operator.index(limit), 2**63 - 1) if hasattr(limit, "__index__") else -1


def _checked_depth(depth):
    """The stack depth for grouping. TypeError, with Python's text, if it cannot be compared or used as a slice."""
    depth > 0  # noqa: B015
    ()[:depth]  # noqa: B018
    return max(-_DEEPEST, min(operator.index(depth), _DEEPEST))


def _sum_by_key(events, by_shapes, stack_n, by_overload, python_functions) -> list[FunctionEventAvg]:
    sums: dict[tuple, FunctionEventAvg] = {}
    for event in events:
        if not python_functions and getattr(event, "is_python_function", False):
            continue
        annotation = getattr(event, "is_user_annotation", False)
        key = (event.key, event.node_id, event.device_type, event.is_legacy, annotation)
        if by_overload:
            key += (event.overload_name,)
        if by_shapes:
            key += (str(event.input_shapes),)
        if stack_n > 0:
            key += tuple(event.stack[:stack_n])
        average = sums.get(key)
        if average is None:
            average = sums[key] = FunctionEventAvg()
        average.add(event)
    return list(sums.values())


class _UnfilledEventList(unfilled_kind(EventList)):
    """Operations that need only the columns, not the elements."""

    def _valid_columns(self):
        return self._columns


def unfilled_events(columns, *, use_device=None, profile_memory=False, with_flops=False) -> EventList:
    """The lazy list over the columns of a recording."""
    events = EventList(use_device=use_device, profile_memory=profile_memory, with_flops=with_flops)
    events._loss = columns.loss()
    events._tree_built = True
    return unfill(events, _UnfilledEventList, columns)
