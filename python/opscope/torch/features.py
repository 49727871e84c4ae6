# SPDX-License-Identifier: Apache-2.0
"""Features of the installed torch, of all that torch.profiler has had since 2.4: the only place with version checks.

opscope.torch has the names, arguments and attributes of the installed torch. Differences between releases are in the
tables here and are looked up in torch's modules, so that a future release is handled without a change; a test compares
the result with the tables. Differences that no name shows depend on the release number. ``OWNER.name`` is an attribute,
``OWNER.method(argument)`` an argument of a method, ``OWNER(argument)`` an argument of the constructor or function
itself.
"""

from __future__ import annotations

import functools
import inspect
import re
from types import MappingProxyType

import torch.autograd.profiler
import torch.autograd.profiler_util
import torch.profiler.profiler
from torch._C._profiler import _ExperimentalConfig, _ProfilerEvent
from torch.autograd import ProfilerActivity, ProfilerState, _KinetoEvent

Release = tuple[int, int]

# The releases from which the tables were made.
TRIED: tuple[Release, ...] = ((2, 4), (2, 6), (2, 8), (2, 10), (2, 11), (2, 12), (2, 13), (2, 14), (2, 15))

# The first of those releases (docs/reference/torch_versions.md) with the feature; features that are not
# listed are in all of them.
ADDED: MappingProxyType[Release, str] = MappingProxyType(
    {
        (2, 6): """
            FunctionEvent(is_user_annotation) FunctionEvent(kwinputs) FunctionEvent.is_user_annotation
            FunctionEvent.kwinputs FunctionEvent.self_cpu_percent FunctionEvent.total_cpu_percent
            FunctionEvent.total_device_percent FunctionEventAvg.is_user_annotation KinetoEvent.end_ns
            KinetoEvent.is_user_annotation KinetoEvent.kwinputs LegacyProfile(acc_events)
            LegacyProfile(custom_trace_id_callback) LegacyProfile.config(create_trace_id)
            LegacyProfile.toggle_collection_dynamic _ExperimentalConfig(adjust_profiler_step) _KinetoProfile(acc_events)
            _KinetoProfile(custom_trace_id_callback) _KinetoProfile.toggle_collection_dynamic profile(acc_events)
            profile(custom_trace_id_callback) profile.get_trace_id profile.set_custom_trace_id_callback
            schedule(skip_first_wait)
        """,
        (2, 8): """
            EventList.key_averages(group_by_overload_name) FunctionEvent(overload_name) FunctionEvent.overload_name
            FunctionEventAvg.overload_name KinetoEvent.overload_name LegacyProfile.key_averages(group_by_overload_name)
            ProfilerActivity.HPU ProfilerEvent.overload_name _ExperimentalConfig(capture_overload_names)
            _ExperimentalConfig(disable_external_correlation) _ExperimentalConfig(profile_all_threads)
            _KinetoProfile.key_averages(group_by_overload_name)
        """,
        (2, 10): """
            EventList.table(time_unit) FunctionEvent(metadata_json) FunctionEvent.metadata_json
            KinetoEvent.is_hidden_event KinetoEvent.metadata_json _ExperimentalConfig(custom_profiler_config)
            _ExperimentalConfig(expose_kineto_event_metadata) _ExperimentalConfig(record_python_gc_info)
        """,
        (2, 11): """
            LegacyProfile(post_processing_timeout_s) LegacyProfile._parse_kineto_results(timeout_s)
            MemRecordsAcc.in_interval(start_ns) _KinetoProfile(post_processing_timeout_s)
            profile(post_processing_timeout_s)
        """,
        (2, 12): """
            FunctionEvent(activity_type) FunctionEvent(external_id) FunctionEvent(extra_meta) FunctionEvent(flow_id)
            FunctionEvent(flow_start) FunctionEvent(flow_type) FunctionEvent(input_dtypes)
            FunctionEvent(is_python_function) FunctionEvent(linked_correlation_id) FunctionEvent(python_id)
            FunctionEvent(python_module_id) FunctionEvent(python_parent_id) FunctionEvent(structured_input_shapes)
            FunctionEvent(structured_input_strides) FunctionEvent.activity_type FunctionEvent.event_metadata
            FunctionEvent.external_id FunctionEvent.flow_id FunctionEvent.flow_start FunctionEvent.flow_type
            FunctionEvent.input_dtypes FunctionEvent.is_python_function FunctionEvent.linked_correlation_id
            FunctionEvent.python_id FunctionEvent.python_module_id FunctionEvent.python_parent_id
            FunctionEvent.structured_input_shapes FunctionEvent.structured_input_strides KinetoEvent.activity_type
            KinetoEvent.external_id KinetoEvent.extra_meta KinetoEvent.flow_id KinetoEvent.flow_start
            KinetoEvent.flow_type KinetoEvent.is_python_function KinetoEvent.python_id KinetoEvent.python_module_id
            KinetoEvent.python_parent_id KinetoEvent.structured_input_shapes KinetoEvent.structured_input_strides
            LegacyProfile(activity_filters) ProfilerState.KINETO_PRIVATEUSE1 _KinetoProfile.activity_filters
        """,
        (2, 13): """
            EventMetadata.channel EventMetadata.channel_type EventMetadata.est_occupancy_pct
            LegacyProfile.export_chrome_trace(metadata) LegacyProfile.export_chrome_trace(use_python_export)
            ProfilerAction.DEVICE_STOPPED _ExperimentalConfig(adjust_timestamps) _ExperimentalConfig(trace_only)
            _KinetoProfile.export_chrome_trace(use_python_export) tensorboard_trace_handler(use_python_export)
        """,
        (2, 14): """
            EventList.key_averages(include_python_functions) FunctionEvent(typed_metadata) FunctionEvent.metadata
            KinetoEvent.typed_metadata LegacyProfile.key_averages(include_python_functions)
            _KinetoProfile.key_averages(include_python_functions) _KinetoProfile.take_pending_cupti_export
        """,
        (2, 15): """
            EventMetadata.hsa_queue LegacyProfile(_profiler_extensions)
            LegacyProfile.export_chrome_trace(cuda_graph_annotations) LegacyProfile.export_chrome_trace(default_stream)
            LegacyProfile.export_chrome_trace(graph_lanes) _KinetoProfile.export_chrome_trace(cuda_graph_annotations)
            _KinetoProfile.export_chrome_trace(default_stream) _KinetoProfile.export_chrome_trace(graph_lanes)
            _KinetoProfile.activity_configs _KinetoProfile.take_pending_cuspy_export
        """,
    }
)
# The first of them without the feature.
REMOVED: MappingProxyType[Release, str] = MappingProxyType(
    {
        (2, 6): """
            LegacyProfile(use_mtia) LegacyProfile._check_finish LegacyProfile.use_mtia
        """,
        (2, 14): """
            LegacyProfile(use_cuda) LegacyProfile.use_cuda profile(use_cuda)
        """,
        (2, 15): """
            FunctionEvent(metadata_json) FunctionEvent.metadata_json _ExperimentalConfig(profiler_measure_per_kernel)
            _ExperimentalConfig(profiler_metrics) _KinetoProfile.activity_filters
            _KinetoProfile.take_pending_cupti_export
        """,
    }
)
# Behaviour that no name of torch shows -> the first release with it.
BEHAVIOUR: MappingProxyType[str, Release] = MappingProxyType(
    {
        "marks_instants_unfinished": (2, 8),
        "attributes_warnings_to_caller": (2, 10),
        "asserts_with_message": (2, 12),
        "lists_unfinished_events": (2, 12),
        "writes_host_name": (2, 12),
        "deprecates_memory_timeline": (2, 12),
        "deprecates_metadata_json": (2, 12),
        "keeps_string_lists": (2, 12),
        "records_graph_ranges": (2, 12),
        "ignores_profiler_metrics": (2, 14),
        "records_call_sites": (2, 14),
        "validates_activities_first": (2, 14),
        "ignores_adjust_profiler_step": (2, 15),
        "deprecates_event_metadata": (2, 15),
    }
)

