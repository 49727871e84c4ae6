# SPDX-License-Identifier: Apache-2.0
"""Traces as column tables.

A `Trace` holds tables, a `Table` holds columns. A number column is a read-only `memoryview` of the
engine's own memory: nothing is copied, NumPy takes it with ``numpy.asarray``, and it keeps the trace
alive. A text column is a sequence of texts, decoded when they are read. All times are integer
nanoseconds relative to ``trace.info["epoch_ns"]``.

The examples read this trace::

    >>> import json, opscope
    >>> events = [
    ...     {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "name": "aten::mm", "cat": "cpu_op"},
    ...     {"ph": "X", "pid": 1, "tid": 1, "ts": 20, "dur": 7, "name": "aten::add", "cat": "cpu_op"},
    ... ]
    >>> trace = opscope.read(json.dumps({"traceEvents": events}).encode())
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

from opscope import _core
from opscope.comparison import TraceDiff, compare
from opscope.page import page_frame, write_page
from opscope.sizes import byte_count
from opscope.sql import SqlRows, checked_seconds, find_duckdb, rows_within
from opscope.table import Strings, Table
from opscope.trace_answers import TraceAnswers
from opscope.trace_tables import TraceTables
from opscope.user_warning import warn_user

__all__ = ["ExportWarning", "Trace", "diff", "merge", "open", "read"]


class ExportWarning(UserWarning):
    """What `Trace.export` had to leave out, as the format has no place for it."""


def open(path: str | bytes | os.PathLike, *, max_memory: int | str | None = None, format: str | None = None) -> Trace:
    """Reads a trace file; the format is found by its content, gzip and zstd are transparent. ``format`` ("chrome-json",
    "collapsed-stacks", ..., as ``info["format"]`` has it) turns that off: the file is read as what it says.

    ``max_memory`` (a number, or "64M") limits the bytes that the columns and the input may hold together. Damage
    after the first whole event is not an error: the trace holds everything before it, and a row of `problems`.

    Raises `opscope.Error` (a `ValueError`) for input that cannot be read, and `OSError` where the
    system refuses.

    >>> opscope.open("no/such/file")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/file'
    """
    return Trace(_core.open_trace(path, _memory_limit(max_memory), format or ""))


def read(
    data: bytes, *, name: str = "<bytes>", max_memory: int | str | None = None, format: str | None = None
) -> Trace:
    """Reads a trace from bytes; ``name`` stands for the file in messages. The rest is as with `open`.

    >>> opscope.read(b'{"traceEvents": []}').spans
    <opscope.Table spans: 0 rows>
    """
    if not isinstance(data, bytes):
        data = bytes(memoryview(data))  # bytes(5) would be five NULs
    return Trace(_core.read_trace(data, name, _memory_limit(max_memory), format or ""))


def merge(
    paths: Sequence[str | bytes | os.PathLike], *, sync: Sequence[str] = (), max_clock_difference: float = 5.0
) -> Trace:
    """The files of a job's ranks, or of several processes, as one trace.

    Clocks are brought together by the ends of collectives, or by the wall clock of the machines; ``sync`` names spans
    that end at the same moment on all ranks as well, ``max_clock_difference`` is in seconds. Ranks stay apart
    (``trace.processes.rank``); missing and doubled ranks, files of another job and late starts are rows of `problems`;
    ``trace.info["merge"]`` says what was done with each file.

    Raises as `open` does for the first file that cannot be read.
    """
    files = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    return Trace(_core.merge_traces(files, list(sync), float(max_clock_difference)))


def diff(
    a: Trace | Sequence[Trace], b: Trace | Sequence[Trace], *, by: str = "name", where: str | None = None
) -> TraceDiff:
    """What became slower or faster from ``a`` to ``b``, what is new or gone, and whether that is more than chance.

    A side is a Trace or a list of them, one for each run. With one run on each side the steps are the samples of the
    test, else the runs are: three runs or more on each side are needed then. ``by``: "name", "shape" (name and shapes
    of the inputs), "kernel" (works of devices alone), "module" or "step". ``where``: a condition that chooses spans, as
    in `Trace.summary`; its conditions on ``step`` choose the steps.

    >>> opscope.diff(trace, [trace, trace])[0]["status"]
    'matched'
    """
    return compare(a, b, by, where)


class Trace(TraceAnswers, TraceTables):
    """What was recorded: immutable tables. Made by `opscope.open`, `opscope.read` and the profilers.

    >>> trace.summary(sort="total_ns", limit=1)[0]["name"]
    'aten::add'
    """

    __slots__ = ("_core", "_tables")

    def __init__(self, core: _core.Trace):
        self._core = core
        self._tables: dict[str, Table] = {}

    @property
    def strings(self) -> Strings:
        """The texts of the trace by id: what `Table.codes` has."""
        return Strings(self._core)

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the input as a whole: format, counts, epoch, recording options.

        ``parent_pid`` is there for a process that was forked, or started by multiprocessing; ``merge`` for files that
        were merged: the size of the job, and what became of each file.

        >>> trace.info["recorded"]
        2
        """
        facts = self._core.info()
        facts["options"] = json.loads(facts.pop("options_json"))
        for key, value in zip(self.metadata["key"], self.metadata["json"], strict=True):
            if key == "parent_pid" and value.isdecimal() and len(value) < 20:  # else it is no process
                facts[key] = int(value)
            elif key == "opscope_merge":
                facts["merge"] = json.loads(value)
        return facts

    @property
    def is_partial(self) -> bool:
        """True when a problem says that input was lost."""
        return self._core.is_partial

    @property
    def memory_bytes(self) -> int:
        """Bytes that the columns and texts hold."""
        return self._core.memory_bytes

    def folded_stacks(self, metric: str = "time") -> str:
        """What called what, a line per path: ``outermost;...;innermost 12``, as flamegraph.pl and others read it.

        ``metric``: "time" and "device_time" (nanoseconds), "memory" (bytes), "flops" or "count"; each without what
        was called.

        >>> print(trace.folded_stacks(), end="")
        aten::mm 5000
        aten::add 7000
        """
        return _core.folded_stacks(self._core, _known_metric(metric))

    def export_flamegraph(
        self,
        path: str | bytes | os.PathLike,
        *,
        metric: str = "time",
        title: str | None = None,
        width: float = 1200,
        inverted: bool = False,
    ) -> None:
        """Writes a flame graph: an SVG file that needs nothing else (click: zoom, Ctrl-F: search).

        A name that ends in ``.folded``, ``.collapsed`` or ``.txt``, or has no ending, gets the folded stacks; ``.gz``
        or ``.zst`` behind it compresses; any other ending is a ``ValueError``. ``inverted``: the root above, as an
        icicle.
        """
        if not 0 < width < math.inf:
            raise ValueError(f"width must be a finite number above 0, not {width!r}")
        name = f"Flame graph: {metric}" if title is None else title
        _core.write_flame_graph(self._core, path, _known_metric(metric), name, width, inverted)

    def report(
        self,
        path: str | bytes | os.PathLike,
        *,
        title: str | None = None,
        baseline: Trace | None = None,
        max_size: int | str = "10M",
        theme: str = "auto",
    ) -> None:
        """Writes one HTML page that shows the trace in any browser: timeline, flame graph, tables, memory.

        The page needs no server and no network. ``baseline``: a trace to compare with, as in `diff`. ``max_size``:
        largest size of the file in bytes, or "4M", at least "1M"; what does not fit is folded, and the page says how
        much that is. ``theme``: "auto" (as the system), "light" or "dark". Nothing half-written stays at a fault.
        """
        write_page(self, path, title, theme, max_size, baseline)

    def cut(self, where: str) -> Trace:
        """The spans for which ``where`` holds, and what happened while they ran, as a trace of its own.

        A condition as in `summary`; ``"step >= 3 and step <= 5"`` keeps three steps. Spans stand below the innermost
        kept span that was around them; times stay.

        >>> trace.cut("name ~ add").spans
        <opscope.Table spans: 1 rows>
        """
        return Trace(_core.cut_trace(self._core, where))

    def sql(
        self,
        query: str,
        *,
        max_seconds: float = 60,
        max_memory: int | str = "4G",
        limit: int | None = 1_000_000,
    ) -> SqlRows:
        """The rows of one SQL statement over the tables of the trace (DuckDB's dialect; ``pip install opscope[sql]``).

        Each table has a first column ``row``; handles of other tables are such numbers. Columns are read in place.
        The statement only reads, and reaches no file, no network and no setting. `opscope.Error`: DuckDB refuses it, or
        is not installed; ``TimeoutError`` and ``MemoryError``: it exceeded ``max_seconds`` or ``max_memory``.
        ``limit``: at most so many rows (``is_truncated`` says whether there are more), None for all. ``ValueError``: a
        limit is negative.

        >>> list(trace.sql("SELECT name, duration FROM spans WHERE duration > 6000"))
        [{'name': 'aten::add', 'duration': 7000}]
        """
        memory, seconds = byte_count(max_memory, "max_memory"), checked_seconds(max_seconds)
        return rows_within(limit, lambda count: _core.sql(self._core, query, seconds, memory, count, find_duckdb()))

    query = sql  # by the name of the command, ``opscope query``

    def save(self, path: str | bytes | os.PathLike) -> None:
        """Writes the trace as ``.opscope``; a name that says another format is a ``ValueError``."""
        refuse_other_formats(path)
        self._core.save(path)

    def export(
        self,
        path: str | bytes | os.PathLike,
        *,
        to: str = "chrome",
        table: str = "spans",
        merge_threads: bool = False,
    ) -> None:
        """Writes the trace in another format.

        ``to``: "chrome" (Kineto's JSON), "perfetto" (protobuf), "speedscope", "collapsed" (stacks), "pprof", "csv" (one
        ``table``), "opscope", "paddle-protobuf" or "paddle-chrome" (files as ``paddle.profiler`` writes them),
        "megengine-chrome" or "megengine-svg" (as MegEngine's), "html" (as `report`), or "parquet" (all tables, as files
        ``TABLE/rank=R/part-0.parquet`` of the folder ``path``; ``pip install opscope[sql]``).
        ``merge_threads``, for collapsed and pprof: what several threads did alike is one path.
        A path that ends in ``.gz`` or ``.zst`` is compressed. Nothing half-written stays at a fault.

        What the format has no place for is counted in an ``opscope.ExportWarning``.
        """
        if to == "parquet":
            _core.export_parquet(self._core, path, find_duckdb())
            return
        if to not in _core.EXPORT_FORMATS:
            raise ValueError(f"cannot export to '{to}'; known: {', '.join([*_core.EXPORT_FORMATS, 'parquet'])}")
        left_out = self._core.export_as(path, to, table, merge_threads)
        if left_out:
            warn_user(f"{os.fsdecode(path)}: {left_out}", ExportWarning)

    def __repr__(self) -> str:
        return (
            f"<opscope.Trace {self._core.info()['format']}: {len(self.spans)} spans on {len(self.tracks)} tracks, "
            f"{len(self.problems)} problems>"
        )

    def _repr_html_(self) -> str | None:
        return page_frame(self, f"{len(self.spans):,} spans")


