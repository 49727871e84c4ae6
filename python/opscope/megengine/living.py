# SPDX-License-Identifier: Apache-2.0
"""The profilers of this process: which one records, which ones have a file to write, what each file is called.

MegEngine has one recorder. Whose turn it is stands where MegEngine's own profiler keeps it, so that each refuses to
start beside the other, and MegEngine's own functions see ours. Only the thread that runs MegEngine comes here.
"""

from __future__ import annotations

import os
import weakref

from megengine import _atexit
from megengine.utils import profiler as _original

from ..log import tell

_started: weakref.WeakSet = weakref.WeakSet()  # that were started at least once, in this process or before a fork


def running():
    """The profiler that records now, ours or MegEngine's; None."""
    return _original._running_profiler


def take_turn(profiler) -> None:
    """From here on it records; AssertionError while another one, or it itself, does."""
    holder = running()
    if holder is profiler:
        raise AssertionError("this Profiler is recording already: stop() it before the next start()")
    if holder is not None:
        raise AssertionError(f"MegEngine records for one Profiler at a time, and {holder!r} is recording")
    _original._running_profiler = profiler


def leave_turn(profiler) -> None:
    """Records no more; AssertionError when it did not."""
    if running() is not profiler:
        raise AssertionError("this Profiler is not recording: start() comes before stop()")
    _original._running_profiler = None


def name_files(profiler, directory: str, formats: list[str]) -> str:
    """What stands before the format in the names of its files: the process, and a number from 2 on where another
    living profiler writes the same ones.
    """
    process = os.getpid()
    place = (process, os.path.realpath(directory))
    others = [other for other in _started if other is not profiler and other._place == place]
    taken = {other._number for other in others if not set(formats).isdisjoint(other.formats)}
    number = next(number for number in range(1, len(taken) + 2) if number not in taken)
    profiler._place, profiler._number = place, number
    _started.add(profiler)
    return str(process) if number == 1 else f"{process}.{number}"


def write_last(profiler) -> None:
    """Writes its window where nobody is left who could be told of an exception: what goes wrong is a line."""
    try:
        profiler.dump()
    except Exception as error:
        _tell(profiler, error)
        profiler._forget_results()


def _write_all() -> None:
    """At the end of a process, which is not changed by what goes wrong here."""
    last = running()
    if last in _started:
        try:
            last.stop()
        except Exception as error:
            _tell(last, error)
    for profiler in list(_started):
        write_last(profiler)


def _tell(profiler, error: Exception) -> None:
    # A process that was forked from one that used MegEngine can not use it: it has nothing to write.
    level = "info" if profiler._place[0] != os.getpid() else "error"
    tell(level, f"{profiler.path}: {str(error).partition('backtrace:')[0].strip()}")


def _leave_to_parent() -> None:
    """The child of a fork: what was recorded before is written by the parent. What records goes on in both."""
    for profiler in _started:
        profiler._leave_to_parent()


_atexit(_write_all)  # before that of MegEngine's own profiler, which came first, and before its recorder is closed
os.register_at_fork(after_in_child=_leave_to_parent)
