# SPDX-License-Identifier: Apache-2.0
"""What lets a program be recorded on demand serves its own user alone, and writes nowhere but in its folder."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest
from control_client import log_of, record, sockets, status
from run_command import environment, run, steps
from running_program import PYTHON, TORCH, ps, started, under_run, with_variable
from running_program import opscope as command
from waiting import wait_for

import opscope
from opscope.launch.control_folder import ControlFolder
from opscope.launch.control_socket import ControlSocket

NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
torch = pytest.mark.framework("torch")
RECORD = {"version": 1, "command": "record", "request": "0123456789abcdef", "first_step": 3, "steps": 2}


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TORCH)
    return path


@pytest.fixture
def running(script, tmp_path):
    with under_run([PYTHON, script, "STOP"], tmp_path / ("long" * 40)) as program:  # beyond the 108 bytes of an address
        yield program
        assert program.process.poll() is None


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "control"
    path.mkdir(mode=0o700)
    return path


# ---- other users ------------------------------------------------------------------------------------

AS_NOBODY = """
import os, socket, sys
folder = os.open(sys.argv[1], os.O_PATH)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
client.connect(f"/proc/self/fd/{folder}/{sys.argv[2]}")
try:
    client.sendall(b'{"version":1,"command":"status"}\\n')
    print(client.recv(4096))
except ConnectionError:
    print(b"")
