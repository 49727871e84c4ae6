# SPDX-License-Identifier: Apache-2.0
"""The ways of Paddle's events into a recording where hooks cannot be used.

OPSCOPE_PADDLE_ROUTE stands for a Paddle that the ways before it do not fit (src/sources/paddle/capture_mode.h).
"""

import collections
import json
import os
import re
import subprocess
import sys

import pytest
from paddle_runs import BEGIN, UNDER_BOTH, per_thread, run_code, run_python, told, without_step

pytestmark = pytest.mark.framework("paddle")

ROUTES = ["drain", "native", "wrappers"]


def by(route, program, sides, *flags):
    return run_python([str(UNDER_BOTH), program, sides, *flags], OPSCOPE_PADDLE_ROUTE=route)


def test_paddles_own_recorder_is_the_first_fallback():
    by_hooks, by_drain = told("mlp", "opscope"), by("drain", "mlp", "opscope", "memory")
    assert by_drain["route"] == "drain: OPSCOPE_PADDLE_ROUTE=drain; without arguments and memory"
    assert by_drain["problems"] == ["part_left_out"]
    assert without_step(by_drain["ours"]) == without_step(by_hooks["ours"])
    assert per_thread(by_drain["ours"]).total() == per_thread(by_hooks["ours"]).total()


@pytest.mark.parametrize("program", ["mlp", "lenet", "static", "threads"])
def test_paddles_own_profiler_is_the_second_with_the_same_events_and_memory(program):
    by_hooks, by_native = told(program, "opscope", "memory", "shapes"), by("native", program, "opscope", "memory")
    lacks = "without ranges that are open at the end"
    assert by_native["route"] == f"native: OPSCOPE_PADDLE_ROUTE=native; {lacks}"
    assert by_native["problems"] == ["part_left_out"]
    assert without_step(by_native["ours"]) == without_step(by_hooks["ours"])
    if program == "threads":
        assert sorted(per_thread(by_native["ours"]).values()) == sorted(per_thread(by_hooks["ours"]).values())
    blocks = [collections.Counter((row[0], row[1]) for row in run["memory"]) for run in (by_native, by_hooks)]
    assert blocks[0] == blocks[1]
    before, after = by_native["held"]
    assert sum(row[0] for row in by_native["memory"]) == after - before
    assert by_native["memory"][-1][2] == after


def test_own_ranges_reach_paddles_own_profiler():
    by_hooks, by_native = told("mlp", "ranges"), by("native", "mlp", "ranges", "shapes")
    assert without_step(by_native["ours"]) == without_step(by_hooks["ours"])
    assert by_native["route"].endswith("; without arguments")


COMPOSED = {"linear dygraph": ("matmul dygraph", "add dygraph")}  # C++ calls these for it


def called_by_python(rows):
    """Operators that Python calls by name: not those of the backward pass, nor of `a + b`."""

    def is_cpps(row):
        while row[3] != -1:
            row = rows[row[3]]
            if row[2] == "Backward" or row[1].endswith("pybind_patch_func"):
                return True
        return False

    return [row[1] for row in rows if row[2] == "Operator" and not is_cpps(row)]


def given(slots):
    """Without the optional arguments that were left out, which Paddle's libraries know of."""
    return json.dumps({name: sizes for name, sizes in slots.items() if sizes}, sort_keys=True)


def decomposed(names):
    return collections.Counter(part for name in names for part in COMPOSED.get(name, (name,)))


@pytest.mark.parametrize("program", ["mlp", "lenet", "threads"])
def test_wrappers_are_the_last_with_the_operators_that_python_calls(program):
    by_hooks, by_wrappers = told(program, "ranges", "shapes"), by("wrappers", program, "ranges", "shapes", "memory")
    lacks = "without operators that Python does not call, and what is inside of them; without memory"
    assert by_wrappers["route"] == f"wrappers: OPSCOPE_PADDLE_ROUTE=wrappers; {lacks}"
    assert by_wrappers["problems"] == ["part_left_out"]
    wanted, seen = called_by_python(by_hooks["ours"]), called_by_python(by_wrappers["ours"])
    assert decomposed(seen) == collections.Counter(wanted) and len(seen) > 5
    phases = [
        collections.Counter(row[1] for row in run["ours"] if row[2] in ("Forward", "Backward", "Optimization"))
        for run in (by_wrappers, by_hooks)
    ]
    assert phases[0] == phases[1]
    shapes = {
        side: collections.Counter((name, given(slots)) for name, slots in run["shapes"])
        for side, run in (("ours", by_wrappers), ("hooks", by_hooks))
    }
    alike = {row: count for row, count in shapes["ours"].items() if row[0] not in COMPOSED}
    assert alike and alike.items() <= shapes["hooks"].items()


