# SPDX-License-Identifier: Apache-2.0
"""A ready-made ``on_trace_ready`` callback, which writes one Chrome trace per cycle into a folder."""

from __future__ import annotations

import os
import socket
import time

from .features import has
from .torch_shape import as_in_torch

_HAS_TWO_WRITERS = has("_KinetoProfile.export_chrome_trace(use_python_export)")


@as_in_torch("tensorboard_trace_handler")
def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
):
    """Returns a handler that writes ``WORKER.TIME_NS.pt.trace.json[.gz]`` into ``dir_name``.

    ``worker_name`` is ``HOST_PID`` of the process in which the handler first runs, unless given.
    """

    def handler_fn(prof) -> None:
        nonlocal worker_name
        if not os.path.isdir(dir_name):
            try:
                os.makedirs(dir_name, exist_ok=True)
            except Exception as error:
                raise RuntimeError("Can't create directory: " + dir_name) from error
        if not worker_name:
            worker_name = f"{socket.gethostname()}_{os.getpid()}"
        # Nanoseconds, so that two cycles within one millisecond do not overwrite each other.
        file_name = f"{worker_name}.{time.time_ns()}.pt.trace.json"
        if use_gzip:
            file_name += ".gz"
        writer = {"use_python_export": use_python_export} if _HAS_TWO_WRITERS else {}
        prof.export_chrome_trace(os.path.join(dir_name, file_name), **writer)

    return handler_fn
