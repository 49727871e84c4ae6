# SPDX-License-Identifier: Apache-2.0
"""Results of a recording that torch.profiler lacks, and the display of a profile at a prompt."""

from __future__ import annotations

import os

from ..frontend import views


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