"""


@needs_root
@torch
def test_another_user_is_refused(running):
    (socket,) = running.sockets()
    words = [PYTHON, "-c", AS_NOBODY, running.folder, socket.name]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert "PermissionError" in refused.stderr  # by the mode of the socket and the folder
    running.folder.chmod(0o755)
    socket.chmod(0o666)
    asked = subprocess.run(words, capture_output=True, text=True)
    assert (asked.returncode, asked.stdout) == (0, "b''\n"), asked.stderr
    assert log_of(running.folder)[-1]["why_not"] == f"the user {NOBODY} has connected"
    assert status(socket)["state"] == "ready"


LISTENS_AS_NOBODY = """
import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
os.setgid(65534)
os.setuid(65534)
listener.listen()
print("listens", flush=True)
time.sleep(600)
"""


@needs_root
def test_a_socket_on_which_another_user_listens_is_not_asked(folder):
    name = f"{os.uname().nodename.replace('-', '_')}-1.sock"
    process = subprocess.Popen([PYTHON, "-c", LISTENS_AS_NOBODY, name], cwd=folder, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"listens\n"
        (row,) = ps(folder)
        assert (row["state"], row["why_not"]) == ("unavailable", "another user listens on its socket")
    finally:
        process.kill()
        process.communicate()


@needs_root
@torch
def test_a_program_with_more_rights_than_its_user_has_no_socket(tmp_path):
    program = (
        f"import os\nos.setreuid({NOBODY}, 0)\n"
        "os.execv(%r, [%r, '-c', 'import opscope.torch, sys; print(\"opscope.launch.control\" in sys.modules)'])"
    )
    with with_variable([PYTHON, "-c", program % (PYTHON, PYTHON)], tmp_path / "out") as running:
        output, errors = running.process.communicate(timeout=120)
    assert running.process.returncode == 0, errors
    assert not (tmp_path / "out").exists()


# ---- the folder -------------------------------------------------------------------------------------


def test_only_a_folder_of_this_user_alone_is_taken(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open").chmod(0o755)
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("own")
    (tmp_path / "file").touch()
    for name, why_not in (("open", "0755"), ("link", "."), ("link/", "."), ("file", "."), ("none/below", ".")):
        with pytest.raises(OSError, match=why_not):
            ControlFolder(f"{tmp_path}/{name}")
    assert ControlFolder(f"{tmp_path}/own/").path == str(tmp_path / "own")
    ControlFolder(str(tmp_path / "new"))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    if os.getuid() == 0:
        os.chown(tmp_path / "own", NOBODY, NOBODY)
        with pytest.raises(PermissionError, match=f"belongs to the user {NOBODY}"):
            ControlFolder(str(tmp_path / "own"))


def test_run_and_ps_refuse_other_folders(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    (tmp_path / "link").symlink_to("open")
    for name, why_not in (
        ("open", "--on-demand needs a folder of this user alone (mode 0700)"),
        ("link", "--on-demand needs a folder that is not a symbolic link"),
    ):
        done = run(["touch", tmp_path / "ran"], tmp_path / name, "--on-demand").done
        assert (done.returncode, done.stderr.decode()) == (1, f"opscope: run: {tmp_path / name}: {why_not}\n")
    assert not (tmp_path / "ran").exists()
    for verb in (["ps", tmp_path / "open"], ["record", tmp_path / "open", "--steps", "1"]):
        done = command(*verb)
        assert done.returncode == 1
        assert done.stderr == f"opscope: {verb[0]}: {tmp_path / 'open'}: has the mode 0755 in place of 0700\n"
    assert command("record", tmp_path, "--steps", "101").returncode == 2
    assert command("record", "5", "--steps", "1", "--ranks", "1", cwd=tmp_path).returncode == 2
    assert command("record", "5", "--steps", "1", cwd=tmp_path).returncode == 1


@torch
def test_a_program_goes_on_without_a_folder_that_is_not_its_own(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    program = "import opscope.torch, torch; print(torch.ones(2).sum().item())"
    with with_variable([PYTHON, "-c", program], tmp_path / "open") as running:
        output, errors = running.process.communicate(timeout=120)
    assert output == "2.0\n"
    assert "OPSCOPE_CONTROL: the process cannot be recorded on demand" in errors and "0755" in errors
    assert [path.name for path in (tmp_path / "open").iterdir()] in ([], ["stop"])

    watched = run([PYTHON, "-c", program], tmp_path / "out", variables={"OPSCOPE_CONTROL": str(tmp_path / "open")})
    assert (watched.done.stdout, watched.done.stderr) == (b"2.0\n", b"")
    assert watched.lines()[0]["why_not"].startswith("on demand: ")
    assert watched.files()


def test_links_in_the_folder_lead_nowhere(folder, tmp_path):
    outside = tmp_path / "outside"
    control = ControlFolder(str(folder))
    os.symlink(outside, folder / "host-1.sock")
    with pytest.raises(OSError):
        ControlSocket(control, "host-1.sock")
    os.symlink(outside, folder / "control.log")
    with pytest.raises(OSError):
        control.append_to_log(b"line\n")
    os.symlink(outside, folder / "host-1.json")
    os.symlink(outside, folder / "host-1.json.part")
    control.write("host-1.json", b"answer\n")
    assert not outside.exists()
    assert (folder / "host-1.json").read_bytes() == b"answer\n" and not (folder / "host-1.json").is_symlink()
    outside.write_text("{}")
    os.symlink(outside, folder / "request.json")
    with pytest.raises(PermissionError, match="link"):
        control.new_request()
    assert control.new_request() is None  # each is looked at once


def test_only_a_request_file_of_this_user_is_read(folder):
    control = ControlFolder(str(folder))
    request = folder / "request.json"
    own = os.getuid()

    def put(mode, owner=own):
        part = folder / "part"
        part.write_text("{}")
        part.chmod(mode)
        os.chown(part, owner, owner)
        part.rename(request)
        return control.new_request()

    assert put(0o600) == b"{}"
    assert control.new_request() is None
    assert put(0o644) == b"{}"
    for mode in (0o620, 0o602, 0o666):
        with pytest.raises(PermissionError, match="others can write it"):
            put(mode)
    if os.getuid() == 0:
        with pytest.raises(PermissionError, match=f"belongs to the user {NOBODY}"):
            put(0o600, NOBODY)
    request.unlink()
    assert control.new_request() is None
    os.mkfifo(request)
    with pytest.raises(PermissionError, match="not a regular file"):
        control.new_request()
    request.unlink()
    request.write_bytes(b"x" * 100_000)
    assert len(control.new_request()) == 4097


def test_a_socket_that_is_left_over_is_replaced_and_a_used_one_is_not(folder):
    control = ControlFolder(str(folder))
    first = ControlSocket(control, "host-1.sock")
    with pytest.raises(OSError):
        ControlSocket(control, "host-1.sock")
    first.close(with_file=False)
    second = ControlSocket(control, "host-1.sock")
    assert (folder / "host-1.sock").stat().st_mode & 0o777 == 0o600
    second.close(with_file=True)
    assert sockets(folder) == []


@torch
def test_a_folder_that_is_replaced_gets_nothing(running, tmp_path):
    (socket,) = running.sockets()
    moved, other = tmp_path / "moved", tmp_path / "other"
    running.folder.rename(moved)
    other.mkdir(mode=0o700)
    running.folder.symlink_to(other)
    socket = moved / socket.name
    end = record(socket, status(socket)["last_step"] + 50, 2)
    assert end["status"] == "complete"
    assert len(steps(opscope.open(moved / end["file"]))) == 2
    assert list(other.iterdir()) == []
    running.folder.unlink()
    moved.rename(running.folder)


@torch
def test_requests_in_files_are_checked_before_they_are_served(running, tmp_path):
    (socket,) = running.sockets()
    request = running.folder / "request.json"
    rank = status(socket)["rank"]

    def put(message, mode=0o600):
        part = running.folder / "part"
        part.write_text(message)
        part.chmod(mode)
        part.rename(request)

    def answers():
        return list(running.folder.glob("*.json.part")) + [
            path for path in running.folder.glob("*.json") if path != request
        ]

    def logged(why_not):
        return [
            entry
            for entry in log_of(running.folder)
            if entry["command"] == "request.json" and why_not in entry["why_not"]
        ]

    good = {**RECORD, "first_step": status(socket)["last_step"] + 1000, "host": "far", "ranks": [[rank, rank]]}
    put("nonsense")
    wait_for(lambda: logged("not a JSON object"))
    put(json.dumps(good), 0o666)
    wait_for(lambda: logged("others can write it"))
    request.unlink()
    (tmp_path / "elsewhere").write_text(json.dumps(good))
    request.symlink_to(tmp_path / "elsewhere")
    wait_for(lambda: logged("it is a link"))
    put(json.dumps({**good, "host": os.uname().nodename}))  # the command reaches those by their sockets
    put(json.dumps({**good, "ranks": [[5, 9]]}))
    time.sleep(2.5)
    assert answers() == []
    put(json.dumps({**good, "first_step": status(socket)["last_step"] + 1000}))  # some 5 s ahead
    (answered,) = wait_for(answers)
    wait_for(lambda: json.loads(answered.read_text())["status"] == "waiting")
    assert status(socket)["state"] == "recording"
    end = wait_for(lambda: (read := json.loads(answered.read_text()))["status"] != "waiting" and read)
    assert end["status"] == "complete"


# ---- what exists ------------------------------------------------------------------------------------

LOOKS = """
import contextlib, os, sys
def looks():
    links = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{each}").split(":")[0])
    return sorted(link for link in links if link in ("socket", "pipe")), len(os.listdir("/proc/self/task"))
