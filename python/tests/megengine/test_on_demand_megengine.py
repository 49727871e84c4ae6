# SPDX-License-Identifier: Apache-2.0
"""`opscope record` records steps of running programs under MegEngine."""

import sys
from pathlib import Path

import opscope

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from control_client import sockets
from run_command import names
from running_program import PYTHON, ps, record, under_run, with_variable
from waiting import wait_for

TRAIN = """
import os, sys, time
import megengine as mge
import megengine.functional as F
import megengine.module as M
from megengine.autodiff import GradManager
from megengine.optimizer import SGD

model = M.Linear(8, 4)
optimizer = SGD(model.parameters(), lr=0.1)
manager = GradManager().attach(model.parameters())
{fork}
while not os.path.exists(sys.argv[1]):
    with manager:
        loss = F.sum(model(mge.Tensor([[1.0] * 8] * 3)))
        manager.backward(loss)
    optimizer.step().clear_grad()
    time.sleep(0.005)
"""


def test_a_window_has_so_many_steps_of_the_loop(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN.format(fork=""))
    with under_run([PYTHON, tmp_path / "train.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        five = record(running.folder, "--steps", 5)["rows"][0]
        one = record(running.folder, "--steps", 1)["rows"][0]
        running.end()
    first, second = names(opscope.open(five["file"])), names(opscope.open(one["file"]))
    assert len(opscope.open(five["file"]).steps) == 5
    assert first["MatrixMul"] == 5 * second["MatrixMul"] > 0


def test_a_program_that_uses_opscope_needs_the_variable_alone(tmp_path):
    (tmp_path / "own.py").write_text("from opscope.megengine import Profiler\n" + TRAIN.format(fork=""))
    with with_variable([PYTHON, tmp_path / "own.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        (row,) = record(running.folder, "--steps", 2)["rows"]
        running.end()
    assert len(opscope.open(row["file"]).steps) == 2


FORKED = """
if os.fork() == 0:
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    os._exit(0)
"""


def test_a_forked_child_says_why_it_cannot_be_recorded(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN.format(fork=FORKED))
    with under_run([PYTHON, tmp_path / "train.py", "STOP"], tmp_path / "out") as running:
        wait_for(lambda: len(sockets(running.folder)) == 2)
        listed = ps(running.folder)
        states = sorted((row["state"], row["why_not"]) for row in listed)
        running.end()
    assert states == [
        ("ready", ""),
        ("unavailable", "MegEngine does not work in a forked child of a process that has imported it"),
    ]
