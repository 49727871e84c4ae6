# SPDX-License-Identifier: Apache-2.0
"""One window of MegEngine, from start to stop, and its conversion to a Trace.

The records are read from memory if the build of MegEngine is known. Otherwise, and if anything about them is not as
expected, MegEngine writes its JSON into a file in memory, which is imported.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import megengine
from megengine.core._imperative_rt import core2

from ..adapters.errors import AdapterMissing
from ..adapters.megengine_dump import dumped_trace
from ..frontend.metadata import process_metadata
from ..frontend.recording import Recording
from ..frontend.session import Session
from ..log import log_message
from ..trace import Trace
from ..user_warning import warn_user
from .parts import Parts
from .source import source

_EXPORTS = {"chrome_timeline.json": "megengine-chrome", "memory_flow.svg": "megengine-svg"}

Dump = Callable[[str, str], None]  # result of stop_profile: it writes one file; a second call crashes the process


class Window(Recording):
    """One window. `begin` and `end` are for the thread that runs MegEngine, the results for any thread."""

    def __init__(self, session: Session, *, with_backtrace: bool, **options) -> None:
        """``options``: those of ``Recording``. CUDA is recorded in one window, even if MegEngine's records are read in
        parts.
        """
        try:
            self._source = source()
            self._why_dumped = ""
        except AdapterMissing as error:
            self._source = None
            self._why_dumped = str(error)
        self._with_backtrace = with_backtrace  # reading backtraces needs the GIL
        self._dump: Dump | None = None
        self._dump_lock = threading.Lock()
        self._was_dump_called = False  # in this process, where a second call would crash it
        self._dump_failure: Exception | None = None
        self._dumped: Trace | None = None
        self._options: dict[str, int] = {}
        self._parts: Parts | None = None
        sources = [(self._source, [])] if self._source is not None else []
        super().__init__(session, native_threads="none", sources=sources, **options)

    def begin(self, options: dict[str, int]) -> None:
        """Starts MegEngine's recorder."""
        self._options = options
        given = {"with_backtrace": self._with_backtrace, **options}
        for key, value in process_metadata(megengine, given).items():
            self.add_metadata(key, value)
        self.start()
        try:
            core2.start_profile(options)
        except BaseException:
            self.stop()
            raise
        if self._source is not None:
            self._parts = Parts(self._take_part)

    def step(self) -> None:
        """Reports the end of a step, at which a part of the window may be taken; that waits for MegEngine's work."""
        if self._parts is not None:
            self._parts.take_if_due()

    def _take_part(self) -> int:
        if self._why_dumped:
            return self._source.taken
        core2.full_sync()
        start = partial(core2.start_profile, self._options)
        self._why_dumped = self._source.take_part(core2.stop_profile, start, self._with_backtrace)
        if self._why_dumped:
            self._why_dumped += "; what was recorded before that is not there"
            warn_user(f"a window of MegEngine has lost its begin: {self._why_dumped}", RuntimeWarning)
        return self._source.taken

    def end(self) -> None:
        """Reads the records; MegEngine frees them afterwards."""
        try:
            if self._parts is not None:
                self._parts.end()
        finally:
            dump: Dump = core2.stop_profile()
        try:
            if self._source is not None and not self._why_dumped:
                self._why_dumped = self._source.take(dump, self._with_backtrace, then_free=True)
        finally:
            self.stop()
        if self._why_dumped:
            log_message("info", f"a window of MegEngine is read as MegEngine writes it: {self._why_dumped}")
            self._dump = dump
            if self._records_cuda:
                warn_user(f"CUDA is not in this window of MegEngine: {self._why_dumped}")

    @property
    def is_dumped(self) -> bool:
        """Whether opscope reads the window from the file that MegEngine writes, not from its records."""
        return self._dump is not None or self._dumped is not None

    @property
    def trace(self) -> Trace:
        with self._dump_lock:
            if self._dump_failure is not None:
                raise self._dump_failure
            if self._dump is not None:
                self._dumped = self._read_dump()
                self._dump = None
        return super().trace if self._dumped is None else self._dumped

    def _read_dump(self) -> Trace:
        try:
            return Trace(dumped_trace(self._call_dump, self._why_dumped))
        except BaseException as error:
            # Usually the dump is called in a forked child, and another call is possible.
            if self._was_dump_called:
                self._dump = None
                is_usual = isinstance(error, Exception)
                self._dump_failure = error if is_usual else RuntimeError("MegEngine's writer was interrupted")
            raise

    def _call_dump(self, path: str, format: str) -> None:
        self._was_dump_called = True  # a child sets its own copy
        self._dump(path, format)

    def write(self, path: str, format: str) -> None:
        """Writes a file with this name in one of MegEngine's formats; OSError if that fails."""
        self.trace.export(path, to=_EXPORTS[format])