import torch
torch.set_num_threads(1)
before = looks()
import opscope.torch
print(before == looks(), [name for name in sys.modules if name.startswith("opscope.launch")])
"""


@torch
def test_without_the_variable_nothing_exists(tmp_path):
    for variables in ({}, {"OPSCOPE_CONTROL": ""}):
        done = subprocess.run(
            [PYTHON, "-c", LOOKS], env=environment(**variables), cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stdout == "True []\n", done.stderr
    assert list(tmp_path.iterdir()) == []
    counting = LOOKS.replace("import opscope.torch\n", "").replace("[name for", "[] and [name for")
    ran = run([PYTHON, "-c", counting], tmp_path / "out", "--steps", "5..")
    assert ran.done.stdout == b"True []\n", ran.done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.jsonl"]


CLOSING = """
import opscope.torch
import os, socket, sys, time
import torch
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
os.closerange(3, 4096)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
clients = [socket.create_connection(listener.getsockname()) for _ in range(4)]
accepted = [listener.accept()[0] for _ in range(4)]
files = [os.pipe() for _ in range(20)]
time.sleep(2.5)
for client, other in zip(clients, accepted):
    client.send(b"x")
    assert other.recv(5) == b"x"
for read_end, write_end in files:
    os.write(write_end, b"y")
    assert os.read(read_end, 5) == b"y"
print("whole")
"""


@torch
def test_a_program_that_closes_all_descriptors_has_its_own(tmp_path):
    with with_variable([PYTHON, "-c", CLOSING, "STOP"], tmp_path / "out") as running:
        wait_for(lambda: sockets(running.folder))
        assert running.end() == "whole\n"


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
@torch
def test_no_network_socket_no_abstract_name_no_signal_and_no_ptrace(script, tmp_path):
    trace = ["strace", "-f", "-qq", "-e", "trace=socket,bind,connect,kill,tgkill,tkill,ptrace,pidfd_send_signal", "-o"]
    tried = subprocess.run([*trace, tmp_path / "tried", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"strace does not work: {tried.stderr}")
    words = [*trace, tmp_path / "job", PYTHON, "-m", "opscope", "run", "-o", tmp_path / "out", "--on-demand", "--"]
    with started([*words, PYTHON, script, "STOP"], tmp_path / "out", {}) as running:
        running.sockets()
        asked = command("record", running.folder, "--steps", "2", "--json", prefix=[*trace, tmp_path / "command"])
        assert asked.returncode == 0, asked.stderr
        running.end()
    assert json.loads(asked.stdout)["rows"][0]["status"] == "complete"
    for name in ("job", "command"):
        calls = (tmp_path / name).read_text()
        assert "AF_UNIX" in calls
        families = set(re.findall(r"socket\((AF_\w+)", calls))
        assert families == {"AF_UNIX"}, families
        assert 'sun_path=@"' not in calls
        assert not re.search(r"\b(kill|tgkill|tkill|ptrace|pidfd_send_signal)\(", calls), calls
    bound = re.findall(r'bind\(\d+, \{sa_family=AF_UNIX, sun_path="([^"]*)"', (tmp_path / "job").read_text())
    assert len(bound) == 1 and re.fullmatch(r"/proc/self/fd/\d+/\w[\w.]*-\d+\.sock\.new", bound[0])
