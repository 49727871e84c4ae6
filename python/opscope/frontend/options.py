# SPDX-License-Identifier: Apache-2.0
"""The arguments that every front end adds to those of its original, with their checks."""

from __future__ import annotations

import os

from .. import _core
from ..sizes import byte_count
from .session import Session

DEFAULT_MAX_BYTES = 1 << 30


class OwnOptions:
    """Arguments of a profile object that opscope adds.

    ``max_bytes``: limit of the memory for the recording, including values of arguments: bytes, or "64M".
    ``at_cap``: what happens at that limit: "stop" keeps nothing more, "keep_newest" discards the oldest data.
    ``record_to``: path of a file that the recording is made in, so that it survives any end of the process. Further
    recordings of the object use NAME.2.EXTENSION and so on.
    ``dump_to``: file of the automatic dumps below. ``{pid}`` and ``{number}`` are replaced; without them they are put
    before the extension.
    ``dump_on_signal``: number of a signal that writes a dump, even while Python code hangs.
    ``dump_on_exception``: write a dump when an exception leaves the ``with`` block, or is uncaught.
    ``dump_if_no_step_for``: write a dump after this many seconds without ``step()``, once until the next step.

    ValueError or TypeError for values that are not allowed.
    """

    def _take_own_options(
        self,
        *,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        at_cap: str = "stop",
        record_to: str | os.PathLike | None = None,
        dump_to: str | os.PathLike | None = None,
        dump_on_signal: int | None = None,
        dump_on_exception: bool = False,
        dump_if_no_step_for: float | None = None,
    ) -> None:
        if at_cap not in ("stop", "keep_newest"):
            raise ValueError(f"at_cap must be 'stop' or 'keep_newest', not {at_cap!r}")
        self.max_bytes = byte_count(max_bytes, "max_bytes")
        self.at_cap = at_cap
        self._session = Session(
            dump_to, signal=dump_on_signal, on_exception=dump_on_exception, no_step_for=dump_if_no_step_for
        )
        self.record_to = None if record_to is None else _core.path_text(record_to)
