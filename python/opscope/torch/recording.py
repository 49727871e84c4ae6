# SPDX-License-Identifier: Apache-2.0
"""One cycle of a profile: a recording of the process, and the results once it has stopped."""

from __future__ import annotations

import logging
import os
import time
import warnings

from .. import _core
from ..trace import Trace
from . import source
from .compat import compat_is_asked
from .events import EventList, unfilled_events
from .told_flag import tell_torch

_log = logging.getLogger("torch.autograd.profiler")  # where programs that care listen
_OUT_OF_TIME = (
    "Profiler timed out after {:.3f} seconds, when the recording had been read: returning partial results with 0 "
    "events. The recording is whole: export_chrome_trace(), save() and trace have all of it"
)


def _no_events(device: str | None) -> EventList:
    events = EventList(use_device=device)
    events._tree_built = True
    return events


class Recording:
    """A recording and what is computed from it; made by ``prepare_trace``."""

    def __init__(self, settings, trace_id: str, flight) -> None:
        self.trace_id = trace_id
        self._settings = settings
        self._session = _core.Session(
            max_bytes=settings.max_bytes,
            at_cap=settings.at_cap,
            native_threads="all" if settings.all_threads else "attached",
            source_flags=settings.source_flags,
            adapter=source.adapter(),
            flight=flight.core,
            record_to=settings.record_to,
        )
        self._has_warned = False
        self._is_counted = False
        self._process: int | None = None  # that has started it
        self._events: EventList | None = None
        self._stopped = False

    @property
    def is_inherited(self) -> bool:
        """It was started before this process was forked; it goes on in the parent, and here it is over."""
        return self._process is not None and self._process != os.getpid()

    @property
    def is_running(self) -> bool:
        """Between start and stop."""
        return self._is_counted and not self.is_inherited

    @property
    def is_finished(self) -> bool:
        """It was stopped: a recording records once."""
        return self._stopped or self.is_inherited

    def start(self) -> None:
        """Records from here on, on this thread and wherever torch carries its observers."""
        self._session.start()
        self._process = os.getpid()
        self._is_counted = True
        tell_torch(+1)
        self._warn_of_file()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        self._session.stop()
        self._stopped = True
        self._uncount()
        self._warn_of_file()

    def pause(self, paused: bool) -> None:
        """Lets operators and ranges that begin from here on pass unrecorded, or no longer."""
        self._session.pause(paused)

    def _warn_of_file(self) -> None:
        warning = self._session.file_warning()
        if warning and not self._has_warned:
            self._has_warned = True
            warnings.warn(warning, RuntimeWarning, stacklevel=2)

    def _uncount(self) -> None:
        if self._is_counted:
            self._is_counted = False
            if not self.is_inherited:
                tell_torch(-1)

    def __del__(self) -> None:
        # Dropped while running: the session stops by itself, the flag needs us.
        try:
            self._uncount()
        except Exception:  # at the end of the interpreter torch's modules may be gone
            pass

    def add_metadata(self, key: str, json: str) -> bool:
        """False when the recording was already read."""
        return self._session.add_metadata(key, json)

    def counts(self) -> dict[str, int]:
        """recorded, dropped, bytes, threads, chunks."""
        return self._session.counts()

    @property
    def trace(self) -> Trace:
        """The recording as tables; read at the first use."""
        return Trace(self._session.trace())

    @property
    def function_events(self) -> EventList:
        """The events as torch lists them; empty while the recording runs."""
        if self._events is not None:
            return self._events
        device = self._settings.use_device
        if not self.is_finished:
            return _no_events(device)
        began = time.perf_counter()
        trace = self._session.trace()
        limit = self._settings.post_processing_timeout_s
        if limit is not None and time.perf_counter() - began >= limit:
            _log.warning("%s", _OUT_OF_TIME.format(limit))
            self._events = _no_events(device)
            return self._events
        columns = _core.FunctionEvents(trace, use_device=device or "", only_torch_flops=compat_is_asked())
        self._events = unfilled_events(
            columns,
            use_device=device,
            profile_memory=self._settings.profile_memory,
            with_flops=self._settings.with_flops,
        )
        return self._events
