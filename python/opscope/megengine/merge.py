# SPDX-License-Identifier: Apache-2.0
"""Merges the timelines of several processes, and of several profilers of one process, into one file."""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from megengine.logger import get_logger

from .. import _core

_TIMELINE = re.compile(r"\d+(\.\d+)?\.chrome_timeline\.json")
_MERGED = "merge.chrome_timeline.json"


def merge_trace_events(directory: str):
    """Writes ``merge.chrome_timeline.json`` from all ``PID.chrome_timeline.json`` in a directory.

    All files are on one time axis, which begins with the first of them. ValueError, with the file's name, if there is
    none or one is not a timeline.
    """
    paths = [os.path.join(directory, name) for name in sorted(os.listdir(directory)) if _TIMELINE.fullmatch(name)]
    if not paths:
        raise ValueError(f"{directory} has no PID.chrome_timeline.json to merge")
    timelines = sorted(((path, *_load(path)) for path in paths), key=lambda timeline: timeline[2])
    first = timelines[0][2]
    tracks = _Tracks()
    events = []
    for path, own, began_ns in timelines:
        with _refusing_others(path):
            events += tracks.numbered(_shifted(own, (began_ns - first) / 1000))
    result = {"traceEvents": events, "metadata": {"localTime": str(first)}}
    path = os.path.join(directory, _MERGED)
    _core.write_whole_file(path, json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())
    get_logger().info(f"profiling results written to {path}")


def _load(path: str) -> tuple[list[dict[str, Any]], int]:
    """The events, and the start of the recording in nanoseconds since the Unix epoch."""
    try:
        with open(path, "rb") as file:
            content = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
    with _refusing_others(path):
        events = content["traceEvents"]
        if "metadata" in content:
            return events, int(content["metadata"]["localTime"])
        # MegEngine 1.5: microseconds, in an event.
        about = next((event["args"] for event in events if event["name"] == "Metadata"), {"localTime": 0})
        return [event for event in events if event["name"] != "Metadata"], int(about["localTime"] * 1000)


@contextlib.contextmanager
def _refusing_others(path: str) -> Iterator[None]:
    """ValueError for JSON that is no timeline."""
    try:
        yield
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no timeline of MegEngine ({type(error).__name__}: {error})") from None


def _shifted(events: list[dict[str, Any]], by_us: float) -> list[dict[str, Any]]:
    for event in events:
        if "ts" in event:
            event["ts"] += by_us
    return events


class _Tracks:
    """Numbers of tracks in the merged file.

    Each window numbers its threads anew: the interpreter is 0 in one and 1 in the other. In the merged file a thread's
    name in a process has one number.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, str], int] = {}  # (process, name) -> number
        self._used: dict[Any, int] = {}  # process -> how many numbers it has

    def numbered(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The events of one file with their new numbers; names of tracks are left out if they were written before."""
        new: dict[tuple[Any, Any], int] = {}
        names = {(event["pid"], event["tid"]): event for event in events if event.get("name") == "thread_name"}
        repeated = set()
        for (process, thread), event in names.items():
            key = process, event["args"]["name"]
            if key in self._known:
                repeated.add(id(event))
            new[process, thread] = self._known.setdefault(key, self._next(process, key))
        kept = []
        for event in events:
            if id(event) in repeated:
                continue
            track = event.get("pid"), event.get("tid")
            if track not in new:  # a track without a name
                new[track] = self._next(track[0], None)
            if "tid" in event:
                event["tid"] = new[track]
            kept.append(event)
        return kept

    def _next(self, process, key) -> int:
        if key in self._known:
            return self._known[key]
        number = self._used.get(process, 0)
        self._used[process] = number + 1
        return number
