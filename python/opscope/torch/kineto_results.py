# SPDX-License-Identifier: Apache-2.0
"""``profile.profiler.kineto_results``: the raw events of the last recording, with the methods of torch's own class.

Unlike ``prof.events()`` they have absolute nanoseconds, and every allocation as an event.
"""

from __future__ import annotations

from .. import _core
from ..frontend.lazy_list import unfill, unfilled_kind
from ..preview import PREVIEW_ROWS, PreviewList, TablePreview
from .errors import UnsupportedFeature
from .event_tree import EventTree, ProfilerEvent
from .events import EventList
from .features import left_out_of_lists
from .kineto_event import KinetoEvent
from .settings import checked_timeout


class KinetoEvents(PreviewList):
    """The events of a recording in order of their start; filled at first use."""

    def _preview(self) -> TablePreview | None:
        first = self[:PREVIEW_ROWS]
        if not all(isinstance(event, KinetoEvent) for event in first):
            return None
        rows = [
            {"name": event.name(), "start": str(event.start_ns()), "duration_ns": event.duration_ns()}
            for event in first
        ]
        return TablePreview.of(f"KinetoEvents: {len(self):,} events", rows, len(self))


_UnfilledKinetoEvents = unfilled_kind(KinetoEvents)


class KinetoResults:
    """torch's ``_ProfilerResult``, backed by a Recording."""

    _events: KinetoEvents | None = None  # set in the object at the first access

    def __init__(self, recording) -> None:
        self._recording = recording
        self._columns: _core.torch.FunctionEvents | None = None
        self._tree: EventTree | None = None

    def _collected(self) -> _core.torch.FunctionEvents:
        if self._columns is None:
            self._columns = self._recording.collected(as_listed=False)
        return self._columns

    def _listed(self) -> _core.torch.FunctionEvents:
        """The events of the list; the tree has all events, in every release of torch."""
        return self._recording.collected(as_listed=True) if left_out_of_lists() else self._collected()

    def trace_start_ns(self) -> int:
        """Origin of ``FunctionEvent.time_range`` in Unix time, ns; with acc_events that of the last cycle alone."""
        return self._recording.last_cycle_trace().info()["epoch_ns"] + self._collected().trace_start_ns

    def events(self) -> list[KinetoEvent]:
        """All events and allocations of the last recording, including those that ``prof.events()`` leaves out or
        folds.
        """
        if self._events is None:
            events = unfill(KinetoEvents(), _UnfilledKinetoEvents, self._listed())
            return self.__dict__.setdefault("_events", events)  # one list, even if two threads come here at once
        return self._events

    def parsed(self, timeout_s: float | None) -> EventList:
        """A new list of the function events; empty, with a warning, after the timeout."""
        return self._recording.reread_events(checked_timeout(timeout_s, "timeout_s"))

    def save(self, path: str) -> None:
        """Writes the recording as Chrome trace JSON."""
        self._recording.export_chrome_trace(path)

    def experimental_event_tree(self) -> list[ProfilerEvent]:
        """The root nodes in order of their start: operators, ranges, calls of Python and allocations."""
        if self._tree is None:
            self._tree = EventTree(self._collected())
        return self._tree.roots()

    def trace_activities(self) -> list:
        """Raises UnsupportedFeature: Kineto's own activities, with the JSON that it writes for each."""
        raise UnsupportedFeature(
            "kineto_results.trace_activities()",
            "opscope makes no activities of Kineto",
            "kineto_results.events(), which has names, types, times, ids and flows, or prof.export_chrome_trace(),"
            " which writes the rest",
        )
