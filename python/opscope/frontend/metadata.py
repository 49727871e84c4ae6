# SPDX-License-Identifier: Apache-2.0
"""Metadata of a trace: entries of the user, and facts about the process."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
from collections.abc import Mapping
from types import ModuleType

from .. import _core

_is_forked = False


def _on_fork() -> None:
    global _is_forked
    _is_forked = True  # the recorder itself stores the parent's id


os.register_at_fork(after_in_child=_on_fork)


def json_text(value: str) -> str:
    """A str as JSON; lone surrogates as visible escapes, because JSON readers refuse them."""
    return json.dumps(value.encode("utf-8", "backslashreplace").decode("utf-8"), ensure_ascii=False)


def checked_json(key: str, value: str) -> str:
    """Returns `value`, lone surrogates as escapes, if it is valid JSON; otherwise raises, because one bad value makes
    the whole file unreadable."""
    if not isinstance(value, str):
        raise TypeError(f"metadata {key!r} must be JSON text, not {type(value).__name__}")
    try:
        json.loads(value, parse_int=str, parse_constant=_refuse)  # str: int() has a limit of digits
    except (ValueError, RecursionError) as error:
        raise ValueError(f"metadata {key!r} is not valid JSON: {error}") from None
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _refuse(constant: str) -> None:
    raise ValueError(f"it has no {constant}")


def process_metadata(framework: ModuleType, options: Mapping[str, object], cuda: str | None = None) -> dict[str, str]:
    """Entries of every trace: name -> JSON text.

    ``options``: those that the user gave to the profiler, as JSON has them. ``cuda``: the version for which the
    framework was built; None: for none.
    """
    versions = {
        "opscope": _core.__version__,
        framework.__name__: str(framework.__version__),
        "python": platform.python_version(),
        **({"cuda": cuda} if cuda else {}),
    }
    members = {
        "host_name": json_text(socket.gethostname()),
        "opscope_processors": str(usable_processors()),
        "opscope_software": json.dumps(versions),
        "opscope_options": json.dumps(options),
    }
    parent = _spawning_process()
    if parent is not None:
        members["parent_pid"] = str(parent)
    return members


def usable_processors() -> int:
    """Number of processors that this process may use: those of its affinity, at most its container's limit."""
    usable = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        return usable if quota == "max" else min(usable, max(1, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # no limit, or an older kernel
        return usable


def _spawning_process() -> int | None:
    """The process that created this one through multiprocessing, even by way of a fork server; None for any other."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    parent = None if _is_forked or multiprocessing is None else multiprocessing.parent_process()
    return None if parent is None else parent.pid
