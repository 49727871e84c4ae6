# SPDX-License-Identifier: Apache-2.0
"""Display of the first events or averages of an EventList at a prompt and in a notebook."""

from __future__ import annotations

import itertools
from typing import Any

from .. import _core
from ..preview import PREVIEW_ROWS, TablePreview
from .averages import FunctionEventAvg
from .function_event import FunctionEvent


def preview_of_events(events) -> TablePreview | None:
    """The display; None for an empty list, and if a program has put other objects into it."""
    first = list(itertools.islice(events, PREVIEW_ROWS))
    if not first or not all(isinstance(event, (FunctionEvent, FunctionEventAvg)) for event in first):
        return None
    is_average = isinstance(first[0], FunctionEventAvg)
    rows = [_average_row(events, event) if is_average else _event_row(events, event) for event in first]
    if any(event.input_shapes for event in first):
        for row, event in zip(rows, first, strict=True):
            row["Input shapes"] = str(event.input_shapes) if event.input_shapes else ""
    what = "averages" if is_average else "events"
    return TablePreview.of(f"EventList: {len(events):,} {what}", rows, len(events))


def _average_row(events, average) -> dict[str, Any]:
    return {
        "Name": average.key,
        "Calls": average.count,
        "Self CPU": average.self_cpu_time_total_str,
        "CPU total": average.cpu_time_total_str,
        "CPU mean": average.cpu_time_str,
        **_optional_columns(events, average),
    }


def _event_row(events, event) -> dict[str, Any]:
    return {
        "Name": event.name,
        "Thread": event.thread,
        "Start": _core.torch.format_time(event.time_range.start),
        "Self CPU": event.self_cpu_time_total_str,
        "CPU total": event.cpu_time_total_str,
        **_optional_columns(events, event),
    }


def _optional_columns(events, event) -> dict[str, Any]:
    """Columns for data that only some recordings have."""
    row = {}
    if events._use_device:
        row["Self device"] = event.self_device_time_total_str
        row["Device total"] = event.device_time_total_str
    if events._profile_memory:
        row["Self memory"] = _core.torch.format_memory(int(event.self_cpu_memory_usage))
        row["Memory"] = _core.torch.format_memory(int(event.cpu_memory_usage))
    if events._with_flops:
        row["FLOPs"] = f"{event.flops or 0:,}"
    return row
