# SPDX-License-Identifier: Apache-2.0
"""The resources of the server: what tables and columns mean, what the fields of answers mean, and what the answers of a
file rest on. The texts come from the descriptions in the engine, from which docs/reference is made, too.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any

from opscope import _core
from opscope.integrations.mcp_server.verbs import OpenedFiles, Verbs, command

_SQL_TYPES = {
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "list<int64>": "BIGINT[]",
}
# The "verb" of the result that each verb has with --explain.
_EXPLANATION = "... --explain"
_EXPLAINED = ("summary", "steps", "devices", "memory", "critical-path", "roofline", "advise")


def add_references(server: Any, opened: OpenedFiles, verbs: Verbs, tools: Collection[str]) -> None:
    """Adds the resources to an ``MCPServer`` that has these tools."""

    resource = functools.partial(server.resource, mime_type="text/markdown")

    @resource(
        "opscope://tables",
        name="tables",
        description="The tables and columns that `query` reads, with SQL types and meanings.",
    )
    def tables() -> str:
        return tables_text()

    @resource("opscope://definitions", name="definitions", description="What each field of each answer means.")
    def definitions() -> str:
        return definitions_text(tools)

    for index in range(len(opened.paths)):
        _add_explanation(server, opened, index, verbs)


def _add_explanation(server: Any, opened: OpenedFiles, index: int, verbs: Verbs) -> None:
    @server.resource(
        f"opscope://explain/{index}",
        name=f"explain {index}",
        description=f"What answers about {opened.names[index]} rest on: spans used, clocks, overhead, problems.",
        mime_type="text/plain",
    )
    async def explain() -> str:
        """What `--explain` prints, verb by verb."""
        text = ""
        for verb in _EXPLAINED:
            _, _, messages = await verbs.run(command(verb, opened.paths[index], "--explain", "--limit=1"))
            text += f"{verb}\n{messages.decode(errors='replace')}\n"
        return text


def tables_text() -> str:
    """The tables of a trace, as `query` has them."""
    trace = _empty_trace()
    lines = [
        "# Tables of a trace",
        "",
        "Times and durations are nanoseconds, times relative to `epoch_ns` of the trace. The first column of each "
        "table is `row`, which numbers its rows from 0; a `row of X` is such a number of the table X.",
    ]
    for table in _core.TABLES:
        lines += ["", f"## {table}", "", _core.table_documentation(trace, table), ""]
        lines += ["| column | SQL type | meaning |", "| --- | --- | --- |", "| `row` | BIGINT | Number of the row. |"]
        for name, type, meaning, unknown, refers_to, text in _core.columns(trace, table):
            sql_type = "VARCHAR" if meaning == "text" else _SQL_TYPES[type]
            notes = [f"row of `{refers_to}`"] if refers_to else []
            notes += ["nanoseconds"] if meaning in ("time", "duration") else []
            notes += ["NULL: unknown"] if unknown is not None else []
            lines.append(f"| `{name}` | {sql_type} | {text}{' (' + '; '.join(notes) + ')' if notes else ''} |")
    return "\n".join(lines) + "\n"


def definitions_text(tools: Collection[str]) -> str:
    """The fields of the answers, tool by tool."""
    lines = [
        "# Fields of the answers",
        "",
        "A name that ends in `_ns` is a time in nanoseconds, `_bytes` are bytes, a `share` is a part of 1. null is "
        'unknown. Each answer also has "schema", "problems" (what the input lacks) and "quality" (good, usable or '
        "doubtful, with reasons).",
    ]
    for verb, name, text, fields in _core.result_descriptions():
        tool = verb.replace("-", "_")
        if tool not in tools and verb != _EXPLANATION:
            continue
        owner = "each tool with `explain`" if verb == _EXPLANATION else tool
        lines += ["", f"## {owner}, `{name}`", "", text, "", "| field | meaning |", "| --- | --- |"]
        lines += [f"| `{field}` | {meaning} |" for field, meaning in fields]
    return "\n".join(lines) + "\n"


def _empty_trace() -> _core.Trace:
    return _core.read_trace(b'{"traceEvents": []}', "<empty>", 0, "")
