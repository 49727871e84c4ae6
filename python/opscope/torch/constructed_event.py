# SPDX-License-Identifier: Apache-2.0
"""Events that a program constructs itself, ``FunctionEvent(id=..., name=...)``, and the call tree of lists of them.

They are plain Python objects without columns. Lists of recorded events have their tree already.
"""

from __future__ import annotations

import inspect

from torch.autograd import DeviceType

from .. import _core
from .event_metadata import read_event_metadata
from .features import absent, behaves
from .function_event import (
    WARNS_OF_METADATA_JSON,
    FunctionEvent,
    Interval,
    Kernel,
    _require,
    require_cpu,
    require_cpu_event,
)
from .torch_shape import as_in_torch

_BACKWARD_FUNCTION = 1  # RecordScope
_ABSENT, _ = absent("FunctionEvent")
_METADATA = "_event_metadata" if behaves("deprecates_event_metadata") else "event_metadata"


class ConstructedEvent(FunctionEvent):
    """The class of the object that ``FunctionEvent(...)`` returns."""

    def append_kernel(self, name, device, duration) -> None:
        require_cpu("device_type", self)
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child) -> None:
        require_cpu("device_type", self)
        require_cpu_event("child", child)
        self.cpu_children.append(child)

    def __reduce__(self):
        return _blank, (None if type(self) is ConstructedEvent else type(self),), self.__dict__


ConstructedEvent.__name__ = ConstructedEvent.__qualname__ = FunctionEvent.__name__  # the name in messages


def _blank(kind: type | None) -> FunctionEvent:
    return (kind or ConstructedEvent).__new__(kind or ConstructedEvent)


def _set_values(
    self,
    id,
    name,
    thread,
    start_us,
    end_us,
    overload_name=None,
    fwd_thread=None,
    input_shapes=None,
    stack=None,
    scope=0,
    use_device=None,
    cpu_memory_usage=0,
    device_memory_usage=0,
    is_async=False,
    is_remote=False,
    sequence_nr=-1,
    node_id=-1,
    device_type=DeviceType.CPU,
    device_index=0,
    device_resource_id=None,
    is_legacy=False,
    flops=None,
    trace_name=None,
    concrete_inputs=None,
    kwinputs=None,
    is_user_annotation=False,
    is_python_function=False,
    activity_type=None,
    metadata_json=None,
    flow_id=None,
    flow_type=None,
    flow_start=None,
    external_id=0,
    linked_correlation_id=0,
    extra_meta=None,
    structured_input_shapes=None,
    structured_input_strides=None,
    input_dtypes=None,
    python_id=-1,
    python_parent_id=-1,
    python_module_id=-1,
    typed_metadata=None,
):
    values = dict(locals())
    del values["self"], values["metadata_json"], values["extra_meta"], values["typed_metadata"]
    values["time_range"] = Interval(values.pop("start_us"), values.pop("end_us"))
    if "metadata_json" not in _ABSENT:
        values["_metadata_json" if WARNS_OF_METADATA_JSON else "metadata_json"] = metadata_json
    values["metadata"] = typed_metadata
    values[_METADATA] = read_event_metadata(extra_meta) if extra_meta else None
    if device_resource_id is None:
        values["device_resource_id"] = thread
    values |= {"count": 1, "kernels": [], "cpu_children": [], "cpu_parent": None}
    values |= dict.fromkeys(("self_cpu_percent", "total_cpu_percent", "total_device_percent"), -1)
    for name in _ABSENT:
        values.pop(name, None)
    self.__dict__.update(values)


class _SignatureOfInit:
    """The attribute `__signature__` of a class: what `inspect.signature` and `help` show.

    Python 3.11.2, which Debian 12 has, looks for `__new__` alone in a class of C and so finds no arguments by itself.
    """

    def __get__(self, event: object, owner: type) -> inspect.Signature:
        signature = inspect.signature(owner.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


FunctionEvent.__init__ = _set_values  # for this class and for classes derived from it
FunctionEvent.__signature__ = _SignatureOfInit()
as_in_torch("FunctionEvent")(FunctionEvent)
_core.torch.set_constructed_event_class(ConstructedEvent)


# ---- the tree, by torch's rules: an only child with its parent's name is merged into the parent ---------------------


def build_tree(events: list) -> None:
    """Sets the events' parents and children and, below backward nodes, the stacks of their forward operators."""
    _nest(events)
    while _merge_only_children(events):
        pass
    _copy_stacks_to_backward(events)


def _nest(events: list) -> None:
    threads: dict[tuple, list] = {}
    for event in events:
        if not event.is_async and event.device_type == DeviceType.CPU:
            threads.setdefault((event.thread, event.node_id), []).append(event)
    for members in threads.values():
        members.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
        around: list = []
        for event in members:
            start, end = event.time_range.start, event.time_range.end
            while around and (start >= around[-1].time_range.end or end > around[-1].time_range.end):
                around.pop()
            if around:
                around[-1].append_cpu_child(event)
                _require(event.cpu_parent is None, f"There is already a CPU parent event for {event.key}")
                event.set_cpu_parent(around[-1])
            around.append(event)


def _merge_only_children(events: list) -> bool:
    """Merges each only child with the name of its parent into the parent; returns whether there was one."""
    kept = []
    for event in events:
        parent = event.cpu_parent
        if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
            kept.append(event)
            continue
        parent.cpu_children = event.cpu_children
        parent.kernels = event.kernels
        for child in event.cpu_children:
            child.cpu_parent = parent
    dropped = len(kept) < len(events)
    if dropped:
        events[:] = kept
    return dropped


def _backward_node(event):
    while event is not None and event.scope != _BACKWARD_FUNCTION:
        event = event.cpu_parent
    return event


def _copy_stacks_to_backward(events: list) -> None:
    nodes = [_backward_node(event) for event in events]
    forward: dict[tuple, list] = {}
    for event, node in zip(events, nodes, strict=True):
        if node is None and event.stack is not None:
            forward.setdefault((event.sequence_nr, event.thread), event.stack)
    for event, node in zip(events, nodes, strict=True):
        if node is not None:
            _require(node.fwd_thread is not None, "Expected fwd_thread to be set for backward parent")
            event.stack = forward.get((node.sequence_nr, node.fwd_thread), [])
