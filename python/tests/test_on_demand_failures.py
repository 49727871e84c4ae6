# SPDX-License-Identifier: Apache-2.0
"""What fails while a window is recorded or a request is served leaves no window running and no client waiting."""

import _thread
import errno
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from control_client import ask, connect, log_of, sockets, status
from waiting import wait_for

from opscope.launch import control, process
from opscope.launch.control import Control
from opscope.launch.control_folder import ControlFolder
from opscope.launch.control_socket import ControlSocket
from opscope.launch.demand import Demand
from opscope.launch.files import Files
from opscope.launch.plan import Plan
from opscope.launch.program import Counts
from opscope.launch.recorder import Recorder


class Optimizer:
    pass


OPTIMIZER = Optimizer()


class FakeProgram:
    """Writes a file per window. Raises the exceptions that a test puts into ``raises``, each once."""

    name = "fake"
    is_for_one_thread = waits_for_device = is_running = False
    why_not = ""

    def __init__(self):
        self.raises = {}

    def _called(self, name):
        if name in self.raises:
            raise self.raises.pop(name)

    def rank(self):
        self._called("rank")

    def forget(self):
        pass

    def other_is_running(self):
        return False

    def start(self, path, max_bytes):
        with open(path, "w"):
            self.is_running = True

    def mark(self, step):
        self._called("mark")

    def stop(self):
        self._called("stop")
        self.is_running = False
        return Counts(5, 0)

    def distributed_info(self):
        self._called("distributed_info")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "control"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def program():
    return FakeProgram()


@pytest.fixture
def recorder(program, folder):
    files = Files(str(folder))
    recorder = Recorder(program, Plan(str(folder), is_empty=True), files, files)
    recorder.begin()
    return recorder


@contextmanager
def served(folder, program, recorder):
    serving = Control(ControlFolder(str(folder)), Files(str(folder)), {"fake": (program, recorder)}, {})
    try:
        (socket,) = sockets(folder)
        yield socket
    finally:
        serving.close()


# ---- windows ----------------------------------------------------------------------------------------


def step(recorder):
    recorder.optimizer_stepped(OPTIMIZER)


def recorded_step(recorder):
    """A window of one step, which runs."""
    demand = Demand("0" * 16, recorder.last_step + 1, 1)
    recorder.demand(demand)
    step(recorder)
    assert not demand.status
    return demand


@pytest.mark.parametrize("name", ["distributed_info", "mark", "stop"])
def test_an_error_at_the_end_of_a_window_stops_it_and_keeps_its_file(program, recorder, folder, name):
    demand = recorded_step(recorder)
    program.raises[name] = RuntimeError("the process group is gone")
    step(recorder)
    assert not program.is_running
    assert (demand.status, demand.why_not) == ("failed", "RuntimeError: the process group is gone")
    assert [demand.file] == recorder._files.finished == [path.name for path in folder.iterdir()]
    assert recorder.state() == ("ready", "")


@pytest.mark.parametrize("name", ["distributed_info", "stop"])
def test_a_window_whose_end_is_interrupted_ends_at_the_next_step(program, recorder, name):
    demand = recorded_step(recorder)
    program.raises[name] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        step(recorder)
    assert program.is_running and not demand.status
    step(recorder)
    assert not program.is_running
    assert demand.status == "complete" and recorder._files.finished == [demand.file]


def test_an_interrupted_exit_keeps_the_file_and_its_line(program, folder, monkeypatch):
    files = Files(str(folder))
    plan = Plan(str(folder))
    recorder = Recorder(program, plan, files)
    for name, value in (("_recorders", {"fake": (program, recorder)}), ("_files", files), ("_plan", plan)):
        monkeypatch.setattr(process, name, value)
    recorder.begin()
    assert program.is_running
    program.waits_for_device = True
    program.raises["stop"] = KeyboardInterrupt()
    process._end()
    (line,) = (folder / "run.jsonl").read_text().splitlines()
    assert json.loads(line)["files"] == [path.name for path in folder.glob("*.opscope")] != []


@pytest.mark.framework("torch")
def test_a_process_group_that_is_destroyed_meanwhile_is_none(monkeypatch):
    import torch

    from opscope.launch.torch_program import TorchProgram

    program = TorchProgram()
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)  # get_rank() raises
    assert program.rank() is None
    assert program.distributed_info() is None


