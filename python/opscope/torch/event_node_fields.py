# SPDX-License-Identifier: Apache-2.0
"""Typed fields of the nodes of the event tree: subclasses of torch's classes with our values.

Only torch's C++ code can create torch's objects, but its readers check ``isinstance``. So these are subclasses whose
objects have no C++ part, with a property for every field that torch would read from it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch._C import _profiler
from torch.autograd import DeviceType

# c10's names of element types.
_DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "c10::Half": torch.float16,
    "c10::BFloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "long int": torch.int64,
    "long long": torch.int64,
    "short": torch.int16,
    "short int": torch.int16,
    "unsigned char": torch.uint8,
    "signed char": torch.int8,
    "bool": torch.bool,
    "c10::complex<float>": torch.complex64,
    "c10::complex<double>": torch.complex128,
    "c10::complex<c10::Half>": torch.complex32,
    "c10::qint8": torch.qint8,
    "c10::quint8": torch.quint8,
    "c10::qint32": torch.qint32,
    **{
        f"c10::Float8_{kind}": getattr(torch, f"float8_{kind}")
        for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")
        if hasattr(torch, f"float8_{kind}")
    },
    "unsigned short": torch.uint16,
    "short unsigned int": torch.uint16,
    "unsigned int": torch.uint32,
    "unsigned long": torch.uint64,
    "long unsigned int": torch.uint64,
}


class FrameState(NamedTuple):
    """A Python function. The line is its first one; the line of the call is not recorded."""

    file_name: str
    line_number: int
    function_name: str


def _subclass(name: str, kind: type, fields: tuple[str, ...]) -> type:
    """A subclass with read-only fields and a function ``made(...)``, which skips torch's constructor."""

    def made(cls, *values):
        self = cls.__new__(cls)
        self.__dict__["_values"] = values
        return self

    def field(at: int) -> property:
        return property(lambda self: self.__dict__["_values"][at])

    members = {field_name: field(at) for at, field_name in enumerate(fields)}
    return type(name, (kind,), {**members, "made": classmethod(made), "__module__": __name__})


def _class_named(name: str) -> type:
    return getattr(_profiler, name, object)


_TensorFields = _subclass(
    "_TensorFields",
    _class_named("_TensorMetadata"),
    ("_shape", "impl_ptr", "storage_data_ptr", "_device_type", "_device", "id", "allocation_id"),
)


class Tensor(_TensorFields):
    """An argument of an operator, or a tensor of a module or an optimizer. ``impl_ptr`` is the number of the object."""

    sizes = property(lambda self: self._shape[0])
    strides = property(lambda self: self._shape[1] or [])
    dim = property(lambda self: len(self._shape[0]))
    dtype = property(lambda self: _DTYPES.get(self._shape[2]))

    @property
    def layout(self) -> torch.layout:
        """The layout. A tensor without strides in old recordings, which lack the layout, is sparse."""
        name = self._shape[3]
        return torch.sparse_coo if name == "strided" and self._shape[1] is None else getattr(torch, name)

    device = property(lambda self: _device(self._device_type, self._device))


_AllocationFields = _subclass(
    "_AllocationFields",
    _class_named("_ExtraFields_Allocation"),
    ("ptr", "alloc_size", "total_allocated", "total_reserved", "_device_type", "_device", "id", "allocation_id"),
)


class Allocation(_AllocationFields):
    """Allocated bytes; negative if freed."""

    device = property(lambda self: _device(self._device_type, self._device))


OutOfMemory = _subclass("OutOfMemory", _class_named("_ExtraFields_OutOfMemory"), ())

_OperatorFields = _subclass(
    "_OperatorFields", _class_named("_ExtraFields_TorchOp"), ("name", "scope", "sequence_number", "inputs")
)


class Operator(_OperatorFields):
    """An operator or a range."""

    @property
    def allow_tf32_cublas(self) -> bool:
        """The current value of the setting; its value during the recording is not recorded."""
        return bool(torch.backends.cuda.matmul.allow_tf32)


Call = _subclass("Call", _class_named("_ExtraFields_PyCall"), ("callsite", "caller", "module", "optimizer"))
CCall = _subclass("CCall", _class_named("_ExtraFields_PyCCall"), ("caller",))
_ModuleFields = _subclass("_ModuleFields", _class_named("_NNModuleInfo"), ("cls_name", "self_ptr", "parameters"))


class Module(_ModuleFields):
    """The module of a call. The address of its class is not recorded."""

    cls_ptr = property(lambda self: 0)


Optimizer = _subclass("Optimizer", _class_named("_OptimizerInfo"), ("self_ptr", "parameters"))


def _device(device_type: int, index: int) -> torch.device:
    name = DeviceType(device_type).name.lower()
    return torch.device(name) if index < 0 else torch.device(name, index)