# What the end of a name says: `to` of `export`.
_ENDINGS = {
    ".speedscope.json": "speedscope",
    ".json": "chrome",
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
    ".collapsed": "collapsed",
    ".folded": "collapsed",
    ".pprof": "pprof",
    ".pb": "pprof",
    ".csv": "csv",
    ".html": "html",
    ".htm": "html",
}


def refuse_other_formats(
    path, *, chrome: str = 'export({!r}, to="chrome")', other: str = "export({!r}, to={!r})"
) -> None:
    """ValueError if the name has another format's extension; the message has the call that writes that format."""
    name = os.fsdecode(path)
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    to = next((format for ending, format in _ENDINGS.items() if plain.endswith(ending)), None)
    if plain.endswith(".svg"):
        call = f"export_flamegraph({name!r})"
    elif to == "html" and plain == name.lower():
        call = f"report({name!r})"
    elif to is not None:
        call = chrome.format(name) if to == "chrome" else other.format(name, to)
    else:
        return
    raise ValueError(f"save() writes .opscope, and the name {name!r} says another format: call {call}")


_FLAME_METRICS = ("time", "device_time", "memory", "flops", "count")


def _known_metric(metric: str) -> str:
    if metric not in _FLAME_METRICS:
        raise ValueError(f"metric should be one of: {list(_FLAME_METRICS)}")
    return metric


def _memory_limit(max_memory: int | str | None) -> int:
    return 0 if max_memory is None else byte_count(max_memory, "max_memory")  # 0: the engine's word for none
