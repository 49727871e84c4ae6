# SPDX-License-Identifier: Apache-2.0
"""The warning that a cycle replaces the events of the previous one: once per process, with torch's text."""

from __future__ import annotations

from ..user_warning import warn_user

_CLEARED = (
    "Warning: Profiler clears events at the end of each cycle. "
    "Only events from the current cycle will be reported. "
    "To keep events across cycles, set acc_events=True."
)
_has_warned = False


def warn_of_cleared_events() -> None:
    """Emits the warning at the first call."""
    global _has_warned
    if not _has_warned:
        _has_warned = True
        warn_user(_CLEARED)
