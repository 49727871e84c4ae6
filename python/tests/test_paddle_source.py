# SPDX-License-Identifier: Apache-2.0
"""Paddle's events in recordings (src/sources/paddle), beside what paddle.profiler says of the same run.

Every program runs in a process of its own: paddle_under_both.py, or a few lines given here.
"""

import collections
import json
import signal
import subprocess
import sys

import pytest
from paddle_runs import BEGIN, per_thread, run_code, told, without_step

import opscope

pytestmark = pytest.mark.framework("paddle")

PROGRAMS = ["mlp", "lenet", "static", "threads"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_profilers_at_once_see_the_same(program):
    run = told(program, "both", "memory", "shapes")
    assert run["route"] == "hooks"
    assert run["problems"] == []
    assert len(run["ours"]) > 50
    assert without_step(run["ours"]) == without_step(run["theirs"])
    assert per_thread(run["ours"]) == per_thread(run["theirs"])


@pytest.mark.parametrize("program", PROGRAMS)
def test_opscope_alone_sees_what_it_sees_beside_the_other(program):
    """Its functions then stand in for Paddle's instead of calling them."""
    alone = told(program, "opscope", "memory", "shapes")
    both = told(program, "both", "memory", "shapes")
    assert without_step(alone["ours"]) == without_step(both["ours"])
    assert alone["problems"] == []
    bytes_of = {side: collections.Counter(row[0] for row in run["memory"]) for side, run in (("a", alone), ("b", both))}
    assert bytes_of["a"] == bytes_of["b"]


def test_own_ranges_in_place_of_paddles_are_the_same_phases():
    """What the skin does with Layer calls, backward and optimizers (paddle.profiler.RecordEvent is found by name)."""
    theirs, ours = told("mlp", "opscope", "memory", "shapes"), told("mlp", "ranges")
    assert without_step(ours["ours"]) == without_step(theirs["ours"])
    phases = {row[2] for row in ours["ours"]}
    assert {"Forward", "Backward", "Optimization"} <= phases


@pytest.mark.parametrize("program", ["mlp", "lenet", "threads"])
def test_allocations_are_those_of_the_others_tree(program):
    """Of threads without what is held in all: each recorder asks by itself, and another thread may allocate between."""
    run = told(program, "both", "memory", "shapes")
    columns = (0, 1, 3) if program == "threads" else (0, 1, 2, 3)
    ours, theirs = (
        collections.Counter(tuple(row[i] for i in columns) for row in run[side]) for side in ("memory", "their_memory")
    )
    assert ours == theirs


@pytest.mark.parametrize("program", PROGRAMS)
def test_allocations_add_up_to_what_paddle_says_it_holds(program):
    run = told(program, "opscope", "memory", "shapes")
    before, after = run["held"]
    assert sum(row[0] for row in run["memory"]) == after - before
    assert run["memory"][-1][2] == after


def test_shapes_are_those_that_the_program_passed():
    shapes = [
        members for name, members in told("lenet", "opscope", "memory", "shapes")["shapes"] if name == "conv2d dygraph"
    ]
    first = {"input": [[4, 1, 28, 28]], "filter": [[6, 1, 3, 3]]}
    second = {"input": [[4, 6, 14, 14]], "filter": [[16, 6, 5, 5]]}
    assert shapes == [first, second] * 2
    products = [
        members for name, members in told("mlp", "opscope", "memory", "shapes")["shapes"] if name == "matmul dygraph"
    ]
    assert products == [{"x": [[32, 64]], "y": [[64, 128]]}, {"x": [[32, 128]], "y": [[128, 10]]}] * 3


def test_lists_of_tensors_and_attributes_have_their_names():
    code = """
recording = prepared("shapes")
recording.start()
paddle.concat([ones, paddle.ones([4, 3])], axis=0)
paddle.nn.functional.conv2d(paddle.ones([1, 2, 5, 5]), paddle.ones([3, 2, 1, 1]), stride=2)
recording.stop()
trace = Trace(recording.trace())
print(json.dumps([[row["name"], row["extra"]] for row in trace.spans if row["extra"]]))
"""
    members = {name: json.loads("{" + extra + "}") for name, extra in run_code(code)}
    assert members["concat dygraph"]["input_shapes"] == {"x": [[2, 3], [4, 3]]}
    conv = members["conv2d dygraph"]["attributes"]
    assert (conv["strides"], conv["groups"], conv["padding_algorithm"]) == ([2, 2], 1, "EXPLICIT")


def test_a_range_may_begin_and_end_on_either_side_of_the_others_window():
    """Each profiler starts inside a range of the other, and stops inside another one."""
    code = """
import paddle.profiler as original
from paddle.base import core
def begun(name): return core._RecordEvent(name, original.TracerEventType.PythonUserDefined)
recording = prepared()
profiler = original.Profiler(targets=[original.ProfilerTarget.CPU], on_trace_ready=lambda _: None)
before = begun("before both")
recording.start()
of_ours = begun("in ours")
profiler.start()
of_ours.end()
before.end()
of_both = begun("in both")
recording.stop()
of_both.end()
paddle.add(ones, ones)
profiler.stop()
found = []
def walk(node):
    found.append(node.name)
    for child in node.children_node: walk(child)
for root in profiler.profiler_result.get_data().values(): walk(root)
trace = Trace(recording.trace())
print(json.dumps([names(recording), found, [problem["kind"] for problem in trace.problems]]))
"""
    ours, theirs, problems = run_code(code)
    assert sorted(ours) == ["ProfileStep#0", "in both", "in ours"]
    assert problems == ["unfinished_scope"]
    assert {"in both", "add dygraph"} <= set(theirs)
    assert "in ours" not in theirs


def test_own_ranges_are_seen_by_both():
    code = """
import paddle.profiler as original
recording = prepared()
profiler = original.Profiler(targets=[original.ProfilerTarget.CPU], on_trace_ready=lambda _: None)
outer, inner = _core.paddle.Range("forward", 9), _core.paddle.Range("mine")
with outer: pass
recording.start()
with outer:
    with inner:
        paddle.add(ones, ones)
    with inner: pass
inner.end()
inner.begin()
inner.begin()
inner.end()
profiler.start()
with outer: pass
profiler.stop()
left_open = _core.paddle.Range("left open", 14)
left_open.begin()
recording.stop()
left_open.end()
theirs = []
def walk(node):
    theirs.append([node.name, str(node.type)])
    for child in node.children_node: walk(child)
for root in profiler.profiler_result.get_data().values(): walk(root)
rows = list(Trace(recording.trace()).spans)
print(json.dumps([[[row["name"], row["category"], row["depth"]] for row in rows if "add" not in row["name"]], theirs]))
"""
    ours, theirs = run_code(code)
    assert ours == [
        ["forward", "Forward", 0],
        ["mine", "PythonUserDefined", 1],
        ["mine", "PythonUserDefined", 1],
        ["mine", "PythonUserDefined", 0],
        ["mine", "PythonUserDefined", 0],
        ["ProfileStep#0", "ProfileStep", 0],
        ["forward", "Forward", 1],
        ["left open", "PythonUserDefined", 0],
    ]
    assert ["forward", "TracerEventType.Forward"] in theirs


def test_wrong_ranges_are_refused_in_words():
    from opscope import _core

    with pytest.raises(ValueError, match="no event type 17"):
        _core.paddle.Range("x", 17)
    with pytest.raises(TypeError, match="must be a str"):
        _core.paddle.Range(3)
    with _core.paddle.Range("no source, no record", 9) as entered:
        assert (entered.name, entered.event_type) == ("no source, no record", 9)


def test_a_hundred_windows_leave_nothing_behind():
    code = """
import gc
def resident():
    with open("/proc/self/statm") as statm: return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
def windows(count):
    for _ in range(count):
        recording = prepared("memory", "shapes")
        recording.start()
        for _ in range(200): paddle.add(ones, ones)
        recording.stop()
        assert len(names(recording)) == 800
    gc.collect()
windows(20)
before = resident()
windows(100)
print(json.dumps(resident() - before))
"""
    assert run_code(code) < 3 << 20


@pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
def test_what_is_past_the_cap_is_counted(at_cap):
    code = f"""
recording = prepared("memory", "shapes", max_bytes=1 << 16, at_cap="{at_cap}")
recording.start()
for _ in range(20000): paddle.add(ones, ones)
paddle.tanh(ones)
recording.stop()
counts = recording.counts()
print(json.dumps([counts["recorded"], counts["dropped"], "tanh dygraph" in names(recording)]))
"""
    recorded, dropped, has_last = run_code(code)
    assert 0 < recorded < 20000
    assert recorded + dropped == 20001 * (4 + 2)
    assert has_last == (at_cap == "keep_newest")


def test_a_file_has_what_a_killed_program_has_recorded(tmp_path):
    path = tmp_path / "run.opscope"
    code = f"""
recording = prepared("memory", "shapes", record_to={str(path)!r})
recording.start()
for _ in range(3): paddle.matmul(ones, ones, transpose_y=True)
phase = _core.paddle.Range("open phase", 10); phase.begin()
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == -signal.SIGKILL
    trace = opscope.open(path)
    rows = [(row["name"], row["category"]) for row in trace.spans]
    assert rows.count(("matmul dygraph", "Operator")) == 3
    assert rows[-1] == ("open phase", "Backward")
    assert trace.info["options"]["paddle_route"] == "hooks"
    assert trace.allocations["total_allocated"][0] > 24, "counted from what was held at the start"


def test_info_and_doctor_tell_the_route(tmp_path):
    path = tmp_path / "run.opscope"
    code = f"""
recording = prepared(record_to={str(path)!r})
recording.start()
paddle.add(ones, ones)
recording.stop()
print(json.dumps(0))
"""
    run_code(code)

    def told_by(*command):
        done = subprocess.run([sys.executable, "-m", "opscope", *command], capture_output=True, text=True, check=False)
        return done.stdout

    info = json.loads(told_by("info", "--json", str(path)))
    assert info["options"]["paddle_route"] == "hooks"
    cost = info["own_cost"]["kinds"]["paddle_range"]
    assert 0 < cost["inside_ns"] < cost["begin_ns"] + cost["end_ns"] < 1000
    assert "paddle_range" in told_by("info", str(path))
    [paddle] = [one for one in json.loads(told_by("doctor", "--json"))["frameworks"] if one["name"] == "paddle"]
    assert paddle["route"] == "hooks"
