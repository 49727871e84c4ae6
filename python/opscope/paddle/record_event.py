# SPDX-License-Identifier: Apache-2.0
"""``RecordEvent``: a range of the program, or of a phase of Paddle's, at a sixth of the cost of Paddle's own."""

from __future__ import annotations

import types
from contextlib import ContextDecorator
from typing import Any

from paddle.base.core import TracerEventType
from paddle.profiler import utils as _original

from .. import _core
from ..user_warning import warn_user

# What Python may record, by Paddle's rule: the numbers of the types.
_NUMBERS: dict[TracerEventType, int] = {kind: int(kind) for kind in _original._AllowedEventTypeList}
_USER_DEFINED = TracerEventType.PythonUserDefined
_NUMBER_OF_USER_DEFINED = int(_USER_DEFINED)


class RecordEvent(ContextDecorator):
    """A labelled range: ``with RecordEvent("name"):``, a decorator, or ``begin()`` and ``end()``.

    Costs a comparison while no profiler runs. A decorated function may call itself and run on several threads.
    ``event_type`` is for Paddle's own phases.
    """

    name: str
    event_type: TracerEventType
    event: Any

    def __init__(
        self,
        name: str,
        event_type: TracerEventType = TracerEventType.PythonUserDefined,
    ) -> None:
        self.name = name
        self.event_type = event_type
        self.event = None

    def _recreate_cm(self) -> RecordEvent:
        return type(self)(self.name, self.event_type)  # one for each call of a decorated function

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        self.end()

    def begin(self) -> None:
        """The range begins; a second call ends the first range."""
        if not _original._is_profiler_used:
            return
        kind = self.event_type
        number = _NUMBER_OF_USER_DEFINED if kind is _USER_DEFINED else _number(kind)
        if number is None:
            self.event = None
            return
        self.event = event = _core.paddle.Range(self.name, number)
        event.begin()

    def end(self) -> None:
        """It ends; without a beginning, or again: nothing."""
        if self.event is not None:
            self.event.end()


def _number(kind: object) -> int | None:
    try:
        return _NUMBERS[kind]
    except (KeyError, TypeError):
        shown = ", ".join(map(str, _NUMBERS))
        warn_user(f"Only TracerEvent Type in [{shown}] can be recorded.")
        return None
