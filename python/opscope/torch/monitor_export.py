# SPDX-License-Identifier: Apache-2.0
"""Files of a profile with the cupti_monitor backend: always compressed, in Perfetto's format if the name says so, and
written on another thread if requested.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from ..trace import ExportWarning
from ..user_warning import warn_user


def name_of_file(path: str | bytes | os.PathLike) -> str:
    """The path that torch's monitor writes when it is given ``path``."""
    name = os.fsdecode(path)
    return name if name.endswith(".gz") else name + ".gz"


def write_file(recording, name: str, pftrace_level: int) -> str:
    """Writes the last cycle; returns a description of the data that the format cannot hold."""
    if ".pftrace" in os.path.basename(name):
        return recording.last_cycle_trace().export_as(name, "perfetto", gzip_level=pftrace_level)
    recording.export_chrome_trace(name)
    return ""


class Exports:
    """Files that are being written, each on its own thread. Methods are for one thread at a time."""

    available = True  # a public attribute of torch's object, which programs read

    def __init__(self) -> None:
        self._running: list[_Export] = []

    def __bool__(self) -> bool:
        return bool(self._running)

    def write(self, name: str, write: Callable[[], str], *, later: bool) -> None:
        """Calls ``write``, now or on another thread; in the latter case ``join`` raises its exceptions."""
        export = _Export(name, write)
        if not later:
            export.run()
            export.report()
            return
        self._running.append(export)
        export.start()

    def join(self, *, force: bool = True, timeout_s: float = 30.0) -> None:
        """Waits until all files are written. The arguments are torch's and have no effect."""
        running, self._running = self._running, []
        for export in running:
            export.join()
        failed = [export for export in running if export.has_failed]
        for export in failed[1:]:
            warn_user(export.failure_text())  # one exception at most can be raised
        for export in running:
            if not export.has_failed:
                export.report()
        if failed:
            failed[0].report()


class _Export(threading.Thread):
    # Not a daemon thread: the file is completed even if the program ends without waiting.
    def __init__(self, name: str, write: Callable[[], str]) -> None:
        super().__init__(name="opscope export", daemon=False)
        self._file, self._write = name, write
        self._left_out = ""
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._left_out = self._write()
        except BaseException as error:
            self._error = error
        self._write = None  # and what it held

    @property
    def has_failed(self) -> bool:
        return self._error is not None

    def failure_text(self) -> str:
        return f"{self._file} was not written: {type(self._error).__name__}: {self._error}"

    def report(self) -> None:
        if self._error is not None:
            raise self._error
        if self._left_out:
            warn_user(f"{self._file}: {self._left_out}", ExportWarning)
