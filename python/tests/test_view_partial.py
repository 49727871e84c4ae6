# SPDX-License-Identifier: Apache-2.0
"""The partial document that `opscope view` gives of a large trace before the whole one is computed."""

import json

from test_view import Server, write_trace


def of_tables(document):
    """{table: {column: values}}, texts in place of their numbers."""

    def values_of(column, values):
        strings = document["strings"]
        is_text = column["unit"] == "text"
        return [(None if value < 0 else strings[value]) if is_text else value for value in values]

    return {
        name: {
            column["key"]: values_of(column, values)
            for column, values in zip(table["columns"], table["values"], strict=True)
        }
        for name, table in document["tables"].items()
    }


def test_the_document_of_a_small_trace_is_whole(tmp_path):
    small = Server(write_trace(tmp_path / "small.json"))
    try:
        assert small.ask(target="/api/data?file=0&part=overview") == small.ask(target="/api/data?file=0")
    finally:
        small.end()


def test_the_partial_document_of_a_large_trace_has_the_figures_of_the_whole_one(tmp_path):
    step = [(f"ProfilerStep#{number}", number * 10_000_000, 10_000_000) for number in range(10)]
    operators = [(f"op {number % 7}", number * 500, 400) for number in range(200_000)]
    large = Server(write_trace(tmp_path / "large.json", step + operators))
    try:
        part = json.loads(large.ask(target="/api/data?file=0&part=overview")[2])
        whole = json.loads(large.ask(target="/api/data?file=0")[2])
        assert part["is_partial"] is True and "is_partial" not in whole and part["trees"] == [] != whole["trees"]
        tables, of_whole = of_tables(part), of_tables(whole)
        assert set(tables) == {"steps", "devices", "findings", "memory_devices", "memory_rows", "problems"}
        assert set(tables) < set(of_whole) and tables == {name: of_whole[name] for name in tables}
        assert len(tables["steps"]["step"]) == 10 and "operators" in of_whole
        for key in ("schema", "producer", "title", "files", "clock", "spans", "quality", "overview", "about"):
            assert part[key] == whole[key]
        assert part["timeline"]["kept"]["start"]["n"] + part["timeline"]["folded"]["spans"] == 200_010
        # The whole one is kept.
        assert json.loads(large.ask(target="/api/data?file=0&part=overview")[2]) == whole
    finally:
        large.end()
