# SPDX-License-Identifier: Apache-2.0
"""The array format of ``EventList.export_chrome_trace``: names, times, threads, and arrows to kernels."""

from __future__ import annotations

import json

from ..frontend.whole_file import whole_file


def _place(event) -> dict:
    return {"name": event.trace_name, "ts": event.time_range.start, "tid": event.thread, "pid": "CPU functions"}


def write_event_array(events, path, device: str) -> None:
    """Writes complete events and one flow start per launched kernel as a JSON array."""
    with whole_file(path) as file:
        file.write("[")
        separator = ""
        arrows = 0
        for event in events:
            if event.trace_name is None:
                continue
            row = _place(event) | {"ph": "X", "dur": event.time_range.elapsed_us(), "args": {}}
            if event.is_remote:
                row["tid"] = f" node_id:{event.node_id}, thread_id:{event.thread} "
            file.write(separator + json.dumps(row))
            separator = ", "
            for _ in event.kernels:
                row = _place(event) | {"ph": "s", "id": arrows, "cat": f"cpu_to_{device}", "args": {}}
                file.write(separator + json.dumps(row))
                arrows += 1
        file.write("]")
