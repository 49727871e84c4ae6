# SPDX-License-Identifier: Apache-2.0
"""A window of MegEngine whose records cannot be taken: by what MegEngine itself writes of it, in memory.

MegEngine's writer now and then reads memory that is not its own (windows with ``Profiler.step()``), which ends the
process; so a child of a fork writes, which has the records as they are here. Nothing of MegEngine runs there else.
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
_STUCK_S = 30.0  # without computing: the writer waits for a lock that another thread held at the fork


def dumped_trace(dump: Dump, why: str) -> _core.Trace:
    """Of what ``stop_profile`` has returned, which must not be called again; for any thread, without the GIL.

    ``why`` its records were not taken: a problem of the trace says so, and also if MegEngine's writer did not come to
    its end, which is warned of: then what it had written is there, if anything. A writer that raises in the child is
    called here. OSError: no file in memory, or no child, could be had; _core.Error: what it wrote is no timeline.
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
    """How the child ended: '' as it should, "raised", or what a sentence about the writer goes on with."""
    parent = os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"raised"
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves nothing behind
            dump(_path(raw), _FORMAT)
            _rename(raw, named, os.getpid(), parent)
            answer = b"written"
        finally:
            os.write(writing, answer)
            os._exit(0)
    os.close(writing)
    try:
        answer = _answer(reading, child)
    except BaseException:  # of a handler of a signal
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        status = None
        with contextlib.suppress(ChildProcessError):  # the program waits for its children itself
            status = os.waitpid(child, 0)[1]
    if answer is None:
        return f"computed nothing for {_STUCK_S:g} s"
    if answer == b"written":
        return ""
    return answer.decode() or _ending(status)


def _answer(reading: int, child: int) -> bytes | None:
    """b"": it has died. None: it was stuck, and has been ended."""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    spent = -1
    while not poll.poll(_STUCK_S * 1000):
        before, spent = spent, _computed(child)
        if spent == before:
            os.kill(child, signal.SIGKILL)
            return None
    return os.read(reading, 16)


def _computed(process: int) -> int:
    """Its time on a CPU, in the kernel's ticks."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])  # utime, stime


def _ending(status: int | None) -> str:
    if status is None or not os.WIFSIGNALED(status):
        return "did not come to its end"
    return f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"


def _rename(source: int, target: int, pid: int, wanted: int) -> None:
    """Copies the timeline; what names process ``pid``, in events and as the name of their flows, names ``wanted``."""
    there = re.compile(rb'"pid":%d\b|"(?:name|scope)":"%d"' % (pid, pid))
    old, new = str(pid).encode(), str(wanted).encode()

    def renamed(text: bytes) -> bytes:
        return there.sub(lambda found: found[0].replace(old, new), text)

    with open(_path(source), "rb") as reading, open(_path(target), "wb") as writing:
        rest = b""
        while block := reading.read(_BLOCK):
            whole, brace, rest = (rest + block).rpartition(b"}")  # no name goes over the end of an object
            writing.write(renamed(whole + brace))
        writing.write(renamed(rest))
