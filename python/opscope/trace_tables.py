# SPDX-License-Identifier: Apache-2.0
"""The tables of a trace with their columns, for editors, type checkers and `help`.

Generated from include/opscope/trace_tables.def: OPSCOPE_UPDATE_GOLDEN=1 pytest python/tests/test_table_stubs.py
"""

from __future__ import annotations

from opscope.table import ArgumentTable, ListColumn, Table, TableProperty, TextColumn


class Processes(Table):
    """Processes, and devices that an input lists as processes."""

    pid: memoryview
    """Process id, or number of a device. 0 if the input names the process by a text. (int64)"""
    pid_text: TextColumn
    """The id as the input spells it, if it is not a number."""
    name: TextColumn
    """Name of the process."""
    labels: TextColumn
    """`process_labels` of Chrome traces."""
    sort_index: memoryview
    """Position among the processes in viewers. (int64; -9223372036854775808: unknown)"""
    rank: memoryview
    """Rank in a distributed job, from the metadata of the input. (int32; -1: unknown)"""
    host: TextColumn
    """Name of the machine, from `host_name` of the input."""


class Tracks(Table):
    """Threads and device streams. Each track is one contiguous range of rows of `spans`."""

    process: memoryview
    """Process of the track. (row of `processes`; 4294967295: unknown)"""
    kind: memoryview
    """0 thread, 1 device stream, 2 annotations of a device stream (not busy time), 3 other. (uint8)"""
    tid: memoryview
    """Thread id of the operating system, or number of the stream. 0 if the input names the track by a text. (int64)"""
    tid_text: TextColumn
    """The id as the input spells it, if it is not a number."""
    name: TextColumn
    """Name of the thread or stream."""
    sort_index: memoryview
    """Position within the process in viewers. (int64; -9223372036854775808: unknown)"""
    logical_thread: memoryview
    """Number that the framework gives the thread. (uint64; 0: unknown)"""
    device: memoryview
    """Number of the device of a stream. (int32; -1: unknown)"""
    first_span: memoryview
    """First row of the track in `spans`. (uint32)"""
    span_count: memoryview
    """Number of rows of the track in `spans`. (uint32)"""


class Spans(Table):
    """Operators, ranges, calls, kernels: everything with a begin and an end. Ordered by track, within a track in pre-
    order (a parent before its children, siblings by start); asynchronous spans of a track stand behind the nested
    ones, by start.
    """

    start: memoryview
    """Begin. (nanoseconds)"""
    duration: memoryview
    """Length, never negative. (nanoseconds)"""
    name: TextColumn
    """Name."""
    overload: TextColumn
    """Overload name of an operator."""
    category: TextColumn
    """Category in the words of the input: `cpu_op`, `user_annotation`, `OperatorInner`, ..."""
    track: memoryview
    """Track of the span. (row of `tracks`; 4294967295: unknown)"""
    parent: memoryview
    """The span around it. NULL at the top of a track and for asynchronous spans. (row of `spans`; 4294967295:
    unknown)
    """
    depth: memoryview
    """Number of spans around it. (uint16)"""
    flags: memoryview
    """A sum of flags. 1 unfinished at the end of the recording, 2 asynchronous (outside the nesting), 4 ended on
    another thread, 8 range of a step, 16 scope of the program itself (`OPSCOPE_SCOPE`), 32 asynchronous only because
    a span that began inside it ended after it. (uint8)
    """
    scope: memoryview
    """How the framework classified it: torch's `at::RecordScope` number. (uint8; 255: unknown)"""
    kind: memoryview
    """What the span is, whichever framework recorded it. 0 other, 1 operator, 2 kernel, 3 copy, 4 set, 5 communication,
    6 synchronization, 7 runtime_call, 8 driver_call, 9 user_range, 10 step, 11 module, 12 python_function, 13
    c_function, 14 data_loading, 15 optimizer, 16 backward, 17 forward, 18 device_annotation, 19 overhead
    (docs/reference/span_kinds.md). (uint8)
    """
    sequence: memoryview
    """Autograd sequence number. (int64; -1: unknown)"""
    forward_thread: memoryview
    """Logical thread of the forward operator of a backward span. (uint64; 0: unknown)"""
    correlation: memoryview
    """Pairs a launch with the span of the device. (uint32; 0: unknown)"""
    external_id: memoryview
    """`External id`: operator that the row belongs to. (uint32; 0: unknown)"""
    args: memoryview
    """Shapes, types and values of the arguments: a list of `arguments`. (row of `arguments`; 4294967295: unknown)"""
    stack: memoryview
    """Innermost frame of the call stack. (row of `stacks`; 4294967295: unknown)"""
    extra: TextColumn
    """Further members of the event as the input spells them: `"a":1,"b":[2]`."""


