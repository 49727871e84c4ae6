# SPDX-License-Identifier: Apache-2.0
"""Ranges of Paddle's own Python code while a profiler is in use: layers, backward, optimizer steps, data loading.

Paddle checks ``paddle.profiler.utils._is_profiler_used`` and then creates a ``paddle.profiler.RecordEvent``, which
costs five microseconds a range. While a profiler of opscope is in use, opscope's class has that name.
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

_HOLDERS = (paddle.profiler, _original)  # modules in which Paddle's code looks up RecordEvent
# The method that calls a layer while a profiler is in use, and our replacement for known versions of it.
_layer_call = Layer._dygraph_call_func
_own_layer_call = (
    _core.paddle.layer_call(Layer, _layer_call, int(TracerEventType.Forward))
    if paddle.__version__ == "3.3.1"
    else _layer_call
)
_users = 0  # number of our profilers between start and stop
_was_used = False  # Paddle's own profiler had set the flag before, and has not stopped since
_originals: tuple = ()
_lock = threading.RLock()


def begin_use() -> None:
    """Marks a profiler of ours as in use."""
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
    """Ends that. REQUIRES: a begin_use() in this process."""
    global _users
    with _lock:
        if _users == 0:  # begun by the parent before a fork
            return
        _users -= 1
        if _users == 0:
            _restore()


def set_flag_again() -> None:
    """Called at each step: sets the flag again, because Paddle's own profiler clears it when it stops."""
    global _was_used
    if _users and not _original._is_profiler_used:
        _was_used = False
        _original._is_profiler_used = True


def _restore() -> None:
    _original._is_profiler_used = _original._is_profiler_used and _was_used
    for holder, original in zip(_HOLDERS, _originals, strict=True):
        if holder.RecordEvent is RecordEvent:
            holder.RecordEvent = original
    if vars(Layer)["_dygraph_call_func"] is _own_layer_call:
        Layer._dygraph_call_func = _layer_call


def _forget_the_parent() -> None:
    """In a forked child: nothing is recorded, and the lock may have been held by a thread of the parent."""
    global _users, _lock
    _lock = threading.RLock()
    if _users:
        _users = 0
        _restore()


os.register_at_fork(after_in_child=_forget_the_parent)
