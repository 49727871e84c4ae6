# SPDX-License-Identifier: Apache-2.0
"""EventList as a data frame: recorded events as their columns lie in memory, other lists by their attributes.

Column names are torch's attribute names with their unit: ``cpu_time_total_us``, ``cpu_memory_usage_bytes``.
"""

from __future__ import annotations

from ..table import Table, _require
from .averages import FunctionEventAvg

# Column -> attribute.
_TIMES = ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total")
_SIZES = ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage")
_FLAGS = ("is_async", "is_user_annotation", "is_python_function")
_OF_BOTH = {
    "name": "key",
    "overload_name": "overload_name",
    "count": "count",
    **{f"{name}_us": name for name in _TIMES},
    **{f"{name}_bytes": name for name in _SIZES},
    "flops": "flops",
    "scope": "scope",
    "is_async": "is_async",
}
_OF_AVERAGES = {"cpu_time_us": "cpu_time", "device_time_us": "device_time"}
_OF_EVENTS = {
    "activity_type": "activity_type",
    "thread": "thread",
    "sequence_nr": "sequence_nr",
    "fwd_thread": "fwd_thread",
    "is_user_annotation": "is_user_annotation",
    "is_python_function": "is_python_function",
}


def _as_recorded(events) -> Table | None:
    """The columns, while the list holds exactly what was recorded."""
    columns = events._columns_that_speak()
    return None if columns is None else Table(columns.table(), "events")


def _by_attributes(events) -> dict[str, list]:
    averages = len(events) > 0 and all(isinstance(event, FunctionEventAvg) for event in events)
    attributes = _OF_BOTH | (_OF_AVERAGES if averages else _OF_EVENTS)
    values = {column: [getattr(event, name) for event in events] for column, name in attributes.items()}
    values["input_shapes"] = [None if event.input_shapes is None else str(event.input_shapes) for event in events]
    if averages:
        values["stack"] = ["\n".join(event.stack or ()) for event in events]
    else:
        values["start_us"] = [event.time_range.start for event in events]
        values["end_us"] = [event.time_range.end for event in events]
    return values


def to_pandas(events):
    """A ``pandas.DataFrame``, one row per element."""
    pandas = _require("pandas", "pandas")
    table = _as_recorded(events)
    if table is None:
        return pandas.DataFrame(_by_attributes(events))
    frame = table.to_pandas()
    for name in _FLAGS:
        frame[name] = frame[name].to_numpy().view(bool)  # bytes that are 0 or 1: no copy
    return frame


def to_arrow(events):
    """A ``pyarrow.Table``, one row per element."""
    pyarrow = _require("pyarrow", "pyarrow")
    table = _as_recorded(events)
    return pyarrow.table(_by_attributes(events) if table is None else table)


def arrow_c_stream(events, requested_schema=None):
    """The capsule of the Arrow PyCapsule protocol; recorded events need no pyarrow for it."""
    table = _as_recorded(events)
    return (to_arrow(events) if table is None else table).__arrow_c_stream__(requested_schema)
