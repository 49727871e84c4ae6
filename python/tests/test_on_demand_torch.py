# SPDX-License-Identifier: Apache-2.0
"""`opscope record` records steps of running programs under torch."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from control_client import connect, log_of, sockets, status
from control_client import record as record_at
from run_command import environment, names, steps
from running_program import PYTHON, TORCH, ps, record, under_run, with_variable
from running_program import opscope as command
from waiting import wait_for

import opscope

pytestmark = pytest.mark.framework("torch")

UNDER_TORCH = """
import json, sys
from collections import Counter
import torch.profiler
from train import train

counts = []
with torch.profiler.profile(
    schedule=torch.profiler.schedule(wait=3, warmup=1, active=5, repeat=1),
    on_trace_ready=lambda p: counts.append(Counter(event.name() for event in p.profiler.kineto_results.events())),
) as prof:
    train(lambda: bool(counts), prof.step)
print(json.dumps(counts[0]))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TORCH)
    return path


def without_marks(found):
    return {name: count for name, count in found.items() if not name.startswith("ProfilerStep#")}


def test_a_window_has_what_a_loop_of_torchs_profiler_records(script, tmp_path):
    program = script.with_name("under_torch.py")
    program.write_text(UNDER_TORCH)
    theirs = subprocess.run([PYTHON, program], env=environment(), capture_output=True, check=True).stdout
    with under_run([PYTHON, script, "STOP"], tmp_path / "out") as running:
        (socket,) = running.sockets()
        assert socket.stat().st_mode & 0o777 == 0o600
        answer = record(running.folder, "--steps", 5)
        (row,) = answer["rows"]
        (listed,) = ps(running.folder)
        assert running.end() == ""
    assert (row["status"], row["why_not"], row["rank"]) == ("complete", "", -1)
    trace = opscope.open(row["file"])
    first = answer["first_step"]
    assert steps(trace) == [first + i for i in range(5)]
    assert without_marks(names(trace)) == without_marks(json.loads(theirs.splitlines()[-1]))
    assert list(trace.problems.kind) == []
    assert Path(row["file"]).parent == running.folder
    assert Path(row["file"]).name == f"rank_unknown-a0-{row['host']}-{row['pid']}-1.opscope"
    assert listed == {
        "pid": row["pid"],
        "host": os.uname().nodename,
        "rank": -1,
        "framework": "torch",
        "last_step": listed["last_step"],
        "state": "ready",
        "why_not": "",
    }
    assert listed["last_step"] >= first + 5
    (line,) = running.lines()
    assert (line["files"], line["why_not"]) == ([Path(row["file"]).name], "")
    assert sockets(running.folder) == []
    requests = [entry for entry in log_of(running.folder) if entry.get("request") == answer["request"]]
    assert [entry["what"] for entry in requests] == [f"steps {first} to {first + 4}", "complete"]


def test_a_program_that_uses_opscope_needs_the_variable_alone(script, tmp_path):
    program = script.with_name("own.py")
    program.write_text("import opscope.torch\n" + TORCH)
    with with_variable([PYTHON, program, "STOP"], tmp_path / "out") as running:
        (socket,) = running.sockets()
        pid = status(socket)["pid"]
        done = command("record", pid, "--steps", 2, "--json", OPSCOPE_CONTROL=str(running.folder))
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)["rows"]
        titles, values = command("ps", OPSCOPE_CONTROL=str(running.folder)).stdout.splitlines()[:2]
        assert titles.split()[:3] == ["Rank", "Host", "Process"]
        assert values.split()[:4] == ["-", row["host"], str(pid), "torch"]
        assert running.end() == ""
    assert len(steps(opscope.open(row["file"]))) == 2
    assert not (running.folder / "run.jsonl").exists()


def test_without_a_request_nothing_is_recorded(script, tmp_path):
    with under_run([PYTHON, script, "STOP"], tmp_path / "out") as running:
        running.sockets()
        running.end()
    assert sorted(path.name for path in running.folder.iterdir()) == ["control.log", "run.jsonl", "stop"]
    assert running.lines()[0]["why_not"] == "no recording was requested"


