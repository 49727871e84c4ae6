# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/how-to/query_with_sql.md, each on a trace whose answers are known."""

import json
import re
from pathlib import Path

import pytest

import opscope

pytest.importorskip("duckdb", reason="SQL needs DuckDB: pip install opscope[sql]")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "query_with_sql.md"
RECIPES = dict(re.findall(r"^## (.*?)\n(?:(?!^## ).*\n)*?```sql\n((?:.*\n)*?)```", PAGE.read_text(), re.MULTILINE))
FILES = {
    path.read_text().splitlines()[0].removeprefix("-- "): path for path in (ROOT / "examples" / "sql").glob("*.sql")
}


def host(name, start, duration, category="cpu_op", **args):
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, "cat": category, "ts": start, "dur": duration, "args": args}


def device(name, start, duration, category="kernel", **args):
    args = {"device": 0, "stream": 7, **args}
    return {"ph": "X", "pid": 0, "tid": 7, "name": name, "cat": category, "ts": start, "dur": duration, "args": args}


def memory(start, total):
    args = {"Addr": 4096, "Bytes": 512, "Total Allocated": total, "Total Reserved": 4096}
    args |= {"Device Type": 1, "Device Id": 0}
    return {
        "ph": "i",
        "s": "t",
        "pid": 1,
        "tid": 1,
        "name": "[memory]",
        "cat": "cpu_instant_event",
        "ts": start,
        "args": args,
    }


SHAPES = {"Input Dims": [[8], [4, 16], [16, 8]], "Input type": ["float", "float", "float"]}
EVENTS = [  # microseconds
    host("ProfilerStep#0", 0, 100, "user_annotation"),
    host("aten::linear", 10, 40, **{"External id": 4}),
    host("aten::addmm", 15, 25, **{"External id": 5}, **SHAPES),
    host("cudaLaunchKernel", 20, 4, "cuda_runtime", correlation=5, **{"External id": 5}),
    memory(26, 1024),
    host("aten::relu", 60, 10, **{"External id": 6}),
    host("cudaLaunchKernel", 62, 2, "cuda_runtime", correlation=6, **{"External id": 6}),
    host("ProfilerStep#1", 100, 200, "user_annotation"),
    host("aten::addmm", 140, 20, **{"External id": 8}, **SHAPES),
    memory(150, 2048),
    host("cudaLaunchKernel", 141, 4, "cuda_runtime", correlation=8, **{"External id": 8}),
    memory(155, 512),
    device("gemm", 30, 40, correlation=5, **{"External id": 5}),
    device("relu", 75, 5, correlation=6, **{"External id": 6}),
    device("gemm", 150, 35, correlation=8, **{"External id": 8}),
]

US = 1000
ANSWERS = {
    "Which operators take the most time?": [
        ("aten::addmm", 2, 45 * US, 20 * US, 25 * US),
        ("aten::linear", 1, 40 * US, 40 * US, 40 * US),
        ("aten::relu", 1, 10 * US, 10 * US, 10 * US),
    ],
    "Which operators take the most time of their own?": [
        ("aten::addmm", 37 * US),
        ("aten::linear", 15 * US),
        ("aten::relu", 8 * US),
    ],
    "Which kernels take which share of the device's time?": [
        ("gemm", 2, 75 * US, 93.8),
        ("relu", 1, 5 * US, 6.3),
    ],
    "Which operators keep the device busy?": [("aten::addmm", 2, 75 * US), ("aten::relu", 1, 5 * US)],
    "Where is a stream idle for long, and what comes then?": [(0, 7, 70 * US, "gemm"), (0, 7, 5 * US, "relu")],
    "How long does a kernel wait after its launch?": [("relu", 13 * US, 13 * US), ("gemm", 9 * US, 10 * US)],
    "Which steps are slow?": [(1, 200 * US, 1.33), (0, 100 * US, 0.67)],
    "What takes longer in one step than in another?": [
        ("aten::addmm", 25 * US, 20 * US),
        ("aten::relu", 10 * US, 0),
        ("aten::linear", 40 * US, 0),
    ],
    "With which shapes is an operator called?": [("[8] [4, 16] [16, 8]", 2, 45 * US)],
    "When is most memory in use?": [(1, 0, 2048, 150 * US)],
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipes") / "trace.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    return opscope.open(path)


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Two ranks with the same correlations. Rank 1 launches by the driver, as Triton does, and waits 9 us longer."""
    folder = tmp_path_factory.mktemp("ranks")
    paths = []
    for rank in range(2):
        events = [event for event in EVENTS if event["cat"] != "kernel"]
        events += [{**event, "ts": event["ts"] + 9 * rank} for event in EVENTS if event["cat"] == "kernel"]
        if rank == 1:
            driver = {"name": "cuLaunchKernel", "cat": "cuda_driver"}
            events = [event | driver if event["cat"] == "cuda_runtime" else event for event in events]
        path = folder / f"rank{rank}.json"
        path.write_text(json.dumps({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}))
        paths.append(path)
    return opscope.merge(paths)


def test_recipes_keep_the_ranks_of_a_job_apart(job):
    rows = [tuple(row.values()) for row in job.sql(RECIPES["How long does a kernel wait after its launch?"])]
    assert rows == [("relu", 13 * US, 22 * US), ("gemm", 10 * US, 19 * US)]
    of_one = ANSWERS["What takes longer in one step than in another?"]
    rows = [tuple(row.values()) for row in job.sql(RECIPES["What takes longer in one step than in another?"])]
    assert rows == [(name, 2 * first, 2 * last) for name, first, last in of_one]


def test_recipe_compares_the_first_step_with_the_last_whatever_their_numbers(tmp_path):
    numbers = {"ProfilerStep#0": "ProfilerStep#551", "ProfilerStep#1": "ProfilerStep#552"}
    events = [event | {"name": numbers.get(event["name"], event["name"])} for event in EVENTS]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    question = "What takes longer in one step than in another?"
    assert [tuple(row.values()) for row in opscope.open(path).sql(RECIPES[question])] == ANSWERS[question]


def test_page_has_ten_recipes():
    assert list(RECIPES) == list(ANSWERS)
    assert len(RECIPES) == 10
    assert set(FILES) == set(RECIPES)


@pytest.mark.parametrize("question", ANSWERS)
def test_recipe_answers_its_question(trace, question):
    assert [tuple(row.values()) for row in trace.sql(RECIPES[question])] == ANSWERS[question]
    assert trace.sql(FILES[question].read_text()) == trace.sql(RECIPES[question])
