# SPDX-License-Identifier: Apache-2.0
"""``profile`` of ``torch.autograd.profiler``: one ``with`` block, no steps, results on the object itself."""

from __future__ import annotations

import os

import torch.autograd.profiler as _torchs_module
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerActivity, ProfilerState
from torch.autograd.profiler import profile as _TorchsProfile

from ..frontend.options import DEFAULT_MAX_BYTES
from ..user_warning import warn_user
from .actions import device_is_available
from .compile_support import compile_as
from .errors import UnsupportedFeature
from .event_results import EventResults
from .features import has
from .inner_profile import InnerProfile, ProfilerStats
from .kineto_profile import _KinetoProfile
from .profiler_config import DescribedConfig, shapes_of
from .settings import checked_timeout
from .torch_shape import as_in_torch, as_written

_KNOWN_DEVICES = {"cuda": "CUDA", "xpu": "XPU", "mtia": "MTIA", "hpu": "HPU"}
_DEVICES = {device: group for device, group in _KNOWN_DEVICES.items() if hasattr(ProfilerActivity, group)}
if has("LegacyProfile(use_mtia)"):  # this argument selects the device instead
    del _DEVICES["mtia"]
_KINDS_OF_PRIVATE = (
    ProfilerState.KINETO_PRIVATEUSE1_FALLBACK,
    getattr(ProfilerState, "KINETO_PRIVATEUSE1", ProfilerState.KINETO_PRIVATEUSE1_FALLBACK),
)


