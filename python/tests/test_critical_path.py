# SPDX-License-Identifier: Apache-2.0
"""The critical path of programs with a device, in Python and on the command line."""

import json

import pytest
from opscope_command import answer, run

import opscope

CALL = {"ph": "X", "pid": 9, "tid": 1, "cat": "cuda_runtime"}
# The example of docs/reference/critical_path.md.
EVENTS = [
    CALL | {"cat": "cpu_op", "name": "op", "ts": 0, "dur": 10},
    CALL | {"name": "cudaLaunchKernel", "ts": 2, "dur": 2, "args": {"correlation": 5}},
    CALL | {"name": "cudaDeviceSynchronize", "ts": 10, "dur": 53, "args": {"correlation": 6}},
    {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm", "ts": 12, "dur": 48}
    | {"args": {"device": 0, "stream": 7, "correlation": 5}},
]
PARTS = ("host_ns", "gap_ns", "launch_ns", "queue_ns", "compute_ns", "communication_ns", "copy_ns", "sync_ns")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(EVENTS))
    return path


def test_path_is_that_of_the_example(file):
    trace = opscope.open(file)
    (path,) = trace.critical_paths()
    assert (path["rank"], path["length_ns"], path["window_ns"]) == (-1, 63_000, 63_000)
    assert [path[part] for part in PARTS] == [2_000, 0, 10_000, 0, 48_000, 0, 0, 3_000]
    assert [(row["kind"], row["name"], row["track"], row["duration_ns"]) for row in trace.critical_path()] == [
        ("host", "op", "9/1", 2_000),
        ("launch", "cudaLaunchKernel", "9/1", 10_000),
        ("compute", "gemm", "0/7", 48_000),
        ("sync", "cudaDeviceSynchronize", "9/1", 3_000),
    ]


def test_json_of_the_command_line_has_paths_and_rows(file):
    trace = opscope.open(file)
    printed = answer("critical-path", file)
    assert printed["schema"] == "opscope.critical-path/1"
    assert printed["paths"] == list(trace.critical_paths())
    assert printed["rows"] == list(trace.critical_path())
    assert printed["quality"]["verdict"] == "good" and printed["problems"] == []
    assert [row["kind"] for row in answer("critical-path", file, "--limit", 2)["rows"]] == [
        "host",
        "launch",
    ]


def test_text_has_the_parts_and_then_the_longest_edges(file):
    text = run("critical-path", file, "--limit", 3).stdout
    assert text.index("Window") < text.index("Duration") < text.index("gemm") < text.index("cudaLaunchKernel")
    assert "The 3 longest of 4 edges" in text
    table = opscope.open(file).critical_path_table()
    assert "63.000 us" in table and "gemm" in table


def test_ranks_of_a_job_have_a_path_each(tmp_path):
    files = []
    for rank, delay in ((0, 0), (1, 7)):
        events = [event | {"ts": event["ts"] + delay} for event in EVENTS]
        events.append(CALL | {"cat": "cpu_op", "name": "tail", "ts": 63 + delay, "dur": 10 * rank})
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}))
        files.append(path)
    merged = opscope.merge(files)
    assert [(path["rank"], path["length_ns"]) for path in merged.critical_paths()] == [(0, 63_000), (1, 73_000)]
    for path in merged.critical_paths():
        rows = [row for row in merged.critical_path() if row["rank"] == path["rank"]]
        assert sum(row["duration_ns"] for row in rows) == path["length_ns"] == sum(path[part] for part in PARTS)


def test_selection_leaves_out_other_spans(file):
    trace = opscope.open(file)
    assert [row["kind"] for row in trace.critical_path(where="kind = kernel")] == ["compute"]
    assert len(trace.critical_paths(where="name = nothing")) == 0
    assert trace.critical_path_table(where="name = nothing") == ""