class Launches(Table):
    """The operator that each span of a device, and each call of a device's runtime, was made for. By span; spans
    without a known operator have no row.
    """

    span: memoryview
    """Span of a device, or call of its runtime. (row of `spans`; 4294967295: unknown)"""
    launcher: memoryview
    """The operator. Without an enclosing operator the launcher is the runtime call itself. (row of `spans`; 4294967295:
    unknown)
    """


class AsyncSpans(Table):
    """Ranges with an id that cross threads: paired begin and end events of a file."""

    start: memoryview
    """Begin. (nanoseconds)"""
    duration: memoryview
    """Length. (nanoseconds)"""
    name: TextColumn
    """Name."""
    category: TextColumn
    """Category in the words of the input."""
    track: memoryview
    """Track of the begin. (row of `tracks`; 4294967295: unknown)"""
    id: TextColumn
    """The id as the input spells it, with its scope if it has one (docs/reference/chrome_json.md)."""
    extra: TextColumn
    """Further members of the event, as in `spans`."""


class Instants(Table):
    """Points in time."""

    time: memoryview
    """When. (nanoseconds)"""
    name: TextColumn
    """Name."""
    category: TextColumn
    """Category in the words of the input."""
    track: memoryview
    """Track of the event. (row of `tracks`; 4294967295: unknown)"""
    scope: memoryview
    """Character code: `t` thread, `p` process, `g` global. (uint8)"""
    extra: TextColumn
    """Further members of the event, as in `spans`."""


class Counters(Table):
    """Samples of counters."""

    time: memoryview
    """When. (nanoseconds)"""
    name: TextColumn
    """Name of the counter."""
    series: TextColumn
    """Name of the value within the counter."""
    track: memoryview
    """Track of the sample. (row of `tracks`; 4294967295: unknown)"""
    value: memoryview
    """The value. (float64)"""


class Flows(Table):
    """Arrows: a start joined to each of its ends (launch to kernel, forward to backward)."""

    id: memoryview
    """Number that the ends share. (uint64)"""
    category: TextColumn
    """`ac2g`, `fwdbwd`, `async_gpu`, ..."""
    name: TextColumn
    """Name."""
    start_time: memoryview
    """When the arrow leaves. (nanoseconds)"""
    start_track: memoryview
    """Track that it leaves. (row of `tracks`; 4294967295: unknown)"""
    start_span: memoryview
    """The span that it leaves: the innermost one around its start. (row of `spans`; 4294967295: unknown)"""
    end_time: memoryview
    """When it arrives. (nanoseconds)"""
    end_track: memoryview
    """Track where it arrives. (row of `tracks`; 4294967295: unknown)"""
    end_span: memoryview
    """The span where it arrives. (row of `spans`; 4294967295: unknown)"""
    id_scope: TextColumn
    """What the id is within, as the input spells it: `{"scope": "net", "local": ""}`."""


