# SPDX-License-Identifier: Apache-2.0
"""Start and stop of a profile object, and what each has beside the names of its original."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..trace import Trace, refuse_other_formats
from .errors import UnsupportedFeature
from .options import OwnOptions
from .recording import Recording


class Lifecycle(OwnOptions):
    """A front end's class derives from it and sets ``profiler``: the recording, None before the first; or overrides
    ``_last_recording``, where its original has something else there."""

    _unsupported: type[UnsupportedFeature] = UnsupportedFeature
    _writes_chrome = "export({!r}, to='chrome')"  # the call that save() names where the path says Chrome's JSON

    @property
    def _last_recording(self) -> Recording | None:
        return getattr(self, "profiler", None)  # its construction may have been refused

    def _begin(self, act: Callable[[], Any]) -> None:
        if self._session.is_started:
            raise RuntimeError("the profiler is already running: stop() it before the next start()")
        self._session.start()
        try:
            act()
        except BaseException:
            self._session.stop()
            raise

    def _finish(self, act: Callable[[], Any]) -> None:
        # What a front end has begun by itself, or another thread's step just now, runs without having been started.
        recording = self._last_recording
        if not self._session.is_started and recording is not None and not recording.is_running:
            return
        self._session.stop()
        act()

    def _recording_of(self, what: str) -> Recording:
        """The last recording, for a result; raises where there is none, in the original's words if it has some."""
        recording = self._last_recording
        if recording is None:
            raise RuntimeError(f"nothing has been recorded yet: start() comes before {what}")
        return recording

    def dump(self, path: str | os.PathLike | None = None) -> str:
        """Writes what is recorded now as ``.opscope``, with the ranges that are open; the recording goes on.

        Returns the name of the file; without a path it is that of ``dump_to``. Any thread.
        """
        return self._session.dump(path)

    @property
    def dumps(self) -> list[str]:
        """The files of all dumps so far."""
        return self._session.files

    @property
    def trace(self) -> Trace:
        """The last recording as tables (``opscope.Trace``); of all cycles where they add up."""
        return self._recording_of("accessing the trace").trace

    def save(self, path: str | os.PathLike) -> None:
        """Writes the last recording as ``.opscope``: small, and whole for every later question."""
        refuse_other_formats(path, chrome=self._writes_chrome, other="trace.export({!r}, to={!r})")
        self.trace.save(path)

    def report(self, path: str | os.PathLike) -> None:
        """The offline HTML report comes later."""
        raise self._unsupported("report()", "HTML reports are not written", "trace.export() and a viewer")