_modern, _legacy, _util = torch.profiler.profiler, torch.autograd.profiler, torch.autograd.profiler_util
_CLASSES = {
    "_KinetoProfile": _modern._KinetoProfile,
    "profile": _modern.profile,
    "LegacyProfile": _legacy.profile,
    "_ExperimentalConfig": _ExperimentalConfig,
    "EventList": _util.EventList,
    "EventMetadata": getattr(_util, "EventMetadata", None),
    "FunctionEvent": _util.FunctionEvent,
    "FunctionEventAvg": _util.FunctionEventAvg,
    "KinetoEvent": _KinetoEvent,
    "MemRecordsAcc": _util.MemRecordsAcc,
    "ProfilerAction": _modern.ProfilerAction,
    "ProfilerActivity": ProfilerActivity,
    "ProfilerEvent": _ProfilerEvent,
    "ProfilerState": ProfilerState,
    "schedule": _modern.schedule,
    "tensorboard_trace_handler": _modern.tensorboard_trace_handler,
}


def release_of(version: str) -> Release:
    """ "2.14.1+cu130" as (2, 14)."""
    major, minor = re.match(r"(\d+)\.(\d+)", version).groups()
    return int(major), int(minor)


def was_in(feature: str, release: Release) -> bool:
    """Whether, by the tables, a release has the feature."""
    since = next((first for first, names in ADDED.items() if feature in names.split()), (2, 4))
    until = next((first for first, names in REMOVED.items() if feature in names.split()), None)
    return since <= release and (until is None or release < until)


