# SPDX-License-Identifier: Apache-2.0
"""Results of a period of recording, or of a file: ``Profiler.profiler_result`` and ``load_profiler_result``."""

from __future__ import annotations

import datetime
import functools
import json
import os
from typing import Any

import paddle.base.core
from paddle.profiler import SortedKeys

import opscope

from .. import _core
from ..log import log_message
from ..trace import Trace
from ..user_warning import warn_user
from .nodes import HostPythonNode

_VERSION = "1.0.2"  # version of the files that Paddle writes since 2.4
_FORMATS = {"json": "paddle-chrome", "pb": "paddle-protobuf"}


class ProfilerResult:
    """Paddle's ``_ProfilerResult``, backed by a Trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._trees: _core.paddle.NodeTrees | None = None

    def __repr__(self) -> str:
        return f"<opscope.paddle.ProfilerResult: period {self.get_span_index()}, {self._trace!r}>"

    @property
    def trace(self) -> Trace:
        """The period as tables."""
        return self._trace

    def get_data(self) -> dict[int, HostPythonNode]:
        """Root node of each thread's tree, by system thread id."""
        if self._trees is None:
            self._trees = _core.paddle.NodeTrees(self._trace._core)
        return {
            thread: HostPythonNode(self._trees, root, process, thread)
            for process, thread, root in self._trees.threads()
        }

    def get_extra_info(self) -> dict[str, str]:
        """Names of threads by their ids, and the CPU utilisation."""
        return {key: str(value) for key, value in self._metadata.get("ExtraInfo", {}).items()}

    def get_version(self) -> str:
        """Version of Paddle's file formats."""
        return str(self._metadata.get("schemaVersion", _VERSION))

    def get_span_index(self) -> int:
        """Number of this period among the periods of its process, from 0."""
        return int(self._metadata.get("span_index", 0))

    @functools.cached_property
    def _metadata(self) -> dict[str, Any]:
        return {row["key"]: json.loads(row["json"]) for row in self._trace.metadata}

    def summary(self, sorted_by, op_detail: bool, thread_sep: bool, time_unit: object, views) -> str:
        """The text that ``Profiler.summary`` prints."""
        return _core.paddle.summary(
            self._trace._core,
            sorted_by=_sort_number(sorted_by),
            op_detail=bool(op_detail),
            thread_sep=bool(thread_sep),
            time_unit=time_unit,
            views=None if views is None else [view.value for view in views],
        )

    def flops(self, repeat: int = 1) -> str:
        """The text that ``with_flops=True`` adds below it."""
        return _core.paddle.flops(self._trace._core, repeat)

    def save(self, path: str | os.PathLike = "", format: str = "json") -> None:
        """Writes Paddle's Chrome JSON ("json") or protobuf ("pb"); does nothing for other formats, as Paddle.

        Without a path it uses the name that Paddle intends (where Paddle itself crashes). OSError if it cannot be
        written.
        """
        if format not in _FORMATS:
            return
        if not os.fspath(path):
            now = datetime.datetime.now().strftime("%Y-%m-%d-%H:%M:%S")
            path = f"pid_{os.getpid()}_time_{now}.paddle_trace.{format}"
        log_message("info", f"writing profiling data to {os.fsdecode(path)}")
        self._trace._core.export_as(path, _FORMATS[format])


def _sort_number(key: object) -> int:
    if not isinstance(key, SortedKeys):  # Paddle's own fails later, at the first operator
        raise AttributeError(f"'{type(key).__name__}' object is not a member of SortedKeys: {key!r}")
    return key.value


def _under_both_names(load):
    """Documents call the argument ``file_name``; the signature is that of Paddle."""

    @functools.wraps(load)
    def load_profiler_result(*arguments, **named):
        if "file_name" in named and "filename" not in named:
            named["filename"] = named.pop("file_name")
        return load(*arguments, **named)

    return load_profiler_result


@_under_both_names
def load_profiler_result(filename: str) -> ProfilerResult | None:
    """Reads a file that ``export(format="pb")`` has written, by opscope or Paddle; None if there is none, as in Paddle.

    A damaged file gives its readable part and a warning; opscope.Error if nothing is readable.
    """
    if not isinstance(filename, (str, bytes, os.PathLike)):
        return paddle.base.core.load_profiler_result(filename)  # raises Python's TypeError for a wrong type
    try:
        trace = opscope.open(filename)
    except FileNotFoundError:
        return None
    if trace.is_partial:
        problems = "; ".join(problem["message"] for problem in trace.problems)
        warn_user(f"{os.fsdecode(filename)} is damaged or cut, the result has what is whole: {problems}")
    return ProfilerResult(trace)
