# SPDX-License-Identifier: Apache-2.0
"""The warning that a cycle takes the place of the one before it, once in a process, in torch's words."""

from __future__ import annotations

from ..user_warning import warn_user

_CLEARED = (
    "Warning: Profiler clears events at the end of each cycle. "
    "Only events from the current cycle will be reported. "
    "To keep events across cycles, set acc_events=True."
)
_has_told = False


def warn_of_cleared_events() -> None:
    """Warns at the first time."""
    global _has_told
    if not _has_told:
        _has_told = True
        warn_user(_CLEARED)
