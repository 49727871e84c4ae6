# SPDX-License-Identifier: Apache-2.0
"""torch's own Python code on the events of a CUDA recording: the tables that torch.profiler would print of them.

No GPU is needed: what Kineto would hand to torch follows from a Chrome JSON file. In a file of ours the links come
from times alone: each call belongs to the innermost operator and range around it, and work to the call of its
correlation; the "External id" of calls and work is not read. In a file of Kineto they are what Kineto says there.
What torch makes of the events is done by torch itself: ``_parse_kineto_results`` of
``torch.autograd.profiler.profile`` and ``torch.autograd.profiler_util.EventList``.
"""

import bisect
import copy
import gzip
import json
from decimal import Decimal
from unittest import mock

from torch.autograd import DeviceType
from torch.autograd.profiler import profile
from torch.autograd.profiler_util import EventList, MemRecordsAcc

OPERATOR, RANGE, DEVICE_RANGE, MEMORY = "cpu_op", "user_annotation", "gpu_user_annotation", "cpu_instant_event"
OF_TORCH = (OPERATOR, RANGE, "python_function", MEMORY)
CALLS = ("cuda_runtime", "cuda_driver")
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
LINKED = (*CALLS, *WORK, "cuda_sync", "cuda_event")


class KinetoEvent:
    """What torch asks of an event of Kineto (torch/csrc/autograd/profiler_kineto.cpp)."""

    def __init__(self, row, base_ns):
        self.row, self.category, self.arguments = row, row["cat"], row.get("args", {})
        self.start = base_ns + int(Decimal(row["ts"]) * 1000)
        self.end = self.start + int(Decimal(row.get("dur", 0)) * 1000)
        self.thread = row["tid"]
        self.linked = 0
        if self.category == DEVICE_RANGE:  # which the file shows longer than it is, so that it encloses the work
            self.start, self.end = self.start + 1, self.end - 1
        key = "External id" if self.category in (OPERATOR, RANGE, DEVICE_RANGE) else "correlation"
        self.id = 0 if self.category == "overhead" else self.arguments.get(key, 0)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda: None  # what no table shows

    def encloses(self, call):
        """Whether it is open on the call's thread when that begins."""
        is_same_thread = (self.row["pid"], self.row["tid"]) == (call.row["pid"], call.row["tid"])
        return is_same_thread and self.start <= call.start < self.end

    def has_inside(self, other):
        """Whether the other one lies in it; of equal ones the first of the file is around."""
        is_longer = self.end - self.start > other.end - other.start
        return self.encloses(other) and other.end <= self.end and (is_longer or self.start < other.start)

    def since(self, start_ns):
        """The same event with times from there on."""
        event = copy.copy(self)
        event.start, event.end = self.start - start_ns, self.end - start_ns
        return event

    def name(self):
        return self.row["name"]

    def start_ns(self):
        return self.start

    def end_ns(self):
        return self.end

    def correlation_id(self):
        return self.id

    def linked_correlation_id(self):
        return self.linked

    def device_type(self):
        if self.category == MEMORY:
            return DeviceType(self.arguments["Device Type"])
        return DeviceType.CUDA if self.category in (*WORK, DEVICE_RANGE, "cuda_sync") else DeviceType.CPU

    def start_thread_id(self):
        return self.thread

    end_thread_id = start_thread_id

    def is_user_annotation(self):
        return self.category in (RANGE, DEVICE_RANGE)

    def is_python_function(self):
        return self.category == "python_function"

    def nbytes(self):
        return self.arguments.get("Bytes", 0)

    def overload_name(self):
        return ""

    def stack(self):
        return []

    shapes = stack

    def sequence_nr(self):
        return -1

    cuda_elapsed_us = sequence_nr

    def flops(self):
        return 0

    scope = flops

    def is_async(self):
        return False

    is_hidden_event = is_async


class KinetoResult:
    """Stands for torch's _ProfilerResult."""

    def __init__(self, events, start_ns):
        self._events, self._start_ns = events, start_ns

    def events(self):
        return self._events

    def trace_start_ns(self):
        return self._start_ns


