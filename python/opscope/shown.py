# SPDX-License-Identifier: Apache-2.0
"""What a prompt and a notebook show of an object: a table of a few rows, as text and as HTML, units to be read.

Whoever has rows hands them over as dicts; the unit of a column is told by its name (``self_ns``, ``bytes``).
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opscope import _core

__all__ = ["SHOWN_ROWS", "Shown", "ShownList", "TableText"]

SHOWN_ROWS = 30
_SHOWN_LINES = 1000  # of a text that somebody has asked for as a table
_CELL_WIDTH = 100  # characters
_TIMES_NS = {"start", "duration", "time", "start_time", "end_time"}  # of tables of a trace


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if column in _TIMES_NS or column.endswith("_ns"):
            return _core.torch.format_time(value / 1000)
        if column.endswith("_us"):
            return _core.torch.format_time(value)
        if column == "bytes" or column.endswith("_bytes"):
            return _core.torch.format_memory(int(value))
        return f"{value:g}" if isinstance(value, float) else str(value)
    return str(value)


def _title(column: str) -> str:
    """Without the unit, which the cells say."""
    return column.removesuffix("_ns").removesuffix("_us").removesuffix("_bytes") or column


def _one_line(text: str) -> str:
    """Of at most so many characters, all of which can be shown and sent."""
    if len(text) > _CELL_WIDTH:
        text = text[: _CELL_WIDTH - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


@dataclass
class Shown:
    """The first rows of something, and how many it has."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    left_out: int

    @staticmethod
    def of(caption: str, rows: Iterable[dict[str, Any]], count: int, *, limit: int = SHOWN_ROWS) -> Shown:
        """Of `count` rows, which need not be made; the columns are those of the first."""
        dicts = list(itertools.islice(rows, limit))
        columns = list(dicts[0]) if dicts else []
        cells = [[_one_line(_cell(column, row.get(column))) for column in columns] for row in dicts]
        return Shown(caption, columns, cells, count - len(dicts))

    def text(self) -> str:
        """Columns below each other, the first one, which has the names, at the end of the line."""
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
        """The same for a notebook; everything in it is escaped."""

        def row_of(kind: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        head = row_of("th", [_title(column) for column in self.columns])
        body = "".join(row_of("td", row) for row in self.rows)
        more = f"<p>({self.left_out:,} more)</p>" if self.left_out > 0 else ""
        return f"<table><caption>{html.escape(_one_line(self.caption))}</caption>{head}{body}</table>{more}"


class ShownList(list):
    """A list that shows its first elements as a table."""

    def _shown(self) -> Shown | None:
        """None where they are not what the list is for: a program may have put anything into it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = self._shown() if self else None
        return super().__repr__() if shown is None else shown.text()

    def _repr_html_(self) -> str | None:
        shown = self._shown() if self else None
        return None if shown is None else shown.html()


class TableText(str):
    """A table as text: a str that a prompt and a notebook show line by line."""

    __slots__ = ()

    def _first(self, limit: int) -> str:
        lines = self.splitlines()
        if len(lines) <= limit:
            return str(self)
        return "\n".join([*lines[:limit], f"({len(lines) - limit:,} more lines; print() shows all)"])

    def __reduce__(self):
        return str, (str(self),)  # who reads it elsewhere needs nothing of ours

    def __repr__(self) -> str:
        return self._first(SHOWN_ROWS) if self else "''"

    def _repr_html_(self) -> str:
        text = self._first(_SHOWN_LINES).encode("utf-8", "backslashreplace").decode("utf-8")
        return f"<pre>{html.escape(text)}</pre>"
