# SPDX-License-Identifier: Apache-2.0
"""The nodes of ``ProfilerResult.get_data()`` with Paddle's attributes, which are read from the trace on access."""

from __future__ import annotations

import functools
import json
from typing import Any

from paddle.base.core import TracerEventType, TracerMemEventType

from .. import _core

_TYPES = {int(kind): kind for kind in TracerEventType.__members__.values()}
_MEMORY_TYPES = {int(kind): kind for kind in TracerMemEventType.__members__.values()}
_END_OF_ROOT = 2**64 - 1
# Attributes of a device event -> their names in Paddle's files.
_OF_DEVICE = {
    "device_id": "device", "context_id": "context", "stream_id": "stream", "num_bytes": "bytes", "value": "value",
    "registers_per_thread": "registers per thread", "shared_memory": "shared memory",
}  # fmt: skip
# Attribute -> (member of "args", the value that means 1), in order of preference.
_FRACTIONS = {
    "blocks_per_sm": (("exact blocks per SM", 1), ("blocks per SM", 1)),
    "warps_per_sm": (("exact warps per SM", 1), ("warps per SM", 1)),
    "occupancy": (
        ("exact occupancy", 1), ("theoretical achieved occupancy %", 100), ("est. achieved occupancy %", 100),
    ),
}  # fmt: skip


class _Node:
    """An event: ``name``, ``type``, ``start_ns``, ``end_ns`` and the other recorded facts.

    ``correlation_id`` pairs a call of a device's runtime with the work that it launched; 0 for other events.
    """

    def __init__(self, event: tuple[str, int, int, int, int, str], process: int, thread: int) -> None:
        self.name, kind, self.start_ns, self.end_ns, self.correlation_id, self._text = event
        self.type = _TYPES[kind]
        self.process_id, self.thread_id = process, thread

    @functools.cached_property
    def _members(self) -> dict[str, Any]:
        return json.loads(f"{{{self._text}}}") if self._text else {}

    def __repr__(self) -> str:
        kind = str(self.type).rpartition(".")[2]
        return (
            f"{type(self).__name__}(name={self.name!r}, type={kind!r}, start_ns={self.start_ns}, end_ns={self.end_ns})"
        )


class HostPythonNode(_Node):
    """A call on the host. The root of a thread's tree is one, too."""

    def __init__(self, trees: _core.paddle.NodeTrees, number: int, process: int, thread: int) -> None:
        event = trees.host(number)
        self._trees, self._number, self._of = trees, number, (process, thread)
        if event is None:
            super().__init__(("root node", int(TracerEventType.UserDefined), 0, _END_OF_ROOT, 0, ""), 0, 0)
        else:
            super().__init__(event, process, thread)

    @functools.cached_property
    def children_node(self) -> list[HostPythonNode]:
        """Calls directly inside this one."""
        return [HostPythonNode(self._trees, child, *self._of) for child in self._trees.children(self._number)]

    @functools.cached_property
    def runtime_node(self) -> list[RuntimePythonNode]:
        """Calls of the device runtime directly inside this one."""
        return [RuntimePythonNode(self._trees, call, *self._of) for call in range(*self._trees.calls(self._number))]

    @functools.cached_property
    def mem_node(self) -> list[MemPythonNode]:
        """Allocations and frees directly inside this one."""
        return [MemPythonNode(event, *self._of) for event in self._trees.memory(self._number)]

    device_node: list = []  # only runtime calls have some

    input_shapes = property(lambda self: self._members.get("input_shapes", {}), doc="Slot -> shapes of its tensors.")
    dtypes = property(lambda self: self._members.get("input_dtypes", {}), doc="Slot -> names of their types.")
    callstack = property(lambda self: self._members.get("callstack", ""), doc="Where it was called from, if known.")
    attributes = property(lambda self: self._members.get("attributes", {}), doc="Attributes of an operator.")
    op_id = property(lambda self: self._members.get("op_id", 0), doc="Number of an operator of a program.")


class RuntimePythonNode(HostPythonNode):
    """A call of the device runtime. Paddle has no class of its own for it."""

    def __init__(self, trees: _core.paddle.NodeTrees, number: int, process: int, thread: int) -> None:
        self._trees, self._number, self._of = trees, number, (process, thread)
        _Node.__init__(self, trees.call(number), process, thread)

    children_node: list = []
    runtime_node: list = []
    mem_node: list = []

    @functools.cached_property
    def device_node(self) -> list[DevicePythonNode]:
        """The device events that it launched."""
        return [DevicePythonNode(event, 0, 0) for event in self._trees.devices(self._number)]


class DevicePythonNode(_Node):
    """A kernel, a copy or a memset."""

    def __getattr__(self, name: str):
        if name in _OF_DEVICE:
            return self._members.get(_OF_DEVICE[name], 0)
        if name in _FRACTIONS:
            present = ((self._members[key], unit) for key, unit in _FRACTIONS[name] if key in self._members)
            value, unit = next(present, (0.0, 1))
            return value / unit
        of_three, _, axis = name.rpartition("_")
        if of_three in ("block", "grid") and axis in ("x", "y", "z"):
            return self._members.get(of_three, [0, 0, 0])["xyz".index(axis)]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}", name=name, obj=self)


class MemPythonNode:
    """One allocation, or one free."""

    def __init__(self, event: tuple, process: int, thread: int) -> None:
        self.timestamp_ns, self.addr, kind, self.increase_bytes, self.place, *totals = event
        self.current_allocated, self.current_reserved, self.peak_allocated, self.peak_reserved = totals
        self.type = _MEMORY_TYPES[kind]
        self.process_id, self.thread_id = process, thread

    def __repr__(self) -> str:
        kind = str(self.type).rpartition(".")[2]
        return f"MemPythonNode(timestamp_ns={self.timestamp_ns}, addr={self.addr}, type={kind!r})"
