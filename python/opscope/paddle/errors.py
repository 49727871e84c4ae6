# SPDX-License-Identifier: Apache-2.0
"""The error of a documented feature of ``paddle.profiler`` that opscope does not have yet."""

from __future__ import annotations

from ..frontend import errors


class UnsupportedFeature(errors.UnsupportedFeature):
    """A feature that ``paddle.profiler`` has and ``opscope.paddle`` does not have yet."""

    front_end = "opscope.paddle"
    original = "paddle.profiler"
