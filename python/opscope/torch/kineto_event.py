# SPDX-License-Identifier: Apache-2.0
"""``KinetoEvent``: a raw event, with the methods of torch's own."""

from __future__ import annotations

from .. import _core
from .function_event import _element, keyword_arguments
from .torch_shape import as_in_torch

KinetoEvent = _core.torch.KinetoEvent
KinetoEvent.__name__ = "KinetoEvent"  # without the module


def _kwinputs(self) -> dict:
    """Keyword arguments of the call (record_shapes=True)."""
    return keyword_arguments(self._extra_json())


def _reduce(self):
    return _element, self._place()


def _repr(self) -> str:
    return f"<KinetoEvent {self.name()} start_ns={self.start_ns()} duration_ns={self.duration_ns()}>"


def _typed_metadata(self) -> dict:
    """Kineto's metadata of a device activity; empty for a CPU event."""
    return {}


KinetoEvent.kwinputs = _kwinputs
KinetoEvent.typed_metadata = _typed_metadata
KinetoEvent.__reduce__ = _reduce
KinetoEvent.__repr__ = _repr
# For our own code, because the events of older releases lack some of these methods.
METHODS = {name: method for name, method in vars(KinetoEvent).items() if callable(method)}
as_in_torch("KinetoEvent")(KinetoEvent)
