# SPDX-License-Identifier: Apache-2.0
"""The analyses of a trace, as methods that return rows (`ResultRows`).

The examples read the trace of `opscope.trace`.
"""

from __future__ import annotations

import itertools
import math
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opscope import _core
from opscope.comparison import TraceDiff, compare
from opscope.limits import TraceCheck, check_limits
from opscope.preview import TableText
from opscope.table import ResultRows

if TYPE_CHECKING:
    from opscope.trace import Trace


class TraceAnswers:
    """What `opscope.Trace` answers. ``where`` of each method: a condition that chooses spans, as in `summary`."""

    __slots__ = ()

    _core: _core.Trace

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
        if limit is not None:
            _not_negative("limit", limit)
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
        return ResultRows(_core.devices(self._core, where, _not_negative("kernel_gap_ns", kernel_gap_ns)), "rows")

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
        return ResultRows(_core.device_copies(self._core, where, _not_negative("small_bytes", small_bytes)), "copies")

    def device_table(self, *, where: str | None = None, kernel_gap_ns: int = 30_000) -> str:
        """The same as a table; "" when no device did anything."""
        return TableText(_core.device_table(self._core, where, _not_negative("kernel_gap_ns", kernel_gap_ns)))

    def memory(self, *, where: str | None = None) -> ResultRows:
        """What holds the memory of each device at its peak: a dict per device and name of the operator that allocated.

        "peak_bytes" is what is live at the peak of the device. The last row of a device, "(before)", has the rest of
        the peak: what was allocated before the recording. Without ``profile_memory=True`` there are no rows.
        ``where``: the peak is sought while a span that it chooses is open.

        >>> event = {"ph": "i", "pid": 1, "tid": 1, "name": "[memory]", "cat": "cpu_instant_event"}
        >>> block = {"Addr": 64, "Bytes": 100, "Total Allocated": 300, "Device Type": 0, "Device Id": -1}
        >>> events = [
        ...     {"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 9, "name": "aten::empty", "cat": "cpu_op"},
        ...     event | {"ts": 10, "args": block},
        ...     event | {"ts": 20, "args": block | {"Bytes": -100, "Total Allocated": 200}},
        ... ]
        >>> recorded = opscope.read(json.dumps({"traceEvents": events}).encode())
        >>> [(row["name"], row["allocations"], row["peak_bytes"]) for row in recorded.memory()]
        [('aten::empty', 1, 100), ('(before)', 0, 200)]
        >>> [(row["start_bytes"], row["peak_bytes"], row["kept"]) for row in recorded.memory_devices()]
        [(200, 300, 0)]
        """
        return ResultRows(_core.memory(self._core, where), "rows")

    def memory_devices(self, *, where: str | None = None) -> ResultRows:
        """How much was allocated on each device, the host included: a dict per device, with its peak and when it was.

        The example is that of `memory`.
        """
        return ResultRows(_core.memory_devices(self._core, where), "devices")

    def memory_steps(self, *, where: str | None = None) -> ResultRows:
        """How much was allocated on each device in each step: at its begin, at its end, and at most.

        >>> trace.memory_steps()
        []
        """
        return ResultRows(_core.memory_steps(self._core, where), "steps")

    def critical_path(self, *, where: str | None = None) -> ResultRows:
        """The chain of host code, launches, works and waits that determined how long the run took: a dict per edge.

        Edges are in order of time, rank by rank. "kind" is "host", "gap" (no host span was open on the main thread),
        "launch", "queue", "compute", "communication", "copy" or "sync"; the durations of a rank sum to the length of
        its path. ``where`` chooses spans, as in `summary`.

        >>> [(row["kind"], row["name"], row["duration_ns"]) for row in trace.critical_path()]
        [('host', 'aten::mm', 5000), ('gap', '', 5000), ('host', 'aten::add', 7000)]
        """
        return ResultRows(_core.critical_path_edges(self._core, where), "rows")

    def critical_paths(self, *, where: str | None = None) -> ResultRows:
        """The critical path of each rank: its length, the window of the rank, and the parts of the length.

        ``where`` chooses spans, as in `summary`.

        >>> [(row["length_ns"], row["window_ns"], row["host_ns"], row["gap_ns"]) for row in trace.critical_paths()]
        [(17000, 17000, 12000, 5000)]
        """
        return ResultRows(_core.critical_paths(self._core, where), "paths")

    def critical_path_table(self, *, where: str | None = None) -> str:
        """The parts of each path and its longest edges as tables; "" without spans."""
        return TableText(_core.critical_path_table(self._core, where))

    def reproduce(self, *, where: str | None = None, path: str | bytes | os.PathLike | None = None) -> str:
        """A Python script that runs one recorded operator of torch again and times it; it needs nothing but torch.

        The script makes tensors of the recorded sizes, strides and types, with random values, and passes the recorded
        numbers. ``where`` chooses spans, as in `summary`; of several operators, or of several shapes of one, the script
        has the one that took most time, and says so at its top. ``path``: the file to write the script to as well.
        Raises ``opscope.Error`` if no operator is chosen, or if the call cannot be made again, for example because
        shapes were not recorded (``record_shapes=True``).

        >>> args = {"Input Dims": [[4, 5], [5, 6]], "Input type": ["float", "float"]}
        >>> args |= {"Input Strides": [[5, 1], [1, 5]], "Concrete Inputs": ["", ""]}
        >>> mm = {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "name": "aten::mm", "cat": "cpu_op", "args": args}
        >>> script = opscope.read(json.dumps([mm]).encode()).reproduce(where="name = aten::mm")
        >>> print(*(line.strip() for line in script.splitlines() if line.strip().startswith("tensor(")), sep="\\n")
        tensor((4, 5), (5, 1), torch.float32, "normal"),
        tensor((5, 6), (1, 5), torch.float32, "normal"),
        """
        script = _core.reproduce(self._core, where)
        if path is not None:
            _core.write_whole_file(path, script.encode())
        return script

    def roofline(
        self,
        *,
        peak_flops: float | None = None,
        peak_bandwidth: float | None = None,
        where: str | None = None,
    ) -> ResultRows:
        """FLOPs, bytes and rates of operators by input shapes and type, against the peaks of the machine: a dict per
        operator, largest time first. Unknown numbers are None. Record with ``record_shapes=True``.

        ``peak_flops``, ``peak_bandwidth``: what the machine reaches, in operations and bytes per second; by default
        those of the trace's device, if the table of devices has it. ``where`` chooses spans, as in `summary`.

        >>> call = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 2, "name": "aten::mm", "cat": "cpu_op"}
        >>> call["args"] = {"Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"]}
        >>> recorded = opscope.read(json.dumps([call]).encode())
        >>> row = recorded.roofline(peak_flops=1e11, peak_bandwidth=1e10)[0]
        >>> row["flops"], row["bytes"], row["bound"], round(row["peak_share"], 3)
        (65536, 14336, 'memory', 0.717)
        """
        _check_peaks(peak_flops=peak_flops, peak_bandwidth=peak_bandwidth)
        return ResultRows(_core.roofline(self._core, where, peak_flops, peak_bandwidth), "rows")

    def roofline_machine(
        self,
        *,
        peak_flops: float | None = None,
        peak_bandwidth: float | None = None,
        where: str | None = None,
    ) -> dict[str, int | float | str | None]:
        """The machine of `roofline` and how much of the time it covers: "device", "peak_bandwidth", "time_ns",
        "known_ns", the time of rows with FLOPs and bytes, and "known_share".

        >>> trace.roofline_machine()["known_ns"]
        0
        """
        _check_peaks(peak_flops=peak_flops, peak_bandwidth=peak_bandwidth)
        return ResultRows(_core.roofline_machine(self._core, where, peak_flops, peak_bandwidth), "machine")[0]

    def diff(self, other: Trace | Sequence[Trace], *, by: str = "name", where: str | None = None) -> TraceDiff:
        """What became slower or faster from this run to the other, or to a list of other runs; see `opscope.diff`.

        >>> [(row["name"], row["delta_ns"]) for row in trace.diff(trace.cut("name ~ mm"))]
        [('aten::add', -7000), ('aten::mm', 0)]
        """
        return compare(self, other, by, where)

    def check(
        self,
        limits: Mapping[str, Mapping[str, float | str]],
        *,
        baseline: Trace | str | bytes | os.PathLike | Sequence[str | bytes | os.PathLike] | None = None,
    ) -> TraceCheck:
        """Compares metrics with limits, as ``opscope check`` does: a dict per limit.

        ``limits``: from a metric, "METRIC:NAME" for one operator, to the limits for it: "min" and "max" are numbers,
        "max_increase" and "max_decrease" a number or "5%" of the value of ``baseline``. That is a trace, a file, or the
        files of one job, which are merged. A metric that the trace does not have crosses its limits.

        >>> result = trace.check({"op_self_ns:aten::mm": {"max": 6000, "max_increase": "10%"}}, baseline=trace)
        >>> result.passed, result[1]["limit"]
        (True, 5500.0)
        >>> trace.check({"step_p50_ns": {"max": 1e9}}).crossed
        ['step_p50_ns is unknown: the trace does not have it']
        """
        return check_limits(self, limits, baseline)


def _not_negative(name: str, number: int) -> int:
    if not isinstance(number, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {type(number).__name__}")
    if number < 0:
        raise ValueError(f"{name} must not be negative")
    return number


def _check_peaks(**peaks: float | None) -> None:
    for name, peak in peaks.items():
        if peak is not None and not isinstance(peak, numbers.Real):
            raise TypeError(f"{name} must be a number, not {type(peak).__name__}")
        if peak is not None and not 0 < peak < math.inf:
            raise ValueError(f"{name} must be a finite number above 0")
