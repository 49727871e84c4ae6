# SPDX-License-Identifier: Apache-2.0
"""``profile.profiler.kineto_results``: the raw events of the last recording, with the methods of torch's own.

Programs that read them go past ``events()``: absolute nanoseconds, and every allocation as an event.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Sequence

from torch.autograd import DeviceType

from .errors import UnsupportedFeature

_MEMORY = "[memory]"


class KinetoEvent:
    """One operator, range or kernel, or one allocation; every value is a method, as in torch."""

    __slots__ = ("_event", "_start_ns")

    def __init__(self, event, start_ns: int) -> None:
        self._event = event
        self._start_ns = start_ns

    def start_ns(self) -> int:
        """Unix time of the start."""
        return self._start_ns

    def end_ns(self) -> int:
        """Unix time of the end."""
        return self._start_ns + self.duration_ns()

    def duration_ns(self) -> int:
        """Nanoseconds between them."""
        return _nanoseconds(self._event.time_range.end) - _nanoseconds(self._event.time_range.start)

    def name(self) -> str:
        """The full name: ``ProfilerStep#4``."""
        return self._event.trace_name

    def end_thread_id(self) -> int:
        """The thread where it ended; unknown where that was another one than it began on."""
        return self._event.thread

    def is_hidden_event(self) -> bool:
        """Never: hidden events are not in the list."""
        return False

    def nbytes(self) -> int:
        """Bytes of an allocation."""
        return 0

    def cuda_elapsed_us(self) -> int:
        """-1: kernels are events of their own."""
        return -1

    privateuse1_elapsed_us = cuda_elapsed_us

    def extra_meta(self) -> dict[str, str]:
        """Empty: a kernel's numbers come with device events."""
        return {}

    def __repr__(self) -> str:
        return f"<KinetoEvent {self.name()} start_ns={self.start_ns()} duration_ns={self.duration_ns()}>"


def _forwarded(attribute: str):
    read = operator.attrgetter("_event." + attribute)

    def value(self):
        return read(self)

    value.__doc__ = f"``FunctionEvent.{attribute}``."
    return value


for _name, _attribute in {
    "activity_type": "activity_type",
    "concrete_inputs": "concrete_inputs",
    "correlation_id": "id",
    "device_index": "device_index",
    "device_resource_id": "device_resource_id",
    "device_type": "device_type",
    "dtypes": "input_dtypes",
    "external_id": "external_id",
    "flops": "flops",
    "flow_id": "flow_id",
    "flow_start": "flow_start",
    "flow_type": "flow_type",
    "fwd_thread_id": "fwd_thread",
    "is_async": "is_async",
    "is_python_function": "is_python_function",
    "is_user_annotation": "is_user_annotation",
    "kwinputs": "kwinputs",
    "linked_correlation_id": "linked_correlation_id",
    "metadata_json": "_metadata_json",
    "overload_name": "overload_name",
    "python_id": "python_id",
    "python_module_id": "python_module_id",
    "python_parent_id": "python_parent_id",
    "scope": "scope",
    "sequence_nr": "sequence_nr",
    "shapes": "input_shapes",
    "stack": "stack",
    "start_thread_id": "thread",
    "structured_input_shapes": "structured_input_shapes",
    "structured_input_strides": "structured_input_strides",
}.items():
    _method = _forwarded(_attribute)
    _method.__name__ = _name
    _method.__qualname__ = f"KinetoEvent.{_name}"
    setattr(KinetoEvent, _name, _method)


class _NoOperator:
    """What the attributes of an event say for an allocation."""

    id = flops = flow_id = flow_type = fwd_thread = external_id = linked_correlation_id = scope = 0
    device_index = python_id = python_module_id = python_parent_id = sequence_nr = -1
    flow_start = is_async = is_python_function = is_user_annotation = False
    activity_type = "cpu_instant_event"
    overload_name = _metadata_json = ""

    def __getattr__(self, name: str):
        return {} if name == "kwinputs" else []


class _Allocation(KinetoEvent):
    """A row of ``trace.allocations``."""

    __slots__ = ("_row", "_trace")

    _nothing = _NoOperator()

    def __init__(self, trace, row: int, start_ns: int) -> None:
        super().__init__(self._nothing, start_ns)
        self._trace = trace
        self._row = row

    def name(self) -> str:
        return _MEMORY

    def duration_ns(self) -> int:
        return 0

    def nbytes(self) -> int:
        return self._trace.allocations["bytes"][self._row]

    def device_type(self):
        return DeviceType(self._trace.allocations["device_type"][self._row])

    def device_index(self) -> int:
        return self._trace.allocations["device"][self._row]

    def device_resource_id(self) -> int:
        return self._trace.tracks["tid"][self._trace.allocations["track"][self._row]]

    def start_thread_id(self) -> int:
        return self._trace.tracks["logical_thread"][self._trace.allocations["track"][self._row]]

    end_thread_id = start_thread_id


class KinetoEvents(Sequence):
    """The events by start; each object is made when it is looked at."""

    def __init__(self, trace, events, columns) -> None:
        self._trace = trace
        self._events = events
        self._epoch_ns = trace.info["epoch_ns"]
        self._start_ns = columns.trace_start_ns
        self.trace_start_ns = self._epoch_ns + self._start_ns
        times = trace.allocations["time"]
        if len(times) == 0:
            self._places = range(len(events))
        else:  # allocations have negative places
            spans = (
                (self._relative_ns(event), row) for row, event in enumerate(events) if event.trace_name is not None
            )
            rows = ((time, -1 - row) for row, time in sorted(enumerate(times), key=operator.itemgetter(1)))
            self._places = [place for _, place in heapq.merge(spans, rows, key=operator.itemgetter(0))]

    def _relative_ns(self, event) -> int:
        return self._start_ns + _nanoseconds(event.time_range.start)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._make(place) for place in self._places[index]]
        return self._make(self._places[index])

    def _make(self, place: int) -> KinetoEvent:
        if place < 0:
            row = -1 - place
            return _Allocation(self._trace, row, self._epoch_ns + self._trace.allocations["time"][row])
        event = self._events[place]
        return KinetoEvent(event, self._epoch_ns + self._relative_ns(event))


class KinetoResults:
    """What torch's ``_ProfilerResult`` answers."""

    def __init__(self, recording) -> None:
        self._recording = recording
        self._events: KinetoEvents | None = None

    def trace_start_ns(self) -> int:
        """Unix time from which ``FunctionEvent.time_range`` counts; with acc_events that of the last cycle's own."""
        return self.events().trace_start_ns

    def events(self) -> KinetoEvents:
        """All events of the last recording; those that ``events()`` leaves out are not there."""
        if self._events is None:
            self._events = KinetoEvents(*self._recording.last_cycle())
        return self._events

    def save(self, path: str) -> None:
        """Writes the recording as Chrome trace JSON."""
        self._recording.export_chrome_trace(path)

    def experimental_event_tree(self):
        """The tree of torch's own objects needs torch's own collection."""
        raise UnsupportedFeature(
            "kineto_results.experimental_event_tree()",
            "its nodes are objects of torch's collection",
            "events() with cpu_parent and cpu_children, or prof.trace.spans with its column parent",
        )


def _nanoseconds(microseconds: float) -> int:
    # Exact: torch's times are nanoseconds / 1000 in a double.
    return round(microseconds * 1000)
