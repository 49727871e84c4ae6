# SPDX-License-Identifier: Apache-2.0
"""Measures how much time the recording of one Python call, C call or module call adds (docs/reference/overhead.md).

It runs once per process, before the first recording with ``with_stack``, and before the first one with ``with_modules``
alone, which records modules in another way. Hundreds of empty calls are timed without and with the source of Python
calls, which records this thread into a separate window. The difference is the cost of a call; the recorded duration of
an empty call is the part of the cost inside it. Takes some milliseconds.

Another profiler or debugger would see these calls: nothing is measured while one is active.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from itertools import repeat

from .. import _core
from ..trace import Trace

_RUNS = 9
_CALLS = 96  # calls per run
_DEPTH = 24  # nesting depth of the calls
_BYTES = 1 << 20

_lock = threading.Lock()
_known: dict[bool, str] = {}  # result: whether all calls are recorded -> members of "own_cost"
_process: dict[bool, int] = {}  # process that has measured


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)  # a new lock: another thread of the parent may have held the old one


def _call() -> None:
    pass


def _call_module(self, *deeper):
    if deeper:
        return deeper[0](*deeper[1:])


def _call_deeply(depth: int, clock) -> int:
    return _call_deeply(depth - 1, clock) if depth else clock()


def _loop_python(target, count: int) -> None:
    for _ in repeat(None, count):
        target()


def _loop_argument(target, argument, count: int) -> None:
    for _ in repeat(None, count):
        target(argument)


class _Probe:
    """A module whose calls are timed."""

    __call__ = _call_module


_probe = _Probe()
_DEEPER = (_probe,) * (_DEPTH - 1)
_RUN_OF = {
    "python_call": lambda: _loop_python(_call, _CALLS),
    "c_call": lambda: _loop_argument(abs, 1, _CALLS),
    "module_call": lambda: _loop_python(_probe, _CALLS),
}
_NAME_OF = {
    "python_call": lambda name: name.endswith(": _call"),
    "c_call": lambda name: name == "<built-in function abs>",
    "module_call": lambda name: name == "nn.Module: _Probe_0",
}


def measured_call_costs(source_of, *, all_calls: bool) -> str:
    """Members of the recording's ``own_cost``; "" if they could not be measured.

    ``source_of(module_call)`` makes the source of calls; ``module_call`` is the function that calls modules.
    """
    with _lock:
        if all_calls not in _known and _process.get(all_calls) != os.getpid():
            _process[all_calls] = os.getpid()  # one attempt per process: later another recording may see the calls
            try:
                _known[all_calls] = "" if _is_watched() else _measure(source_of, all_calls)
            except (RuntimeError, MemoryError, _core.Error):  # no window or no tool id of sys.monitoring is free
                pass
    return _known.get(all_calls, "")


def _is_watched() -> bool:
    """Whether another profiler or debugger would see the calls."""
    if sys.getprofile() is not None or sys.gettrace() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(tool) is not None for tool in range(6))


def _measure(source_of, all_calls: bool) -> str:
    use = (source_of(_call_module), ("calls", "one_thread") if all_calls else ("one_thread",))
    recording = _core.Recording(max_bytes=_BYTES, at_cap="keep_newest", native_threads="attached", sources=[use])
    plain = _runs(all_calls)
    recording.start()
    try:
        recorded = _runs(all_calls)
    finally:
        recording.stop()
    for kind, times in _runs(all_calls).items():
        plain[kind] += times
    kinds = tuple(_RUN_OF) if all_calls else ("module_call",)
    return _members(plain, recorded, _lengths(Trace(recording.trace()), kinds))


def _runs(all_calls: bool) -> dict[str, list[float]]:
    """Nanoseconds per call of each kind, and of the entries and exits of nested calls."""
    clock = time.perf_counter_ns
    times: dict[str, list[float]] = {kind: [] for kind in (*_RUN_OF, "begin", "end")}
    for run_number in range(_RUNS + 1):
        for kind, run in _RUN_OF.items():
            began = clock()
            run()
            times[kind].append((clock() - began) / _CALLS)
        began = clock()
        deepest = _call_deeply(_DEPTH, clock) if all_calls else _probe(*_DEEPER, clock)
        ended = clock()
        times["begin"].append((deepest - began) / _DEPTH)
        times["end"].append((ended - deepest) / _DEPTH)
        if run_number == 0:  # warm-up: names are interned, code is specialised
            for values in times.values():
                values.clear()
    return times


def _lengths(trace: Trace, kinds) -> dict[str, float]:
    """Recorded duration of the calls of each kind, nanoseconds."""
    rows = trace.summary()
    return {kind: next(row["p50_ns"] for row in rows if _NAME_OF[kind](row["name"])) for kind in kinds}


def _members(plain, recorded, inside) -> str:
    cost = {kind: max(0.0, statistics.median(recorded[kind]) - statistics.median(plain[kind])) for kind in plain}
    share = cost["begin"] / (cost["begin"] + cost["end"] or 1)
    members = {}
    for kind in inside:
        members[kind] = {
            "inside_ns": round(min(inside[kind], cost[kind]), 2),
            "begin_ns": round(cost[kind] * share, 2),
            "end_ns": round(cost[kind] * (1 - share), 2),
        }
    return json.dumps(members)[1:-1]
