# SPDX-License-Identifier: Apache-2.0
"""FunctionEvent: one event of a recording, with the attributes of torch's class.

The common attributes are in C (32 bytes per object, values are read from columns). Here are the rare ones, and the
rules that compute attributes from others that a program has set.
"""

from __future__ import annotations

import json

import torch.autograd.profiler_util as _torchs
from torch.autograd import DeviceType

from .. import _core
from ..user_warning import warn_user
from .event_metadata import read_event_metadata
from .features import behaves, has
from .torch_shape import as_in_torch

Interval = _core.torch.Interval
Kernel = _torchs.Kernel

_DEVICE_TYPES = (DeviceType.CUDA, DeviceType.PrivateUse1, DeviceType.MTIA, DeviceType.HPU, DeviceType.XPU)


# Members that Kineto writes beside the keyword arguments of a call.
_KINETO_ARGS = {
    "Call stack",
    "Ev Idx",
    "Module Hierarchy",
    "Record function id",
    "Trace id",
    "Trace iteration",
    "finished",
}


def keyword_arguments(members: str) -> dict:
    """Keyword arguments of a call, of the members of a JSON object that Kineto writes for it."""
    arguments = json.loads("{" + members + "}") if members else {}
    return {name: value for name, value in arguments.items() if name not in _KINETO_ARGS}


def _renamed(old: str, new: str, *, note: str) -> property:
    def read(self):
        warn_user(note.format(old=old, new=new), FutureWarning)
        return getattr(self, new)

    read.__doc__ = f"Deprecated name of ``{new}``."
    return property(read)


_USE_INSTEAD = "`{old}` is deprecated. Use `{new}` instead."


def _time_text(name: str) -> property:
    return property(lambda self: _core.torch.format_time(getattr(self, name)), doc=f"``{name}`` as text.")


class FormattedTimesMixin:
    """Times as text, for objects with ``cpu_time_total``, ``device_time_total``, ... and ``count``."""

    __slots__ = ()

    cpu_time_str = _time_text("cpu_time")
    device_time_str = _time_text("device_time")
    cpu_time_total_str = _time_text("cpu_time_total")
    device_time_total_str = _time_text("device_time_total")
    self_cpu_time_total_str = _time_text("self_cpu_time_total")
    self_device_time_total_str = _time_text("self_device_time_total")
    cuda_time = _renamed("cuda_time", "device_time", note="`{old}` is deprecated, please use `{new}` instead.")


FunctionEvent = _core.torch.FunctionEvent
_core.torch.set_original_event_classes(_torchs.FunctionEvent, _torchs.Interval)
FunctionEvent.__name__ = "FunctionEvent"  # AttributeErrors show the name without the module


_WARNS_OF_EVENT_METADATA = behaves("deprecates_event_metadata")
WARNS_OF_METADATA_JSON = has("FunctionEvent.metadata_json") and behaves("deprecates_metadata_json")


def _event_metadata_of(event):
    members = event._extra_json
    return read_event_metadata(json.loads("{" + members + "}")) if members else None


class _Rest(FormattedTimesMixin):
    """Methods in Python of the C type.

    Not a subclass of it: objects of Python classes carry 16 more bytes for the garbage collector, and with a million of
    them its runs would take longer than everything else.
    """

    cuda_time_total = _renamed("cuda_time_total", "device_time_total", note=_USE_INSTEAD)
    self_cuda_time_total = _renamed("self_cuda_time_total", "self_device_time_total", note=_USE_INSTEAD)
    self_cuda_memory_usage = _renamed("self_cuda_memory_usage", "self_device_memory_usage", note=_USE_INSTEAD)

    @property
    def metadata_json(self):
        """Deprecated name of ``event_metadata``, as text."""
        warn_user("`metadata_json` is deprecated. Use `event_metadata` instead.", FutureWarning)
        return self._metadata_json

    @property
    def event_metadata(self):
        """Metadata of a kernel or a collective (EventMetadata); None without any."""
        if not _WARNS_OF_EVENT_METADATA:
            return _event_metadata_of(self)
        warn_user("`event_metadata` is deprecated. Use `metadata` instead.", FutureWarning)
        return self._event_metadata

    @property
    def metadata(self) -> dict | None:
        """Kineto's metadata of a device activity; None for a CPU event."""
        return None

    @property
    def kwinputs(self) -> dict:
        """Keyword arguments of the call (record_shapes=True)."""
        return keyword_arguments(self._extra_json)

    def append_kernel(self, name, device, duration) -> None:
        """Adds a kernel to those that this event has launched; ``duration`` in microseconds."""
        require_cpu("device_type", self)
        self.kernels = [*self.kernels, Kernel(name, device, duration)]

    def append_cpu_child(self, child) -> None:
        """Adds a direct child; self times change accordingly."""
        require_cpu("device_type", self)
        require_cpu_event("child", child)
        self.cpu_children = [*self.cpu_children, child]

    def set_cpu_parent(self, parent) -> None:
        """Sets the event that contains this one."""
        require_cpu("device_type", self)
        require_cpu_event("parent", parent)
        self.cpu_parent = parent

    def __reduce__(self):
        return _element, self._place()

    def __repr__(self) -> str:
        device = self.use_device
        fields = (
            ("id", self.id),
            ("name", self.name),
            *((("overload_name", self.overload_name),) if has("FunctionEvent.overload_name") else ()),
            ("device_type", self.device_type),
            ("node_id", self.node_id),
            ("cpu_time", self.cpu_time_str),
            ("start_us", self.time_range.start),
            ("end_us", self.time_range.end),
            ("cpu_children", [child.id for child in self.cpu_children]),
            (f"{device}_time", self.device_time_str),
            ("name", self.name),
            ("thread", self.thread),
            ("input_shapes", self.input_shapes),
            ("cpu_memory_usage", self.cpu_memory_usage),
            (f"{device}_memory_usage", self.device_memory_usage),
            ("is_async", self.is_async),
            ("is_remote", self.is_remote),
            ("seq_nr", self.sequence_nr),
            ("is_legacy", self.is_legacy),
        )
        return "<FunctionEvent " + " ".join(f"{name}={value}" for name, value in fields) + ">"


