# SPDX-License-Identifier: Apache-2.0
"""torch's _ExperimentalConfig: each field is either implemented or refused by name (docs/reference/torch.md)."""

from __future__ import annotations

import copy
import functools

from torch._C._profiler import _ExperimentalConfig as _TorchsConfig

from ..user_warning import warn_user
from .errors import UnsupportedFeature
from .features import behaves, has
from .monitor_config import MonitorConfig, read_monitor_config

# Fields that affect a recording if they do not have their default value. The others concern device events, which are
# not recorded. trace_only may change at any time, so it is read when it is used.
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
    "custom_profiler_config": "a collector",
}

# Field -> why a value is refused.
_REFUSED = {
    "profiler_metrics": "device counters are not read",
    "performance_events": "CPU counters are not read",
}

# Deprecated field -> torch's warning.
_IGNORED = {
    "profiler_metrics": "profiler_metrics and profiler_measure_per_kernel are deprecated and ignored. "
    "These options will be removed in a future release.",
    "adjust_profiler_step": "adjust_profiler_step is deprecated and ignored. It will be removed in a future release.",
}


def with_monitor_field(kind: type) -> type:
    """A class of configs with ``custom_profiler_config``, which torch has since 2.10."""

    class _ExperimentalConfig(kind):
        def __init__(self, *args, custom_profiler_config: str = "", **fields) -> None:
            super().__init__(*args, **fields)
            self.custom_profiler_config = custom_profiler_config

        # Argument names in torch's docstring, because the function has no signature.
        __init__.__doc__ = (kind.__init__.__doc__ or "").replace(
            ") -> None", ", custom_profiler_config: str = '') -> None", 1
        )

        def __reduce__(self):
            return _restored_config, (super().__getstate__(), self.custom_profiler_config)

    return _ExperimentalConfig


def _restored_config(state: tuple, custom: str):
    config = _ExperimentalConfig.__new__(_ExperimentalConfig)
    config.__setstate__(state)
    config.custom_profiler_config = custom
    return config


_HAS_FIELD = has("_ExperimentalConfig(custom_profiler_config)")
_ExperimentalConfig = _TorchsConfig if _HAS_FIELD else with_monitor_field(_TorchsConfig)


def read_experimental_config(config) -> dict:
    """The fields of an _ExperimentalConfig that affect a recording. Raises for unsupported values."""
    if config is None:
        return {}
    state = config.__getstate__()
    fields = {name: state[at] for name, at in _positions(type(config)).items()}
    for name, warning in _IGNORED.items():
        if fields.get(name) and behaves(f"ignores_{name}"):
            warn_user(warning, FutureWarning)
            del fields[name]
    for name, reason in _REFUSED.items():
        if fields.get(name):
            raise _unsupported(f"experimental_config with {name}", reason)
    return fields


def monitor_of(config, *, records_cpu: bool) -> MonitorConfig | None:
    """The settings of ``custom_profiler_config`` for the backend cupti_monitor; any other backend is refused."""
    raw = _custom_profiler_config(config)
    monitor = read_monitor_config(raw, records_cpu=records_cpu)
    if raw and monitor is None:
        raise _unsupported("experimental_config with custom_profiler_config", "there is no other collector to set up")
    return monitor


def _custom_profiler_config(config) -> str:
    """The value of the argument. In torch 2.10 to 2.12 no attribute returns it, so it is read from the pickle state."""
    if config is None:
        return ""
    text = getattr(config, "custom_profiler_config", None)
    if text is not None:
        return text
    at = _positions(type(config)).get("custom_profiler_config")
    return "" if at is None else config.__getstate__()[at]


def without_trace_only(config, with_stack: bool):
    """The config, or a copy without ``trace_only`` if stacks are recorded, which need the events; warns as torch
    does.
    """
    if config is not None and not isinstance(config, _TorchsConfig):
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
    """Positions of the fields in the pickle state of a config, which differ between versions of torch."""
    plain, positions = kind().__getstate__(), {}
    for name, value in _FIELDS.items():
        try:
            state = kind(**{name: value}).__getstate__()
        except TypeError:  # this version lacks the field
            continue
        differs = [one != other for one, other in zip(plain, state, strict=True)]
        if True in differs:  # with_monitor_field stores the field outside of the state
            positions[name] = differs.index(True)
    return positions
