# SPDX-License-Identifier: Apache-2.0
"""torch's description of the arguments of a recording, for all classes with the shape of its autograd profile."""

from __future__ import annotations

import uuid

from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState

from .features import has
from .torch_shape import as_in_torch


def new_trace_id() -> str:
    """A random id of 32 hexadecimal digits."""
    return uuid.uuid4().hex.upper()


def shapes_of(record_shapes, with_flops):
    """``record_shapes`` of the recording, which FLOPs need, too. TypeError, with Python's text, for values that are not
    flags.
    """
    record_shapes |= with_flops
    return record_shapes


def torchs_config(
    kind: ProfilerState, *flags, experimental_config: _ExperimentalConfig | None, trace_id: str
) -> ProfilerConfig:
    """torch's ProfilerConfig; arguments are its flags in its order. TypeError, with torch's text, for wrong types."""
    identity = (trace_id,) if has("LegacyProfile.config(create_trace_id)") else ()
    return ProfilerConfig(kind, *flags, experimental_config or _ExperimentalConfig(), *identity)


@as_in_torch("LegacyProfile")
class DescribedConfig:
    """Mixin for a class with torch's attributes: the flags, ``experimental_config``, ``trace_id``,
    ``create_trace_id``.
    """

    profiler_kind = ProfilerState.KINETO

    def default_trace_id(self) -> str:
        """A new random id."""
        return new_trace_id()

    def config(self, create_trace_id=False) -> ProfilerConfig:
        """torch's own description of what is recorded."""
        return torchs_config(
            self.profiler_kind,
            self.record_shapes,
            self.profile_memory,
            self.with_stack,
            self.with_flops,
            self.with_modules,
            experimental_config=self.experimental_config,
            trace_id=self.create_trace_id() if create_trace_id else self.trace_id,
        )
