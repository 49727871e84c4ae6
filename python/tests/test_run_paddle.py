# SPDX-License-Identifier: Apache-2.0
"""`opscope run` records unchanged programs under PaddlePaddle."""

import json
import subprocess
import sys

import pytest
from run_command import environment, names, run, steps

pytestmark = pytest.mark.framework("paddle")

PYTHON = sys.executable
TRAIN = """
import paddle

def train(count):
    paddle.seed(0)
    model = paddle.nn.Linear(8, 4)
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    for number in range(count):
        loss = model(paddle.ones([3, 8])).sum()
        loss.backward()
        if number == 1:
            optimizer.minimize(loss)
        else:
            optimizer.step()
        optimizer.clear_grad()
    return float(loss)

if __name__ == "__main__":
    print(train(5))
"""
UNDER_PADDLE = """
import json, sys
from collections import Counter
import paddle.profiler as profiler
from train import train

def count(prof):
    prof.export(sys.argv[1] + ".json", "json")

prof = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], on_trace_ready=count)
prof.start()
print(train(5))
prof.stop()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TRAIN)
    return path


def test_an_unchanged_script_gives_what_paddles_profiler_counts(script, tmp_path):
    plain = subprocess.run([PYTHON, script], env=environment(), capture_output=True, check=True)
    ran = run([PYTHON, script], tmp_path / "out", variables={"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS_NUM": "2"})
    assert (ran.done.returncode, ran.done.stdout) == (0, plain.stdout), ran.done.stderr.decode()
    program = script.with_name("under_paddle.py")
    program.write_text(UNDER_PADDLE)
    # Paddle's own profiler ends the recording: its file is what it is without opscope.
    theirs = tmp_path / "theirs"
    profiled = run([PYTHON, program, theirs], tmp_path / "profiled")
    assert profiled.done.returncode == 0, profiled.done.stderr.decode()
    assert profiled.recorded() == []
    events = json.loads(theirs.with_suffix(".json").read_text())["traceEvents"]
    found = names(ran.trace())
    for operator in ("matmul dygraph", "add dygraph", "sum dygraph", "Optimization Step"):
        expected = sum(1 for event in events if event.get("name", "").split("[")[0].strip() == operator)
        ours = sum(count for name, count in found.items() if name.split("[")[0].strip() == operator)
        assert ours == expected > 0, operator
    assert steps(ran.trace(), "ProfileStep#") == [0, 1, 2, 3, 4, 5]
    (line,) = ran.lines()
    assert (line["framework"], line["rank"], line["why_not"]) == ("paddle", 1, "")


def test_steps_are_those_of_the_options(script, tmp_path):
    trace = run([PYTHON, script], tmp_path / "out", "--steps", "1..2").trace()
    assert steps(trace, "ProfileStep#") == [1, 2]