def test_planned_steps_come_first(script, tmp_path):
    with under_run([PYTHON, script, "STOP"], tmp_path / "out", "--steps", "1..2") as running:
        running.sockets()
        wait_for(lambda: ps(running.folder)[0]["last_step"] > 3)
        answer = record(running.folder, "--steps", 2)
        running.end()
    files = sorted(running.folder.glob("*.opscope"))
    assert [steps(opscope.open(file)) for file in files] == [[1, 2], [answer["first_step"] + i for i in range(2)]]
    assert sorted(running.lines()[0]["files"]) == [file.name for file in files]


def test_a_request_meets_a_window_of_the_plan(script, tmp_path):
    with under_run([PYTHON, script, "STOP"], tmp_path / "out", "--steps", "1..") as running:
        running.sockets()
        assert ps(running.folder)[0]["state"] == "recording"
        (row,) = record(running.folder, "--steps", 2, code=1)["rows"]
        assert row["why_not"] == "a window of `opscope run` is recorded"
        running.end()


JOB = """
import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
is_over = torch.zeros(1)
while not is_over.item():
    model(torch.ones(3, 8)).sum().backward()
    optimizer.step()
    is_over += os.path.exists(sys.argv[1])
    dist.all_reduce(is_over)
    time.sleep(0.005)
dist.destroy_process_group()
os._exit(0)  # torch 2.13 with Gloo aborts at about one of ten exits, also without opscope
"""


