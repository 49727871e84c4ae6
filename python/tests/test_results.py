# SPDX-License-Identifier: Apache-2.0
"""The rows of results: what Python, Arrow and pandas have is what the command line prints as JSON and as CSV."""

import csv
import io
import json
import pickle
import subprocess
import sys

import pytest

import opscope

KERNEL = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm", "args": {"device": 0, "stream": 7}}
COPY = KERNEL | {"cat": "gpu_memcpy", "name": "Memcpy HtoD"}
OPERATOR = {"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", "name": "aten::mm"}
MODULE = OPERATOR | {"cat": "python_function", "name": "nn.Module: Net_0"}
MEMORY = {"ph": "i", "pid": 1, "tid": 1, "cat": "cpu_instant_event", "name": "[memory]"}
BLOCK = {"Addr": 64, "Bytes": 100, "Total Allocated": 300, "Device Type": 0, "Device Id": -1}
EVENTS = [
    MODULE | {"ts": 0, "dur": 90},
    OPERATOR | {"ts": 1, "dur": 40},
    OPERATOR | {"ts": 50, "dur": 20, "name": "aten::add"},
    KERNEL | {"ts": 5, "dur": 30, "args": {"device": 0, "stream": 7, "est. achieved occupancy %": 37}},
    KERNEL | {"ts": 40, "dur": 3, "name": "relu"},
    COPY | {"ts": 60, "dur": 9},
    OPERATOR | {"ts": 0, "dur": 95, "name": "ProfilerStep#1", "cat": "user_annotation"},
    MEMORY | {"ts": 10, "args": BLOCK},
    MEMORY | {"ts": 60, "args": BLOCK | {"Bytes": -100, "Total Allocated": 200}},
]
RESULTS = {
    "rows": (["summary"], lambda trace: trace.summary()),
    "modules": (["modules"], lambda trace: trace.modules()),
    "devices": (["devices"], lambda trace: trace.devices()),
    "kernels": (["devices", "--kernels"], lambda trace: trace.device_kernels()),
    "memory": (["memory"], lambda trace: trace.memory()),
    "steps": (["memory", "--by-step"], lambda trace: trace.memory_steps()),
    "copies": (["devices", "--copies"], lambda trace: trace.device_copies()),
    "critical_path": (["critical-path"], lambda trace: trace.critical_path()),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "trace.json"
    path.write_text(json.dumps(EVENTS))
    return path


def printed(*arguments):
    run = subprocess.run([sys.executable, "-m", "opscope", *map(str, arguments)], capture_output=True, check=True)
    return run.stdout.decode()


@pytest.mark.parametrize("name", RESULTS)
def test_rows_are_those_that_the_command_line_prints(file, name):
    command, compute = RESULTS[name]
    rows = compute(opscope.open(file))
    as_json = json.loads(printed(*command, "--json", file))
    assert list(rows) == as_json[name if name in as_json else "rows"]
    lines = list(csv.DictReader(io.StringIO(printed(*command, "--csv", file), newline="")))
    as_text = [{key: "" if value is None else value for key, value in row.items()} for row in rows]
    assert [list(line) for line in lines] == [list(row) for row in rows]
    for line, row in zip(lines, as_text, strict=True):
        assert all(str(value) == line[key] or float(line[key]) == value for key, value in row.items())


@pytest.mark.parametrize("name", RESULTS)
def test_rows_are_a_table_of_arrow_and_pandas(file, name):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    rows = RESULTS[name][1](opscope.open(file))
    assert rows.to_arrow().to_pylist() == list(rows)
    assert pyarrow.RecordBatchReader.from_stream(rows).read_all() == rows.to_arrow()
    assert list(rows.to_pandas().columns) == list(rows.schema) == list(rows[0])
    assert rows.to_arrow().num_rows == len(rows)


def test_what_is_unknown_is_none_and_null(file):
    pytest.importorskip("pyarrow")
    kernels = opscope.open(file).device_kernels()
    assert [row["occupancy"] for row in kernels] == [0.37, None]
    assert kernels.to_arrow()["occupancy"].null_count == 1
    copies = opscope.open(file).device_copies()
    assert copies[0]["bytes"] is None and copies.to_arrow()["bytes"].null_count == 1


def test_the_schema_tells_what_each_key_means(file):
    for _, compute in RESULTS.values():
        for key, column in compute(opscope.open(file)).schema.items():
            assert column.documentation.endswith("."), key
            assert column.type == {"text": "uint32"}.get(column.meaning, column.type)


def test_without_modules_and_devices_there_is_no_table():
    trace = opscope.read(json.dumps([OPERATOR | {"ts": 1, "dur": 40}]).encode())
    assert trace.module_table() == "" and trace.device_table() == ""
    assert [row["module"] for row in trace.modules()] == [""] and trace.devices() == []


def test_rows_are_a_list_that_can_be_changed_and_pickled(file):
    rows = opscope.open(file).summary(sort="count")
    plain = list(rows)
    rows.sort(key=lambda row: row["name"])
    assert isinstance(rows, list) and rows != plain and sorted(plain, key=lambda row: row["name"]) == rows
    assert pickle.loads(pickle.dumps(rows)) == rows
    assert opscope.open(file).summary(limit=0) == []


def test_rows_can_be_sorted_by_every_field(file):
    trace = opscope.open(file)
    for key in trace.summary()[0]:
        values = [row[key] for row in trace.summary(sort=key)]
        ordered = sorted(values, reverse=not isinstance(values[0], str))
        assert values == ordered, key
    with pytest.raises(opscope.Error, match="choose one of: name, count"):
        trace.summary(sort="nothing")
