# SPDX-License-Identifier: Apache-2.0
"""One recording of a profile: from its start to its stop, then its Trace."""

from __future__ import annotations

from .. import _core
from ..trace import Trace
from ..user_warning import warn_user
from .session import Session


class Recording:
    """Over ``_core.Recording``, which has the states. A front end derives from it and adds its results."""

    def __init__(self, session: Session, **options) -> None:
        """``options``: those of ``_core.Session.prepare``."""
        self._session = session
        self._core = session.prepare(**options)
        self._has_warned = False

    @property
    def is_inherited(self) -> bool:
        """It was started before this process was forked; it goes on in the parent, and here it is over."""
        return self._core.is_inherited

    @property
    def is_running(self) -> bool:
        """Between start and stop."""
        return self._core.is_running

    @property
    def is_finished(self) -> bool:
        """It was stopped: a recording records once."""
        return self._core.is_over

    def start(self) -> None:
        """Records from here on."""
        self._session.begin(self._core)
        self._warn_of_file()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        self._session.end(self._core)
        self._warn_of_file()

    def pause(self, paused: bool) -> None:
        """Lets what begins from here on pass unrecorded, or no longer."""
        self._core.pause(paused)

    def _warn_of_file(self) -> None:
        warning = self._core.file_warning()
        if warning and not self._has_warned:
            self._has_warned = True
            warn_user(warning, RuntimeWarning)

    def add_metadata(self, key: str, json: str) -> bool:
        """False when the recording was already read."""
        return self._core.add_metadata(key, json)

    def counts(self) -> dict[str, int]:
        """recorded, dropped, bytes, threads, chunks."""
        return self._core.counts()

    def last_cycle_trace(self) -> _core.Trace:
        """This recording alone; read at the first use."""
        return self._core.trace()

    @property
    def trace(self) -> Trace:
        """The recording as tables, with those before it where they add up; read at the first use."""
        return Trace(self._core.whole_trace())
