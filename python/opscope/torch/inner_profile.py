# SPDX-License-Identifier: Apache-2.0
"""``profile.profiler``: an object with the names of ``torch.autograd.profiler.profile``."""

from __future__ import annotations

import os
from dataclasses import dataclass

from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerActivity

from ..user_warning import warn_user
from .actions import sources_to_toggle
from .event_results import EventResults
from .kineto_results import KinetoResults
from .metadata import NOT_EXPORTED
from .profiler_config import DescribedConfig
from .torch_shape import as_in_torch


@dataclass
class ProfilerStats:
    """Times of the profiler's own calls; ``parse`` and ``build_tree`` stay 0 until ``events()`` is used."""

    profiling_window_duration_sec: float = 0
    number_of_events: int = 0
    profiler_prepare_call_duration_us: int = 0
    profiler_enable_call_duration_us: int = 0
    profiler_disable_call_duration_us: int = 0
    parse_kineto_call_duration_us: int = 0
    function_events_build_tree_call_duration_us: int = 0


@as_in_torch("LegacyProfile")
class InnerProfile(DescribedConfig, EventResults):
    """The results of a ``Recording`` under torch's names."""

    enabled = True
    use_cuda = False
    use_mtia = False
    entered = True
    _results: KinetoResults | None = None  # set in the object at the first access

    def __init__(self) -> None:
        self._stats = ProfilerStats()

    # Attributes of the settings: the arguments of the profile.
    use_device = property(lambda self: self._settings.use_device, doc="The device whose events can appear, or None.")
    record_shapes = property(lambda self: self._settings.record_shapes or self._settings.with_flops)
    with_flops = property(lambda self: self._settings.with_flops)
    profile_memory = property(lambda self: bool(self._settings.profile_memory))
    with_stack = property(lambda self: bool(getattr(self._settings, "with_stack", False)))
    with_modules = property(lambda self: bool(getattr(self._settings, "with_modules", False)))
    acc_events = property(lambda self: self._settings.acc_events)
    activity_filters = property(lambda self: self._settings.activity_filters)
    experimental_config = property(lambda self: self._settings.experimental_config or _ExperimentalConfig())
    custom_trace_id_callback = property(lambda self: self._settings.custom_trace_id_callback)
    post_processing_timeout_s = property(lambda self: self._settings.post_processing_timeout_s)
    use_cpu = property(lambda self: self._settings.records_cpu)
    profiling_start_time_ns = property(lambda self: self._started_ns, doc="Of ``time.perf_counter_ns()``.")

    @property
    def kineto_activities(self) -> set[ProfilerActivity]:
        """The recorded activities."""
        of_cpu = {ProfilerActivity.CPU} if self.use_cpu else set()
        return of_cpu | ({ProfilerActivity.CUDA} if self.use_device == "cuda" else set())

    @property
    def profiling_end_time_ns(self) -> int:
        """The same of its end; 0 before."""
        lasted = round(self._stats.profiling_window_duration_sec * 1e9)
        return self._started_ns + lasted if self.is_finished else 0

    def create_trace_id(self) -> str:
        """The id from ``custom_trace_id_callback``, or a random one."""
        return self.custom_trace_id_callback() if self.custom_trace_id_callback else self.default_trace_id()

    def toggle_collection_dynamic(self, enabled: bool, activities) -> None:
        """As ``profile.toggle_collection_dynamic``."""
        for source in sources_to_toggle(enabled, activities):
            if source != "torch" or self.use_cpu:  # activities that are not recorded cannot be enabled
                self.pause(not enabled, source)

    @property
    def kineto_results(self) -> KinetoResults | None:
        """The raw events; None until the recording has stopped."""
        if self._results is None and self.is_finished:
            return self.__dict__.setdefault("_results", KinetoResults(self))
        return self._results

    def _parse_kineto_results(self, result: KinetoResults, timeout_s: float | None = None):
        """The result of torch's method of this name: the events of a ``kineto_results`` in a new list."""
        return result.parsed(timeout_s)

    def export_chrome_trace(
        self,
        path,
        metadata=None,
        use_python_export=False,
        cuda_graph_annotations=None,
        graph_lanes="none",
        default_stream=7,
    ):
        """Writes the last cycle as Chrome trace JSON. ``metadata`` is ignored: it is in the recording already."""
        self.last_cycle_trace().export_chrome(
            path,
            trace_name=os.fsdecode(path),
            only_categories=self._settings.only_categories,
            without_metadata=NOT_EXPORTED,
        )

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total"):
        """``EventList.export_stacks`` of the events."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)
        if not self._settings.call_stacks and os.path.getsize(path) == 0:
            warn_user(
                f"{os.fsdecode(path)} is empty: events carry Python stacks only with "
                "experimental_config=_ExperimentalConfig(verbose=True), as in torch.profiler",
            )