@as_in_torch("LegacyProfile")
class profile(DescribedConfig, EventResults):
    """Records a block of code::

        with opscope.torch.autograd_profiler.profile() as prof:
            y = model(x)
        print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    Takes the arguments of torch's class of this name; ``opscope.torch.profile`` has more to offer. With
    ``enabled=False`` nothing is recorded and there are no results. ``use_kineto`` has no effect: there is one way to
    record. ``record_to``, ``max_bytes`` and ``at_cap`` are those of ``opscope.torch.profile``.
    """

    def __init__(
        self,
        enabled=True,
        *,
        use_cuda=False,
        use_device=None,
        record_shapes=False,
        with_flops=False,
        profile_memory=False,
        with_stack=False,
        with_modules=False,
        use_kineto=False,
        use_cpu=True,
        use_mtia=False,
        experimental_config=None,
        acc_events=False,
        custom_trace_id_callback=None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict[ProfilerActivity, set[str]] | None = None,
        _profiler_extensions: dict[str, str] | None = None,
        record_to: str | os.PathLike | None = None,
        max_bytes: int | str = DEFAULT_MAX_BYTES,
        at_cap: str = "stop",
    ) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warn_user(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
            )
            use_device = "cuda"
        self.entered = False
        self.use_cpu = use_cpu
        if has("LegacyProfile.use_mtia"):
            self.use_mtia = use_mtia
        if _profiler_extensions:
            raise UnsupportedFeature(f"_profiler_extensions={_profiler_extensions!r}", "counters are not read")
        self.activity_filters = activity_filters or {}
        if not isinstance(self.activity_filters, dict):
            raise TypeError(f"activity_filters: a dict of sets of names is needed, not {activity_filters!r}")
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        self.use_device = _device_to_record(use_device)
        # a device type that a program has registered
        if self.use_device is not None and self.use_device not in _DEVICES:
            self.profiler_kind = _KINDS_OF_PRIVATE[bool(use_kineto)]
        if has("LegacyProfile.use_cuda"):
            self.use_cuda = use_cuda if self.use_device is not None else False
        self.kineto_activities = _activities(use_cpu, self.use_device, use_mtia)
        self.post_processing_timeout_s = checked_timeout(post_processing_timeout_s)
        self._profile = object.__new__(_KinetoProfile)
        as_written(_KinetoProfile.__init__)(
            self._profile,
            activities=[
                {group: list(self.activity_filters[group])} if group in self.activity_filters else group
                for group in self.kineto_activities
            ],
            record_shapes=shapes_of(record_shapes, with_flops),
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            experimental_config=experimental_config,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
            record_to=record_to,
            max_bytes=max_bytes,
            at_cap=at_cap,
        )

    def __getattr__(self, name: str):
        # Called for attributes that __init__ has not set: with enabled=False that is all of them.
        if not self.__dict__.get("enabled", True):
            raise AttributeError(
                f"'profile' object has no attribute '{name}': it was made with enabled=False", name=name, obj=self
            )
        if name == "experimental_config" and self._profile.experimental_config is None:
            self._profile.experimental_config = _ExperimentalConfig()  # torch's profile always has one
        if name in _OF_THE_SETTINGS:
            return getattr(self._profile, name)
        raise AttributeError(f"'profile' object has no attribute '{name}'", name=name, obj=self)

    # ---- recording --------------------------------------------------------------------------

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._prepare_trace()
        self._start_trace()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not self.enabled:
            return None
        self._profile.stop_trace()
        return False

    def _prepare_trace(self) -> None:
        self.entered = True
        self._profile.prepare_trace()

    def _start_trace(self) -> None:
        self.entered = True
        self._profile.start_trace()

    def toggle_collection_dynamic(self, enabled: bool, activities) -> None:
        """Pauses or resumes the recording of operators and ranges."""
        if self.enabled:
            self._profile.toggle_collection_dynamic(enabled, activities)

    # ---- identity ---------------------------------------------------------------------------

    def create_trace_id(self) -> str:
        """The id for a new recording: from ``custom_trace_id_callback``, or random."""
        return self._profile._create_trace_id()

    @property
    def trace_id(self) -> str:
        """The id of the recording; "" before it is prepared."""
        recording = self._profile.profiler
        return "" if recording is None else recording.trace_id

    # ---- results ----------------------------------------------------------------------------

    @property
    def function_events(self):
        """The recorded events; none until the block has ended."""
        self._profile._refuse_if_trace_only()
        return self._finished_or_new().function_events

    def _finished_or_new(self):
        # Before the block, and for a recording that was not started, torch has an empty list.
        return self._profile.profiler or self._profile._new_recording()

    _parse_kineto_results = InnerProfile._parse_kineto_results

    def export_chrome_trace(
        self,
        path,
        metadata=None,
        use_python_export=False,
        cuda_graph_annotations=None,
        graph_lanes="none",
        default_stream=7,
    ):
        """Writes the recording as Chrome trace JSON."""
        self._events_to_show()
        if self.kineto_results is None:
            raise AttributeError("'NoneType' object has no attribute 'save': nothing has been recorded yet")
        self._profile.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total"):
        """``EventList.export_stacks`` of the events; needs ``with_stack=True``."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        return self.function_events.export_stacks(path, metric)

    @property
    def kineto_results(self):
        """The raw events; None until the block has ended."""
        recording = self._profile.profiler
        return None if recording is None else recording.kineto_results

    @property
    def profiling_start_time_ns(self) -> int:
        """Start on the clock ``time.perf_counter_ns()``; 0 before the block."""
        recording = self._profile.profiler
        return 0 if recording is None else recording._started_ns

    @property
    def profiling_end_time_ns(self) -> int:
        """End on the same clock."""
        return self.profiling_start_time_ns + round(self._stats.profiling_window_duration_sec * 1e9)

    @property
    def _stats(self) -> ProfilerStats:
        recording = self._profile.profiler
        return ProfilerStats() if recording is None else recording._stats

    @property
    def trace(self):
        """The recording as tables (``opscope.Trace``)."""
        return self._profile.trace

    def save(self, path: str | os.PathLike) -> None:
        """Writes the recording as ``.opscope``."""
        self._profile.save(path)

    def report(self, path: str | os.PathLike, **options) -> None:
        """Writes the recording as an HTML page for the browser; ``options``: those of ``opscope.Trace.report``."""
        self._profile.report(path, **options)


compile_as(profile, _TorchsProfile)

_OF_THE_SETTINGS = frozenset(
    "record_shapes with_flops profile_memory with_stack with_modules experimental_config acc_events"
    " custom_trace_id_callback".split()
)


def _device_to_record(device: str | None) -> str | None:
    """The device if it exists and is available; otherwise warns as torch does."""
    if device is None:
        return None
    private = _torchs_module._get_privateuse1_backend_name()
    if device not in tuple(_DEVICES) and (device != private or private == "privateuseone"):
        warn_user(f"The {device} is not a valid device option.")
        return None
    if device != "mtia" and device in _DEVICES and not device_is_available(device):
        warn_user(f"{_DEVICES[device]} is not available, disabling {_DEVICES[device]} profiling")
        return None
    if device == "mtia" and not device_is_available(device):
        raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
    return device


def _activities(use_cpu: bool, device: str | None, use_mtia: bool) -> set[ProfilerActivity]:
    groups = {ProfilerActivity.CPU} if use_cpu else set()
    if use_mtia:
        groups.add(ProfilerActivity.MTIA)
    if device is not None:
        groups.add(getattr(ProfilerActivity, _DEVICES.get(device, "PrivateUse1")))
    if not groups:
        raise AssertionError("No activities specified for the profiler")
    return groups
