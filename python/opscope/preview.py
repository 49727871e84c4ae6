# SPDX-License-Identifier: Apache-2.0
"""Display of objects at a prompt and in a notebook: the first rows of a table, as text and as HTML, with readable
units.

Rows are dicts; the unit of a column is given by its name (``self_ns``, ``bytes``).
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opscope import _core

__all__ = ["PREVIEW_ROWS", "TablePreview", "PreviewList", "TableText"]

PREVIEW_ROWS = 30
_PREVIEW_LINES = 1000  # for a text that a program displays as a table
_CELL_WIDTH = 100  # characters
_TOO_LARGE = 1 << 63  # no unit from here on, nor for NaN and infinity: integers of SQL have up to 128 bits
_TIMES_NS = {"start", "duration", "time", "start_time", "end_time"}  # columns of a trace's tables in ns


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and -_TOO_LARGE < value < _TOO_LARGE:
        if column in _TIMES_NS or column.endswith("_ns"):
            return _core.torch.format_time(value / 1000)
        if column.endswith("_us"):
            return _core.torch.format_time(value)
        if column == "bytes" or column.endswith("_bytes"):
            return _core.torch.format_memory(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _title(column: str) -> str:
    """Title of a column, without its unit, which is in the cells."""
    return column.removesuffix("_ns").removesuffix("_us").removesuffix("_bytes") or column


def _one_line(text: str) -> str:
    """The text, cut to _CELL_WIDTH, with characters escaped that are not printable."""
    if len(text) > _CELL_WIDTH:
        text = text[: _CELL_WIDTH - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


@dataclass
class TablePreview:
    """The first rows of a table as text, and how many more it has."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    left_out: int

    @staticmethod
    def of(caption: str, rows: Iterable[dict[str, Any]], count: int, *, limit: int = PREVIEW_ROWS) -> TablePreview:
        """From `count` rows, of which only the first ones are read; the columns are those of the first row."""
        dicts = list(itertools.islice(rows, limit))
        columns = list(dicts[0]) if dicts else []
        cells = [[_one_line(_cell(column, row.get(column))) for column in columns] for row in dicts]
        return TablePreview(caption, columns, cells, count - len(dicts))

    def text(self) -> str:
        """The table as text; the first column, with the names, is printed last, so that long names do not break the
        layout.
        """
        titles = [_title(column) for column in self.columns]
        lines = [self.caption]
        if self.rows:
            table = [titles, *self.rows]
            widths = [max(len(row[at]) for row in table) for at in range(len(titles))]
            for row in table:
                numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
                lines.append("  ".join([*numbers, row[0]]).rstrip())
        if self.left_out > 0:
            lines.append(f"({self.left_out:,} more)")
        return "\n".join(lines)

    def html(self) -> str:
        """The table as HTML, with all texts escaped."""

        def row_of(kind: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        head = row_of("th", [_title(column) for column in self.columns])
        body = "".join(row_of("td", row) for row in self.rows)
        more = f"<p>({self.left_out:,} more)</p>" if self.left_out > 0 else ""
        return f"<table><caption>{html.escape(_one_line(self.caption))}</caption>{head}{body}</table>{more}"


class PreviewList(list):
    """A list that displays its first elements as a table."""

    def _preview(self) -> TablePreview | None:
        """The display; None if a program has put other objects into the list."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = self._preview() if self else None
        return super().__repr__() if shown is None else shown.text()

    def _repr_html_(self) -> str | None:
        shown = self._preview() if self else None
        return None if shown is None else shown.html()


class TableText(str):
    """A str that contains a table: a prompt and a notebook show it line by line."""

    __slots__ = ()

    def _first(self, limit: int) -> str:
        lines = self.splitlines()
        if len(lines) <= limit:
            return str(self)
        return "\n".join([*lines[:limit], f"({len(lines) - limit:,} more lines; print() shows all)"])

    def __reduce__(self):
        return str, (str(self),)  # pickled as a plain str, which can be loaded without opscope

    def __repr__(self) -> str:
        return self._first(PREVIEW_ROWS) if self else "''"

    def _repr_html_(self) -> str:
        text = self._first(_PREVIEW_LINES).encode("utf-8", "backslashreplace").decode("utf-8")
        return f"<pre>{html.escape(text)}</pre>"