@functools.cache
def has(feature: str) -> bool:
    """Whether the installed torch has the feature."""
    path, _, argument = feature.rstrip(")").partition("(")
    owner, _, name = path.partition(".")
    if argument:
        function = inspect.getattr_static(_CLASSES[owner], name or "__init__", None) if name else _CLASSES[owner]
        return function is not None and argument in _arguments_of(function)
    return name in _attributes_of(owner)


def _arguments_of(function) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except ValueError:  # a C++ function: the first line of its docstring has the arguments
        return set(re.findall(r"(\w+): ", (function.__init__.__doc__ or "").partition("\n")[0]))


def qualified_name(owner: str, name: str) -> str | None:
    """The name of a method in TypeErrors of the installed torch; None if it has no such method."""
    function = inspect.getattr_static(_CLASSES[owner], name, None)
    return function.__qualname__ if inspect.isfunction(function) else None


def behaves(what: str) -> bool:
    """Whether the installed torch has this behaviour."""
    return release_of(torch.__version__) >= BEHAVIOUR[what]


def left_out_of_lists() -> dict[str, bool]:
    """Events that the installed torch records without listing them, as arguments of FunctionEvents; empty if none.

    Its lists contain Python calls since these are distinguishable from operators (``is_python_function``, 2.12).
    """
    left_out = {}
    if not behaves("lists_unfinished_events"):
        left_out["only_finished"] = True
    if not has("KinetoEvent.is_python_function"):
        left_out["python_functions"] = False
    return left_out


def known() -> list[str]:
    """All features of the tables."""
    return [name for table in (ADDED, REMOVED) for names in table.values() for name in names.split()]


@functools.cache
def _attributes_of(owner: str) -> frozenset[str]:
    """Attributes of the objects of a class. Events get most of them in their constructor, averages with the first
    event.
    """
    example = _CLASSES[owner]
    event = _util.FunctionEvent(0, "", 0, 0, 0)
    if owner == "FunctionEvent":
        example = event
    elif owner == "FunctionEventAvg":
        example = example().add(event)
    elif owner in ("LegacyProfile", "_KinetoProfile"):
        example = example()
    return frozenset(dir(example))


@functools.cache
def absent(owner: str) -> tuple[frozenset[str], MappingProxyType[str, frozenset[str]]]:
    """What the installed torch lacks of a class or function: attributes, and arguments by method ("": of the
    constructor).
    """
    attributes, arguments = set(), {}
    for feature in dict.fromkeys(known()):
        path, _, argument = feature.rstrip(")").partition("(")
        of, _, name = path.partition(".")
        if of != owner or has(feature):
            continue
        if argument:
            arguments.setdefault(name, set()).add(argument)
        else:
            attributes.add(name)
    return frozenset(attributes), MappingProxyType({name: frozenset(taken) for name, taken in arguments.items()})
