# SPDX-License-Identifier: Apache-2.0
"""torch's _ExperimentalConfig: each field has its effect here or is refused by name (table in docs/torch.md)."""

from __future__ import annotations

import copy
import functools
import json

from torch._C._profiler import _ExperimentalConfig

from ..user_warning import warn_user
from .errors import UnsupportedFeature
from .features import behaves

# The fields that a recording is asked by, with a value that is not the default. The others choose what is done with
# the events of devices, which are not recorded; and trace_only may change at any time, so it is read where it counts.
_FIELDS = {
    "profiler_metrics": ["a metric"],
    "performance_events": ["an event"],
    "profile_all_threads": True,
    "capture_overload_names": True,
    "expose_kineto_event_metadata": True,
    "adjust_profiler_step": True,
    "record_python_gc_info": True,
    "verbose": True,
    "enable_cuda_sync_events": True,
    "custom_profiler_config": "a configuration",
}

_WITHOUT_EFFECT_HERE = {
    "profiler_metrics": "device counters are not read",
    "performance_events": "CPU counters are not read",
}


_IGNORED = {
    "profiler_metrics": "profiler_metrics and profiler_measure_per_kernel are deprecated and ignored. "
    "These options will be removed in a future release.",
    "adjust_profiler_step": "adjust_profiler_step is deprecated and ignored. It will be removed in a future release.",
}


def read_experimental_config(config) -> dict:
    """The fields of an _ExperimentalConfig that a recording is asked by; refuses what it cannot do."""
    if config is None:
        return {}
    state = config.__getstate__()
    fields = {name: state[at] for name, at in _positions(type(config)).items()}
    for name, warning in _IGNORED.items():
        if fields.get(name) and behaves(f"ignores {name}"):
            warn_user(warning, FutureWarning)
            del fields[name]
    for name, reason in _WITHOUT_EFFECT_HERE.items():
        if fields.get(name):
            raise _unsupported(f"experimental_config with {name}", reason)
    custom = fields.get("custom_profiler_config", "")
    if _monitor_is_asked(custom):
        raise _unsupported("experimental_config with the cupti_monitor backend", "device kernels are not recorded")
    if custom:
        raise _unsupported("experimental_config with custom_profiler_config", "there is no other collector to set up")
    return fields


def without_trace_only(config, with_stack: bool):
    """The config, or a copy where it asks for ``trace_only`` beside stacks, which need the events, as torch warns."""
    if config is not None and not isinstance(config, _ExperimentalConfig):
        config.trace_only  # noqa: B018  (torch's AttributeError for what is no config)
    if config is None or not with_stack or not getattr(config, "trace_only", False):
        return config
    warn_user(
        "trace_only=True is incompatible with with_stack=True (stack traces require event post-processing). "
        "Disabling trace_only.",
    )
    config = copy.copy(config)
    config.trace_only = False
    return config


def _unsupported(what: str, reason: str) -> UnsupportedFeature:
    return UnsupportedFeature(what, reason, "torch.profiler with the same experimental_config")


@functools.cache
def _positions(kind: type) -> dict[str, int]:
    """Where a field stands in the state of a config, which alone can be read: versions of torch differ in that."""
    plain, positions = kind().__getstate__(), {}
    for name, value in _FIELDS.items():
        try:
            state = kind(**{name: value}).__getstate__()
        except TypeError:  # a version that has no such field
            continue
        positions[name] = [one != other for one, other in zip(plain, state, strict=True)].index(True)
    return positions


def _monitor_is_asked(raw: str) -> bool:
    if not raw:
        return False
    try:
        parsed = json.loads(raw)
    except json.JSONDecodeError:
        return raw == "cupti_monitor"
    return isinstance(parsed, dict) and (parsed.get("backend") == "cupti_monitor" or bool(parsed.get("cupti_monitor")))
