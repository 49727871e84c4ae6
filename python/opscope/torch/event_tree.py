# SPDX-License-Identifier: Apache-2.0
"""``kineto_results.experimental_event_tree()``: the call tree, with the typed fields of torch's own nodes.

A node is a row of the recording's columns; its object is created on access. The fields are instances of torch's
classes, because torch's own readers of the tree (pattern matchers, the memory profiler) require that.
"""

from __future__ import annotations

import re

import torch
from torch._C import _profiler
from torch._C._profiler import RecordScope

from .. import _core
from ..preview import PREVIEW_ROWS, PreviewList, TablePreview
from .event_node_fields import Allocation, Call, CCall, FrameState, Module, Operator, Optimizer, OutOfMemory, Tensor
from .kineto_event import METHODS
from .torch_shape import as_in_torch

_Kind = _profiler._EventType
_OUT_OF_MEMORY = _Kind(4)  # no public name in torch
_PYTHON_NAME = re.compile(r"(?s)(.*)\((\d+)\): (.*)")
_MODULE_NAME = re.compile(r"nn\.Module: (.*)_\d+")
_PARAMETER, _GRADIENT, _STATE = range(3)  # StoredAs of include/opscope/trace.h


@as_in_torch("ProfilerEvent")
class ProfilerEvent:
    """A node; a tree has one object per node."""

    __slots__ = ("_fields", "_row", "_tree")

    def __init__(self, tree: EventTree, row: int) -> None:
        self._tree = tree
        self._row = row
        self._fields = None

    def _raw(self, what: str):
        return self._tree.ask(self._row, what)

    @property
    def name(self) -> str:
        """The name in the trace."""
        return self._raw("name")

    @property
    def overload_name(self) -> str:
        """Overload name of an operator, if it was recorded."""
        return self._raw("overload_name")

    @property
    def id(self) -> int:
        """Id, unique in the tree."""
        return self._row

    @property
    def start_tid(self) -> int:
        """torch's number of the thread."""
        return self._raw("start_thread_id")

    @property
    def start_time_ns(self) -> int:
        """Start in nanoseconds of Unix time."""
        return self._raw("start_ns")

    @property
    def end_time_ns(self) -> int:
        """End in nanoseconds of Unix time; the start for an allocation."""
        return self._raw("end_ns")

    @property
    def duration_time_ns(self) -> int:
        """Duration in nanoseconds."""
        return self._raw("duration_ns")

    @property
    def correlation_id(self) -> int:
        """Correlation id of an operator; 0 for calls and allocations."""
        return self._raw("correlation_id")

    @property
    def parent(self) -> ProfilerEvent | None:
        """The innermost node that was open at its start; None for a root."""
        row = self._tree.core.parent(self._row)
        return None if row is None else self._tree.node(row)

    @property
    def children(self) -> list[ProfilerEvent]:
        """Child nodes in order of their start."""
        return ProfilerEvents(self._tree.node(row) for row in self._tree.core.children(self._row))

    @property
    def tag(self) -> _profiler._EventType:
        """torch's kind of the node."""
        return self.typed[0]

    @property
    def extra_fields(self):
        """The fields that only this kind has."""
        return self.typed[1]

    @property
    def typed(self) -> tuple:
        """``(tag, extra_fields)``."""
        if self._fields is None:
            self._fields = self._tree.fields_of(self._row)
        return self._fields

    def __repr__(self) -> str:
        return f"<ProfilerEvent {self.name} {self.tag.name} start_time_ns={self.start_time_ns}>"


class ProfilerEvents(PreviewList):
    """The child nodes of one parent, or the roots."""

    def _preview(self) -> TablePreview | None:
        first = self[:PREVIEW_ROWS]
        if not all(isinstance(node, ProfilerEvent) for node in first):
            return None
        rows = [
            {"name": node.name, "start": str(node.start_time_ns), "duration_ns": node.duration_time_ns}
            for node in first
        ]
        return TablePreview.of(f"{len(self):,} nodes of the event tree", rows, len(self))


