# SPDX-License-Identifier: Apache-2.0
"""The profilers of this process: which one is recording, which ones still have a file to write, and their file names.

MegEngine has one recorder. The recording profiler is stored where MegEngine's own profiler stores it, so that each
refuses to start beside the other, and MegEngine's functions see ours. Only the thread that runs MegEngine calls this
module.
"""

from __future__ import annotations

import os
import weakref

from megengine import _atexit
from megengine.utils import profiler as _original

from ..log import log_message

# profilers that were started at least once, in this process or before a fork
_started: weakref.WeakSet = weakref.WeakSet()


def running():
    """The profiler that is recording now, ours or MegEngine's; None if there is none."""
    return _original._running_profiler


def set_running(profiler) -> None:
    """Marks `profiler` as recording; AssertionError if any profiler is recording already."""
    holder = running()
    if holder is profiler:
        raise AssertionError("this Profiler is recording already: stop() it before the next start()")
    if holder is not None:
        raise AssertionError(f"MegEngine records for one Profiler at a time, and {holder!r} is recording")
    _original._running_profiler = profiler


def clear_running(profiler) -> None:
    """Marks it as stopped; AssertionError if it was not recording."""
    if running() is not profiler:
        raise AssertionError("this Profiler is not recording: start() comes before stop()")
    _original._running_profiler = None


def name_files(profiler, directory: str, formats: list[str]) -> str:
    """The part of its file names before the format: the process id, and a number from 2 on if another living profiler
    has the same files.
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
    """Writes its last window where no caller can handle an exception: errors are printed as one line."""
    try:
        profiler.dump()
    except Exception as error:
        _report(profiler, error)
        profiler._forget_results()


def _write_all() -> None:
    """Writes all pending files at the end of the process; errors do not change how it ends."""
    last = running()
    if last in _started:
        try:
            last.stop()
        except Exception as error:
            _report(last, error)
    for profiler in list(_started):
        write_last(profiler)


def _report(profiler, error: Exception) -> None:
    # MegEngine does not work in a process that was forked after its first use, so there is nothing to write.
    level = "info" if profiler._place[0] != os.getpid() else "error"
    log_message(level, f"{profiler.path}: {str(error).partition('backtrace:')[0].strip()}")


def _leave_to_parent() -> None:
    """In a forked child: earlier recordings are written by the parent; running ones go on in both processes."""
    for profiler in _started:
        profiler._leave_to_parent()


_atexit(_write_all)  # registered last, so it runs before the exit handlers of MegEngine's profiler and recorder
os.register_at_fork(after_in_child=_leave_to_parent)
