# SPDX-License-Identifier: Apache-2.0
"""The interface between the recorder and a framework, which ``torch_program.py`` and others implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from .recorder import Recorder


class Counts(NamedTuple):
    """Events of a window."""

    recorded: int  # events, without the marks of steps
    dropped: int  # events that did not fit into the file


class Program(Protocol):
    """One framework in this process."""

    name: str
    is_for_one_thread: bool  # only the thread that runs the framework may start and stop windows

    @property
    def waits_for_device(self) -> bool:
        """Whether stop() waits until a device has finished its work."""

    @property
    def why_not(self) -> str:
        """Why this process cannot be recorded; "": it can."""

    def rank(self) -> int | None:
        """The framework's current rank, on any thread; None: the framework is in no job."""

    def watch(self, recorder: Recorder) -> None:
        """Calls the recorder's methods at the end of steps, and when another profiler begins."""

    def forget(self) -> None:
        """Drops the window without ending it: before a new one, and in a forked child the parent's."""

    def other_is_running(self) -> bool:
        """Whether a profiler of the program records now."""

    def start(self, path: str, max_bytes: int) -> None:
        """Starts a window that is recorded into this file, of at most about ``max_bytes``."""

    def mark(self, step: int | None) -> None:
        """Ends the range of the last step, and begins that of this one (None: no step begins)."""

    def stop(self) -> Counts:
        """Ends the window. Called again after an exception in it, because the window may still record then."""

    def distributed_info(self) -> dict[str, Any] | None:
        """The framework's facts about the job, at least ``rank``; None if it is in no job."""
