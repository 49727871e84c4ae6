# SPDX-License-Identifier: Apache-2.0
"""Execution traces (the operator graph with tensor identities) come later; the name is there and says so."""

from __future__ import annotations

import os

from .errors import UnsupportedFeature

_INSTEAD = "torch.profiler.ExecutionTraceObserver"


class ExecutionTraceObserver:
    """Stands for ``torch.profiler.ExecutionTraceObserver``; making one raises UnsupportedFeature."""

    def __init__(self) -> None:
        raise UnsupportedFeature("ExecutionTraceObserver", "execution traces are not written", _INSTEAD)

    @staticmethod
    def build_execution_trace_obs_from_env() -> ExecutionTraceObserver | None:
        """Raises when ``ENABLE_PYTORCH_EXECUTION_TRACE=1`` asks for one, else gives None."""
        if os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE", "0") == "1":
            raise UnsupportedFeature("ENABLE_PYTORCH_EXECUTION_TRACE=1", "execution traces are not written", _INSTEAD)
        return None
