# SPDX-License-Identifier: Apache-2.0
"""Paddle's own profiler in the place of the Paddle source, for a Paddle whose libraries that does not fit.

It runs while a recording does, and the protobuf that it writes at the end is read. There is one of them in a process.
"""

from __future__ import annotations

import os
import tempfile

from paddle.base import core


class NativeProfiler:
    """What the source asks (python/bindings/paddle/stand_in.h)."""

    def __init__(self) -> None:
        self._profiler = None
        self._has_memory = False
        self._types = {int(kind): kind for kind in core.TracerEventType.__members__.values()}
        os.register_at_fork(after_in_child=self._leave)

    def start(self, shapes: bool, memory: bool) -> str:
        """Shapes are never delivered by it, and never freed: they are not asked for."""
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
        """A descriptor of its protobuf."""
        profiler, self._profiler = self._profiler, None
        try:
            result = profiler.stop()
        finally:
            if self._has_memory:
                core.disable_memory_recorder()
        return _saved(result)

    def enter(self, name: str, kind: int):
        """A range of Python, which ends by its end()."""
        return core._RecordEvent(name, self._types[kind])

    def _leave(self) -> None:
        self._profiler = None  # that of the parent


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
        os.unlink(path)  # it lives as long as the descriptor: Paddle writes into what is there
    return file