def _innermost(category, call, host):
    around = [e for e in host if e.category == category and e.encloses(call)]
    return max(around, key=lambda e: e.start, default=None)


def _link_by_times(events):
    """Links calls and what they launched, and returns the ranges of devices that follow: one for each range and stream,
    from the first begin to the last end of the work."""
    host = [e for e in events if e.category in (OPERATOR, RANGE)]
    operators, ranges, of_devices = {}, {}, {}
    for call in (e for e in events if e.category in CALLS):
        operator = _innermost(OPERATOR, call, host)
        operators[call.id] = operator.id if operator else 0
        ranges[call.id] = _innermost(RANGE, call, host)
    for event in events:
        if event.category in LINKED:
            event.linked = operators.get(event.id, 0)
        if event.category in WORK and ranges.get(event.id) is not None:
            key = ranges[event.id].id, ranges[event.id].name(), event.row["pid"], event.row["tid"]
            start, end = of_devices.get(key, (event.start, event.end))
            of_devices[key] = min(start, event.start), max(end, event.end)
    return of_devices


def _link_as_kineto_says(events):
    ids = {e.id for e in events if e.category in (OPERATOR, RANGE)}
    for event in events:
        if event.category in LINKED:
            told = event.arguments.get("External id", 0)
            event.linked = told if told in ids else 0


def kineto_events(path, *, is_kinetos=False, stopping_thread=None):
    """The events of the file in torch's order, each linked and on the thread that torch puts it on: that of what it is
    linked to, else that of the profiler's stop; None: the main thread."""
    with (gzip.open if str(path).endswith(".gz") else open)(path) as file:
        document = json.load(file, parse_float=str)
    base_ns = int(document.get("baseTimeNanoseconds", 0))
    rows = [row for row in document["traceEvents"] if row["ph"] == "X" or row.get("cat") == MEMORY]
    events = [KinetoEvent(row, base_ns) for row in rows if row["cat"] != "Trace"]
    if is_kinetos:
        _link_as_kineto_says(events)
    else:
        found = {
            (e.id, e.name(), e.row["pid"], e.row["tid"]): (e.start, e.end) for e in events if e.category == DEVICE_RANGE
        }
        assert found == _link_by_times(events)
    operators = {e.id: e for e in events if e.category in (OPERATOR, RANGE)}
    if stopping_thread is None:
        stopping_thread = next((e.row["pid"] for e in events if e.category in OF_TORCH), 0)
    for event in events:
        if event.category not in OF_TORCH:
            event.thread = operators[event.linked].thread if event.linked else stopping_thread
    # Kineto lists what torch gave it, then the records of CUPTI, then the ranges of devices.
    events.sort(key=lambda e: 0 if e.category in OF_TORCH else 2 if e.category == DEVICE_RANGE else 1)
    return sorted(events, key=lambda e: e.start)


def _in_interval(self, start_us, end_us):
    first = bisect.bisect_left(self._start_nses, round(start_us * 1000))
    last = bisect.bisect_right(self._start_nses, round(end_us * 1000))
    return (self._mem_records[self._indices[at]] for at in range(first, last))


def _exact_intervals_of_memory():
    """Torch 2.8 has nanoseconds since 1970 divided by 1,000 and multiplied again there, 128 ns off at times."""
    code = MemRecordsAcc.in_interval.__code__
    is_rounded = "start_us" in code.co_varnames and "_start_nses" in code.co_names
    return mock.patch.object(MemRecordsAcc, "in_interval", _in_interval if is_rounded else MemRecordsAcc.in_interval)


def torchs_events(events, start_ns, *, profile_memory=False):
    """What ``prof.events()`` of torch.profiler would be, of kineto_events()."""
    torchs = profile(use_kineto=True, profile_memory=profile_memory)
    torchs.use_device = "cuda"  # which the constructor refuses where torch has none
    with _exact_intervals_of_memory():
        parsed = torchs._parse_kineto_results(KinetoResult([event.since(start_ns) for event in events], 0))
    listed = EventList(parsed, use_device="cuda", profile_memory=profile_memory)
    listed._build_tree()
    return listed
