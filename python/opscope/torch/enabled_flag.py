# SPDX-License-Identifier: Apache-2.0
"""Maintains torch.autograd.profiler._is_profiler_enabled: libraries create labels only if it is set.

It is one flag for all profilers of a process, on all threads, and torch's own profiler clears it when it stops.
Therefore this module replaces torch's setter while a recording of opscope runs, so that the flag is set while any
profiler runs. Data pipes and RPC call ``torch.autograd._profiler_enabled()``, which is replaced too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import torch

_flags = torch.autograd.profiler
_running = 0  # number of running recordings of ours
_theirs = False  # the value that torch's own profiler set last
_torchs_setter = None  # torch's function while ours replaces it
_torchs_query = None  # the same for torch.autograd._profiler_enabled
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
            _restore_functions()


def _replace_functions() -> None:
    global _torchs_setter, _torchs_query
    if _torchs_setter is None:
        _torchs_setter = getattr(_flags, "_set_is_profiler_enabled", None)
        _flags._set_is_profiler_enabled = _set_is_profiler_enabled
    if _torchs_query is None:
        _torchs_query = torch.autograd._profiler_enabled
        torch.autograd._profiler_enabled = _profiler_enabled


def _restore_functions() -> None:
    global _torchs_setter, _torchs_query
    if _torchs_query is not None and torch.autograd._profiler_enabled is _profiler_enabled:
        torch.autograd._profiler_enabled = _torchs_query
        _torchs_query = None
    # If the setter is not ours any more, another function has replaced ours and still calls it.
    if _torchs_setter is not None and _flags._set_is_profiler_enabled is _set_is_profiler_enabled:
        _flags._set_is_profiler_enabled = _torchs_setter
        _torchs_setter = None


def _forget_the_parent() -> None:
    """In a forked child: no recording runs, and the lock may have been held by a thread of the parent."""
    global _running, _lock
    _lock = threading.RLock()
    if _running > 0:
        _running = 0
        _flags._is_profiler_enabled = torch._C._autograd._profiler_enabled()
    _restore_functions()


os.register_at_fork(after_in_child=_forget_the_parent)
