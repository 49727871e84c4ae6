# SPDX-License-Identifier: Apache-2.0
"""Ranges before there is an adapter: torch's own ranges, so that torch's observers still see them.

With a torch that has no adapter yet, ``record_function`` enters torch's range of the same name. Once the
adapter is loaded (at the first recording) new ranges are ours; those that are open end as they began.
"""

from __future__ import annotations

import threading

import torch

from .. import _core

_open: dict[tuple[int, int], list] = {}  # (range, thread) -> torch's ranges, innermost last
_lock = threading.RLock()  # a signal handler may enter a range within


def _key(label) -> tuple[int, int]:
    return id(label), threading.get_ident()


def use_torchs_ranges(kind: type[_core.RangeBase]) -> None:
    """Lets the ranges of this class be torch's, until `use_our_ranges`."""
    ours_on_future = kind._call_end_callbacks_on_future

    def enter(self):
        range_of_torch = torch.autograd.profiler.record_function(self.name, self.args)
        range_of_torch.__enter__()
        _push(self, range_of_torch)
        return self

    def leave(self, *exception):
        range_of_torch = _take(self)
        if range_of_torch is None:
            return _core.RangeBase.__exit__(self, *exception)
        return range_of_torch.__exit__(*exception)

    def call_end_callbacks_on_future(self, fut):
        range_of_torch = _take(self)
        if range_of_torch is None:
            return ours_on_future(self, fut)
        _push(self, range_of_torch)  # its exit knows that the future ends it
        return range_of_torch._call_end_callbacks_on_future(fut)

    kind.__enter__, kind.__exit__ = enter, leave
    kind._call_end_callbacks_on_future = call_end_callbacks_on_future


def use_our_ranges(kind: type[_core.RangeBase]) -> None:
    """From here on the ranges that are entered are ours. The ways out stay: a range of torch's may be open."""
    if "__enter__" in vars(kind):
        del kind.__enter__


def _push(label, range_of_torch) -> None:
    with _lock:
        _open.setdefault(_key(label), []).append(range_of_torch)


def _take(label):
    if not _open:
        return None
    with _lock:
        stack = _open.get(_key(label))
        if not stack:
            return None
        taken = stack.pop()
        if not stack:
            del _open[_key(label)]
        return taken
