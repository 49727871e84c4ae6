# SPDX-License-Identifier: Apache-2.0
"""`opscope record` records steps of running programs under PaddlePaddle."""

import json
import subprocess
from collections import Counter

import pytest
from run_command import environment, names, steps
from running_program import PYTHON, ps, record, under_run, with_variable

import opscope

pytestmark = pytest.mark.framework("paddle")

TRAIN = """
import os, sys, time
import paddle

def train(is_over, after_step=lambda: None):
    paddle.seed(0)
    model = paddle.nn.Linear(8, 4)
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    while not is_over():
        model(paddle.ones([3, 8])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        after_step()
        time.sleep(0.005)

if __name__ == "__main__":
    train(lambda: os.path.exists(sys.argv[1]))
"""
UNDER_PADDLE = """
import sys
import paddle.profiler as profiler
from train import train

done = []
def keep(prof):
    prof.export(sys.argv[1], "json")
    done.append(1)

prof = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], scheduler=(4, 9), on_trace_ready=keep)
prof.start()
train(lambda: bool(done), prof.step)
prof.stop()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TRAIN)
    return path


def test_a_window_has_what_a_loop_of_paddles_profiler_records(script, tmp_path):
    program = script.with_name("under_paddle.py")
    program.write_text(UNDER_PADDLE)
    theirs = tmp_path / "theirs.json"
    subprocess.run([PYTHON, program, theirs], env=environment(), check=True, stdout=subprocess.DEVNULL)
    events = json.loads(theirs.read_text())["traceEvents"]
    with under_run([PYTHON, script, "STOP"], tmp_path / "out") as running:
        running.sockets()
        answer = record(running.folder, "--steps", 5)
        (listed,) = ps(running.folder)
        running.end()
    (row,) = answer["rows"]
    trace = opscope.open(row["file"])
    assert steps(trace, "ProfileStep#") == [answer["first_step"] + i for i in range(5)]
    found = names(trace)
    theirs_found = Counter(event["name"].split("[")[0].strip() for event in events if "name" in event)
    for name in ("matmul dygraph", "matmul kernel launch", "add dygraph", "sum dygraph", "Optimization Step"):
        assert (found[name], theirs_found[name]) == (5, 5), name
    assert (listed["framework"], listed["state"]) == ("paddle", "ready")


def test_a_program_that_uses_opscope_needs_the_variable_alone(script, tmp_path):
    program = script.with_name("own.py")
    program.write_text("import opscope.paddle\n" + TRAIN)
    with with_variable([PYTHON, program, "STOP"], tmp_path / "out") as running:
        running.sockets()
        (row,) = record(running.folder, "--steps", 2)["rows"]
        running.end()
    assert len(steps(opscope.open(row["file"]), "ProfileStep#")) == 2
