# SPDX-License-Identifier: Apache-2.0
"""Sums over the events with one key: the rows of ``key_averages()``."""

from __future__ import annotations

import torch.autograd.profiler_util as _torchs
from torch.autograd import DeviceType

from .features import absent
from .function_event import FormattedTimesMixin, FunctionEvent, _require

_ABSENT, _ = absent("FunctionEventAvg")

# Attributes that are copied from the first event.
_TAKEN_OVER = (
    "key",
    "node_id",
    "is_async",
    "is_remote",
    "cpu_parent",
    "cpu_children",
    "overload_name",
    "input_shapes",
    "stack",
    "scope",
    "device_type",
    "is_legacy",
    "use_device",
    "is_user_annotation",
)
_OF_THE_FIRST = tuple(name for name in _TAKEN_OVER if name not in _ABSENT)
_SUMS = (
    "cpu_time_total",
    "device_time_total",
    "self_cpu_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "device_memory_usage",
    "self_cpu_memory_usage",
    "self_device_memory_usage",
    "count",
)


class FunctionEventAvg(FormattedTimesMixin, _torchs.FunctionEventAvg):
    """Sums over events with one key; ``cpu_time`` and ``device_time`` are per call.

    Derived from torch's class only so that isinstance() accepts it as one.
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count: int = 0
        self.node_id: int = 0
        self.is_async: bool = False
        self.is_remote: bool = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.self_device_time_total: float = 0
        self.input_shapes: list[list[int]] | None = None
        self.stack: list | None = None
        self.scope: int | None = None
        self.cpu_memory_usage: int = 0
        self.device_memory_usage: int = 0
        self.self_cpu_memory_usage: int = 0
        self.self_device_memory_usage: int = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type: DeviceType = DeviceType.CPU
        self.is_legacy: bool = False
        self.flops: int = 0
        if "overload_name" not in _ABSENT:
            self.overload_name: str | None = None

    @property
    def cpu_time(self) -> float:
        """CPU time per call, microseconds."""
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        """Device time per call, microseconds."""
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count

    def _inherit(self, event) -> None:
        for name in _OF_THE_FIRST:
            setattr(self, name, getattr(event, name))

    def add(self, other):
        """Adds an event, or another average, with the same key."""
        if self.key is None:
            self._inherit(other)
        _require(
            isinstance(other, (_torchs.FunctionEvent, _torchs.FunctionEventAvg)),
            "Expected other to be a FunctionEvent or FunctionEventAvg",
        )
        _require(other.key == self.key, f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    def __iadd__(self, other):
        return self.add(other)

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str}"
            f" cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str}"
            f" {device}_time={self.device_time_str} input_shapes={self.input_shapes!s}"
            f" cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )


def average_of(columns, row: dict, *, key: str | None = None) -> FunctionEventAvg:
    """A FunctionEventAvg from sums that C++ has computed; other attributes are those of the event ``row["first"]``."""
    average = FunctionEventAvg()
    first = row.pop("first")
    if first >= 0:
        average._inherit(columns.event(first))
    if key is not None:
        average.key = key
    for name in _ABSENT & row.keys():
        del row[name]
    average.__dict__.update(row)
    return average
