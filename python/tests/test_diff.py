# SPDX-License-Identifier: Apache-2.0
"""Comparisons of runs in Python are those of the command line."""

import json

import pytest
from opscope_command import answer

import opscope


def run_bytes(times, name="aten::mm", memory=()):
    events = []
    for step, time in enumerate(times):
        events.append({"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 1000 * step, "dur": 900})
        events.append({"cat": "cpu_op", "name": name, "ts": 1000 * step, "dur": time})
    events = [{"ph": "X", "pid": 1, "tid": 1} | event for event in events]
    for ts, size, total in memory:
        args = {
            "Device Type": 0,
            "Device Id": -1,
            "Addr": 1,
            "Bytes": size,
            "Total Allocated": total,
            "Total Reserved": 0,
        }
        event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "pid": 1, "tid": 1, "ts": ts, "name": "[memory]"}
        events.append(event | {"args": args})
    return json.dumps({"traceEvents": events}).encode()


@pytest.fixture(scope="module")
def before():
    return opscope.read(run_bytes([100, 110, 120], memory=[(1, 10, 300), (5, 20, 320)]))


@pytest.fixture(scope="module")
def after():
    return opscope.read(run_bytes([140, 150, 160]))


def test_example_of_the_definition(before, after):
    changes = before.diff(after)
    assert [(row["name"], row["status"], row["delta_ns"], row["low_ns"], row["high_ns"]) for row in changes] == [
        ("aten::mm", "slower", 40000, 17330, 62670)
    ]
    assert changes[0]["p"] == pytest.approx(0.0080498931008377, rel=1e-12)
    assert changes.steps["a_count"] == 3 and changes.steps["p"] == 1
    assert [(row["a_peak_bytes"], row["b_peak_bytes"]) for row in changes.memory] == [(320, None)]
    assert changes.table().startswith("Name      Status")
    assert changes.schema["p"].documentation


def test_rows_are_those_that_the_command_line_prints(tmp_path, before, after):
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    files[0].write_bytes(run_bytes([100, 110, 120], memory=[(1, 10, 300), (5, 20, 320)]))
    files[1].write_bytes(run_bytes([140, 150, 160]))
    for by in ("name", "shape", "kernel", "module", "step"):
        printed = answer("diff", "--by", by, *files)
        changes = opscope.diff(before, after, by=by)
        assert list(changes) == printed["rows"]
        assert changes.steps == printed["steps"]
        assert list(changes.memory) == printed["memory"]


def test_sides_may_be_lists_of_runs(before, after):
    changes = opscope.diff([before, before, before], (after, after, before))
    assert changes.steps["a_count"] == 3
    assert changes[0]["a_count"] == 9 and changes[0]["delta_ns"] == 26667
    assert before.diff([after])[0] == before.diff(after)[0]
    assert before.diff([after, after])[0]["p"] is None


def test_a_condition_chooses_spans_and_steps(before, after):
    assert before.diff(after, where="name = nothing") == []
    assert before.diff(after, where="step >= 1").steps["a_count"] == 2


def test_wrong_arguments_say_what_is_wrong(before):
    with pytest.raises(opscope.Error, match="cannot compare by 'planet'; known: name, shape"):
        before.diff(before, by="planet")
    with pytest.raises(opscope.Error, match="where: "):
        before.diff(before, where="planet = 3")
    for other in ("trace.json", None, 3, [before, "x"]):
        with pytest.raises(TypeError, match="a Trace or a list of Traces"):
            before.diff(other)
    for sides in ((before, []), ([], before), ([], [])):
        with pytest.raises(ValueError, match=r"^a side of a comparison needs at least one Trace$"):
            opscope.diff(*sides)
