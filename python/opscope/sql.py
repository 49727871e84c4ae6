# SPDX-License-Identifier: Apache-2.0
"""The rows of a SQL query, and the path of DuckDB, which runs it.

The examples read the trace of `opscope.trace`.
"""

from __future__ import annotations

import decimal
import importlib.util
import json
import numbers
import operator
import os
from collections.abc import Callable
from typing import Any

from opscope import _core
from opscope.preview import PreviewList, TablePreview
from opscope.table import require_package

__all__ = ["SqlRows", "checked_limit", "checked_seconds", "find_duckdb", "rows_within"]


def find_duckdb() -> str:
    """The file of the extension module of the package ``duckdb``, which is not imported; "" without it."""
    spec = importlib.util.find_spec("_duckdb")  # from 1.4 on
    return spec.origin if spec is not None and spec.origin and os.path.isfile(spec.origin) else ""


def checked_limit(limit: int | None) -> int | None:
    """A ``limit`` of rows, None for all. TypeError if it is no whole number, ValueError if it is negative."""
    if limit is None:
        return None
    if not hasattr(limit, "__index__"):
        raise TypeError(f"limit must be a whole number or None, not {type(limit).__name__}")
    count = operator.index(limit)
    if count < 0:
        raise ValueError("limit must not be negative")
    return count


def checked_seconds(seconds: float) -> float:
    """A ``max_seconds``. TypeError if it is no number, ValueError if it is negative or NaN."""
    if not isinstance(seconds, numbers.Real):
        raise TypeError(f"max_seconds must be a number, not {type(seconds).__name__}")
    if not seconds >= 0:
        raise ValueError(f"max_seconds must be 0 or more, not {seconds!r}")
    return float(seconds)


def rows_within(limit: int | None, run: Callable[[int], _core.SqlAnswer]) -> SqlRows:
    """The first ``limit`` rows of a query, None for all. ``run``: runs it with a largest number of rows, 0 for all."""
    count = checked_limit(limit)
    # A limit of 0 rows still reads one row, to see whether there are any.
    answer = run(0 if count is None else max(count, 1))
    return SqlRows(answer, has_rows=count != 0)


class SqlRows(PreviewList):
    """The rows of `Trace.sql`: a list of dicts, and a table for Arrow and pandas.

    Integers are ``int`` of any size, ``DECIMAL`` is ``decimal.Decimal``, lists are lists, structs are dicts, maps are
    lists of ``{"key": ..., "value": ...}``. Dates, times and blobs are texts as DuckDB prints them; Arrow has them as
    they are. A name that several columns have is numbered: ``a``, ``a_1``.

    >>> rows = trace.sql("SELECT name, duration FROM spans ORDER BY start")
    >>> rows[0]
    {'name': 'aten::mm', 'duration': 5000}
    >>> rows.types
    {'name': 'VARCHAR', 'duration': 'BIGINT'}
    """

    def __init__(self, answer: _core.SqlAnswer, *, has_rows: bool = True):
        """``has_rows=False``: the columns alone, although the answer may have rows."""
        self._answer = answer
        self._has_rows = has_rows
        columns = answer.columns
        names = _distinct([name for name, _ in columns])
        self.types: dict[str, str] = dict(zip(names, (type for _, type in columns), strict=True))
        """Each column's type, as DuckDB names it."""
        self.is_truncated: bool = answer.is_truncated
        """The query has more rows than the limit."""
        rows = json.loads(answer.json_rows())
        if not has_rows:
            self.is_truncated, rows = bool(rows), []
        decimals = [at for at, (_, type) in enumerate(columns) if type.startswith("DECIMAL(") and type.endswith(")")]
        for row in rows if decimals else ():
            for at in decimals:
                row[at] = None if row[at] is None else decimal.Decimal(row[at])
        super().__init__(dict(zip(names, row, strict=True)) for row in rows)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` of the rows; integers with NULLs have pandas' type ``Int64``."""
        pandas = require_package("pandas", "pandas")
        data = {}
        for name, type in self.types.items():
            values = [row[name] for row in self]
            is_integer = type.endswith(("INT", "INTEGER"))
            fits = is_integer and all(value is None or -(2**63) <= value < 2**63 for value in values)
            data[name] = pandas.array(values, dtype="Int64") if fits and None in values else values
        return pandas.DataFrame(data)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``, with DuckDB's own types."""
        return require_package("pyarrow", "pyarrow").RecordBatchReader.from_stream(self).read_all()

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule protocol."""
        if self._has_rows:
            return self._answer.arrow_stream()
        with_rows = SqlRows(self._answer).to_arrow()
        return with_rows.schema.empty_table().__arrow_c_stream__()

    def __reduce__(self):
        return list, (list(self),)

    def _preview(self) -> TablePreview | None:
        return TablePreview.of(f"{len(self):,} rows", self, len(self))


def _distinct(names: list[str]) -> list[str]:
    """The names without duplicates: a number is appended to a repeated name."""
    used: dict[str, None] = {}
    for name in names:
        numbered, number = name, 0
        while numbered in used:
            number += 1
            numbered = f"{name}_{number}"
        used[numbered] = None
    return list(used)
