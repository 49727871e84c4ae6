# SPDX-License-Identifier: Apache-2.0
"""One recording of a profile: from its start to its stop, then its Trace."""

from __future__ import annotations

from .. import _core
from ..trace import Trace
from ..user_warning import warn_user
from . import cuda_activity
from .session import Session


class Recording:
    """Over ``_core.Recording``, which has the states. A front end derives from it and adds its results."""

    def __init__(
        self,
        session: Session,
        *,
        sources: list[tuple[_core.Source, list[str]]],
        cuda_flags: list[str] | None = None,
        **options,
    ) -> None:
        """``sources``, ``options``: those of ``_core.Session.prepare``. ``cuda_flags``: of the CUDA source, which then
        records beside them; None: it does not."""
        self._session = session
        self._records_cuda = cuda_flags is not None
        self._core = session.prepare(sources=[*cuda_activity.sources(cuda_flags), *sources], **options)
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
        self._warn_of_start()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        self._end()
        self._warn_of_file()

    def _end(self) -> None:
        if self._records_cuda and self.is_running:
            cuda_activity.wait_for_device(self._synchronize_device)
        self._session.end(self._core)

    def _synchronize_device(self) -> None:
        """Waits for all devices as the framework does, where it has used any; what it raises is told as a warning."""

    def pause(self, paused: bool, source: str = "") -> None:
        """Lets what begins from here on pass unrecorded, or no longer; by the source of this name alone."""
        self._core.pause(paused, source)

    def _warn_of_start(self) -> None:
        self._warn_of_file()
        if self._records_cuda:
            cuda_activity.warn_where_not_recorded(self._core)

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