def test_the_ranks_of_torchrun_begin_at_one_step(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    launcher = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    with under_run([*launcher, tmp_path / "job.py", "STOP"], tmp_path / "out") as running:
        running.sockets(2)
        answer = record(running.folder, "--steps", 4)
        some = record(running.folder, "--steps", 1, "--ranks", "1,7", code=3)
        ranks = [row["rank"] for row in ps(running.folder)]
        running.end()
    first = answer["first_step"]
    assert [(row["rank"], row["status"]) for row in answer["rows"]] == [(0, "complete"), (1, "complete")]
    for rank, row in enumerate(answer["rows"]):
        trace = opscope.open(row["file"])
        assert Path(row["file"]).name.startswith(f"rank{rank}-a0-")
        assert steps(trace) == [first + i for i in range(4)]
        assert names(trace)["gloo:all_reduce"] in (7, 8, 9)  # one of the model, one of the loop; the window cuts either
    assert ranks == [-1, 0, 1]  # the launcher imports torch, too
    assert [(row["rank"], row["status"], row["why_not"]) for row in some["rows"]] == [
        (1, "complete", ""),
        (7, "failed", "there is no process of this rank"),
    ]


ENDING = TORCH.replace(
    "train(lambda: os.path.exists(sys.argv[1]))",
    """
    left = []
    def is_over():
        if os.path.exists(sys.argv[1]):
            left.append(0)
        return len(left) > 3
    train(is_over)
    {end}
""",
)


@pytest.mark.parametrize(
    ("end", "why_not"),
    [
        ("", "the program has ended in step"),
        ("os._exit(0)", "the program has ended in step"),
        ("os.execlp('true', 'true')", "the program has ended in step"),
        ("os.kill(os.getpid(), 9)", "the process has ended meanwhile"),
    ],
)
def test_a_rank_that_ends_early_fails_with_what_it_has(tmp_path, end, why_not):
    (tmp_path / "train.py").write_text(ENDING.format(end=end))
    with under_run([PYTHON, tmp_path / "train.py", "STOP"], tmp_path / "out") as running:
        (socket,) = running.sockets()
        first = status(socket)["last_step"] + 100
        with connect(socket) as connection:
            message = {"version": 1, "command": "record", "request": "0" * 16, "first_step": first, "steps": 100}
            connection.sendall(json.dumps(message).encode() + b"\n")
            assert json.loads(connection.recv(4096))["status"] == "waiting"
            wait_for(lambda: status(socket)["last_step"] > first)
            (running.folder / "stop").touch()
            rest = connection.recv(4096)
        running.process.wait(60)
    if "kill" in end:
        assert rest == b""
        assert [path.name for path in sockets(running.folder)] == [socket.name]
        (row,) = ps(running.folder)
        assert (row["state"], row["why_not"]) == (
            "unavailable",
            "the process has ended without removing its socket",
        )
        assert ps(running.folder) == []
        return
    answer = json.loads(rest)
    assert (answer["status"], answer["why_not"].rpartition(" ")[0]) == ("failed", why_not)
    assert steps(opscope.open(running.folder / answer["file"]))[0] == first
    assert sockets(running.folder) == []


def test_requests_that_cannot_be_served_say_why(script, tmp_path):
    with under_run([PYTHON, script, "STOP"], tmp_path / "out") as running:
        (socket,) = running.sockets()
        late = record_at(socket, 1, 5)
        assert (late["status"], late["file"]) == ("late", "")
        assert late["why_not"].endswith("had begun when the request came")
        first = status(socket)["last_step"] + 1000
        with connect(socket) as connection:
            message = {"version": 1, "command": "record", "request": "0" * 16, "first_step": first, "steps": 1}
            connection.sendall(json.dumps(message).encode() + b"\n")
            assert json.loads(connection.recv(4096))["status"] == "waiting"
            assert status(socket)["state"] == "recording"
            other = record_at(socket, first + 10, 1)
            assert (other["status"], other["why_not"]) == ("failed", "another request is served")
        running.end()
    assert list(running.folder.glob("*.opscope")) == []


NO_STEPS = """
import os, sys, time
import torch
while not os.path.exists(sys.argv[1]):
    torch.ones(3) + 1
    time.sleep(0.005)
"""


def test_a_window_that_no_step_begins_ends_after_a_minute(tmp_path):
    (tmp_path / "program.py").write_text(
        "import opscope.launch.demand as demand\ndemand.MAX_SECONDS = 3.0\n" + NO_STEPS
    )
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out") as running:
        wait_for(lambda: sockets(running.folder))
        (row,) = record(running.folder, "--steps", 2, code=1)["rows"]
        assert (row["status"], row["file"], row["why_not"]) == (
            "failed",
            None,
            "step 2 did not begin within 3 s",
        )
        running.end()


def test_a_window_ends_after_a_minute(tmp_path):
    program = TORCH.replace("time.sleep(0.005)", "time.sleep(0.2)")
    (tmp_path / "program.py").write_text("import opscope.launch.demand as demand\ndemand.MAX_SECONDS = 2.0\n" + program)
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        answer = record(running.folder, "--steps", 50, code=1)
        (row,) = answer["rows"]
        assert (row["status"], row["why_not"]) == ("failed", "the window was ended after 2 s")
        running.end()
    found = steps(opscope.open(row["file"]))
    assert found[0] == answer["first_step"] and 3 < len(found) < 20


def test_a_window_is_as_large_as_the_disk_allows(tmp_path):
    (tmp_path / "program.py").write_text(
        "import os\n"
        "facts = os.statvfs\n"
        "class Full:\n    f_bavail, f_frsize = 8, 1 << 20\n"
        "os.statvfs = lambda path: Full\n" + TORCH
    )
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        (row,) = record(running.folder, "--steps", 1, code=1)["rows"]
        assert row["why_not"] == "NoRoom: less than 32 MiB of the disk are free"
        running.end()


OWN_PROFILER = TORCH.replace(
    "train(lambda: os.path.exists(sys.argv[1]))",
    """
    with torch.profiler.profile() as prof:
        train(lambda: os.path.exists(sys.argv[1]))
""",
)


def test_a_program_that_records_itself_is_left_alone(tmp_path):
    (tmp_path / "program.py").write_text(OWN_PROFILER)
    with under_run([PYTHON, tmp_path / "program.py", "STOP"], tmp_path / "out") as running:
        running.sockets()
        (listed,) = ps(running.folder)
        (row,) = record(running.folder, "--steps", 1, code=1)["rows"]
        running.end()
    assert (listed["state"], listed["why_not"]) == ("unavailable", "the program records itself")
    assert row["why_not"] == "the program records itself"
