# SPDX-License-Identifier: Apache-2.0
"""Reads a window of a MegEngine build with unknown record layouts, from the timeline that MegEngine itself writes.

MegEngine's writer sometimes reads invalid memory (in windows with ``Profiler.step()``) and crashes. Therefore it runs
in a forked child, which has a copy of the records, and writes into a file in memory.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import select
import signal
from collections.abc import Callable, Iterator

from .. import _core
from ..user_warning import warn_user

Dump = Callable[[str, str], None]  # what stop_profile returns: it writes one file; a second call ends the process

_FORMAT = "chrome_timeline.json"
_BLOCK = 1 << 20
# A child without CPU time for so long waits for a lock that another thread held at the fork.
_STUCK_S = 30.0


def dumped_trace(dump: Dump, why: str) -> _core.Trace:
    """The trace of a window, from the file that MegEngine's writer writes. Any thread.

    ``dump``: the writer; the caller must not call it, too.
    ``why``: why its records were not read from memory; becomes a problem of the trace. If the writer crashes or hangs,
    this warns, and the trace has the part that was written. If the writer raises in the child, this calls it again in
    this process. OSError: no memory file or no child process could be made. _core.Error: the file is no timeline.
    """
    with _memory_file() as raw, _memory_file() as named:
        ended = _write_in_child(dump, raw, named)
        if ended == "raised":
            dump(_path(raw), _FORMAT)
        elif ended:
            why = f"{why}; MegEngine's own writer {ended}"
            warn_user(f"a window of MegEngine is not whole: {why}", RuntimeWarning)
            if os.fstat(raw).st_size == 0:
                os.write(raw, b'{"traceEvents":[]}')
        return _core.megengine.read_dump(_path(raw if ended else named), why)


@contextlib.contextmanager
def _memory_file() -> Iterator[int]:
    file = os.memfd_create("opscope-megengine", os.MFD_CLOEXEC)
    try:
        yield file
    finally:
        os.close(file)


def _path(file: int) -> str:
    return f"/proc/self/fd/{file}"


def _write_in_child(dump: Dump, raw: int, named: int) -> str:
    """Runs the writer in a child. Returns "" if it succeeded, "raised" if it raised, otherwise what happened to it, as
    the end of a sentence whose subject is the writer.
    """
    parent = os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"raised"
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core file from a crash
            dump(_path(raw), _FORMAT)
            _rename(raw, named, os.getpid(), parent)
            answer = b"written"
        finally:
            os.write(writing, answer)
            os._exit(0)
    os.close(writing)
    try:
        answer = _answer(reading, child)
    except BaseException:  # also an exception of a signal handler
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        status = None
        with contextlib.suppress(ChildProcessError):  # the program has waited for all its children itself
            status = os.waitpid(child, 0)[1]
    if answer is None:
        return f"computed nothing for {_STUCK_S:g} s"
    if answer == b"written":
        return ""
    return answer.decode() or _ending(status)


def _answer(reading: int, child: int) -> bytes | None:
    """The answer of the child; b"": it died without one. None: it hung and was killed."""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    ticks = -1
    while not poll.poll(_STUCK_S * 1000):
        before, ticks = ticks, _cpu_ticks(child)
        if ticks == before:
            os.kill(child, signal.SIGKILL)
            return None
    return os.read(reading, 16)


def _cpu_ticks(process: int) -> int:
    """CPU time of a process, in ticks of the kernel's clock."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])  # utime, stime


def _ending(status: int | None) -> str:
    if status is None or not os.WIFSIGNALED(status):
        return "did not come to its end"
    return f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"


def _rename(source: int, target: int, pid: int, wanted: int) -> None:
    """Copies the timeline and replaces the process id ``pid`` by ``wanted``, in events and in the names of flows."""
    pattern = re.compile(rb'"pid":%d\b|"(?:name|scope)":"%d"' % (pid, pid))
    old, new = str(pid).encode(), str(wanted).encode()

    def renamed(text: bytes) -> bytes:
        return pattern.sub(lambda found: found[0].replace(old, new), text)

    with open(_path(source), "rb") as reading, open(_path(target), "wb") as writing:
        rest = b""
        while block := reading.read(_BLOCK):
            objects, brace, rest = (rest + block).rpartition(b"}")  # no match crosses the end of an object
            writing.write(renamed(objects + brace))
        writing.write(renamed(rest))
