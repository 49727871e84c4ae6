# SPDX-License-Identifier: Apache-2.0
"""Views of a recording that torch.profiler has not."""

from __future__ import annotations

import os

# Names of attributes of events, and what opscope.Trace calls them.
FLAME_METRICS = {
    "self_cpu_time_total": "time",
    "self_device_time_total": "device_time",
    "self_cuda_time_total": "device_time",
    "self_cpu_memory_usage": "memory",
    "flops": "flops",
    "count": "count",
}


class Views:
    """Of whatever has a ``trace``."""

    def export_flamegraph(self, path: str | os.PathLike, metric: str = "self_cpu_time_total", **options) -> None:
        """Writes a flame graph of the last recording as SVG, or folded stacks when the name does not end in ``.svg``.

        Python frames are in it with ``with_stack=True``; without, it shows which operators called which.
        ``metric``: "self_cpu_time_total", "self_device_time_total", "self_cpu_memory_usage", "flops" or "count".
        ``options``: those of ``opscope.Trace.export_flamegraph``.
        """
        if metric not in FLAME_METRICS:
            raise ValueError(f"metric should be one of: {list(FLAME_METRICS)}")
        self.trace.export_flamegraph(path, metric=FLAME_METRICS[metric], **options)

    def module_table(self) -> str:
        """What each ``torch.nn.Module`` took, forward and backward, as an indented table.

        Modules are recorded by ``with_modules=True`` and by ``with_stack=True``; "" without.
        """
        return self.trace.module_table()
