# SPDX-License-Identifier: Apache-2.0
"""opscope's C++ engine; use the package opscope."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

__version__: str
TABLES: tuple[str, ...]

class Error(ValueError):
    code: Literal["invalid_argument", "malformed", "unsupported"]

class _Counts(TypedDict):
    recorded: int
    dropped: int
    bytes: int
    threads: int
    chunks: int

class Trace:
    """Immutable columns; opscope.Trace is the way to them."""

    def save(self, path: _Path) -> None: ...
    def export_chrome(self, path: _Path, small_gzip: bool = False, trace_name: str | None = None) -> None: ...
    def info(self) -> dict[str, Any]: ...
    @property
    def is_partial(self) -> bool: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def text_count(self) -> int: ...
    def text(self, id: int) -> str: ...
    def find_text(self, text: str) -> int | None: ...
    @property
    def argument_list_count(self) -> int: ...
    def arguments(self, id: int) -> list[dict[str, Any]]: ...

class MemoryTimeline:
    """What memory held, by category; computed when it is made."""

    def __init__(self, trace: Trace) -> None: ...
    @property
    def row_count(self) -> int: ...
    @property
    def has_operators(self) -> bool: ...
    def json(self, device_type: int, device: int) -> str: ...
    def raw_json(self, device_type: int, device: int) -> str: ...
    def html(self, device_type: int, device: int, title: str) -> str: ...

def open_trace(path: _Path, max_memory: int = 0) -> Trace: ...
def merge_traces(paths: list[_Path], sync_names: list[str], max_clock_difference_s: float) -> Trace: ...
def read_trace(data: bytes, name: str, max_memory: int = 0) -> Trace: ...

class MadeTable:
    """A table that is made of a trace; stands for both in the functions below."""

    def text(self, arg: int, /) -> str: ...

def column(trace: Trace | MadeTable, table: str, name: str) -> memoryview: ...
def row_count(trace: Trace | MadeTable, table: str) -> int: ...
def columns(trace: Trace | MadeTable, table: str) -> list[tuple[str, str, Literal["value", "text", "handle"]]]: ...
def text_codes(trace: Trace | MadeTable, table: str, name: str) -> tuple[memoryview, list[str]]: ...
def arrow_stream(trace: Trace | MadeTable, table: str) -> Any: ...
def summary(
    trace: Trace,
    group_by: Sequence[str],
    sort: str,
    limit: int | None,
    corrected: bool = False,
    where: str | None = None,
) -> list[dict[str, Any]]: ...
def run_command_line(arguments: list[bytes], host_facts: Callable[[], dict[str, Any]] | None = None) -> int: ...

class FlightRecorder:
    """Dumps a running Session when something happens. Any thread."""

    def __init__(
        self,
        path: str | os.PathLike | None = None,
        signal: int = 0,
        on_exception: bool = False,
        no_step_for_s: float = 0.0,
    ) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def step(self) -> None: ...
    def dump(self, path: str | os.PathLike | None = None, reason: str = "request", detail: str = "") -> str: ...
    @property
    def files(self) -> list[str]: ...
    def take_messages(self) -> list[str]: ...

class KeptRecording:
    """The bytes of a recording that is over."""

    @property
    def bytes(self) -> int: ...
    @property
    def recorded(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    def without_events(self) -> KeptRecording: ...

def read_kept(recordings: list[KeptRecording]) -> Trace: ...
def recording_path(record_to: str, n: int) -> str: ...

class Session:
    """One recording of this process: start(), stop(), then trace(). Any thread."""

    def __init__(
        self,
        max_bytes: int = ...,
        at_cap: Literal["stop", "keep_newest"] = "stop",
        native_threads: Literal["all", "attached", "none"] = "all",
        metadata_json: str = "",
        source_flags: int = 0,
        adapter: TorchSource | None = None,
        flight: FlightRecorder | None = None,
        record_to: str = "",
    ) -> None: ...
    def file_warning(self) -> str: ...
    def start(self) -> None: ...
    def stop(self, links_forward_to_backward: bool = True) -> None: ...
    def pause(self, paused: bool) -> None: ...
    @property
    def running(self) -> bool: ...
    def counts(self) -> _Counts: ...
    def trace(self) -> Trace: ...
    def keep(self) -> KeptRecording: ...
    def add_metadata(self, key: str, json: str) -> bool: ...
    @property
    def slot(self) -> int: ...
    @property
    def generation(self) -> int: ...

class TorchSource:
    """The loaded PyTorch source."""

    @property
    def torch_version(self) -> str: ...
    @property
    def hold(self) -> int: ...

def load_torch_source(path: _Path) -> TorchSource: ...

class RangeBase:
    """A labelled range of the program."""

    def __enter__(self, *args: Any) -> Any: ...
    def __exit__(self, *args: Any) -> Any: ...
    name: Any
    args: Any
    run_callbacks_on_exit: Any

def set_range_source(arg: TorchSource, /) -> None: ...

class FunctionEvent:
    """One event of a recording, as torch.autograd.profiler_util lists it."""

    id: Any
    name: Any
    key: Any
    trace_name: Any
    overload_name: Any
    thread: Any
    fwd_thread: Any
    kernels: Any
    count: Any
    cpu_children: Any
    cpu_parent: Any
    input_shapes: Any
    structured_input_shapes: Any
    structured_input_strides: Any
    input_dtypes: Any
    concrete_inputs: Any
    stack: Any
    scope: Any
    use_device: Any
    cpu_memory_usage: Any
    device_memory_usage: Any
    self_cpu_memory_usage: Any
    self_device_memory_usage: Any
    is_async: Any
    is_remote: Any
    is_legacy: Any
    is_user_annotation: Any
    is_python_function: Any
    sequence_nr: Any
    node_id: Any
    device_type: Any
    device_index: Any
    device_resource_id: Any
    flops: Any
    activity_type: Any
    external_id: Any
    linked_correlation_id: Any
    flow_id: Any
    flow_type: Any
    flow_start: Any
    self_cpu_percent: Any
    total_cpu_percent: Any
    total_device_percent: Any
    python_id: Any
    python_parent_id: Any
    python_module_id: Any
    cpu_time_total: Any
    self_cpu_time_total: Any
    device_time_total: Any
    self_device_time_total: Any
    cpu_time: Any
    device_time: Any
    time_range: Any

class Interval:
    """A span of time in microseconds."""

    def elapsed_us(self, *args: Any) -> Any: ...
    def __reduce__(self, *args: Any) -> Any: ...
    start: Any
    end: Any

class FunctionEvents:
    exposes_metadata: bool
    def __init__(
        self,
        trace: Trace,
        start_ns: int | None = None,
        use_device: str | None = None,
        only_torch_flops: bool = False,
    ) -> None: ...
    def __len__(self) -> int: ...
    def event(self, arg: int, /) -> Any: ...
    def fill(self, arg: list[Any], /) -> None: ...
    def mirrors(self, arg: list[Any], /) -> bool: ...
    def averages(self, arg0: bool, arg1: int, arg2: bool, /) -> list[Any]: ...
    def corrected_averages(self, arg0: bool, arg1: int, arg2: bool, /) -> tuple[list[Any], str]: ...
    def export_stacks(self, arg0: _Path, arg1: bool, /) -> None: ...
    def total(self) -> dict[str, Any]: ...
    def loss(self) -> str: ...
    def table(self) -> MadeTable: ...
    def self_cpu_time_total(self) -> float: ...
    @property
    def trace_start_ns(self) -> int: ...
    @property
    def changed(self) -> bool: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, arg: tuple[Any, ...], /) -> None: ...

def folded_stacks(trace: Trace, metric: str) -> str: ...
def write_flame_graph(trace: Trace, path: _Path, metric: str, title: str, width: float, inverted: bool) -> None: ...
def set_event_classes(arg0: Any, arg1: dict[str, Any], arg2: Any, arg3: dict[str, Any], /) -> None: ...
def set_made_event_class(arg: Any, /) -> None: ...
def torch_table(
    events: Any,
    *,
    row_limit: int,
    max_src_column_width: int | None,
    max_name_column_width: int | None,
    max_shapes_column_width: int | None,
    header: Any,
    top_level_events_only: bool,
    time_unit: Any,
    profile_memory: bool,
    with_flops: bool,
    use_device: str | None,
    compat_swapped_cells: bool,
    note: str = "",
    plain: bool = False,
) -> Any: ...
def format_torch_time(arg: float, /) -> Any: ...

class Schedule:
    """Which steps are skipped, warmed up and recorded."""

    def __init__(
        self, *, wait: int, warmup: int, active: int, repeat: int, skip_first: int, skip_first_wait: int
    ) -> None: ...
    @property
    def is_valid(self) -> bool: ...
    def at(self, step: int) -> int:
        """The action's number; REQUIRES is_valid and step >= 0."""

def transitions() -> list[Any]: ...