for _class in (FormattedTimesMixin, _Rest):
    for _name, _value in vars(_class).items():
        if _name not in ("__module__", "__doc__", "__slots__", "__dict__", "__weakref__"):
            setattr(FunctionEvent, _name, _value)
as_in_torch("FunctionEvent")(FunctionEvent)
if not WARNS_OF_METADATA_JSON:
    if has("FunctionEvent.metadata_json"):
        FunctionEvent.metadata_json = FunctionEvent._metadata_json
    del FunctionEvent._metadata_json
if _WARNS_OF_EVENT_METADATA:
    FunctionEvent._event_metadata = property(_event_metadata_of)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def require_cpu(what: str, event) -> None:
    """AssertionError with torch's text if the event is not a CPU event."""
    _require(event.device_type == DeviceType.CPU, f"Expected {what} to be CPU")


def require_cpu_event(what: str, event) -> None:
    """The same check for a child or a parent."""
    _require(isinstance(event, FunctionEvent), f"Expected {what} to be a FunctionEvent")
    require_cpu(f"{what} device_type", event)


def _element(columns, row: int) -> FunctionEvent:
    """Unpickles an element; its recording is unpickled once for all of its elements."""
    return columns.event(row)


# ---- values that follow from others, for recordings in which a program has set something ----------


def _is_apart(event) -> bool:
    return event.is_async or event.device_type != DeviceType.CPU


def _cpu_time_total(event):
    return event.time_range.elapsed_us() if event.device_type == DeviceType.CPU else 0


def _without_children(total: str):
    def own(event):
        if _is_apart(event):
            return 0
        return getattr(event, total) - sum(getattr(child, total) for child in event.cpu_children)

    return own


def _device_time_total(event):
    if event.is_async or not event.use_device:
        return 0
    if event.device_type == DeviceType.CPU:
        launched = sum(kernel.duration for kernel in event.kernels)
        if event.is_legacy:
            return launched
        return launched + sum(child.device_time_total for child in event.cpu_children)
    _require(
        event.device_type in _DEVICE_TYPES,
        f"Expected device_type to be CUDA, PrivateUse1, MTIA, HPU or XPU, but got {event.device_type}",
    )
    return event.time_range.elapsed_us()


def _self_device_time_total(event):
    if event.is_async or not event.use_device:
        return 0
    if event.device_type != DeviceType.CPU:
        return event.device_time_total
    return event.device_time_total - sum(child.device_time_total for child in event.cpu_children)


def _per_call(total: str):
    return lambda event: 0.0 if event.count == 0 else 1.0 * getattr(event, total) / event.count


_DERIVED = {
    "key": lambda event: event.name,
    "cpu_time_total": _cpu_time_total,
    "self_cpu_time_total": _without_children("cpu_time_total"),
    "device_time_total": _device_time_total,
    "self_device_time_total": _self_device_time_total,
    "self_cpu_memory_usage": _without_children("cpu_memory_usage"),
    "self_device_memory_usage": _without_children("device_memory_usage"),
    "cpu_time": _per_call("cpu_time_total"),
    "device_time": _per_call("device_time_total"),
}

_core.torch.set_event_classes(
    Kernel,
    _DERIVED,
    DeviceType.CPU,
    {
        "cuda": DeviceType.CUDA,
        "xpu": DeviceType.XPU,
        "mtia": DeviceType.MTIA,
        "hpu": DeviceType.HPU,
        "privateuseone": DeviceType.PrivateUse1,
    },
)
