# SPDX-License-Identifier: Apache-2.0
"""How a recording was asked for, in torch's own words: shared by whatever has the shape of its autograd profile."""

from __future__ import annotations

import uuid

from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState

from .features import has
from .torch_shape import as_in_torch


def new_trace_id() -> str:
    """A random id of 32 hexadecimal digits."""
    return uuid.uuid4().hex.upper()


@as_in_torch("LegacyProfile")
class DescribedConfig:
    """Of a class with torch's attributes: the flags, ``experimental_config``, ``trace_id``, ``create_trace_id``."""

    profiler_kind = ProfilerState.KINETO

    def default_trace_id(self) -> str:
        """A new random id."""
        return new_trace_id()

    def config(self, create_trace_id=False) -> ProfilerConfig:
        """torch's own description of what is recorded."""
        identity = (self.create_trace_id() if create_trace_id else self.trace_id,)
        return ProfilerConfig(
            self.profiler_kind,
            bool(self.record_shapes),
            bool(self.profile_memory),
            bool(self.with_stack),
            bool(self.with_flops),
            bool(self.with_modules),
            self.experimental_config or _ExperimentalConfig(),
            *(identity if has("LegacyProfile.config(create_trace_id)") else ()),
        )
