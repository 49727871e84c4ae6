# SPDX-License-Identifier: Apache-2.0
"""Results of a recording that torch.profiler lacks, and the display of a profile at a prompt and in a notebook."""

from __future__ import annotations

import os
from dataclasses import replace

from ..frontend import views
from .event_display import preview_of_events


class Views(views.Views):
    """Mixin with torch's names of event attributes."""

    _front_end = "opscope.torch"
    _flame_metrics = {
        "self_cpu_time_total": "time",
        "self_device_time_total": "device_time",
        "self_cuda_time_total": "device_time",
        "self_cpu_memory_usage": "memory",
        "flops": "flops",
        "count": "count",
    }

    def _repr_html_(self) -> str | None:
        recording = self.profiler
        if recording is None or not recording.is_finished or recording.is_inherited or self._is_trace_only():
            return None
        averages = recording.function_events.key_averages()
        averages.sort(key=lambda average: average.self_cpu_time_total, reverse=True)
        shown = preview_of_events(averages)
        return None if shown is None else replace(shown, caption=f"{self!r}, by self CPU time").html()

    def export_flamegraph(self, path: str | os.PathLike, metric: str = "self_cpu_time_total", **options) -> None:
        """Writes a flame graph of the last recording as SVG, or folded stacks if the path does not end in ``.svg``.

        It contains Python frames if ``with_stack=True``; otherwise it shows which operators called which. ``metric``:
        "self_cpu_time_total", "self_device_time_total", "self_cpu_memory_usage", "flops" or "count". ``options``: those
        of ``opscope.Trace.export_flamegraph``.
        """
        self._write_flamegraph(path, metric, options)

    def module_table(self) -> str:
        """Time of each ``torch.nn.Module``, forward and backward, as an indented table.

        Modules are recorded with ``with_modules=True`` and with ``with_stack=True``; otherwise the text is empty.
        """
        return super().module_table()
