# SPDX-License-Identifier: Apache-2.0
"""The error of a documented feature of ``torch.profiler`` that opscope does not have yet."""

from __future__ import annotations

from ..frontend import errors


class UnsupportedFeature(errors.UnsupportedFeature):
    """A feature that ``torch.profiler`` has and ``opscope.torch`` does not have yet."""

    front_end = "opscope.torch"
    original = "torch.profiler"
