# SPDX-License-Identifier: Apache-2.0
"""Views of a recording that the originals have not, and what a prompt shows of a profile."""

from __future__ import annotations

import os
from collections.abc import Mapping


class Views:
    """Of a Lifecycle."""

    _front_end = "opscope"  # "opscope.torch"
    # Names of metrics as the original spells them, and what opscope.Trace calls them.
    _flame_metrics: Mapping[str, str] = {"time": "time"}

    def __repr__(self) -> str:
        recording = self._last_recording
        name = f"{self._front_end}.{type(self).__name__}"
        if recording is None:
            return f"<{name}: nothing recorded yet>"
        counts = recording.counts()
        dropped = f", {counts['dropped']:,} dropped" if counts["dropped"] else ""
        state = ", recording" if recording.is_running else ""
        return f"<{name}: {counts['recorded']:,} events on {counts['threads']:,} threads{dropped}{state}>"

    def _write_flamegraph(self, path: str | os.PathLike, metric: str, options: dict) -> None:
        if metric not in self._flame_metrics:
            raise ValueError(f"metric should be one of: {list(self._flame_metrics)}")
        self.trace.export_flamegraph(path, metric=self._flame_metrics[metric], **options)

    def module_table(self) -> str:
        """What each module (layer) took, forward and backward, as an indented table; "" where none were recorded."""
        return self.trace.module_table()
