# SPDX-License-Identifier: Apache-2.0
"""Columns: no copy, kept alive, and what pandas and Arrow readers see."""

import gc
import os
import subprocess
import sys

import pytest
from conftest import chrome_json, complete_event

import opscope
from opscope import _core


class TestColumns:
    def test_every_column_of_every_table_is_a_buffer_of_its_rows(self, trace):
        for table_name in _core.TABLES:
            table = getattr(trace, table_name)
            for column in table.columns:
                view = table[column]
                if table.schema[column].meaning == "text":
                    ids = table.codes(column)
                    assert [None if id == 0xFFFFFFFF else trace.strings[id] for id in ids] == list(view)
                    view = ids
                elif table.schema[column].type == "list<int64>":
                    assert len(list(view)) == len(table)
                    continue
                assert isinstance(view, memoryview)
                assert (len(view), view.ndim, view.readonly) == (len(table), 1, True)
                assert len(view.tolist()) == len(table)

    def test_are_read_by_item_and_by_attribute(self, trace):
        assert trace.spans["start"].tolist() == trace.spans.start.tolist() == [0, 10_000, 200_000]
        assert trace.spans.duration.tolist() == [100_000, 30_000, 10_000]
        assert trace.spans.depth.tolist() == [0, 1, 0]
        assert trace.spans.start.format == "q"

    def test_lie_at_one_address(self, trace):
        numpy = pytest.importorskip("numpy")
        first, second = numpy.asarray(trace.spans.start), numpy.asarray(trace.spans.start)
        assert first.__array_interface__["data"][0] == second.__array_interface__["data"][0]
        assert numpy.shares_memory(first, second)
        assert not first.flags.writeable

    def test_keep_the_trace(self):
        trace = opscope.read(chrome_json(*(complete_event("op", i, 1) for i in range(10_000))))
        start = trace.spans.start
        expected = start.tolist()
        del trace
        gc.collect()
        opscope.read(chrome_json(*(complete_event("other", 7 * i, 1) for i in range(10_000))))  # would reuse the memory
        assert start.tolist() == expected

    def test_cannot_be_written(self, trace):
        with pytest.raises(TypeError):
            trace.spans.start[0] = 1

    def test_of_another_name_are_errors(self, trace):
        with pytest.raises(KeyError, match="begin"):
            trace.spans["begin"]
        with pytest.raises(AttributeError, match="table 'spans' has no column 'begin'"):
            _ = trace.spans.begin
        with pytest.raises(TypeError, match="holds numbers"):
            trace.spans.text("start")

    def test_of_a_methods_name_are_read_by_item(self, trace):
        assert len(trace.frames["text"]) == 0
        assert callable(trace.frames.text)

    def test_are_listed_for_completion(self, trace):
        assert {"start", "name", "to_pandas"} <= set(dir(trace.spans))

    def test_work_without_numpy(self):
        code = (
            "import sys; sys.modules['numpy'] = None\n"
            "import opscope\n"
            'trace = opscope.read(b\'[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]\')\n'
            "assert trace.spans.start.tolist() == [1000], trace.spans.start.tolist()\n"
            "assert list(trace.spans.text('name')) == ['a']\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestTextColumns:
    def test_decode_rows_slices_and_all(self, trace):
        names = trace.spans.text("name")
        assert names[0] == "aten::linear"
        assert names[-1] == "aten::mm"
        assert names[1:] == ["aten::mm", "aten::mm"]
        assert list(names) == ["aten::linear", "aten::mm", "aten::mm"]
        assert "aten::mm" in names

    def test_share_one_string_per_text(self, trace):
        _, first, second = list(trace.spans.text("name"))
        assert first is second

    def test_absent_texts_are_none(self, trace):
        assert list(trace.spans.text("overload")) == [None, None, None]
        assert trace.spans.text("overload")[0] is None

    def test_codes_name_each_text_once(self, trace):
        codes, texts = trace.spans.text("name").codes()
        assert (codes.tolist(), texts) == ([0, 1, 1], ["aten::linear", "aten::mm"])
        assert trace.spans.text("overload").codes()[0].tolist() == [-1, -1, -1]


def test_an_unknown_value_is_missing_in_rows_pandas_polars_and_sql():
    events = [
        complete_event("launch", 0, 5) | {"args": {"correlation": 7}},
        complete_event("other", 10, 5),
    ]
    trace = opscope.read(chrome_json(*events))
    assert trace.spans["correlation"].tolist() == [7, 0]
    assert trace.spans.schema["correlation"].unknown == 0
    assert [row["correlation"] for row in trace.spans] == [7, None]
    pandas = pytest.importorskip("pandas")
    assert trace.spans.to_pandas()["correlation"].isna().tolist() == [False, True]
    assert trace.processes.to_pandas()["sort_index"].tolist() == [pandas.NA]
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(trace.spans)["correlation"].to_list() == [7, None]
    duckdb = pytest.importorskip("duckdb")
    spans = trace.spans.to_arrow()  # noqa: F841 - duckdb finds it by name
    assert duckdb.sql("select count(correlation), count(*), max(depth) from spans").fetchall() == [(1, 2, 0)]


def test_arguments_are_a_table_with_lists(trace):
    shapes = {"Input Dims": [[2, 3], [], [[4], [5, 6]]], "Input type": ["float", "Scalar", "TensorList"]}
    read = opscope.read(chrome_json(complete_event("aten::mm", 0, 1) | {"cat": "cpu_op", "args": shapes}))
    rows = [(row["position"], row["element"], row["dtype"], row["sizes"]) for row in read.arguments]
    assert rows[0] == (0, None, "float", [2, 3])
    assert [sizes for position, element, _, sizes in rows if position == 2 and element is not None] == [[4], [5, 6]]
    assert read.arguments(read.spans.args[0])[0]["sizes"] == [2, 3]
    assert read.arguments(None) == read.arguments(0xFFFFFFFF) == []
    for unknown in (99, -1, 1 << 40):
        with pytest.raises(IndexError, match="no such arguments"):
            read.arguments(unknown)
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    arguments = read.arguments.to_arrow()  # noqa: F841 - duckdb finds it by name
    assert duckdb.sql("select sizes[2] from arguments where list = 0 and position = 0").fetchall() == [(3,)]


def test_schema_says_what_handles_refer_to(trace):
    for name in _core.TABLES:
        table = getattr(trace, name)
        assert table.documentation
        for described in table.schema.values():
            assert (described.meaning == "handle") == (described.table in _core.TABLES)
            assert described.documentation
    assert trace.spans.schema["parent"].table == "spans"


def test_rows_are_dicts_with_none_for_nothing(trace):
    row = trace.spans.row(1)
    assert (row["name"], row["parent"], row["overload"], row["sequence"]) == ("aten::mm", 0, None, None)
    assert trace.spans.row(0)["parent"] is None
    with pytest.raises(IndexError):
        trace.spans.row(3)


class TestPandas:
    def test_shares_the_memory_of_numbers(self, trace):
        pytest.importorskip("pandas")
        numpy = pytest.importorskip("numpy")
        frame = trace.spans.to_pandas()
        assert list(frame.columns) == trace.spans.columns
        assert numpy.shares_memory(frame["start"].to_numpy(), numpy.asarray(trace.spans.start))
        assert frame["name"].tolist() == ["aten::linear", "aten::mm", "aten::mm"]
        assert frame.groupby("name", observed=True)["duration"].sum().to_dict() == {
            "aten::linear": 100_000,
            "aten::mm": 40_000,
        }

    def test_takes_names_that_are_not_unicode(self):
        pytest.importorskip("pandas")
        trace = opscope.read(chrome_json(complete_event("MARK", 0, 1)).replace(b"MARK", b"\xff"))
        assert trace.spans.to_pandas()["name"].tolist() == ["\udcff"]

    def test_keeps_the_trace(self):
        pytest.importorskip("pandas")
        frame = opscope.read(chrome_json(complete_event("op", 3, 1))).spans.to_pandas()
        gc.collect()
        assert frame["start"].tolist() == [3000]

    def test_every_table_converts(self, trace):
        pytest.importorskip("pandas")
        for name in _core.TABLES:
            assert len(getattr(trace, name).to_pandas()) == len(getattr(trace, name))


class TestArrow:
    def test_reads_back_what_the_columns_hold(self, trace):
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table(trace.spans)
        table.validate(full=True)
        assert table.column("start").to_pylist() == trace.spans.start.tolist()
        assert table.column("name").to_pylist() == list(trace.spans.text("name"))
        assert table.column("parent").to_pylist() == [None, 0, None]
        assert table.column("overload").null_count == 3

    def test_numbers_are_not_copied(self, trace):
        pytest.importorskip("pyarrow")
        numpy = pytest.importorskip("numpy")
        buffer = trace.spans.to_arrow().column("start").chunk(0).buffers()[1]
        assert buffer.address == numpy.asarray(trace.spans.start).__array_interface__["data"][0]

    def test_outlives_the_trace(self):
        pytest.importorskip("pyarrow")
        data = chrome_json(*(complete_event(f"op{i % 7}", i, 1) for i in range(10_000)))
        table = opscope.read(data).spans.to_arrow()
        gc.collect()
        table.validate(full=True)
        assert table.column("start").to_pylist() == [1000 * i for i in range(10_000)]
        assert table.column("name")[8].as_py() == "op1"

    def test_every_table_validates(self, trace):
        pytest.importorskip("pyarrow")
        for name in _core.TABLES:
            table = getattr(trace, name).to_arrow()
            table.validate(full=True)
            assert table.num_rows == len(getattr(trace, name))
            assert table.column_names == getattr(trace, name).columns

    def test_rows_in_turn_are_those_of_arrow(self, trace):
        pytest.importorskip("pyarrow")
        data = chrome_json(*(complete_event(f"op{i % 7}", i, 2 if i % 3 else 3) for i in range(10_000)))
        tables = [getattr(trace, name) for name in _core.TABLES] + [opscope.read(data).spans]
        for table in tables:
            rows = list(table)
            assert rows == table.to_arrow().to_pylist()
            assert [table.row(i) for i in range(0, len(rows), 997)] == rows[::997]

    def test_names_that_are_not_utf8_are_escaped(self):
        pytest.importorskip("pyarrow")
        trace = opscope.read(chrome_json(complete_event("MARK", 0, 1)).replace(b"MARK", b"a\xff"))
        table = trace.spans.to_arrow()
        table.validate(full=True)
        assert table.column("name").to_pylist() == ["a\\udcff"]

    def test_streams_without_a_reader_leave_nothing_behind(self, trace):
        def resident():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        for _ in range(1000):
            trace.spans.__arrow_c_stream__()
        before = resident()
        for _ in range(20_000):
            trace.spans.__arrow_c_stream__()
        assert resident() - before < 1 << 20  # 20,000 schemas of one column alone would be more

    def test_polars_and_duckdb_read_it(self, trace):
        polars = pytest.importorskip("polars")
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
        assert polars.DataFrame(trace.spans)["name"].to_list() == list(trace.spans.text("name"))
        spans = trace.spans.to_arrow()  # noqa: F841 - duckdb finds it by name
        rows = duckdb.sql("select name, sum(duration) from spans group by name order by name").fetchall()
        assert rows == [("aten::linear", 100_000), ("aten::mm", 40_000)]


@pytest.mark.parametrize(("method", "module"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_an_absent_library_is_named_with_its_install_line(trace, method, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"pip install {module}"):
        getattr(trace.spans, method)()
