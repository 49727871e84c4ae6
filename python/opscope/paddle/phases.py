# SPDX-License-Identifier: Apache-2.0
"""What Paddle's Python says of itself while a profiler is used: layers, backward, optimizer steps, data loading.

It asks ``paddle.profiler.utils._is_profiler_used`` and then makes a ``paddle.profiler.RecordEvent``, whose price is
five microseconds a range; while a profiler of ours is used it finds ours there.
"""

from __future__ import annotations

import os
import threading

import paddle
import paddle.profiler
from paddle.base.core import TracerEventType
from paddle.nn import Layer
from paddle.profiler import utils as _original

from .. import _core
from .record_event import RecordEvent

_HOLDERS = (paddle.profiler, _original)  # where Paddle's own code looks for it
# The method that calls a layer while a profiler is used, and ours in its place where it is known what it does.
_layer_call = Layer._dygraph_call_func
_own_layer_call = (
    _core.paddle.layer_call(Layer, _layer_call, int(TracerEventType.Forward))
    if paddle.__version__ == "3.3.1"
    else _layer_call
)
_users = 0  # profilers of ours between start and stop
_was_used = False  # what Paddle's own profiler had set before
_originals: tuple = ()
_lock = threading.RLock()


def begin_use() -> None:
    """A profiler of ours is used from here on."""
    global _users, _was_used, _originals
    with _lock:
        if _users == 0:
            _was_used = _original._is_profiler_used
            _originals = tuple(holder.RecordEvent for holder in _HOLDERS)
            for holder in _HOLDERS:
                holder.RecordEvent = RecordEvent
            if Layer._dygraph_call_func is _layer_call:
                Layer._dygraph_call_func = _own_layer_call
        _users += 1
        _original._is_profiler_used = True


def end_use() -> None:
    """No longer. REQUIRES: a begin_use() in this process."""
    global _users
    with _lock:
        if _users == 0:  # it was begun by the parent of a fork
            return
        _users -= 1
        if _users == 0:
            _step_back()


def go_on() -> None:
    """At each step: Paddle's own profiler clears the flag when it stops."""
    if _users:
        _original._is_profiler_used = True


def _step_back() -> None:
    _original._is_profiler_used = _was_used
    for holder, original in zip(_HOLDERS, _originals, strict=True):
        if holder.RecordEvent is RecordEvent:
            holder.RecordEvent = original
    if vars(Layer)["_dygraph_call_func"] is _own_layer_call:
        Layer._dygraph_call_func = _layer_call


def _forget_the_parent() -> None:
    """In the child of a fork nothing is recorded, and a thread that is not here may have held the lock."""
    global _users, _lock
    _lock = threading.RLock()
    if _users:
        _users = 0
        _step_back()


os.register_at_fork(after_in_child=_forget_the_parent)
