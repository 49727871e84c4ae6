# SPDX-License-Identifier: Apache-2.0
"""Calls of layers while a profiler is used: what they do, and the ranges that they leave, as under paddle.profiler."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.framework("paddle")

START = """
import json, sys, threading
import paddle, paddle.nn as nn
from paddle.nn import Layer
OWN = vars(Layer)["_dygraph_call_func"]
if sys.argv[1] == "ours":
    import opscope.paddle as profiler
else:
    import paddle.profiler as profiler
one = paddle.ones([2])

def forwards(prof):
    found = []
    def walk(nodes, depth):
        for node in nodes:
            is_forward = str(node.type).endswith("Forward")
            if is_forward:
                found.append([node.name, depth])
            walk(node.children_node, depth + is_forward)
    for root in prof.profiler_result.get_data().values():
        walk(root.children_node, 0)
    return found

def new():
    return profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], on_trace_ready=lambda prof: None)
"""
LAYERS = """
told = []

class Times(Layer):
    def forward(self, x, *, times=2):
        told.append(["forward", times, threading.current_thread() is threading.main_thread()])
        return x * times

class Late(Times):
    def _build_once(self, *inputs, **keywords):
        told.append("built")

class Fails(Layer):
    def forward(self, x):
        raise ValueError("of the layer")

class Outer(Layer):
    def __init__(self):
        super().__init__()
        self.inner = Times()
    def forward(self, x):
        return self.inner(x, times=3)

class Hooks(Times):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(lambda layer, inputs: told.append("pre"))
        self.register_forward_post_hook(lambda layer, inputs, outputs: outputs + 1)

late, hooks, outer = Late(), Hooks(), Outer()
replaced = Times()
replaced.forward = lambda x: x - 1
results = []
def call(layer, **keywords):
    try:
        results.append(layer(one, **keywords).tolist())
    except ValueError as error:
        results.append(str(error))

with new() as prof:
    for layer in (outer, late, late, hooks, Fails(), replaced, Times()):
        call(layer)
    call(Times(), times=5)
    thread = threading.Thread(target=call, args=(outer,)); thread.start(); thread.join()
print(json.dumps([results, told, sorted(forwards(prof))]))
"""


def run(program, side, folder):
    command = [sys.executable, "-c", START + program, side]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_layers_of_all_kinds_do_what_they_do_under_paddles_profiler(tmp_path):
    ours, theirs = (run(LAYERS, side, tmp_path) for side in ("ours", "theirs"))
    assert ours == theirs
    results, told, ranges = ours
    assert "of the layer" in results and [0.0, 0.0] in results and "built" in told and "pre" in told
    assert [["Times", 1]] * 2 == [row for row in ranges if row[1] == 1]


USE = """
def own(): return vars(Layer)["_dygraph_call_func"] is OWN
seen = [own()]
linear = nn.Linear(2, 2)
with new():
    seen.append(own())
    with paddle.profiler.utils.RecordEvent("while it runs"):
        linear(one)
seen.append(own())
replaced = lambda self, *inputs: OWN(self, *inputs)
Layer._dygraph_call_func = replaced  # by the program itself
with new() as prof:
    linear(one)
seen += [vars(Layer)["_dygraph_call_func"] is replaced, [name for name, _ in forwards(prof)]]
print(json.dumps(seen))
"""


def test_the_method_is_ours_only_while_a_profiler_is_used_and_the_programs_own_stays(tmp_path):
    assert run(USE, "ours", tmp_path) == [True, False, True, True, ["Linear"]]


BESIDE = """
import opscope.paddle as ours
linear = nn.Linear(2, 2)
theirs = new()
theirs.start()
mine = ours.Profiler(targets=[ours.ProfilerTarget.CPU], on_trace_ready=lambda prof: None)
mine.start()
linear(one)
mine.stop()
linear(one)
theirs.stop()
print(json.dumps([[name for name, _ in forwards(prof)] for prof in (mine, theirs)]))
"""


def test_beside_paddles_profiler_both_have_a_layers_range(tmp_path):
    assert run(BESIDE, "theirs", tmp_path) == [["Linear"], ["Linear", "Linear"]]


STOPPED_FIRST = """
import opscope.paddle as ours
def flag_after(steps):
    theirs, mine = new(), ours.Profiler(on_trace_ready=lambda prof: None)
    theirs.start()
    mine.start()
    theirs.stop()
    for _ in range(steps):
        mine.step()
    mine.stop()
    return paddle.profiler.utils._is_profiler_used
print(json.dumps([flag_after(0), flag_after(1)]))
"""


def test_no_profiler_is_in_use_after_both_have_stopped(tmp_path):
    assert run(STOPPED_FIRST, "theirs", tmp_path) == [False, False]