class Allocations(Table):
    """Allocations and frees that the framework's allocator reported. Each is also a row of `instants`."""

    time: memoryview
    """When. (nanoseconds)"""
    track: memoryview
    """Thread that asked. (row of `tracks`; 4294967295: unknown)"""
    address: memoryview
    """Address of the block. (uint64)"""
    bytes: memoryview
    """Size of the block: positive if allocated, negative if freed. (int64)"""
    total_allocated: memoryview
    """Bytes in use on the device afterwards. (int64; -1: unknown)"""
    total_reserved: memoryview
    """Bytes that the allocator holds on the device afterwards. (int64; -1: unknown)"""
    device_type: memoryview
    """torch's `DeviceType` number. (int32)"""
    device: memoryview
    """Number of the device. (int32; -1: unknown)"""
    stack: memoryview
    """Where the program asked for it. (row of `stacks`; 4294967295: unknown)"""


class Steps(Table):
    """Training steps."""

    number: memoryview
    """Number of the step, as the program counts. (int64)"""
    name: TextColumn
    """Name of its range."""
    span: memoryview
    """Its range. (row of `spans`; 4294967295: unknown)"""


class Frames(Table):
    """Lines of call stacks, each once."""


class Stacks(Table):
    """Call stacks, each once: a frame and the stack of its caller."""

    frame: memoryview
    """Innermost frame. (row of `frames`; 4294967295: unknown)"""
    caller: memoryview
    """Stack of the caller. NULL at the root. (row of `stacks`; 4294967295: unknown)"""


class Arguments(ArgumentTable):
    """Arguments of operators. Equal lists are stored once: many spans have the same `args`. By list and position."""

    list: memoryview
    """The list: a value of `spans.args`. (row of `arguments`; 4294967295: unknown)"""
    position: memoryview
    """Position in the list, from 0. (uint32)"""
    element: memoryview
    """Position within a list of tensors, from 0. NULL in the row of the argument itself. (int32; -1: unknown)"""
    kind: memoryview
    """0 other, 1 tensor, 2 undefined tensor, 3 list of tensors, 4 scalar, 5 list of scalars. (uint8)"""
    dtype: TextColumn
    """Type: `float`, `long int`, `Scalar`, `TensorList`, ..."""
    value: TextColumn
    """Value as its framework prints it (`[64, 32]`, `False`); empty if it was not recorded."""
    sizes: ListColumn
    """Sizes of a tensor, one per dimension. (list<int64>)"""
    strides: ListColumn
    """Strides of a tensor, one per dimension; empty if its layout has none or none were recorded. (list<int64>)"""
    layout: memoryview
    """Layout of a tensor, torch's numbers: 0 strided, 1 sparse, 2 sparse_csr, 3 mkldnn, 4 sparse_csc, 5 sparse_bsr, 6
    sparse_bsc, 7 jagged. (uint8)
    """


class Problems(Table):
    """What was repaired, dropped or guessed, with counts."""

    kind: TextColumn
    """Kind of problem (docs/explanation/reliability.md)."""
    severity: memoryview
    """0 information, 1 data loss, 2 error. (uint8)"""
    count: memoryview
    """How often. (uint64)"""
    first_offset: memoryview
    """Byte of the first one in the uncompressed input (of the file itself for `.opscope`). (int64; -1: unknown)"""
    message: TextColumn
    """The problem as a sentence."""
    ranks: TextColumn
    """Of the merged ranks of a JOB: those that it concerns, such as `[0,3]`; -1 is an unknown rank."""


class Metadata(Table):
    """Top-level metadata, in the order of the input."""

    key: TextColumn
    """Name."""
    json: TextColumn
    """Value as JSON text."""


class PythonCalls(Table):
    """Calls of Python functions, of C functions from Python, and of modules: spans of the category `python_function`
    that a tracer of Python numbered. By span.
    """

    span: memoryview
    """The call. (row of `spans`; 4294967295: unknown)"""
    id: memoryview
    """`Python id`: from 1, by start. (uint32)"""
    caller: memoryview
    """`Python parent id`: id of the calling call. (uint32; 0: unknown)"""
    module_id: memoryview
    """`Python module id`: which of the modules of its class. NULL for functions. (int32; -1: unknown)"""
    thread: memoryview
    """`Python thread`. (int32; -1: unknown)"""


