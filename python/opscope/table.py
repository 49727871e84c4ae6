# SPDX-License-Identifier: Apache-2.0
"""The tables of a trace: columns as buffers of the engine's memory, and their texts.

The examples read the trace of `opscope.trace`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from opscope import _core
from opscope.preview import PreviewList, TablePreview

__all__ = ["ArgumentTable", "Column", "ListColumn", "ResultRows", "Strings", "Table", "TableProperty", "TextColumn"]

_NONE = 0xFFFFFFFF  # id of no text, handle of no row
_ROWS_AT_ONCE = 4096  # rows that are decoded column by column at a time


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


class ListColumn(Sequence):
    """A column each of whose values is a list of integers; a row is read when it is accessed."""

    __slots__ = ("_core", "_rows", "_where")

    def __init__(self, core: _core.Trace, table: str, column: str):
        self._core = core
        self._rows = _core.row_count(core, table)
        self._where = (table, column)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._rows))]
        return _core.list_at(self._core, *self._where, _row(index, self._rows))

    def __repr__(self) -> str:
        return f"<opscope.ListColumn {'.'.join(self._where)}: {len(self)} rows>"


class Column(NamedTuple):
    """What is known of a column: ``trace.spans.schema["parent"]``."""

    type: str
    """Of one value: "uint8", "int64", "float64", "list<int64>", ..."""
    meaning: str
    """"value", "text", "handle" (row of ``table``), "time" or "duration" (nanoseconds)."""
    unknown: int | float | None
    """The number that means "unknown", NaN in a column of shares; None if every value is known."""
    table: str
    """The table that a handle refers to, else ""."""
    documentation: str
    """A sentence or two, Markdown."""


class Table:
    """One table of a trace. Columns are read by name: ``table["start"]`` or ``table.start``.

    A number column is a read-only memoryview, in which `schema` says what number means "unknown"; rows, Arrow and
    pandas have None or NULL there. A text column is a sequence of texts, decoded when they are read; `codes` has the
    ids of its texts. The columns that have the name of a method are read as ``frames["text"]``.

    >>> trace.spans
    <opscope.Table spans: 2 rows>
    >>> trace.spans.duration.tolist()
    [5000, 7000]
    """

    __slots__ = ("_core", "_name", "_schema", "_views")

    def __init__(self, core: _core.Trace, name: str):
        self._core = core
        self._name = name
        self._views: dict[str, memoryview | TextColumn | ListColumn] = {}
        self._schema = {column[0]: Column(*column[1:]) for column in _core.columns(core, name)}

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._schema)

    @property
    def schema(self) -> dict[str, Column]:
        """Each column's type, meaning and documentation.

        >>> trace.spans.schema["parent"].table, trace.spans.schema["start"].meaning
        ('spans', 'time')
        """
        return dict(self._schema)

    @property
    def documentation(self) -> str:
        """What the rows are, Markdown."""
        return _core.table_documentation(self._core, self._name)

    def __len__(self) -> int:
        return _core.row_count(self._core, self._name)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, column: str) -> memoryview | TextColumn | ListColumn:
        """A column: numbers without a copy, as a memoryview that keeps the trace alive, or texts.

        >>> list(trace.spans["name"]), trace.spans["start"].tolist()
        (['aten::mm', 'aten::add'], [10000, 20000])
        """
        if not isinstance(column, str):
            raise TypeError(f"a table has columns by name, and rows by row(index) or as it is iterated; not {column!r}")
        view = self._views.get(column)
        if view is None:
            described = self._schema[column]
            if described.meaning == "text":
                view = TextColumn(self._core, self._name, column)
            elif described.type == "list<int64>":
                view = ListColumn(self._core, self._name, column)
            else:
                view = _core.column(self._core, self._name, column)
            self._views[column] = view
        return view

    def __getattr__(self, name: str) -> memoryview | TextColumn | ListColumn:
        if name.startswith("_") or name not in self._schema:
            raise AttributeError(f"table '{self._name}' has no column '{name}'")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._schema})

    def text(self, column: str) -> TextColumn:
        """A text column as text."""
        self._require_text(column)
        return self[column]

    def codes(self, column: str) -> memoryview:
        """The ids of a text column's texts, for `Trace.strings`: equal texts have equal ids, 0xffffffff means no text.

        >>> [trace.strings[id] for id in trace.spans.codes("name")]
        ['aten::mm', 'aten::add']
        """
        self._require_text(column)
        return _core.column(self._core, self._name, column)

    def _require_text(self, column: str) -> None:
        if self._schema[column].meaning != "text":
            raise TypeError(f"column '{column}' of table '{self._name}' holds numbers, not text")

    def row(self, index: int) -> dict[str, Any]:
        """One row as a dict; texts are decoded, unknown values are None.

        >>> trace.spans.row(0)["name"], trace.spans.row(0)["parent"]
        ('aten::mm', None)
        """
        index = _row(index, len(self))
        return next(self._rows(slice(index, index + 1), _TextsById(self._core)))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        texts = _TextsById(self._core)
        for begin in range(0, len(self), _ROWS_AT_ONCE):
            yield from self._rows(slice(begin, begin + _ROWS_AT_ONCE), texts)

    def _rows(self, part: slice, texts: _TextsById) -> Iterator[dict[str, Any]]:
        names = list(self._schema)
        columns = [self._values(column, part, texts) for column in names]
        return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))

    def _values(self, column: str, part: slice, texts: _TextsById) -> list:
        """The values of some rows; texts are decoded, unknown values are None."""
        described = self._schema[column]
        if described.meaning == "text":
            return [texts[id] for id in _core.column(self._core, self._name, column)[part].tolist()]
        if described.type == "list<int64>":
            return self[column][part]
        values = self[column][part].tolist()
        if described.unknown is None or (described.type != "float64" and described.unknown not in values):
            return values
        return [None if value == described.unknown or value != value else value for value in values]

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` over the same memory.

        Text columns become categories. Columns that may be unknown ("parent", "device") have pandas' nullable types
        (``UInt32``), with ``pandas.NA`` where they are.
        """
        pandas = require_package("pandas", "pandas")
        numpy = require_package("numpy", "numpy")
        data = {}
        for column, described in self._schema.items():
            if described.meaning == "text":
                codes, texts = self.text(column).codes()
                # An index of objects also holds names that are not valid Unicode.
                data[column] = pandas.Categorical.from_codes(numpy.asarray(codes), pandas.Index(texts, dtype=object))
            elif described.type == "list<int64>":
                data[column] = pandas.Series(list(self[column]), dtype=object)
            elif described.unknown is not None and described.type != "float64":
                numbers = numpy.asarray(self[column])
                data[column] = pandas.arrays.IntegerArray(numbers, numbers == described.unknown)
            else:
                data[column] = numpy.asarray(self[column])
        return pandas.DataFrame(data, copy=False)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table`` over the same memory; text columns become dictionaries."""
        return require_package("pyarrow", "pyarrow").table(self)

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule protocol: Polars, DuckDB, pyarrow and pandas read the table through it."""
        return _core.arrow_stream(self._core, self._name)

    def __repr__(self) -> str:
        return f"<opscope.Table {self._name}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        return TablePreview.of(f"{self._name}: {len(self):,} rows", self, len(self)).html()


