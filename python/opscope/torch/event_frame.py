# SPDX-License-Identifier: Apache-2.0
"""EventList as a table: recorded events by their columns in memory, without a copy; other lists by their attributes.

Column names are torch's attribute names with their unit: ``cpu_time_total_us``, ``cpu_memory_usage_bytes``.
"""

from __future__ import annotations

import math
from array import array
from numbers import Integral, Real

from .. import _core
from ..table import Table
from .averages import FunctionEventAvg

# Column -> attribute.
_TIMES = ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total")
_SIZES = ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage")
_FLAGS = {"is_async", "is_user_annotation", "is_python_function"}
_TEXTS = {"name", "overload_name", "activity_type", "input_shapes", "stack"}
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


def _by_attributes(events) -> dict[str, list]:
    averages = len(events) > 0 and all(isinstance(event, FunctionEventAvg) for event in events)
    attributes = _OF_BOTH | (_OF_AVERAGES if averages else _OF_EVENTS)
    first = events[0] if len(events) > 0 else FunctionEventAvg()  # some versions of torch lack some of them
    attributes = {column: name for column, name in attributes.items() if hasattr(first, name)}
    values = {column: [getattr(event, name) for event in events] for column, name in attributes.items()}
    values["input_shapes"] = [None if event.input_shapes is None else str(event.input_shapes) for event in events]
    if averages:
        values["stack"] = ["\n".join(event.stack or ()) for event in events]
    else:
        values["start_us"] = [event.time_range.start for event in events]
        values["end_us"] = [event.time_range.end for event in events]
    return values


def _packed(column: str, values: list) -> tuple[str, str, bytes | list]:
    """Numbers in the smallest type that fits, None among them as NaN; any other values as text."""
    if not all(value is None or isinstance(value, Real) for value in values) or column in _TEXTS:
        return column, "text", [None if value is None else str(value) for value in values]
    if column in _FLAGS and None not in values:
        return column, "uint8", bytes(map(bool, values))
    if not column.endswith("_us") and all(isinstance(value, Integral) for value in values):
        least, most = min(values, default=0), max(values, default=0)
        if -(1 << 63) <= least and most < 1 << 63:
            return column, "int64", array("q", values).tobytes()
        if least >= 0 and most < 1 << 64:
            return column, "uint64", array("Q", values).tobytes()
    return column, "float64", array("d", (math.nan if value is None else value for value in values)).tobytes()


def to_table(events) -> Table:
    """An ``opscope.Table``, one row per element. Without a copy if the list still holds exactly the recorded events."""
    columns = events._valid_columns()
    if columns is not None:
        return Table(columns.table(), "events")
    packed = [_packed(column, values) for column, values in _by_attributes(events).items()]
    return Table(_core.make_table("events", len(events), packed), "events")


def to_pandas(events):
    """A ``pandas.DataFrame``, one row per element."""
    frame = to_table(events).to_pandas()
    for name in _FLAGS & set(frame.columns):
        if frame[name].dtype == "uint8":
            frame[name] = frame[name].to_numpy().view(bool)  # bytes that are 0 or 1 as bool, without a copy
    return frame