def test_ways_are_asked_in_their_order():
    code = """
def way():
    recording = prepared()
    recording.start()
    paddle.matmul(ones, ones, transpose_y=True)
    recording.stop()
    trace = Trace(recording.trace())
    return [trace.info["options"]["paddle_route"].partition(";")[0], [n for n in names(recording) if "dygraph" in n]]
told = [way()]
for part in ("hooks", "drain", "native", "wrappers"):
    source().set_probe_result(part, f"{part} crashed")
    try:
        told.append(way())
    except RuntimeError as error:
        told.append(str(error))
print(json.dumps(told))
"""
    seen = ["matmul dygraph"]
    *ways, refusal = run_code(code)
    assert ways == [["hooks", seen], *([f"{route}: hooks crashed", seen] for route in ROUTES)]
    assert "hooks crashed" in refusal


PROFILED = """
import paddle
import opscope.paddle as profiler
net = paddle.nn.Sequential(paddle.nn.Linear(64, 128), paddle.nn.ReLU(), paddle.nn.Linear(128, 10))
adam = paddle.optimizer.Adam(parameters=net.parameters())
inputs, labels = paddle.rand([32, 64]), paddle.randint(0, 10, [32])
with profiler.Profiler(on_trace_ready=lambda _: None, record_shapes=True, with_flops=True) as prof:
    for _ in range(3):
        loss = paddle.nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        with profiler.RecordEvent("mine"):
            paddle.tanh(inputs)
        prof.step()
prof.summary()
prof.export("run.json")
prof.export("run.pb", "pb")
prof.save("run.opscope")
"""


RAISING = """
import paddle
import opscope.paddle as profiler

class Raising(paddle.nn.Layer):
    def forward(self, x):
        raise ValueError("mine")

layer = Raising()
with profiler.Profiler(targets=[profiler.ProfilerTarget.CPU]) as prof:
    for _ in range(2):
        try:
            layer(paddle.ones([1]))
        except ValueError as error:
            print(error)
"""


@pytest.mark.parametrize("route", ["", *ROUTES])
def test_an_exception_of_a_layer_reaches_the_program(route, tmp_path):
    environment = {**os.environ, **({"OPSCOPE_PADDLE_ROUTE": route} if route else {})}
    how = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([sys.executable, "-c", RAISING], **how, check=False)
    assert (done.returncode, done.stdout) == (0, "mine\nmine\n"), done.stderr[-3000:]


