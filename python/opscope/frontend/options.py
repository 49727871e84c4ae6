# SPDX-License-Identifier: Apache-2.0
"""The arguments that every front end takes beside its original's, checked."""

from __future__ import annotations

import os

from .. import _core
from ..sizes import byte_count
from .session import Session

DEFAULT_MAX_BYTES = 1 << 30


class OwnOptions:
    """Of a profile object: ``max_bytes``, ``at_cap``, ``record_to``, and its session with its dumps.

    ``max_bytes``: memory that the recording may hold, argument values included: a number, or "64M".
    ``at_cap``: what happens there: "stop" (nothing more is kept) or "keep_newest" (the oldest goes).
    ``record_to``: path of a file that the recording lies in while it is made, so that it is there however
    the process ends. Each further recording of this object goes to NAME.2.EXTENSION and so on.
    ``dump_to``: file of the dumps below; ``{pid}`` and ``{number}`` are filled in, or put before its extension.
    ``dump_on_signal``: writes one when the process gets this signal, whatever hangs.
    ``dump_on_exception``: writes one when an exception leaves the ``with`` block, or is caught by nobody.
    ``dump_if_no_step_for``: seconds without ``step()`` after which one is written, once until the next step.
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
