# SPDX-License-Identifier: Apache-2.0
"""Maintains torch.autograd.profiler._is_profiler_enabled, by which libraries decide whether labels are worth their
cost.

It is one flag for all profilers of a process, on all threads, and torch's own profiler clears it when it stops.
Therefore torch's setter is replaced here while a recording runs, so that the flag is set while a recording of ours or
torch's profiler runs. Data pipes and RPC call ``torch.autograd._profiler_enabled()``, which is then replaced, too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import torch

_flags = torch.autograd.profiler
_running = 0  # number of running recordings of ours
_theirs = False  # the value that torch's own profiler set last
_before = None  # torch's function while ours replaces it
_asked_before = None  # the same for torch.autograd._profiler_enabled
_lock = threading.RLock()  # reentrant, because a signal handler or a destructor may start and stop recordings
_watcher: Callable[[str], None] = str  # called while a recording of ours runs; by default nothing happens


def watch(begins: Callable[[str], None]) -> None:
    """Calls `begins` with a name when torch's own profiler begins while a recording runs, and when one begins."""
    global _watcher
    _watcher = begins


def _set_is_profiler_enabled(enable: bool) -> None:
    """Replaces torch's function of this name while a recording runs."""
    global _theirs
    if enable:
        _watcher("torch.profiler")
    with _lock:
        _theirs = enable
        _flags._is_profiler_enabled = enable or _running > 0


def _profiler_enabled() -> bool:
    """Replaces torch's function of this name while a recording runs."""
    return _running > 0 or torch._C._autograd._profiler_enabled()


def notify_torch(change: int) -> None:
    """Reports that a recording begins (+1) or ends (-1)."""
    global _running, _theirs
    if change > 0:
        _watcher("opscope.torch")
    with _lock:
        if _running == 0:
            _theirs = _flags._is_profiler_enabled
            _replace_functions()
        _running += change
        _flags._is_profiler_enabled = _running > 0 or _theirs
        if _running == 0:
            _step_back()


def _replace_functions() -> None:
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
        # otherwise another function was installed over ours, which still calls it
        _flags._set_is_profiler_enabled = _before
        _before = None


def _forget_the_parent() -> None:
    """In a forked child: no recording runs, and the lock may have been held by a thread of the parent."""
    global _running, _lock
    _lock = threading.RLock()
    if _running > 0:
        _running = 0
        _flags._is_profiler_enabled = torch._C._autograd._profiler_enabled()
    _step_back()


os.register_at_fork(after_in_child=_forget_the_parent)
