# SPDX-License-Identifier: Apache-2.0
"""`opscope run` records unchanged programs under MegEngine."""

import subprocess
import sys
from pathlib import Path

import opscope

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from run_command import environment, names, run

PYTHON = sys.executable
TRAIN = """
import megengine as mge
import megengine.functional as F
import megengine.module as M
from megengine.autodiff import GradManager
from megengine.optimizer import SGD

def train(count):
    model = M.Linear(8, 4)
    optimizer = SGD(model.parameters(), lr=0.1)
    manager = GradManager().attach(model.parameters())
    for _ in range(count):
        with manager:
            loss = F.sum(model(mge.Tensor([[1.0] * 8] * 3)))
            manager.backward(loss)
        optimizer.step().clear_grad()
    return loss.shape

if __name__ == "__main__":
    print(train(5))
"""
UNDER_MEGENGINE = """
import sys
from megengine.utils.profiler import Profiler
from train import train

with Profiler(sys.argv[1]):
    print(train(5))
"""


def test_an_unchanged_script_gives_what_megengines_profiler_counts(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "under.py").write_text(UNDER_MEGENGINE)
    plain = subprocess.run([PYTHON, tmp_path / "train.py"], env=environment(), capture_output=True, check=True)
    ran = run([PYTHON, tmp_path / "train.py"], tmp_path / "out")
    assert (ran.done.returncode, ran.done.stdout) == (0, plain.stdout), ran.done.stderr.decode()
    (line,) = ran.lines()
    assert (line["framework"], line["why_not"]) == ("megengine", "")
    trace = ran.trace()
    under = run([PYTHON, tmp_path / "under.py", tmp_path / "theirs"], tmp_path / "under")
    assert under.done.returncode == 0, under.done.stderr.decode()
    (theirs,) = (tmp_path / "theirs").glob("*.json")
    found = names(trace)
    marks = {name for name in found if name.startswith("ProfilerStep#")}
    assert {name: count for name, count in found.items() if name not in marks} == names(opscope.open(theirs))
    assert len(marks) == len(trace.steps) == 6
    assert under.recorded() == []  # its own Profiler has everything
    assert under.lines()[0]["why_not"].startswith("the program records itself with megengine.utils.profiler")

    ran = run([PYTHON, tmp_path / "train.py"], tmp_path / "some", "--steps", "2..3")
    assert names(ran.trace())["MatrixMul"] == found["MatrixMul"] * 2 / 5
    assert len(ran.trace().steps) == 2
