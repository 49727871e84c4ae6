# SPDX-License-Identifier: Apache-2.0
"""Metadata at the top of a trace: what the user adds, and what is known of the process."""

from __future__ import annotations

import json
import os
import socket
import sys

_is_forked = False


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


def process_metadata() -> dict[str, str]:
    """Members that every trace has, as JSON texts."""
    members = {"host_name": json_text(socket.gethostname())}
    parent = _spawning_process()
    if parent is not None:
        members["parent_pid"] = str(parent)
    return members


def _spawning_process() -> int | None:
    """Of a worker that multiprocessing has spawned: the process that asked for it, whatever server was between."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    parent = None if _is_forked or multiprocessing is None else multiprocessing.parent_process()
    return None if parent is None else parent.pid
