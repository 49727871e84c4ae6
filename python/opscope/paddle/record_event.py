# SPDX-License-Identifier: Apache-2.0
"""``RecordEvent``: a range of the program, or of a phase of Paddle, at a tenth of the cost of Paddle's own class."""

from __future__ import annotations

from contextlib import ContextDecorator

from paddle.base.core import TracerEventType
from paddle.profiler import utils as _original

from .. import _core
from ..user_warning import warn_user

# The event types that Python code may record, by Paddle's rule -> their numbers.
_NUMBERS: dict[TracerEventType, int] = {kind: int(kind) for kind in _original._AllowedEventTypeList}
_begin, _end = _core.paddle.RecordEventBase.begin, _core.paddle.RecordEventBase.end


class RecordEvent(_core.paddle.RecordEventBase, ContextDecorator, metaclass=_core.paddle.RecordEventClass):
    """A labelled range: ``with RecordEvent("name"):``, a decorator, or ``begin()`` and ``end()``.

    Costs a comparison while no profiler runs. A decorated function may call itself and run on several threads.
    ``event_type`` is for Paddle's own phases.
    """

    # Objects of the class itself are created without calling this.
    def __init__(
        self,
        name: str,
        event_type: TracerEventType = TracerEventType.PythonUserDefined,
    ) -> None:
        self.name = name
        self.event_type = event_type

    def _recreate_cm(self) -> RecordEvent:
        return type(self)(self.name, self.event_type)  # a new one for each call of the decorated function

    def __getstate__(self) -> tuple[dict, dict]:
        # For copy and pickle: the instance's dictionary, and the attributes outside of it. The copy is not open.
        return vars(self), {"name": self.name, "event_type": self.event_type}

    def begin(self) -> None:
        """Begins the range; a second call ends the first range."""
        _begin(self)

    def end(self) -> None:
        """Ends the range; does nothing if it is not open."""
        _end(self)


def _number(kind: object) -> int | None:
    try:
        return _NUMBERS[kind]
    except (KeyError, TypeError):
        shown = ", ".join(map(str, _NUMBERS))
        warn_user(f"Only TracerEvent Type in [{shown}] can be recorded.")
        return None


_core.paddle.set_record_event(
    RecordEvent, vars(_original), "_is_profiler_used", TracerEventType.PythonUserDefined, _NUMBERS, _number
)
