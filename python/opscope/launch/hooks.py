# SPDX-License-Identifier: Apache-2.0
"""Adds calls before or after methods of a framework's classes."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

_of_thread = threading.local()


def call_before(cls: type, name: str, act: Callable[[Any], None]) -> None:
    """Calls ``act(self)`` before each call of a method."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def hooked(self, *args, **kwargs):
        act(self)
        return method(self, *args, **kwargs)

    setattr(cls, name, hooked)


def call_after(cls: type, name: str, act: Callable[[Any], None]) -> None:
    """Calls ``act(self)`` after each call of a method that returns. If a method calls that of its base class, only
    after the outer call.
    """
    method = getattr(cls, name)

    @functools.wraps(method)
    def hooked(self, *args, **kwargs):
        return called(method, act, self, *args, **kwargs)

    setattr(cls, name, hooked)


def call_on_exception(cls: type, name: str, act: Callable[[Any], None]) -> None:
    """Calls ``act(self)`` when an exception leaves a method, then raises it again. Adds the same ``act`` only once."""
    method = getattr(cls, name)
    if getattr(method, "_acts", None) is act:
        return

    @functools.wraps(method)
    def hooked(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            act(self)
            raise

    hooked._acts = act
    setattr(cls, name, hooked)


def called(method: Callable[..., Any], act: Callable[[Any], None], self: Any, *args, **kwargs) -> Any:
    """Calls a method and then ``act(self)``, unless this thread is within such a call for the same object."""
    inside = _of_thread.__dict__.setdefault("inside", set())
    if id(self) in inside:
        return method(self, *args, **kwargs)
    inside.add(id(self))
    try:
        result = method(self, *args, **kwargs)
    finally:
        inside.discard(id(self))
    act(self)
    return result
