# SPDX-License-Identifier: Apache-2.0
"""Metadata that torch's profiler writes about a job."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import torch

from ..frontend.metadata import json_text, process_metadata
from .features import behaves, has

# Options that torch writes into its trace.
FLAGS = ("with_stack", "profile_memory", "record_shapes", "with_modules", "with_flops")

# Metadata that an old torch does not write into its trace; the recording and files of save() contain it.
NOT_EXPORTED = ["host_name"] * (not behaves("writes_host_name")) + ["trace_id"] * (not has("profile.get_trace_id"))


def job_metadata(trace_id: str, options: Mapping[str, object]) -> dict[str, str]:
    """Entries of every trace: those that Kineto writes, and others for the page of a report and `opscope advise`."""
    members = {"trace_id": json_text(trace_id)} | process_metadata(torch, options, torch.version.cuda)
    members["opscope_threads"] = str(torch.get_num_threads())
    for name in ("PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"):
        if name in os.environ:
            members[name] = json_text(os.environ[name])
    return members


def distributed_info() -> dict | None:
    """Facts about torch.distributed if the job uses it."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return None
    backend = distributed.get_backend()
    info = {
        "backend": backend,
        "rank": distributed.get_rank(),
        "world_size": distributed.get_world_size(),
        "pg_count": distributed.get_pg_count(),
        "pg_config": distributed.distributed_c10d._get_all_pg_configs(),
    }
    if backend == "nccl":
        info["nccl_version"] = ".".join(str(part) for part in torch.cuda.nccl.version())
    return info


def distributed_info_json() -> str | None:
    """The same as JSON; NumPy numbers and the like become plain numbers."""
    info = distributed_info()
    return None if info is None else json.dumps(info, default=plain)


def plain(value):
    """For ``json.dumps``: NumPy numbers and the like as plain ones."""
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
