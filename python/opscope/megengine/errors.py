# SPDX-License-Identifier: Apache-2.0
"""The error of a documented feature of ``megengine.utils.profiler`` that opscope does not have yet."""

from __future__ import annotations

from ..frontend import errors


class UnsupportedFeature(errors.UnsupportedFeature):
    """A feature that ``megengine.utils.profiler`` has and ``opscope.megengine`` does not have yet."""

    front_end = "opscope.megengine"
    original = "megengine.utils.profiler"
