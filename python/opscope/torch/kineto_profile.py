# SPDX-License-Identifier: Apache-2.0
"""A profile without steps: prepare, start, stop, results. ``profile`` adds the schedule."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

from torch.autograd import ProfilerActivity, ProfilerState

from ..frontend.lifecycle import Lifecycle
from ..frontend.options import DEFAULT_MAX_BYTES
from ..user_warning import warn_user
from . import memory_timeline, metadata
from .actions import device_of, parse_activities, selections_of, supported_activities
from .cleared_events_warning import warn_of_cleared_events
from .events import PYTHON_FUNCTIONS
from .experimental_config import monitor_of, read_experimental_config, without_trace_only
from .features import has
from .memory_timeline import MemoryTimeline
from .monitor_export import Exports, name_of_file, write_file
from .profiler_config import new_trace_id, shapes_of, torchs_config
from .recording import Recording
from .settings import (
    RecordingSettings,
    checked_timeout,
    cuda_if_there,
    refuse_activities,
    selected_categories,
    usable_device,
)
from .torch_shape import as_in_torch
from .trace_identity import TraceIdentity
from .views import Views


@as_in_torch("_KinetoProfile")
class _KinetoProfile(TraceIdentity, Views, Lifecycle):
    """Records from ``start()`` to ``stop()``.

    Takes the arguments of torch's class of this name; those whose data opscope does not record yet
    raise UnsupportedFeature. ``max_bytes``, ``at_cap``, ``record_to`` and ``dump_...`` are opscope's own:
    ``help(opscope.frontend.options.OwnOptions)``.
    """

    _writes_chrome = "export_chrome_trace({!r})"
    _keeps_each_cycle = False  # True: the integration that made this profile writes a file of each cycle
    # Selected activity types of each group; the second name is torch's since it became an object.
    activity_filters = activity_configs = property(
        lambda self: self._chosen, lambda self, chosen: setattr(self, "_chosen", chosen)
    )

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any | None = None,
        execution_trace_observer: Any | None = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        record_to: str | os.PathLike | None = None,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        at_cap: str = "stop",
        dump_to: str | os.PathLike | None = None,
        dump_on_signal: int | None = None,
        dump_on_exception: bool = False,
        dump_if_no_step_for: float | None = None,
    ) -> None:
        if activities is None:
            self.activities, self._chosen = supported_activities(), {}
        else:
            self.activities, self._chosen = parse_activities(activities)
        refuse_activities(self.activities, by_default=activities is None)
        self._take_own_options(
            max_bytes=max_bytes,
            at_cap=at_cap,
            record_to=record_to,
            dump_to=dump_to,
            dump_on_signal=dump_on_signal,
            dump_on_exception=dump_on_exception,
            dump_if_no_step_for=dump_if_no_step_for,
        )
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.experimental_config = without_trace_only(experimental_config, with_stack)
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events or not has("_KinetoProfile(acc_events)")  # older releases always accumulate
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.profiler: Recording | None = None
        self.mem_tl = None
        self.has_cudagraphs = False
        self.use_device = device_of(self.activities)
        self.preset_metadata: dict[str, str] = {}
        self._trace_metadata: dict[str, str] = {}
        self._metadata_for_next: dict[str, str] = {}
        self._experimental = read_experimental_config(experimental_config)
        self._monitor = monitor_of(experimental_config, records_cpu=ProfilerActivity.CPU in self.activities)
        self._exports = Exports()

    # ---- recording --------------------------------------------------------------------------

    def start(self) -> None:
        """Prepares and starts a recording."""
        self._begin(lambda: (self.prepare_trace(), self.start_trace()))

    def stop(self) -> None:
        """Ends the recording; a second call changes nothing."""
        self._finish(self.stop_trace)

    def prepare_trace(self) -> None:
        """Creates a new recording; the results of the previous one are discarded."""
        replaces_events = self.profiler is not None and not self.profiler.is_inherited and not self.acc_events
        if replaces_events and not self._keeps_each_cycle:
            warn_of_cleared_events()
        self.profiler = self._new_recording()

    def _new_recording(self) -> Recording:
        if self._monitor is not None:
            self._monitor.prepare()
        # The monitor records a device even if its events are not requested, and warns by itself if it cannot.
        device = usable_device(self.use_device) if self._monitor is None else cuda_if_there(self.use_device)
        if ProfilerActivity.CPU not in self.activities and device is None:
            raise AssertionError("No activities specified for the profiler")
        selections = selections_of(self._chosen)
        trace_id = self._checked_trace_id()
        records_cpu = ProfilerActivity.CPU in self.activities
        settings = RecordingSettings(
            records_cpu=records_cpu,
            record_shapes=bool(self.record_shapes),
            profile_memory=self.profile_memory,
            with_flops=self.with_flops,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
            call_stacks=bool(self.with_stack and self._experimental.get("verbose")),
            adjust_steps=bool(self.with_stack and self._experimental.get("adjust_profiler_step")),
            python_gc=bool(self._experimental.get("record_python_gc_info")),
            all_threads=bool(self._experimental.get("profile_all_threads")),
            overload_names=bool(self._experimental.get("capture_overload_names")),
            expose_metadata=bool(self._experimental.get("expose_kineto_event_metadata")),
            cuda_sync_events=bool(self._experimental.get("enable_cuda_sync_events")),
            monitor=self._monitor,
            trace_only=self._is_trace_only(),
            tensor_identities=bool(records_cpu and self.profile_memory and (self.record_shapes or self.with_stack)),
            use_device=device,
            max_bytes=self.max_bytes,
            at_cap=self.at_cap,
            record_to=self.record_to or "",
            post_processing_timeout_s=checked_timeout(self.post_processing_timeout_s),
            acc_events=bool(self.acc_events),
            only_categories=selected_categories(self.activities, selections),
            activity_filters=selections,
            experimental_config=self.experimental_config,
            custom_trace_id_callback=self.custom_trace_id_callback,
        )
        return Recording(settings, trace_id, self._session)

    def _checked_trace_id(self) -> str:
        """A new trace id. Raises torch's TypeErrors for invalid flags and ids, before anything is recorded."""
        shapes = shapes_of(self.record_shapes, self.with_flops)
        flags = (shapes, self.profile_memory, self.with_stack, self.with_flops, self.with_modules)
        config, trace_id = self.experimental_config, self._create_trace_id()
        torchs_config(ProfilerState.KINETO, *flags, experimental_config=config, trace_id=trace_id)
        return trace_id

    def _create_trace_id(self) -> str:
        make = self.custom_trace_id_callback
        return make() if make else new_trace_id()

    def start_trace(self) -> None:
        """Starts a prepared recording."""
        recording = self._recording_of("starting trace")
        if recording.is_running:
            raise RuntimeError("the profiler is already recording")
        if recording.is_finished:
            self.prepare_trace()  # an exception in a handler has kept the cycle from preparing
        options = {"activities": sorted(each.name for each in self.activities)}
        options |= {name: bool(getattr(self, name)) for name in metadata.FLAGS}
        for key, value in metadata.job_metadata(self.profiler.trace_id, options).items():
            self.profiler.add_metadata(key, value)
        for key, value in (self._metadata_for_next | self._own_metadata() | self.preset_metadata).items():
            self.add_metadata_json(key, value)
        self._metadata_for_next = {}
        self._start_with_observer(self.profiler)

    def _start_with_observer(self, recording: Recording) -> None:
        observer = self.execution_trace_observer
        if not observer:
            recording.start()
            return
        observer.start()
        try:
            recording.start()
        except BaseException:
            observer.stop()
            raise

    def _own_metadata(self) -> dict[str, str]:
        members = {name: "1" for name in metadata.FLAGS if getattr(self, name)}
        distributed = metadata.distributed_info_json()
        if distributed is not None:
            members["distributedInfo"] = distributed
        return members

    def stop_trace(self) -> None:
        """Ends the recording."""
        try:
            if self.execution_trace_observer:
                self.execution_trace_observer.stop()
        finally:
            self._recording_of("stopping trace").stop()

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pauses or resumes the recording of these groups; on any thread, without effect unless a recording runs.

        ``ProfilerActivity.CPU``: operators and ranges; open ones end as usual, and allocations and Python frames are
        still recorded. ``ProfilerActivity.CUDA``: launched work; waits for the device.
        """
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def wait_for_exports(self) -> None:
        """Waits until the files of ``cupti_monitor_async_export`` are written."""
        self._exports.join()

    def take_pending_cupti_export(self) -> Exports | None:
        """The files that are being written: call ``join()`` on any thread to wait for them. None if there are none."""
        taken, self._exports = self._exports, Exports()
        return taken or None

    def take_pending_cuspy_export(self) -> Exports | None:
        """The same under the name of later versions of torch."""
        return self.take_pending_cupti_export()

    def _recording_of(self, what: str) -> Recording:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    # ---- results ----------------------------------------------------------------------------

    def _is_trace_only(self) -> bool:
        # The only field of the config that may change after construction.
        return bool(getattr(self.experimental_config, "trace_only", False))

    def events(self):
        """The recorded events as an EventList of FunctionEvent, in order of their starts."""
        recording = self._recording_of("accessing events")
        self._refuse_if_trace_only()
        return recording.function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = PYTHON_FUNCTIONS,
        *,
        corrected: bool = False,
    ):
        """The events summed by name and, if requested, by shapes, stack and overload, as an EventList.

        ``include_python_functions``: also rows for calls of Python functions and modules, which ``with_stack=True``
        records. ``corrected``: CPU times without the overhead of recording (docs/reference/overhead.md).
        """
        recording = self._recording_of("getting key averages")
        self._refuse_if_trace_only()
        return recording._events_to_show()._averages(
            bool(group_by_input_shape),
            group_by_stack_n,
            bool(group_by_overload_name),
            bool(include_python_functions),
            corrected=corrected,
        )

    def _refuse_if_trace_only(self) -> None:
        if self._is_trace_only():
            raise RuntimeError(
                "events() is not available when trace_only=True in "
                "ExperimentalConfig. Use export_chrome_trace() instead."
            )

    def export_chrome_trace(
        self,
        path: str,
        use_python_export: bool = False,
        cuda_graph_annotations: Any | None = None,
        graph_lanes: str = "none",
        default_stream: int = 7,
    ):
        """Writes the last recording as Chrome trace JSON, compressed if the path ends in ``.gz``. May be called
        repeatedly.

        ``use_python_export`` selects one of torch's two writers; opscope has one. With the cupti_monitor backend the
        file is always compressed (``.gz`` is added), and has Perfetto's format if its name contains ``.pftrace``.
        ``cuda_graph_annotations``, ``graph_lanes`` and ``default_stream`` have no effect.
        """
        recording = self._recording_of("exporting chrome trace")
        _check_path(path)
        monitor = self._monitor
        if monitor is None:
            recording.export_chrome_trace(path)
            return
        name = name_of_file(path)
        write = functools.partial(write_file, recording, name, monitor.pftrace_level)
        self._exports.write(name, write, later=monitor.exports_later)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total"):
        """Writes a line per event with its stack and its metric, for flamegraph.pl. Needs with_stack=True and
        verbose.
        """
        return self._recording_of("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes the allocated bytes over time, by category, in the format of the path's extension. Deprecated in
        torch.

        ``.html``: a picture; ``raw.json.gz``: every event; ``.json`` and ``.json.gz``: times and bytes by category.
        ``device``: "cpu", "cuda:0", ...; by default the profiled one.
        """
        warn_user(
            "`export_memory_timeline` is deprecated and will be removed in a future version. "
            "Please use `torch.cuda.memory._record_memory_history` and "
            "`torch.cuda.memory._export_memory_snapshot` instead.",
            FutureWarning,
        )
        self.mem_tl = MemoryTimeline.of_profile(self)
        _check_path(path)
        self.mem_tl.export(path, memory_timeline.default_device(self.use_device) if device is None else device)

    def _memory_profile(self):
        """Torch's own ``MemoryProfile`` of the last recording: timeline, categories and data flow as Python objects."""
        return memory_timeline.torchs_memory_profile(self)

    def _stats(self):
        """Times of the profiler's calls, and the number of events; None before the start."""
        return None if self.profiler is None else self.profiler._stats


def _check_path(path) -> None:
    if not isinstance(path, os.PathLike) and not hasattr(path, "endswith"):  # torch calls path.endswith
        raise AttributeError(f"{type(path).__name__!r} object has no attribute 'endswith'", name="endswith", obj=path)
