# SPDX-License-Identifier: Apache-2.0
"""What `Trace.steps_summary` says of a real training loop, beside a count of every moment in plain Python."""

import itertools
import json
import statistics

import pytest
from opscope_command import answer, run

import opscope

torch = pytest.importorskip("torch")

PARTS = ("compute_ns", "communication_ns", "copy_ns", "input_ns", "host_ns", "other_ns", "idle_ns")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    from opscope.torch import ProfilerActivity, profile, record_function, schedule

    data = torch.utils.data.DataLoader(torch.randn(24, 16), batch_size=4)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3)) as prof:
        batches = iter(data)
        for _ in range(5):
            batch = next(batches)
            with record_function("train"):
                model(batch).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
            prof.step()
    path = tmp_path_factory.mktemp("steps") / "run.opscope"
    prof.save(path)
    return path


def spans_of(trace):
    steps = set(trace.steps["span"])
    for row, span in enumerate(trace.spans):
        if row not in steps and span["category"] != "Trace":
            yield span


def test_parts_are_those_of_a_sweep_over_all_spans(recorded):
    trace = opscope.open(recorded)
    rows = trace.steps_summary()
    assert [row["step"] for row in rows] == [2, 3, 4]
    spans = list(spans_of(trace))
    for row in rows:
        begin, end = row["start_ns"], row["start_ns"] + row["duration_ns"]
        edges = sorted(
            {begin, end} | {t for s in spans for t in (s["start"], s["start"] + s["duration"]) if begin < t < end}
        )
        expected = dict.fromkeys(PARTS, 0)
        for left, right in itertools.pairwise(edges):
            open_now = [s for s in spans if s["start"] <= left < s["start"] + s["duration"]]
            is_input = any(s["name"].startswith("enumerate(DataLoader)") for s in open_now)
            is_call = any(s["category"] not in ("user_annotation", "python_function") for s in open_now)
            part = "input_ns" if is_input else "host_ns" if is_call else "other_ns" if open_now else "idle_ns"
            expected[part] += right - left
        assert {part: row[part] for part in PARTS} == expected
        assert sum(row[part] for part in PARTS) == row["duration_ns"]
        assert row["input_ns"] > 0 and row["host_ns"] > 0 and row["other_ns"] > 0


def test_durations_are_summed_up(recorded):
    trace = opscope.open(recorded)
    durations = sorted(row["duration_ns"] for row in trace.steps_summary())
    assert trace.step_durations() == {
        "count": 3,
        "mean_ns": sum(durations) // 3,
        "p50_ns": durations[1],
        "p99_ns": durations[2],
        "min_ns": durations[0],
        "max_ns": durations[2],
        "stddev_ns": round(statistics.pstdev(durations)),
    }


def test_the_command_line_has_the_same(recorded):
    printed = answer("steps", recorded)
    trace = opscope.open(recorded)
    assert printed["schema"] == "opscope.steps/1"
    assert printed["rows"] == list(trace.steps_summary())
    assert printed["summary"] == trace.step_durations()
    assert printed["problems"] == [] and printed["quality"] == {"verdict": "good", "reasons": []}
    assert [row["step"] for row in answer("steps", recorded, "--steps", 3)["rows"]] == [3]


def test_without_steps_a_line_says_so(tmp_path):
    event = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "name": "aten::mm", "cat": "cpu_op"}
    path = tmp_path / "none.json"
    path.write_text(json.dumps([event]))
    done = run("steps", path, "--json")
    printed = json.loads(done.stdout)
    assert printed["rows"] == [] and printed["summary"] == dict.fromkeys(printed["summary"], None) | {"count": 0}
    assert done.stderr == f"opscope: {path}: it has no steps\n"
