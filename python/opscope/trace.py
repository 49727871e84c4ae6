# SPDX-License-Identifier: Apache-2.0
"""Traces as column tables.

A `Trace` holds tables, a `Table` holds columns. A number column is a read-only `memoryview` of the
engine's own memory: nothing is copied, NumPy takes it with ``numpy.asarray``, and it keeps the trace
alive. A text column holds ids of `Trace.strings`; `Table.text` reads it as text. All times are integer
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

import html
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from opscope import _core

if TYPE_CHECKING:
    import os

__all__ = ["Strings", "Table", "TextColumn", "Trace", "open", "read"]

_NONE = 0xFFFFFFFF  # an id or a handle that stands for nothing
_SHOWN_ROWS = 10


def open(path: str | bytes | os.PathLike, *, max_memory: int | None = None) -> Trace:
    """Reads a trace file; the format is found by its content, gzip and zstd are transparent.

    ``max_memory`` limits the bytes that the columns and the input may hold together. Damage after the
    first whole event is not an error: the trace holds everything before it, and a row of `problems`.

    Raises `opscope.Error` (a `ValueError`) for input that cannot be read, and `OSError` where the
    system refuses.

    >>> opscope.open("no/such/file")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/file'
    """
    return Trace(_core.open_trace(path, _memory_limit(max_memory)))


def read(data: bytes, *, name: str = "<bytes>", max_memory: int | None = None) -> Trace:
    """Reads a trace from bytes; ``name`` stands for the file in messages.

    >>> opscope.read(b'{"traceEvents": []}').spans
    <opscope.Table spans: 0 rows>
    """
    return Trace(_core.read_trace(bytes(data), name, _memory_limit(max_memory)))


class Strings(Sequence):
    """The texts of a trace by id. Bytes that are not UTF-8 are read with ``surrogateescape``.

    >>> trace.strings[trace.strings.find("aten::mm")]
    'aten::mm'
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Trace):
        self._core = core

    def __len__(self) -> int:
        return self._core.text_count

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._core.text(i) for i in range(*index.indices(len(self)))]
        return self._core.text(_row(index, len(self)))

    def find(self, text: str) -> int | None:
        """The id of a text, or None when the trace does not contain it."""
        return self._core.find_text(text)

    def __repr__(self) -> str:
        return f"<opscope.Strings: {len(self)} texts>"


class TextColumn(Sequence):
    """A text column as text; each row is decoded when it is read, a row without text is None.

    >>> list(trace.spans.text("name"))
    ['aten::mm', 'aten::add']
    """

    __slots__ = ("_core", "_ids", "_where")

    def __init__(self, core: _core.Trace, table: str, column: str):
        self._core = core
        self._ids = _core.column(core, table, column)
        self._where = (table, column)

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._decode(id) for id in self._ids[index]]
        return self._decode(self._ids[index])

    def __iter__(self) -> Iterator[str | None]:
        codes, texts = self.codes()
        return (None if code < 0 else texts[code] for code in codes)

    def codes(self) -> tuple[memoryview, list[str]]:
        """``(codes, texts)``: for each row the index of its text, -1 for none, and the distinct texts.

        >>> codes, texts = trace.spans.text("category").codes()
        >>> list(codes), texts
        ([0, 0], ['cpu_op'])
        """
        return _core.text_codes(self._core, *self._where)

    def _decode(self, id: int) -> str | None:
        return None if id == _NONE else self._core.text(id)

    def __repr__(self) -> str:
        return f"<opscope.TextColumn {'.'.join(self._where)}: {len(self)} rows>"


class Table:
    """One table of a trace. Columns are read by name: ``table["start"]`` or ``table.start``.

    >>> trace.spans
    <opscope.Table spans: 2 rows>
    >>> trace.spans.duration.tolist()
    [5000, 7000]
    """

    __slots__ = ("_columns", "_core", "_name")

    def __init__(self, core: _core.Trace, name: str):
        self._core = core
        self._name = name
        self._columns = {column: (type, meaning) for column, type, meaning in _core.columns(core, name)}

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return _core.row_count(self._core, self._name)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, column: str) -> memoryview:
        """A column without a copy, as a read-only memoryview that keeps the trace alive."""
        return _core.column(self._core, self._name, column)

    def __getattr__(self, name: str) -> memoryview:
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(f"table '{self._name}' has no column '{name}'")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._columns})

    def text(self, column: str) -> TextColumn:
        """A text column as text."""
        if self._columns[column][1] != "text":
            raise TypeError(f"column '{column}' of table '{self._name}' holds numbers, not text")
        return TextColumn(self._core, self._name, column)

    def row(self, index: int) -> dict[str, Any]:
        """One row as a dict; texts are decoded, handles that stand for nothing are None.

        >>> trace.spans.row(0)["name"]
        'aten::mm'
        """
        index = _row(index, len(self))
        values = {}
        for column, (_, meaning) in self._columns.items():
            value = self[column][index]
            if meaning != "value" and value == _NONE:
                value = None
            elif meaning == "text":
                value = self._core.text(value)
            values[column] = value
        return values

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.row(i) for i in range(len(self)))

    def to_pandas(self):
        """A ``pandas.DataFrame`` over the same memory; text columns become categories."""
        pandas = _require("pandas", "pandas")
        numpy = _require("numpy", "numpy")
        data = {}
        for column, (_, meaning) in self._columns.items():
            if meaning == "text":
                codes, texts = self.text(column).codes()
                # An index of objects also holds names that are not valid Unicode.
                data[column] = pandas.Categorical.from_codes(numpy.asarray(codes), pandas.Index(texts, dtype=object))
            else:
                data[column] = numpy.asarray(self[column])
        return pandas.DataFrame(data, copy=False)

    def to_arrow(self):
        """A ``pyarrow.Table`` over the same memory; text columns become dictionaries."""
        return _require("pyarrow", "pyarrow").table(self)

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule protocol: Polars, DuckDB, pyarrow and pandas read the table through it."""
        return _core.arrow_stream(self._core, self._name)

    def __repr__(self) -> str:
        return f"<opscope.Table {self._name}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        shown = [self.row(i) for i in range(min(len(self), _SHOWN_ROWS))]
        return _html_table(self.columns, shown, f"{self._name}: {len(self):,} rows")


class _TableProperty:
    """The table of the attribute's name."""

    def __init__(self, doc: str):
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, trace: Trace | None, owner: type | None = None) -> Table:
        if trace is None:
            return self  # type: ignore[return-value] - the class's own attribute, for help()
        return Table(trace._core, self._name)


