# SPDX-License-Identifier: Apache-2.0
"""Metadata at the top of a trace: what the user adds, and what is known of the job."""

from __future__ import annotations

import json
import os
import socket
import sys

import torch

_is_forked = False

# What torch names in its trace of what was asked for.
FLAGS = ("with_stack", "profile_memory", "record_shapes", "with_modules", "with_flops")


def _note_fork() -> None:
    global _is_forked
    _is_forked = True  # the recorder names the parent itself


os.register_at_fork(after_in_child=_note_fork)


def json_text(value: str) -> str:
    """A str as JSON; lone surrogates as visible escapes, because JSON readers refuse them."""
    return json.dumps(value.encode("utf-8", "backslashreplace").decode("utf-8"), ensure_ascii=False)


def checked_json(key: str, value: str) -> str:
    """The value itself, when it is JSON; one bad value would spoil the whole file."""
    try:
        json.loads(value)
    except ValueError as error:
        raise ValueError(f"metadata {key!r} is not valid JSON: {error}") from None
    return value


def job_metadata(trace_id: str) -> dict[str, str]:
    """Members that every trace has, as Kineto writes them."""
    members = {"trace_id": json_text(trace_id), "host_name": json_text(socket.gethostname())}
    for name in ("PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"):
        if name in os.environ:
            members[name] = json_text(os.environ[name])
    parent = _spawning_process()
    if parent is not None:
        members["parent_pid"] = str(parent)
    return members


def _spawning_process() -> int | None:
    """Of a worker that multiprocessing has spawned: the process that asked for it, whatever server was between."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    parent = None if _is_forked or multiprocessing is None else multiprocessing.parent_process()
    return None if parent is None else parent.pid


def distributed_info() -> dict | None:
    """Facts about torch.distributed, when the job uses it."""
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
    """The same as JSON; numbers of NumPy and other types become plain ones."""
    info = distributed_info()
    return None if info is None else json.dumps(info, default=_plain)


def _plain(value):
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