class ArgumentTable(Table):
    """The table `Trace.arguments`; called with a value of ``spans.args`` it gives the arguments of one call."""

    __slots__ = ()

    def __call__(self, id: int | None) -> list[dict[str, Any]]:
        """The arguments of one call, in order; [] for None. IndexError if no span has this value.

        A dict has "kind", "dtype", "value", "sizes", "strides", "layout" and "tensors", a list of such dicts.

        >>> trace.arguments(trace.spans.row(0)["args"])
        []
        """
        if id is None:
            return []
        index = operator.index(id)
        if not 0 <= index <= _NONE:
            raise IndexError("no such arguments")
        return self._core.arguments(index)


class _TextsById(dict):
    """Texts that were decoded once."""

    def __init__(self, core: _core.Trace):
        super().__init__({_NONE: None})
        self._core = core

    def __missing__(self, id: int) -> str:
        text = self[id] = self._core.text(id)
        return text


_TableOfName = TypeVar("_TableOfName", bound=Table)


class ResultRows(PreviewList):
    """The rows of a result: a list of dicts, and a table for Arrow and pandas, numbers as they were computed.

    ``to_arrow`` gives what Polars and DuckDB take too (pyarrow itself takes a list as columns). Changes of the list do
    not change the table.

    >>> rows = trace.summary()
    >>> rows[0]["name"], rows[0]["total_ns"]
    ('aten::add', 7000)
    >>> rows.schema["total_ns"].documentation
    'Time of the spans that do not lie inside a span of the same row on the same track.'
    """

    def __init__(self, core: _core.ComputedTable, name: str, rows: list[dict[str, Any]] | None = None):
        self._table = Table(core, name)  # `rows` may have lists beside its columns
        super().__init__(self._table if rows is None else rows)

    @property
    def schema(self) -> dict[str, Column]:
        """Each key's type and documentation."""
        return self._table.schema

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``; see `Table.to_pandas`."""
        return self._table.to_pandas()

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``."""
        return self._table.to_arrow()

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule protocol."""
        return self._table.__arrow_c_stream__(requested_schema)

    def __reduce__(self):
        return list, (list(self),)

    def _preview(self) -> TablePreview | None:
        is_table = all(isinstance(row, dict) for row in self)
        return TablePreview.of(f"{len(self):,} rows", self, len(self)) if is_table else None


class TableProperty(Generic[_TableOfName]):
    """The table of a trace that has the attribute's name; made when it is first read."""

    def __init__(self, kind: type[_TableOfName]):
        self.__doc__ = kind.__doc__
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, trace: Any, owner: type | None = None) -> _TableOfName:
        if trace is None:
            return self  # type: ignore[return-value] - the class's own attribute, for help()
        table = trace._tables.get(self._name)
        if table is None:
            table = trace._tables[self._name] = self._kind(trace._core, self._name)
        return table


def _row(index: int, count: int) -> int:
    if index < 0:
        index += count
    if not 0 <= index < count:
        raise IndexError("row out of range")
    return index


def require_package(module: str, package: str):
    """The module, which opscope does not need otherwise; an ImportError says what to install."""
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}: pip install {package}", name=module) from error
