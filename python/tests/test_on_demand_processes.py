# SPDX-License-Identifier: Apache-2.0
"""Which processes `opscope record` records: forked children, workers that load data, stopped ones, other machines."""

import os
import signal
import subprocess

import pytest
from control_client import sockets
from run_command import steps
from running_program import PYTHON, TORCH, ps, rank_of, record, under_run
from waiting import wait_for

import opscope

pytestmark = pytest.mark.framework("torch")


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TORCH)
    return path


FORKING = (
    TORCH
    + """
    pid = os.fork()
    train(lambda: os.path.exists(sys.argv[1] + "2"))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
"""
)


def test_a_forked_child_has_a_socket_of_its_own(tmp_path):
    (tmp_path / "program.py").write_text(FORKING)
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        (running.folder / "stop").touch()
        running.sockets(2)
        answer = record(running.folder, "--steps", 2)
        (running.folder / "stop2").touch()
        running.process.wait(60)
    assert [row["status"] for row in answer["rows"]] == ["complete", "complete"]
    assert len({row["pid"] for row in answer["rows"]}) == 2
    for row in answer["rows"]:
        assert steps(opscope.open(row["file"])) == [answer["first_step"], answer["first_step"] + 1]
    assert sockets(running.folder) == []


LOADING = """
import os, sys, time
import torch

class Rows(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            yield torch.ones(3, 8)

loader = torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=2)
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for rows in loader:
    model(rows).sum().backward()
    optimizer.step()
    time.sleep(0.005)
    if os.path.exists(sys.argv[1]):
        break
"""


def test_workers_that_load_data_are_not_asked(tmp_path):
    (tmp_path / "program.py").write_text(LOADING)
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out", variables=rank_of(0)) as running:
        (socket,) = running.sockets()
        listed = wait_for(lambda: (rows := ps(running.folder)) and len(rows) == 3 and rows)
        answer = record(running.folder, "--steps", 2)
        running.end()
    assert [(row["rank"], row["state"]) for row in listed] == [(0, "ready")] * 3
    assert [(row["pid"], row["status"]) for row in answer["rows"]] == [(int(socket.stem.split("-")[1]), "complete")]
    assert sockets(running.folder) == []  # the workers have ended, too


def test_a_stopped_process_does_not_hold_up_the_others(script, tmp_path):
    with (
        under_run([PYTHON, script, "STOP"], tmp_path / "out", variables=rank_of(0)) as first,
        under_run([PYTHON, script, "STOP"], tmp_path / "out", variables=rank_of(1)),
    ):
        first.sockets(2)
        stopped = next(row["pid"] for row in ps(first.folder) if row["rank"] == 1)
        os.kill(stopped, signal.SIGSTOP)
        try:
            answer = record(first.folder, "--steps", 1, code=3)
        finally:
            os.kill(stopped, signal.SIGCONT)
        # The other one has not said which rank it has.
        assert [(row["rank"], row["pid"] == stopped, row["status"], row["why_not"]) for row in answer["rows"]] == [
            (-1, True, "failed", "the process does not answer"),
            (0, False, "complete", ""),
        ]
        first.end()


def test_a_machine_of_another_name_is_asked_through_a_file(script, tmp_path):
    other_host = ["unshare", "--uts", "sh", "-c", 'hostname far && exec "$@"', "sh"]
    try:
        subprocess.run([*other_host, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no other name of the machine: {error}")
    with (
        under_run([PYTHON, script, "STOP"], tmp_path / "out", variables=rank_of(0)) as running,
        under_run([*other_host, PYTHON, script, "STOP"], tmp_path / "out", variables=rank_of(1)),
    ):
        running.sockets(2)
        listed = ps(running.folder)
        assert [(row["rank"], row["host"], row["state"]) for row in listed] == [
            (0, os.uname().nodename, "ready"),
            (1, "far", "ready"),
        ]
        answer = record(running.folder, "--steps", 3)
        assert [row["status"] for row in answer["rows"]] == ["complete", "complete"]
        for row in answer["rows"]:
            assert steps(opscope.open(row["file"])) == [answer["first_step"] + i for i in range(3)]
        assert not (running.folder / "request.json").exists()
        assert list(running.folder.glob("*.json")) == []
        running.end()