@pytest.mark.parametrize("route", ROUTES)
def test_summary_files_and_info_are_there_by_every_way(route, tmp_path):
    environment = {**os.environ, "OPSCOPE_PADDLE_ROUTE": route}

    def said_by(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    summary = said_by("-c", PROFILED)
    assert "Overview Summary" in summary and "Operator Summary" in summary and "UserDefined Summary" in summary
    assert re.search(r"^ProfileStep +4 ", summary, re.MULTILINE)
    assert re.search(r"^tanh dygraph +3 ", summary, re.MULTILINE)
    for phase in ("Forward", "Backward", "Optimization", "mine"):
        assert phase in summary
    info = json.loads(said_by("-m", "opscope", "info", "--json", "run.opscope"))
    assert info["options"]["paddle_route"].startswith(f"{route}: OPSCOPE_PADDLE_ROUTE={route}")
    assert f"{route}: OPSCOPE_PADDLE_ROUTE={route}" in said_by("-m", "opscope", "info", "run.opscope")
    for file in ("run.json", "run.pb"):
        assert "tanh dygraph" in said_by("-m", "opscope", "summary", file)


@pytest.mark.parametrize("route", ["drain", "native"])
def test_paddles_recorder_serves_one_and_the_recording_says_so(route):
    code = """
import paddle.profiler as original
profiler = original.Profiler(targets=[original.ProfilerTarget.CPU], on_trace_ready=lambda _: None)
profiler.start()
told = []
try:
    prepared().start()
except RuntimeError as error:
    told.append(str(error))
profiler.stop()
del profiler
first = prepared()
first.start()
try:
    prepared().start()
except RuntimeError as error:
    told.append(str(error))
paddle.add(ones, ones)
first.stop()
print(json.dumps([told, names(first).count("add dygraph")]))
"""
    (beside_the_original, beside_ours), count = run_code(code, OPSCOPE_PADDLE_ROUTE=route)
    assert "Paddle's own profiler runs" in beside_the_original
    assert "another recording" in beside_ours
    assert count == 1


@pytest.mark.parametrize("route", ["", "wrappers"])
def test_recordings_at_once_have_their_own_events_and_leave_nothing_behind(route):
    code = """
from paddle import _C_ops
before = dict(vars(_C_ops))
outer, inner = prepared(), prepared("memory", "shapes")
outer.start()
paddle.add(ones, ones)
inner.start()
paddle.matmul(ones, ones, transpose_y=True)
inner.stop()
paddle.tanh(ones)
outer.stop()
paddle.exp(ones)
seen = [[name for name in names(recording) if name.endswith("dygraph")] for recording in (outer, inner)]
print(json.dumps([*seen, dict(vars(_C_ops)) == before]))
"""
    outer, inner, is_as_before = run_code(code, OPSCOPE_PADDLE_ROUTE=route)
    assert outer == ["add dygraph", "matmul dygraph", "tanh dygraph"]
    assert inner == ["matmul dygraph"]
    assert is_as_before


def test_an_operator_that_raises_is_recorded_and_raises():
    code = """
recording = prepared("shapes")
recording.start()
try:
    paddle.matmul(ones, ones)
except ValueError as error:
    raised = str(error)
recording.stop()
print(json.dumps([names(recording), "matmul" in raised or "dim" in raised.lower()]))
"""
    assert run_code(code, OPSCOPE_PADDLE_ROUTE="wrappers") == [["matmul dygraph"], True]


@pytest.mark.parametrize("route", ["", *ROUTES])
def test_a_child_of_a_fork_records_for_itself(route):
    code = """
flags = ["memory", "shapes"] if not os.environ["OPSCOPE_PADDLE_ROUTE"] else []
recording = prepared(*flags)
recording.start()
paddle.add(ones, ones)
child = os.fork()
if child == 0:
    for _ in range(100):
        paddle.tanh(ones)
    again = prepared(*flags)
    again.start()
    paddle.exp(ones)
    again.stop()
    found = [n for n in names(again) if n.endswith("dygraph")]
    os._exit(0 if found == ["exp dygraph"] and recording.is_inherited else 1)
_, status = os.waitpid(child, 0)
paddle.tanh(ones)
recording.stop()
print(json.dumps([status, [n for n in names(recording) if n.endswith("dygraph")]]))
"""
    assert run_code(code, OPSCOPE_PADDLE_ROUTE=route) == [0, ["add dygraph", "tanh dygraph"]]


@pytest.mark.parametrize("route", ["", *ROUTES])
def test_a_program_may_end_with_an_open_window(route):
    code = """
recording = prepared("memory", "shapes")
recording.start()
paddle.add(ones, ones)
open_range = _core.paddle.Range("open"); open_range.begin()
print(json.dumps("ends"), flush=True)
"""
    assert run_code(code, OPSCOPE_PADDLE_ROUTE=route) == "ends"


def test_an_unknown_way_is_refused_with_those_that_are_known():
    code = BEGIN.replace("paddle.add(ones, ones)", "") + "print(json.dumps(source().capture_mode))"
    assert "known ones are 'drain', 'native' and 'wrappers'" in run_python(["-c", code], OPSCOPE_PADDLE_ROUTE="preload")
