# SPDX-License-Identifier: Apache-2.0
"""Execution traces: the graph of operators with the identities of their tensors.

An observer of torch writes them; here it is started and stopped with each recording. While it runs, torch gives every
range an id: "rf_id" in the execution trace and "Record function id" in the recording are the same number.
"""

from __future__ import annotations

import os

from torch.profiler import ExecutionTraceObserver

from .errors import UnsupportedFeature

__all__ = ["ExecutionTraceObserver", "observer_from_environment"]


def observer_from_environment() -> ExecutionTraceObserver | None:
    """The observer that ``ENABLE_PYTORCH_EXECUTION_TRACE=1`` asks for, with a temporary file as its output."""
    build = getattr(ExecutionTraceObserver, "build_execution_trace_obs_from_env", None)
    if build is not None:
        return build()
    if os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE", "0") == "1":
        raise UnsupportedFeature(
            "ENABLE_PYTORCH_EXECUTION_TRACE=1",
            "this version of torch does not read it",
            "execution_trace_observer=ExecutionTraceObserver().register_callback(path)",
        )
    return None
