# SPDX-License-Identifier: Apache-2.0
"""Records with Paddle's own profiler, for a Paddle that the Paddle source cannot record in C++.

Paddle's profiler runs during a recording, and the protobuf that it writes at the end is imported. There is one per
process.
"""

from __future__ import annotations

import os
import tempfile

from paddle.base import core


class NativeProfiler:
    """The fallback recorder that python/bindings/paddle/fallback_recorder.h calls."""

    def __init__(self) -> None:
        self._profiler = None
        self._has_memory = False
        self._types = {int(kind): kind for kind in core.TracerEventType.__members__.values()}
        os.register_at_fork(after_in_child=self._leave)

    def start(self, shapes: bool, memory: bool) -> str:
        """Starts Paddle's profiler. Shapes are not requested: it does not deliver them, and leaks their memory."""
        options = core.ProfilerOptions()
        options.trace_switch |= 1  # the CPU
        profiler = core._Profiler.create(options, [])
        if profiler is None:
            return "Paddle's own profiler runs, and it serves one at a time"
        if memory:
            core.enable_memory_recorder()
        profiler.prepare()
        profiler.start()
        self._profiler, self._has_memory = profiler, memory
        return ""

    def stop(self) -> int:
        """Stops it, and returns a file descriptor of its protobuf."""
        profiler, self._profiler = self._profiler, None
        try:
            result = profiler.stop()
        finally:
            if self._has_memory:
                core.disable_memory_recorder()
        return _saved(result)

    def enter(self, name: str, kind: int):
        """Opens a range and returns it; its end() closes it."""
        return core._RecordEvent(name, self._types[kind])

    def _leave(self) -> None:
        self._profiler = None  # the parent process's range


def _saved(result) -> int:
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("opscope")
        result.save(f"/proc/self/fd/{file}", "pb")
        if os.fstat(file).st_size:
            return file
        os.close(file)
    file, path = tempfile.mkstemp(suffix=".pb")
    try:
        result.save(path, "pb")
    finally:
        os.unlink(path)  # The file lives as long as the descriptor: Paddle writes into the existing file.
    return file
