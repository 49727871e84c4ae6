# SPDX-License-Identifier: Apache-2.0
"""The Python of a framework as small as can be, with the profiler that it brings itself."""

import ctypes
import time
from pathlib import Path

FOLDER = Path(__file__).parent
_library = ctypes.CDLL(str(FOLDER / "libtoynet.so"))
_library.toynet_version.restype = ctypes.c_char_p
_library.toynet_run.restype = ctypes.c_double
__version__ = _library.toynet_version().decode()


def run(op: str, size: int = 1000) -> float:
    """Runs one operator."""
    return _library.toynet_run(op.encode(), size)


_Begin = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
_End = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Observer(ctypes.Structure):
    _fields_ = [("begin", _Begin), ("end", _End), ("context", ctypes.c_void_p)]


class Profiler:
    """Records ``record`` steps after ``skip``, then calls ``on_ready(profiler)``. Of the calling thread alone."""

    def __init__(self, *, skip=0, record=None, on_ready=None, inner=False):
        self._skip, self._record, self._on_ready, self._inner = skip, record, on_ready, inner
        self._step, self._number, self.rows = 0, 0, []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        self._open, self._is_due = [], True
        self._observer = _Observer(_Begin(self._begin), _End(self._end), None)
        self._follow()

    def step(self):
        self._step += 1
        self._follow()

    def stop(self):
        self._close()

    def table(self):
        sums = {}
        for op, seconds in self.rows:
            calls, total = sums.get(op, (0, 0.0))
            sums[op] = (calls + 1, total + seconds)
        rows = sorted(sums.items(), key=lambda row: -row[1][1])
        return "\n".join(["op         calls    total", *(f"{op:10} {n:5} {s * 1e6:6.0f}us" for op, (n, s) in rows)])

    def _follow(self):
        is_wanted = self._skip <= self._step and (self._record is None or self._step < self._skip + self._record)
        if is_wanted and not self._number:
            self._number = _library.toynet_add_observer(ctypes.byref(self._observer))
        elif not is_wanted:
            self._close()

    def _close(self):
        if self._number:
            _library.toynet_remove_observer(self._number)
            self._number = 0
            if self._on_ready:
                self._on_ready(self)

    def _begin(self, context, op, depth):
        self._open.append((op.decode(), time.perf_counter()))
        return depth

    def _end(self, depth):
        op, began = self._open.pop()
        if self._inner or not depth:
            self.rows.append((op, time.perf_counter() - began))