class EventTree:
    """All nodes of one recording."""

    def __init__(self, columns: _core.torch.FunctionEvents) -> None:
        self.columns = columns
        self.core = _core.torch.EventTree(columns)
        self._nodes: dict[int, ProfilerEvent] = {}
        self._holders: dict | None = None

    def roots(self) -> list[ProfilerEvent]:
        """The roots in order of their start."""
        return ProfilerEvents(self.node(row) for row in self.core.roots())

    def node(self, row: int) -> ProfilerEvent:
        """The node of this row."""
        found = self._nodes.get(row)
        if found is None:
            found = self._nodes[row] = ProfilerEvent(self, row)
        return found

    def ask(self, row: int, what: str):
        """Calls this method of the raw event, even if the installed torch lacks it."""
        return METHODS[what](self.columns.event(row))

    def fields_of(self, row: int) -> tuple:
        """(tag, extra_fields) of a row."""
        allocation = self.core.allocation(row)
        if allocation is not None:
            return _Kind.Allocation, Allocation.made(*allocation)
        if self.core.is_out_of_memory(row):
            return _OUT_OF_MEMORY, OutOfMemory.made()
        if self.ask(row, "is_python_function"):
            return self._fields_of_call(row)
        if self.ask(row, "activity_type") in ("cpu_op", "user_annotation"):
            return _Kind.TorchOp, self._operator(row)
        return _Kind.Kineto, None

    def _operator(self, row: int) -> Operator:
        inputs = [_as_input(value) for value in self.core.inputs(row)]
        number = self.ask(row, "scope")
        scope = RecordScope(number) if number < len(RecordScope.__members__) else RecordScope.FUNCTION
        return Operator.made(self.ask(row, "name"), scope, self.ask(row, "sequence_nr"), inputs)

    def _fields_of_call(self, row: int) -> tuple:
        caller = self._frame_of(self._caller_of(row))
        name = self.ask(row, "name")
        module = _MODULE_NAME.fullmatch(name)
        if module is not None:
            return _Kind.PyCall, Call.made(_frame_of_modules(), caller, self._module(name, module[1]), None)
        frame = _frame_named(name)
        if frame is None:
            return _Kind.PyCCall, CCall.made(caller)
        return _Kind.PyCall, Call.made(frame, caller, None, self._optimizer(row, name))

    def _caller_of(self, row: int) -> int | None:
        row = self.core.parent(row)
        while row is not None and not self.ask(row, "is_python_function"):
            row = self.core.parent(row)
        return row

    def _frame_of(self, row: int | None) -> FrameState:
        if row is None:
            return FrameState("", 0, "")
        name = self.ask(row, "name")
        if _MODULE_NAME.fullmatch(name):
            return _frame_of_modules()
        return _frame_named(name) or self._frame_of(self._caller_of(row))

    # ---- what objects hold ------------------------------------------------------------------

    def _held(self) -> dict[str, list]:
        """Tensors that modules and optimizers hold: [(address, row of the first call, [(role, tensor, name)])] by the
        call's name.
        """
        if self._holders is None:
            self._holders = {}
            for address, (row, tensors) in self.core.holders().items():
                if row is not None:
                    held = [(role, _held_tensor(tensor), text) for role, tensor, text in tensors]
                    self._holders.setdefault(self.ask(row, "name"), []).append((address, row, held))
        return self._holders

    def _module(self, name: str, class_name: str) -> Module:
        found = self._held().get(name)
        if not found:
            return Module.made(class_name, 0, [])
        address, _, held = found[0]
        return Module.made(class_name, address, [row[:3] for row in _by_parameter(held)])

    def _optimizer(self, row: int, name: str) -> Optimizer | None:
        """Fields of an optimizer's step. Here the calls of several optimizers have one name, so only the first one has
        them.
        """
        found = self._held().get(name)
        if not found:
            return None
        match = found if len(found) == 1 else [one for one in found if one[1] == row]
        if not match:
            return None
        address, _, held = match[0]
        return Optimizer.made(address, [row[1:] for row in _by_parameter(held)])


def _by_parameter(held: list) -> list[tuple]:
    """[(name, parameter, gradient or None, [(name, state)])]; in `held`, gradient and states follow their parameter."""
    rows: list[list] = []
    for role, tensor, name in held:
        if role == _PARAMETER:
            rows.append([name, tensor, None, []])
        elif role == _GRADIENT and rows:
            rows[-1][2] = tensor
        elif role == _STATE and rows:
            rows[-1][3].append((name, tensor))
    return [tuple(row) for row in rows]


def _frame_named(name: str) -> FrameState | None:
    """The frame of "file(12): function"; None for the name of a C function."""
    match = _PYTHON_NAME.fullmatch(name)
    if match is None or (name.startswith("<") and not match[1].endswith(">")):
        return None
    return FrameState(match[1], int(match[2]), match[3])


def _frame_of_modules() -> FrameState:
    code = torch.nn.Module.__call__.__code__
    return FrameState("torch/nn/modules/module.py", code.co_firstlineno, code.co_name)


def _as_input(value):
    if isinstance(value, tuple):
        return Tensor.made(*value)
    if isinstance(value, list):
        return [Tensor.made(*each) for each in value]
    return value


def _held_tensor(value: tuple) -> Tensor:
    shape, *place, size = value
    if shape is None:  # no operator used it: only its size is known
        shape = ([max(size, 0)], [1], "unsigned char", "strided") if size >= 0 else ([], None, "", "strided")
    return Tensor.made(shape, *place)
