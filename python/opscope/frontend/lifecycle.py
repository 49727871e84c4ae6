# SPDX-License-Identifier: Apache-2.0
"""start() and stop() of a profile object, and the methods that every front end adds to those of its original."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from ..page import page_frame
from ..trace import Trace, refuse_other_formats
from .options import OwnOptions
from .recording import Recording


class Lifecycle(OwnOptions):
    """Base of a front end's profile class, which sets ``profiler`` to its recording (None before the first).

    A class whose original uses that name differently overrides ``_last_recording``, one that does not start the session
    itself ``_is_started``.
    """

    _writes_chrome = "export({!r}, to='chrome')"  # the call that save() suggests for a path with Chrome's extension

    @property
    def _last_recording(self) -> Recording | None:
        return getattr(self, "profiler", None)  # missing if the constructor raised

    @property
    def _is_started(self) -> bool:
        return self._session.is_started

    def _begin(self, act: Callable[[], Any]) -> None:
        if self._session.is_started:
            raise RuntimeError("the profiler is already running: stop() it before the next start()")
        self._session.start()
        try:
            act()
        except BaseException:
            # The caller has no profile that it could stop, so this ends what was started so far.
            recording = self._last_recording
            if recording is not None and recording.is_running:
                recording.abandon()
            with contextlib.suppress(Exception):
                self._session.stop()
            raise

    def _finish(self, act: Callable[[], Any]) -> None:
        # A recording may run without start(): a front end may have started it, or step() on another thread just now.
        recording = self._last_recording
        if not self._session.is_started and recording is not None and not recording.is_running:
            return
        try:
            self._session.stop()
        finally:
            act()

    def _recording_of(self, what: str) -> Recording:
        """The last recording; raises, with the original's message if it has one, if there is none."""
        recording = self._last_recording
        if recording is None and self._is_started:
            raise RuntimeError("the recording is still running")
        if recording is None:
            raise RuntimeError(f"nothing has been recorded yet: start() comes before {what}")
        return recording

    def dump(self, path: str | os.PathLike | None = None) -> str:
        """Writes what is recorded so far, open ranges included, as ``.opscope``; the recording goes on.

        ``path``: file to write; by default ``dump_to``. Returns the name of the file. May be called on any thread.
        """
        return self._session.dump(path)

    @property
    def dumps(self) -> list[str]:
        """Names of the files of all dumps so far."""
        return self._session.files

    @property
    def trace(self) -> Trace:
        """The last recording as tables (``opscope.Trace``); that of all cycles if they accumulate."""
        return self._recording_of("accessing the trace").trace

    def save(self, path: str | os.PathLike) -> None:
        """Writes the last recording as ``.opscope``: a small file without loss of information."""
        refuse_other_formats(path, chrome=self._writes_chrome, other="trace.export({!r}, to={!r})")
        self.trace.save(path)

    def report(self, path: str | os.PathLike, **options) -> None:
        """Writes the last recording as an HTML page for the browser; ``options``: those of ``opscope.Trace.report``."""
        options.setdefault("title", os.path.basename(sys.argv[0]) or None)
        self.trace.report(path, **options)

    def _repr_html_(self) -> str | None:
        recording = self._last_recording
        if recording is None or not recording.is_finished or recording.is_inherited:
            return None
        return page_frame(self.trace, repr(self).strip("<>"))
