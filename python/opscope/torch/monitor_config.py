# SPDX-License-Identifier: Apache-2.0
"""``custom_profiler_config`` with ``"backend": "cupti_monitor"`` (torch 2.14): the effect of each key on a recording.

Table in docs/reference/cuda.md. Types and texts of errors, and the places where they are raised, are torch's.
"""

from __future__ import annotations

import json
from typing import Any

from ..frontend import cuda_graphs
from ..user_warning import warn_user
from .graph_annotations import names_of_graph_nodes

BACKEND = "cupti_monitor"
_ASYNC_EXPORT = "cupti_monitor_async_export"

# Key -> flag of the CUDA source (cuda_source_flags of include/opscope/cuda_source.h).
_FLAGS = {
    "enable_cuda_sync_events": "synchronization",
    "enable_environment_counters": "environment",
    "enable_graph_dependencies": "graph_edges",
    "enable_event_node_ids": "event_nodes",
}
_OF_GRAPHS = ("enable_graph_dependencies", "enable_event_node_ids")
_KEYS = {
    "backend",
    BACKEND,
    _ASYNC_EXPORT,
    "enable_pm_sampling",
    "pm_metrics",
    "pftrace_compression_level",
    *_FLAGS,
}
_NO_PM_SAMPLING = (
    "custom_profiler_config: enable_pm_sampling has no effect: PM sampling needs NVIDIA's library of counters "
    "(libnvperf), which opscope does not load"
)


class MonitorConfig:
    """The keys of one profile. ``prepare`` reads the values again for every recording, as torch does."""

    def __init__(self, keys: dict[str, Any]) -> None:
        self._keys = keys
        self._watch_graphs()
        self.exports_later = bool(keys.get(_ASYNC_EXPORT, False))
        self.pftrace_level = 1
        self._has_warned = False

    @property
    def cuda_flags(self) -> list[str]:
        """Flags for the CUDA source. No key requests host nodes of graphs: torch always records them."""
        return ["host_nodes", *(flag for key, flag in _FLAGS.items() if self._keys.get(key))]

    # Watched from the creation of the profile on, because graphs are captured once, before the profiled part.
    def _watch_graphs(self) -> None:
        requested = [key for key in _OF_GRAPHS if self._keys.get(key)]
        why = cuda_graphs.watch(self) if requested else ""
        if why:
            warn_user(f"custom_profiler_config: {' and '.join(requested)} cannot be done here: {why}")

    def describe(self, recording) -> None:
        """Adds facts that only the program knows to a recording, before it stops."""
        if names := names_of_graph_nodes():
            recording.add_metadata("opscope.graph_nodes", names)  # kGraphNodesKey of window_facts.h

    def prepare(self) -> None:
        """Checks values that may be refused only now; warns once about keys without effect."""
        list(self._keys.get("pm_metrics") or [])
        self.pftrace_level = min(9, max(0, int(self._keys.get("pftrace_compression_level", 1))))
        if self._has_warned:
            return
        self._has_warned = True
        if self._keys.get("enable_pm_sampling"):
            warn_user(_NO_PM_SAMPLING)
        if unknown := sorted(self._keys.keys() - _KEYS):
            warn_user(f"custom_profiler_config: {', '.join(unknown)} is not a key of {BACKEND} and has no effect")


def read_monitor_config(raw: str, *, records_cpu: bool) -> MonitorConfig | None:
    """The config; None if the monitor is not requested."""
    keys = _parsed(raw)
    if keys.get("backend") == BACKEND or keys.get(BACKEND):
        if not records_cpu:
            raise ValueError(f"{BACKEND} profiler backend currently requires CPU activity")
        return MonitorConfig(keys)
    if _ASYNC_EXPORT in keys:
        raise ValueError(f"{_ASYNC_EXPORT} is only supported with the {BACKEND} backend")
    return None


def _parsed(raw: str) -> dict[str, Any]:
    if not raw:
        return {}
    try:
        parsed = json.loads(raw)
    except json.JSONDecodeError:
        return {"backend": raw}
    return parsed if isinstance(parsed, dict) else {}