# ---- the control thread -----------------------------------------------------------------------------


def test_after_an_error_the_control_thread_serves_the_next_request(program, recorder, folder, monkeypatch):
    monkeypatch.setattr(control, "TICK_SECONDS", 0.05)
    with served(folder, program, recorder) as socket:
        program.raises["rank"] = RuntimeError("no default process group")
        (refused,) = ask(socket, command="status")
        assert refused["error"] == "RuntimeError: no default process group"
        assert status(socket)["state"] == "ready"
    assert [line["why_not"] for line in log_of(folder) if line["why_not"]] == ["RuntimeError: no default process group"]


def test_a_control_thread_that_fails_again_and_again_logs_it_once_and_sleeps(program, recorder, folder, monkeypatch):
    passes = []

    def fails(self):
        passes.append(time.monotonic())
        raise RuntimeError("broken")

    monkeypatch.setattr(control, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(Control, "_wait", fails)
    with served(folder, program, recorder):
        time.sleep(0.5)
    assert 1 < len(passes) <= 12
    assert [line["why_not"] for line in log_of(folder)] == ["RuntimeError: broken"]


def test_a_control_thread_without_free_descriptors_sleeps(program, recorder, folder, monkeypatch):
    tries = []

    def fails(self):
        tries.append(time.monotonic())
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(control, "TICK_SECONDS", 0.05)
    with served(folder, program, recorder) as socket:
        monkeypatch.setattr(ControlSocket, "accept", fails)
        connect(socket).close()
        time.sleep(0.5)
    assert 1 < len(tries) <= 12
    assert [line["why_not"] for line in log_of(folder)] == ["OSError: [Errno 24] Too many open files"]


def test_clients_see_the_end_of_the_control_thread(program, recorder, folder, monkeypatch):
    with served(folder, program, recorder) as socket, connect(socket) as client:
        client.settimeout(5)
        message = {"version": 1, "command": "record", "request": "0" * 16, "first_step": 100, "steps": 1}
        client.sendall(json.dumps(message).encode() + b"\n")
        assert json.loads(client.recv(4096))["status"] == "waiting"
        monkeypatch.setattr(Control, "_is_open", lambda _: False)
        assert client.recv(4096) == b""
        wait_for(lambda: sockets(folder) == [])


def refuses_thread(*_):
    raise RuntimeError("can't start new thread")


def refuses_pipe(*_):
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.mark.parametrize(
    ("holder", "name", "act"), [(_thread, "start_new_thread", refuses_thread), (os, "pipe2", refuses_pipe)]
)
def test_without_a_thread_or_a_pipe_no_socket_stays(folder, monkeypatch, holder, name, act):
    opened = ControlFolder(str(folder))
    before = sorted(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patched:
        patched.setattr(holder, name, act)
        with pytest.raises((RuntimeError, OSError)):
            Control(opened, Files(str(folder)), {}, {})
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert list(folder.iterdir()) == []


WITHOUT_STREAMS = """
import os, sys, time
sys.path.insert(0, sys.argv[2])
from control_client import connect, sockets
from pathlib import Path
from opscope.launch.control import Control
from opscope.launch.control_folder import ControlFolder
from opscope.launch.files import Files
folder = Path(sys.argv[1])
opened, files = ControlFolder(str(folder)), Files(str(folder))
for stream in (0, 1, 2):
    os.close(stream)
serving = Control(opened, files, {}, {})
at = serving._socket.descriptor, serving._wake.number, serving._wake_end.number
for stream in (0, 1, 2):  # taken by the program while the client connects: not free for it
    try:
        os.fstat(stream)
        os._exit(3)
    except OSError:
        pass
client = connect(sockets(folder)[0])
os.dup2(client.fileno(), 20)
client.close()
end = time.monotonic() + 20
while not serving._clients and time.monotonic() < end:
    time.sleep(0.001)
os._exit(0 if serving._clients and min(*at, *serving._clients) > 2 else 4)
"""


def test_no_descriptor_of_ours_takes_the_number_of_a_closed_stream(folder):
    words = [sys.executable, "-c", WITHOUT_STREAMS, folder, Path(__file__).parent]
    assert subprocess.run(words, check=False).returncode == 0
