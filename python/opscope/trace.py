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

import itertools
import json
import os
from collections.abc import Sequence
from typing import Any

from opscope import _core
from opscope.comparison import TraceDiff, compare
from opscope.preview import TablePreview, TableText
from opscope.sizes import byte_count
from opscope.table import ResultRows, Strings, Table
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
    return Trace(_core.read_trace(bytes(data), name, _memory_limit(max_memory), format or ""))


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
    files = [paths] if isinstance(paths, (str, bytes)) else list(paths)
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


class Trace(TraceTables):
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
            if key == "parent_pid" and value.isdecimal():
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

    def summary(
        self,
        *,
        group_by: str | Sequence[str] = "name",
        sort: str = "total_ns",
        limit: int | None = None,
        corrected: bool = False,
        where: str | None = None,
    ) -> ResultRows:
        """The operator summary: one dict per group with counts and times, largest first (`ResultRows`).

        ``group_by``: "name" and any of "shape", "category", "thread", "process", "rank", "device", "step", "stack",
        "kind", "module" (the path of the torch.nn.Module that ran it, or whose backward pass it is). A row has spans of
        hosts or of devices, which its "on" says ("host", "device"); so one name can have two rows.
        ``sort``: a key of the rows. ``corrected``: times without what recording them took; raises
        ``opscope.Error`` when the input does not say how much that was. ``where``: a condition that chooses spans,
        as in ``opscope summary --where``.

        >>> [(row["name"], row["category"], row["total_ns"]) for row in trace.summary(group_by=["name", "category"])]
        [('aten::add', 'cpu_op', 7000), ('aten::mm', 'cpu_op', 5000)]
        >>> trace.summary(where="name ~ add and duration > 5us")[0]["count"]
        1
        """
        if limit is not None and limit < 0:
            raise ValueError("limit must not be negative")
        keys = [group_by] if isinstance(group_by, str) else list(group_by)
        return ResultRows(_core.summary(self._core, keys, sort, limit, corrected, where), "rows")

    def modules(self, *, where: str | None = None) -> ResultRows:
        """What each ``torch.nn.Module`` took, forward and backward: a dict per place in the hierarchy of calls.

        The first row, whose "module" is "", is the whole; its ``self`` numbers are what ran outside of modules.
        ``where`` chooses spans, as in `summary`.

        >>> [(row["module"], row["ops"], row["forward_ns"]) for row in trace.modules()]
        [('', 2, 12000)]
        """
        return ResultRows(_core.modules(self._core, where), "rows")

    def module_table(self, *, where: str | None = None) -> str:
        """The same as an indented table; "" when no module was recorded."""
        return TableText(_core.module_table(self._core, where))

    def steps_summary(self, *, where: str | None = None) -> ResultRows:
        """How long each training step was, and what it consists of: a dict per step, by rank and begin.

        "compute_ns", "communication_ns", "copy_ns", "input_ns", "host_ns", "other_ns" and "idle_ns" add up to
        "duration_ns"; each moment counts for the first of them that holds. ``where`` chooses spans, as in `summary`.

        >>> step = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "name": "ProfilerStep#4"}
        >>> step["cat"] = "user_annotation"
        >>> op = step | {"ts": 2, "dur": 5, "name": "aten::mm", "cat": "cpu_op"}
        >>> run = opscope.read(json.dumps([step, op]).encode())
        >>> [(row["step"], row["duration_ns"], row["host_ns"], row["idle_ns"]) for row in run.steps_summary()]
        [(4, 9000, 5000, 4000)]
        """
        return ResultRows(_core.steps_summary(self._core, where), "rows")

    def step_durations(self, *, where: str | None = None) -> dict[str, int | None]:
        """Statistics of the lengths of the steps: "count", "mean_ns", "p50_ns", "p99_ns", "min_ns", "max_ns",
        "stddev_ns"; without steps "count" is 0 and the others are None.

        >>> trace.step_durations()["count"]
        0
        """
        return ResultRows(_core.step_durations(self._core, where), "summary")[0]

    def advise(self, *, where: str | None = None) -> ResultRows:
        """What slows the program down and what to do about it: a dict per finding, largest saving first.

        "message" says it in words, "saving_ns" is the estimated time per step that the repair saves. "evidence" is a
        list of dicts, the time ranges that the finding rests on. Without findings the list is empty. ``where`` chooses
        spans, as in `summary`.

        >>> step = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 90, "name": "ProfilerStep#4"}
        >>> step["cat"] = "user_annotation"
        >>> wait = step | {"ts": 5, "dur": 40, "name": "enumerate(DataLoader)#_BaseDataLoaderIter.__next__"}
        >>> finding = opscope.read(json.dumps([step, wait]).encode()).advise()[0]
        >>> finding["kind"], finding["saving_ns"], finding["evidence"][0]["start_ns"]
        ('input_starvation', 40000, 5000)
        """
        findings, evidence, counts = _core.advise(self._core, where)
        rows, ranges = ResultRows(findings, "rows"), iter(ResultRows(evidence, "evidence"))
        for row, count in zip(rows, counts, strict=True):
            row["evidence"] = list(itertools.islice(ranges, count))
        return rows

    def devices(self, *, where: str | None = None, kernel_gap_ns: int = 30_000) -> ResultRows:
        """How busy each device was, and why not: a dict per device ("stream" is "all"), followed by one per stream.

        Busy is the time in which a kernel, a copy or a set ran, overlaps counted once; idle is the rest of the time
        from the device's first begin to its last end. A gap whose work was called for in time and that is shorter than
        ``kernel_gap_ns`` is a wait between kernels. ``where`` chooses spans, as in `summary`.

        >>> kernel = {"ph": "X", "pid": 0, "tid": 7, "ts": 3, "dur": 2, "name": "gemm", "cat": "kernel"}
        >>> gpu = opscope.read(json.dumps([kernel, kernel | {"ts": 9, "dur": 4}]).encode())
        >>> [(row["stream"], row["busy_ns"], row["idle_ns"]) for row in gpu.devices()]
        [('all', 6000, 4000), ('7', 6000, 4000)]
        """
        return ResultRows(_core.devices(self._core, where, kernel_gap_ns), "rows")

    def device_kernels(self, *, where: str | None = None) -> ResultRows:
        """The kernels of each device by name, those that took most time first.

        "tensor_cores" is "used" where the name of the kernel says so, and "eligible" where an operator launched it
        that could use them. ``where`` chooses spans, as in `summary`.

        >>> kernel = {"ph": "X", "pid": 0, "tid": 7, "ts": 3, "dur": 2, "name": "s16816gemm", "cat": "kernel"}
        >>> gpu = opscope.read(json.dumps([kernel, kernel | {"ts": 9, "dur": 4}]).encode())
        >>> [(row["name"], row["count"], row["total_ns"], row["tensor_cores"]) for row in gpu.device_kernels()]
        [('s16816gemm', 2, 6000, 'used')]
        """
        return ResultRows(_core.device_kernels(self._core, where), "kernels")

    def device_copies(self, *, where: str | None = None, small_bytes: int = 65536) -> ResultRows:
        """The copies of each device, by kind and by the memory that they are from and to.

        "small" counts those of at most ``small_bytes``, "synchronous" those for which the program waited in the call,
        "exposed_ns" is the time in which no kernel ran beside them. ``where`` chooses spans, as in `summary`.

        >>> copy = {"ph": "X", "pid": 0, "tid": 7, "ts": 3, "dur": 2, "name": "Memcpy HtoD", "cat": "gpu_memcpy"}
        >>> gpu = opscope.read(json.dumps([copy | {"args": {"bytes": 8000}}]).encode())
        >>> [(row["kind"], row["small"], row["exposed_ns"], row["bytes_per_second"]) for row in gpu.device_copies()]
        [('HtoD', 1, 2000, 4000000000)]
        """
        return ResultRows(_core.device_copies(self._core, where, small_bytes), "copies")

    def device_table(self, *, where: str | None = None, kernel_gap_ns: int = 30_000) -> str:
        """The same as a table; "" when no device did anything."""
        return TableText(_core.device_table(self._core, where, kernel_gap_ns))

    def diff(self, other: Trace | Sequence[Trace], *, by: str = "name", where: str | None = None) -> TraceDiff:
        """What became slower or faster from this run to the other, or to a list of other runs; see `opscope.diff`.

        >>> [(row["name"], row["delta_ns"]) for row in trace.diff(trace.cut("name ~ mm"))]
        [('aten::add', -7000), ('aten::mm', 0)]
        """
        return compare(self, other, by, where)

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
        name = f"Flame graph: {metric}" if title is None else title
        _core.write_flame_graph(self._core, path, _known_metric(metric), name, width, inverted)

    def cut(self, where: str) -> Trace:
        """The spans for which ``where`` holds, and what happened while they ran, as a trace of its own.

        A condition as in `summary`; ``"step >= 3 and step <= 5"`` keeps three steps. Spans stand below the innermost
        kept span that was around them; times stay.

        >>> trace.cut("name ~ add").spans
        <opscope.Table spans: 1 rows>
        """
        return Trace(_core.cut_trace(self._core, where))

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
        "megengine-chrome" or "megengine-svg" (as MegEngine's).
        ``merge_threads``, for collapsed and pprof: what several threads did alike is one path.
        A path that ends in ``.gz`` or ``.zst`` is compressed. Nothing half-written stays at a fault.

        What the format has no place for is counted in an ``opscope.ExportWarning``.
        """
        if to not in _core.EXPORT_FORMATS:
            raise ValueError(f"cannot export to '{to}'; known: {', '.join(_core.EXPORT_FORMATS)}")
        told = self._core.export_as(path, to, table, merge_threads)
        if told:
            warn_user(f"{os.fsdecode(path)}: {told}", ExportWarning)

    def __repr__(self) -> str:
        return (
            f"<opscope.Trace {self._core.info()['format']}: {len(self.spans)} spans on {len(self.tracks)} tracks, "
            f"{len(self.problems)} problems>"
        )

    def _repr_html_(self) -> str:
        counts = {name: _core.row_count(self._core, name) for name in _core.TABLES}
        rows = [{"table": name, "rows": f"{count:,}"} for name, count in counts.items() if count > 0]
        told = [{"problem": problem["message"], "count": f"{problem['count']:,}"} for problem in self.problems]
        pages = [TablePreview.of(repr(self), rows, len(rows)), TablePreview.of("problems", told, len(told))]
        return "".join(page.html() for page in pages if page.rows or page is pages[0])


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
