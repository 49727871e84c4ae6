# SPDX-License-Identifier: Apache-2.0
"""The tables of a trace: columns as buffers of the engine's memory, and their texts.

The examples read the trace of `opscope.trace`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opscope import _core
from opscope.shown import Shown

__all__ = ["Strings", "Table", "TextColumn"]

_NONE = 0xFFFFFFFF  # an id or a handle that stands for nothing


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
        self._ids: memoryview = _core.column(core, table, column)
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

    The one column that has the name of a method is read as ``frames["text"]``.

    >>> trace.spans
    <opscope.Table spans: 2 rows>
    >>> trace.spans.duration.tolist()
    [5000, 7000]
    """

    __slots__ = ("_columns", "_core", "_name", "_views")

    def __init__(self, core: _core.Trace, name: str):
        self._core = core
        self._name = name
        self._views: dict[str, memoryview] = {}
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
        view = self._views.get(column)
        if view is None:
            view = self._views[column] = _core.column(self._core, self._name, column)
        return view

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
        """A ``pandas.DataFrame`` over the same memory.

        Text columns become categories, rows of other tables ("parent") ``UInt32``, with ``pandas.NA`` for none.
        """
        pandas = _require("pandas", "pandas")
        numpy = _require("numpy", "numpy")
        data = {}
        for column, (_, meaning) in self._columns.items():
            if meaning == "text":
                codes, texts = self.text(column).codes()
                # An index of objects also holds names that are not valid Unicode.
                data[column] = pandas.Categorical.from_codes(numpy.asarray(codes), pandas.Index(texts, dtype=object))
            else:
                numbers = numpy.asarray(self[column])
                is_handle = meaning == "handle"
                data[column] = pandas.arrays.IntegerArray(numbers, numbers == _NONE) if is_handle else numbers
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
        return Shown.of(f"{self._name}: {len(self):,} rows", self, len(self)).html()


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
