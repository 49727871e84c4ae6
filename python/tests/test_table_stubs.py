# SPDX-License-Identifier: Apache-2.0
"""`opscope/trace_tables.py` has the tables and columns of the engine. OPSCOPE_UPDATE_GOLDEN=1 writes it anew."""

import os
import textwrap
from pathlib import Path

import opscope
from opscope import _core
from opscope.table import Table

STUBS = Path(opscope.__file__).parent / "trace_tables.py"
TYPES = {"text": "TextColumn", "list<int64>": "ListColumn"}


def docstring(text, indent):
    """Lines of a docstring of at most 120 characters."""
    lines = textwrap.wrap(text, 120 - indent - 3)
    if len(lines) == 1 and len(lines[0]) + indent + 6 > 120:
        lines = textwrap.wrap(text, 120 - indent - 6)
    blank = " " * indent
    if len(lines) == 1:
        return f'{blank}"""{lines[0]}"""\n'
    return f'{blank}"""{lines[0]}\n' + "".join(f"{blank}{line}\n" for line in lines[1:]) + f'{blank}"""\n'


def column_text(column):
    facts = {"handle": f"row of `{column.table}`", "time": "nanoseconds", "duration": "nanoseconds"}
    words = [facts.get(column.meaning, column.type if column.meaning == "value" else "")]
    if column.unknown is not None and column.meaning != "text":
        words.append(f"{column.unknown}: unknown")
    note = "; ".join(word for word in words if word)
    return column.documentation + (f" ({note})" if note else "")


def stubs(trace):
    out = textwrap.dedent('''\
        # SPDX-License-Identifier: Apache-2.0
        """The tables of a trace with their columns, for editors, type checkers and `help`.

        Generated from include/opscope/trace_tables.def: OPSCOPE_UPDATE_GOLDEN=1 pytest python/tests/test_table_stubs.py
        """

        from __future__ import annotations

        from opscope.table import ArgumentTable, ListColumn, Table, TableProperty, TextColumn

    ''')
    names = {}
    for name in _core.TABLES:
        table = getattr(trace, name)
        base = "ArgumentTable" if name == "arguments" else "Table"
        names[name] = "".join(part.capitalize() for part in name.split("_"))
        out += f"\nclass {names[name]}({base}):\n" + docstring(table.documentation, 4)
        columns = {column: said for column, said in table.schema.items() if not hasattr(Table, column)}
        out += "\n" if columns else ""  # a column with the name of a method is read as table["text"]
        for column, described in columns.items():
            type = TYPES.get(described.meaning) or TYPES.get(described.type, "memoryview")
            out += f"    {column}: {type}\n" + docstring(column_text(described), 4)
        out += "\n"
    out += '\nclass TraceTables:\n    """The tables of a `Trace`."""\n\n    __slots__ = ()\n\n'
    out += "".join(f"    {name} = TableProperty({kind})\n" for name, kind in names.items())
    return out


def test_every_table_and_column_has_its_type_and_documentation():
    expected = stubs(opscope.read(b"[]"))
    if "OPSCOPE_UPDATE_GOLDEN" in os.environ:
        STUBS.write_text(expected)
    assert STUBS.read_text() == expected