class Tensors(Table):
    """Tensors among the arguments of spans, for the memory timeline: for each span that has rows one row per tensor, in
    the order of the arguments, those inside lists included. By span.
    """

    span: memoryview
    """The operator. (row of `spans`; 4294967295: unknown)"""
    tensor: memoryview
    """Number of the tensor object. It may move to another storage. (uint64; 0: unknown)"""
    storage: memoryview
    """Address of its data. (uint64; 0: unknown)"""
    device_type: memoryview
    """torch's `DeviceType` number. (int32)"""
    device: memoryview
    """Number of the device. (int32; -1: unknown)"""


class HeldTensors(Table):
    """Tensors that a module or an optimizer of the program held when it was first called."""

    time: memoryview
    """When the owner was first called. (nanoseconds)"""
    track: memoryview
    """Thread of the call. (row of `tracks`; 4294967295: unknown)"""
    owner: memoryview
    """Address of the module or optimizer. (uint64)"""
    held_as: memoryview
    """0 parameter, 1 gradient, 2 state of an optimizer. (uint8)"""
    tensor: memoryview
    """Number of the tensor object, as in `tensors`. (uint64; 0: unknown)"""
    storage: memoryview
    """Address of its data, as in `tensors`. (uint64; 0: unknown)"""
    device_type: memoryview
    """torch's `DeviceType` number. (int32)"""
    device: memoryview
    """Number of the device. (int32; -1: unknown)"""
    bytes: memoryview
    """Bytes from its first to its last element. NULL if its layout has no strides. (int64; -1: unknown)"""
    name: TextColumn
    """Name of a parameter in its module, or of a state in the optimizer."""


class Operators(Table):
    """Signatures of the recorded operators, one row per overload."""

    name: TextColumn
    """Name of the operator, with its overload."""
    arguments: TextColumn
    """A code per argument. `t` tensor, `T` list of tensors, `b` bool, `i` int, `f` float, `c` complex, `n` number, `0`
    None, `*` anything, `-` anything else; `?` before it: optional, `!` behind it: written to. `.` if there are none.
    """


class TensorLives(Table):
    """When each tensor had memory, and where, in traces of frameworks that report it (MegEngine)."""

    produced: memoryview
    """When it was produced. (nanoseconds)"""
    duration: memoryview
    """Until its memory was released. NULL if it never was. (nanoseconds; -1: unknown)"""
    track: memoryview
    """Stream of its device. NULL if it was never produced. (row of `tracks`; 4294967295: unknown)"""
    tensor: memoryview
    """Number that the framework gives the tensor. (uint64)"""
    op: memoryview
    """Operator that produced it: an `external_id` of `spans`. (uint64; 0: unknown)"""
    address: memoryview
    """Address of its first element. (uint64; 0: unknown)"""
    bytes: memoryview
    """Bytes from its first to its last element. (uint64)"""
    uses: memoryview
    """Number of operators that took it. (uint32)"""
    args: memoryview
    """One argument: sizes, strides, type. (row of `arguments`; 4294967295: unknown)"""
    name: TextColumn
    """Name of the tensor."""


class TraceTables:
    """The tables of a `Trace`."""

    __slots__ = ()

    processes = TableProperty(Processes)
    tracks = TableProperty(Tracks)
    spans = TableProperty(Spans)
    launches = TableProperty(Launches)
    async_spans = TableProperty(AsyncSpans)
    instants = TableProperty(Instants)
    counters = TableProperty(Counters)
    flows = TableProperty(Flows)
    allocations = TableProperty(Allocations)
    steps = TableProperty(Steps)
    frames = TableProperty(Frames)
    stacks = TableProperty(Stacks)
    arguments = TableProperty(Arguments)
    problems = TableProperty(Problems)
    metadata = TableProperty(Metadata)
    python_calls = TableProperty(PythonCalls)
    tensors = TableProperty(Tensors)
    held_tensors = TableProperty(HeldTensors)
    operators = TableProperty(Operators)
    tensor_lives = TableProperty(TensorLives)
