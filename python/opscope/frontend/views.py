# SPDX-License-Identifier: Apache-2.0
"""Results of a recording that the original profilers lack, and the display of a profile at a prompt."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .recording import Recording


def describe_profile(name: str, recording: Recording | None) -> str:
    """The text form of a profile object of the class `name`."""
    if recording is None:
        return f"<{name}: nothing recorded yet>"
    if recording.is_inherited:  # only the parent process has its counts
        return f"<{name}: recorded before this process was forked>"
    counts = recording.counts()
    dropped = f", {counts['dropped']:,} dropped" if counts["dropped"] else ""
    state = ", recording" if recording.is_running else ""
    return f"<{name}: {counts['recorded']:,} events on {counts['threads']:,} threads{dropped}{state}>"


class Views:
    """Mixin of a Lifecycle class."""

    _front_end = "opscope"  # "opscope.torch"
    # The original's names of metrics -> those of opscope.Trace.
    _flame_metrics: Mapping[str, str] = {"time": "time"}

    def __repr__(self) -> str:
        return describe_profile(f"{self._front_end}.{type(self).__name__}", self._last_recording)

    def _write_flamegraph(self, path: str | os.PathLike, metric: str, options: dict) -> None:
        if metric not in self._flame_metrics:
            raise ValueError(f"metric should be one of: {list(self._flame_metrics)}")
        self.trace.export_flamegraph(path, metric=self._flame_metrics[metric], **options)

    def module_table(self) -> str:
        """Time and memory of each module (layer), forward and backward, as an indented table; "" without modules."""
        return self.trace.module_table()
