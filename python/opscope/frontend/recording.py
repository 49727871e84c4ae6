# SPDX-License-Identifier: Apache-2.0
"""One recording of a profile, from its start to its stop, and its Trace."""

from __future__ import annotations

import contextlib

from .. import _core
from ..trace import Trace
from ..user_warning import warn_user
from . import cuda_activity
from .session import Session


class Recording:
    """A ``_core.Recording``, which has the states. A front end derives a class that adds its results."""

    def __init__(
        self,
        session: Session,
        *,
        sources: list[tuple[_core.Source, list[str]]],
        cuda_flags: list[str] | None = None,
        **options,
    ) -> None:
        """``sources``, ``options``: of ``_core.Session.prepare``. ``cuda_flags``: those for the CUDA source, which then
        records, too; None: no CUDA.
        """
        self._session = session
        self._records_cuda = cuda_flags is not None
        self._core = session.prepare(sources=[*cuda_activity.sources(cuda_flags), *sources], **options)
        self._has_warned = False

    @property
    def is_inherited(self) -> bool:
        """Whether it was started before this process was forked: it goes on in the parent, and has ended here."""
        return self._core.is_inherited

    @property
    def is_running(self) -> bool:
        """Between start and stop."""
        return self._core.is_running

    @property
    def is_finished(self) -> bool:
        """Whether it was stopped. A recording cannot be started again."""
        return self._core.is_over

    def start(self) -> None:
        """Starts to record."""
        self._session.begin(self._core)
        self._warn_of_start()

    def stop(self) -> None:
        """Ends the recording. A second call does nothing."""
        self._end()
        self._warn_of_file()

    def abandon(self) -> None:
        """Ends the recording after its start has failed. Drops a further exception, or a warning that is an error: the
        caller raises the first one.
        """
        with contextlib.suppress(Exception):
            self.stop()

    def _end(self) -> None:
        try:
            if self._records_cuda and self.is_running:
                cuda_activity.wait_for_device(self._synchronize_device)
        finally:
            self._session.end(self._core)

    def _synchronize_device(self) -> None:
        """Waits for all devices with the framework's function, if the framework has used any; its exceptions become
        warnings.
        """

    def pause(self, paused: bool, source: str = "") -> None:
        """Stops recording events that begin from now on, or resumes; of one source, if it is named."""
        self._core.pause(paused, source)

    def _warn_of_start(self) -> None:
        # A warning may be an error (-W error): start() then raises, and no caller would stop this recording.
        try:
            self._warn_of_file()
            if self._records_cuda:
                cuda_activity.warn_where_not_recorded(self._core)
        except BaseException:
            self.abandon()
            raise

    def _warn_of_file(self) -> None:
        warning = self._core.file_warning()
        if warning and not self._has_warned:
            self._has_warned = True
            warn_user(warning, RuntimeWarning)

    def add_metadata(self, key: str, json: str) -> bool:
        """Adds an entry. Returns False if the recording was already read."""
        return self._core.add_metadata(key, json)

    def counts(self) -> dict[str, int]:
        """Numbers of events recorded and dropped, bytes of memory, threads and chunks, by these names."""
        return self._core.counts()

    def last_cycle_trace(self) -> _core.Trace:
        """The Trace of this recording alone; read at the first use."""
        return self._core.trace()

    @property
    def trace(self) -> Trace:
        """The recording as tables, together with the previous ones if cycles accumulate; read at the first use."""
        return Trace(self._core.whole_trace())