class Trace:
    """What was recorded: immutable tables. Made by `opscope.open`, `opscope.read` and the profilers.

    >>> trace.summary(sort="total_ns", limit=1)[0]["name"]
    'aten::add'
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Trace):
        self._core = core

    processes = _TableProperty("Processes and devices.")
    tracks = _TableProperty("Threads and device streams; each is one contiguous range of `spans`.")
    spans = _TableProperty("Operators, ranges, kernels: by track, parents before their children.")
    async_spans = _TableProperty("Ranges with an id that cross threads.")
    instants = _TableProperty("Points in time.")
    counters = _TableProperty("Samples of counters.")
    flows = _TableProperty("Arrows: launch to kernel, forward to backward.")
    allocations = _TableProperty("Allocations (bytes > 0) and frees (bytes < 0).")
    steps = _TableProperty("Training steps.")
    frames = _TableProperty("Lines of call stacks.")
    stacks = _TableProperty("Call stacks: a frame and the stack of its caller.")
    problems = _TableProperty("What was repaired, dropped or guessed, with counts.")
    metadata = _TableProperty("Top-level metadata; values as JSON text.")

    @property
    def strings(self) -> Strings:
        """The texts that text columns hold ids of."""
        return Strings(self._core)

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the input as a whole: format, counts, epoch, recording options.

        >>> trace.info["recorded"]
        2
        """
        facts = self._core.info()
        facts["options"] = json.loads(facts.pop("options_json"))
        return facts

    @property
    def is_partial(self) -> bool:
        """True when a problem says that input was lost."""
        return self._core.is_partial

    @property
    def memory_bytes(self) -> int:
        """Bytes that the columns and texts hold."""
        return self._core.memory_bytes

    def arguments(self, id: int) -> list[dict[str, Any]]:
        """The arguments of one call: ``id`` is a value of ``spans.args``."""
        return self._core.arguments(id)

    def summary(
        self, *, group_by: str | Sequence[str] = "name", sort: str = "self_ns", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """The operator summary: one dict per group with counts and times, largest first.

        ``group_by``: "name" and any of "shape", "category", "thread", "device", "stack".
        ``sort``: a key of the rows.

        >>> [(row["name"], row["category"], row["total_ns"]) for row in trace.summary(group_by=["name", "category"])]
        [('aten::add', 'cpu_op', 7000), ('aten::mm', 'cpu_op', 5000)]
        """
        if limit is not None and limit < 0:
            raise ValueError("limit must not be negative")
        keys = [group_by] if isinstance(group_by, str) else list(group_by)
        return _core.summary(self._core, keys, sort, limit)

    def save(self, path: str | bytes | os.PathLike) -> None:
        """Writes the trace as ``.opscope``."""
        self._core.save(path)

    def export(self, path: str | bytes | os.PathLike, *, to: str = "chrome") -> None:
        """Writes the trace in another format: ``to`` is "chrome" (Kineto's JSON) or "opscope".

        A path that ends in ``.gz`` or ``.zst`` is compressed. Nothing half-written stays at a fault.
        """
        if to == "chrome":
            self._core.export_chrome(path)
        elif to == "opscope":
            self._core.save(path)
        else:
            raise ValueError(f"cannot export to '{to}'; known: chrome, opscope")

    def __repr__(self) -> str:
        return (
            f"<opscope.Trace {self._core.info()['format']}: {len(self.spans)} spans on {len(self.tracks)} tracks, "
            f"{len(self.problems)} problems>"
        )

    def _repr_html_(self) -> str:
        rows = [{"table": name, "rows": _core.row_count(self._core, name)} for name in _core.TABLES]
        return _html_table(["table", "rows"], rows, repr(self))


def _memory_limit(max_memory: int | None) -> int:
    if max_memory is None:
        return 0  # the engine's word for none
    if max_memory <= 0:
        raise ValueError("max_memory must be positive")
    return max_memory


def _row(index: int, count: int) -> int:
    if index < 0:
        index += count
    if not 0 <= index < count:
        raise IndexError("row out of range")
    return index


def _require(module: str, package: str):
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}: pip install {package}", name=module) from error


def _html_table(columns: list[str], rows: list[dict[str, Any]], caption: str) -> str:
    def cell(value) -> str:
        # A notebook sends UTF-8: bytes that are not are shown as their escapes.
        text = "" if value is None else str(value)
        return html.escape(text.encode("utf-8", "backslashreplace").decode("utf-8"))

    head = "".join(f"<th>{cell(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell(row[c])}</td>" for c in columns) + "</tr>" for row in rows)
    return f"<table><caption>{cell(caption)}</caption><tr>{head}</tr>{body}</table>"
