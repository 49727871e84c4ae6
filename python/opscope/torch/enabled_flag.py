# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.profiler._is_profiler_enabled: by it libraries decide whether labels are worth their cost.

It is one flag for all profilers of a process, on whatever threads, and torch's own clears it when it stops. So it is
kept here: set while a recording of ours runs or torch's profiler does. Data pipes and RPC ask
``torch.autograd._profiler_enabled()`` instead, which then has a stand-in, too.
"""

from __future__ import annotations

import os
import threading

import torch

_flags = torch.autograd.profiler
_running = 0  # recordings of ours
_theirs = False  # what torch's own profiler has set last
_before = None  # torch's function, while ours is in its place
_asked_before = None  # likewise torch.autograd._profiler_enabled
_lock = threading.RLock()  # a signal handler, or a destructor, may start and stop within


def _set_is_profiler_enabled(enable: bool) -> None:
    """Stands in for torch's function of this name while a recording runs."""
    global _theirs
    with _lock:
        _theirs = enable
        _flags._is_profiler_enabled = enable or _running > 0


def _profiler_enabled() -> bool:
    """Stands in for torch's function of this name while a recording runs."""
    return _running > 0 or torch._C._autograd._profiler_enabled()


def tell_torch(change: int) -> None:
    """A recording begins (+1) or ends (-1)."""
    global _running, _theirs
    with _lock:
        if _running == 0:
            _theirs = _flags._is_profiler_enabled
            _stand_in()
        _running += change
        _flags._is_profiler_enabled = _running > 0 or _theirs
        if _running == 0:
            _step_back()


def _stand_in() -> None:
    global _before, _asked_before
    if _before is None:
        _before = getattr(_flags, "_set_is_profiler_enabled", None)
        _flags._set_is_profiler_enabled = _set_is_profiler_enabled
    if _asked_before is None:
        _asked_before = torch.autograd._profiler_enabled
        torch.autograd._profiler_enabled = _profiler_enabled


def _step_back() -> None:
    global _before, _asked_before
    if _asked_before is not None and torch.autograd._profiler_enabled is _profiler_enabled:
        torch.autograd._profiler_enabled = _asked_before
        _asked_before = None
    if _before is not None and _flags._set_is_profiler_enabled is _set_is_profiler_enabled:
        _flags._set_is_profiler_enabled = _before  # else somebody has put one over ours, which goes on calling it
        _before = None


def _forget_the_parent() -> None:
    """In the child of a fork no recording runs, and a thread that is not here may have held the lock."""
    global _running, _lock
    _lock = threading.RLock()
    if _running > 0:
        _running = 0
        _flags._is_profiler_enabled = torch._C._autograd._profiler_enabled()
    _step_back()


os.register_at_fork(after_in_child=_forget_the_parent)
