# SPDX-License-Identifier: Apache-2.0
"""A window that is requested while the program runs, and its limits."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

from ..frontend.options import DEFAULT_MAX_BYTES

MAX_STEPS = 100
MAX_SECONDS = 60.0
# Bytes of a window; less if the disk has less than twice as much free.
MAX_BYTES = DEFAULT_MAX_BYTES
# A file of a recording takes its space in pieces of 4 MiB.
MIN_BYTES = 16 << 20
# Limits of the wait for the first step, which may be a few long steps away.
MAX_WAIT_SECONDS = 600.0


class NoRoom(OSError):
    """The disk has too little free space for a window."""

    def __str__(self) -> str:
        return str(self.args[0])


class Demand:
    """Steps ``first`` to ``first + steps - 1``, recorded into one file.

    A recorder changes it under its lock. ``on_end`` is called once, by the thread in which it ends.
    """

    def __init__(self, request: str, first: int, steps: int, on_end: Callable[[Demand], None] = lambda _: None) -> None:
        self.request, self.first, self.steps = request, first, steps
        self._on_end = on_end
        self.status = ""  # "complete", "failed", "late"; "": not over yet
        self.file = ""  # name in the folder; "": no file was written
        self.why_not = ""
        self._ends_at = math.inf  # of time.monotonic()
        self._limit = ""  # the limit that passes at _ends_at

    def has(self, step: int) -> bool:
        """Whether the window has this step."""
        return not self.status and self.first <= step < self.first + self.steps

    def wait(self, step_seconds: float) -> None:
        """Begins to wait for the first step. ``step_seconds``: how long a step of the program lasts; 0: unknown."""
        seconds = min(max(MAX_SECONDS, 4 * step_seconds), MAX_WAIT_SECONDS)
        self._ends_at = time.monotonic() + seconds
        self._limit = f"step {self.first} did not begin within {seconds:.0f} s"

    def begin(self) -> None:
        """Called when the window has begun."""
        self._ends_at = time.monotonic() + MAX_SECONDS
        self._limit = f"the window was ended after {MAX_SECONDS:.0f} s"

    def why_too_late(self) -> str:
        """The time limit that has passed, as a sentence; "" if no limit has passed."""
        return self._limit if time.monotonic() >= self._ends_at else ""

    def end(self, status: str, why_not: str = "", file: str = "") -> None:
        """Records the end of the window. Later calls have no effect."""
        if self.status:
            return
        self.status, self.why_not, self.file = status, why_not, file
        self._on_end(self)


def max_bytes(folder: str) -> int:
    """The largest size of a window: 1 GiB, but at most half of the free space. NoRoom: too little."""
    facts = os.statvfs(folder)
    room = facts.f_bavail * facts.f_frsize // 2
    if room < MIN_BYTES:
        raise NoRoom(f"less than {2 * MIN_BYTES >> 20} MiB of the disk are free")
    return min(MAX_BYTES, room)
