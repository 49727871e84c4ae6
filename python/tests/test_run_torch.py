# SPDX-License-Identifier: Apache-2.0
"""`opscope run` records unchanged programs under torch."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from run_command import environment, names, run, steps

import opscope

pytestmark = pytest.mark.framework("torch")

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
TRAIN = """
import sys
import torch

def train(count):
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(count):
        loss = model(torch.randn(3, 8)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()

if __name__ == "__main__":
    print(sys.stdin.readline().strip(), train(6))
    sys.exit(3)
"""
UNDER_TORCH = """
import json, runpy, sys
from collections import Counter
import torch.profiler
with torch.profiler.profile() as prof:
    try:
        runpy.run_path(sys.argv[1], run_name="__main__")
    except SystemExit:
        pass
with open(sys.argv[2], "w") as file:
    json.dump(Counter(event.name() for event in prof.profiler.kineto_results.events()), file)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "train.py"
    path.write_text(TRAIN)
    return path


def test_an_unchanged_script_gives_what_torchs_profiler_counts(script, tmp_path):
    plain = subprocess.run([PYTHON, script], input=b"hello\n", env=environment(), capture_output=True)
    ran = run([PYTHON, script], tmp_path / "out", stdin="hello\n")
    assert (ran.done.returncode, ran.done.stdout, ran.done.stderr) == (3, plain.stdout, plain.stderr)
    subprocess.run(
        [PYTHON, "-c", UNDER_TORCH, script, tmp_path / "counts.json"],
        input=b"hello\n",
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    trace = ran.trace()
    found = names(trace)
    assert steps(trace) == [0, 1, 2, 3, 4, 5, 6]
    operators = {name: count for name, count in found.items() if not name.startswith("ProfilerStep#")}
    assert operators == json.loads((tmp_path / "counts.json").read_text())
    assert found["Optimizer.step#SGD.step"] == 6
    assert list(trace.problems.kind) == []
    (line,) = ran.lines()
    (file,) = ran.files()
    assert (line["framework"], line["files"], line["why_not"]) == ("torch", [file.name], "")
    assert file.name == f"rank_unknown-a0-{line['host']}-{line['pid']}-1.opscope"
    assert file.stat().st_mode & 0o777 == 0o600


def test_steps_are_those_of_the_options(script, tmp_path):
    trace = run([PYTHON, script], tmp_path / "steps", "--steps", "2..4").trace()
    assert steps(trace) == [2, 3, 4]
    assert names(trace)["Optimizer.step#SGD.step"] == names(trace)["Optimizer.zero_grad#SGD.zero_grad"] == 3
    ran = run([PYTHON, script], tmp_path / "every", "--every", "3", "--for", "1")
    assert [steps(opscope.open(file)) for file in ran.files()] == [[0], [3], [6]]
    assert [file.name.rpartition("-")[2] for file in ran.files()] == ["1.opscope", "2.opscope", "3.opscope"]
    assert ran.lines()[0]["files"] == [file.name for file in ran.files()]


def test_a_program_that_ends_before_the_first_step_says_so(script, tmp_path):
    ran = run([PYTHON, script], tmp_path / "out", "--steps", "100..110")
    assert [(line["files"], line["why_not"]) for line in ran.lines()] == [
        ([], "step 100 did not begin: the program ended in step 6")
    ]


CHILDREN = """
import multiprocessing, os, subprocess, sys
from train import train

if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(2)
        sys.exit()
    pid = os.fork()
    if pid == 0:
        train(4)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    pid = os.fork()
    if pid == 0:
        os.execlp("true", "true")
    assert os.waitpid(pid, 0)[1] == 0
    for method in ("fork", "spawn"):
        child = multiprocessing.get_context(method).Process(target=train, args=(5,))
        child.start()
        child.join()
        assert child.exitcode == 0
    subprocess.run([sys.executable, __file__, "child"], check=True)
    pid = os.fork()
    if pid == 0:
        train(3)
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    train(3)
    os.execlp(sys.executable, sys.executable, "-c", "import torch; torch.ones(2)")
"""


def test_children_of_every_kind_have_files_of_their_own(script, tmp_path):
    program = script.with_name("children.py")
    program.write_text(CHILDREN)
    ran = run([PYTHON, program], tmp_path / "out")
    assert (ran.done.returncode, ran.done.stderr) == (0, b"")
    by_pid = {}
    for file in ran.files():
        trace = opscope.open(file)
        by_pid.setdefault(file.name.split("-")[-2], []).append(
            (names(trace)["Optimizer.step#SGD.step"], list(map(str, trace.problems.kind)))
        )
    found = sorted(sum(by_pid.values(), []))
    # After exec the process has its number still: one file for each program.
    assert found == [
        (0, []),
        (2, []),
        (3, []),
        (3, ["recording_not_ended", "unfinished_scope"]),
        (4, []),
        (5, []),
        (5, []),
    ]
    assert sorted(map(len, by_pid.values())) == [1, 1, 1, 1, 1, 2]
    whys = [line["why_not"] for line in map(json.loads, (ran.folder / "run.jsonl").read_text().splitlines())]
    assert whys.count("no operator was recorded") == 1  # the child that became `true`


JOB = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.ones(3, 8)).sum().backward()
    optimizer.step()
dist.destroy_process_group()
os._exit(0)  # torch 2.13 with Gloo aborts at about one of ten exits, also without opscope
"""


def test_torchrun_leaves_a_file_for_each_rank(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    ran = run(
        [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", tmp_path / "job.py"],
        tmp_path / "out",
        "--steps",
        "1..2",
    )
    assert ran.done.returncode == 0, ran.done.stderr.decode()
    files = ran.files()
    assert [file.name.split("-")[0] for file in files] == ["rank0", "rank1"]
    for rank, file in enumerate(files):
        trace = opscope.open(file)
        metadata = dict(zip(map(str, trace.metadata.key), map(str, trace.metadata.json), strict=True))
        info = json.loads(metadata["distributedInfo"])
        assert (info["rank"], info["world_size"], info["backend"]) == (rank, 2, "gloo")
        assert metadata["opscope_attempt"] == "0"
        assert int(metadata["opscope_wall_error_ns"]) > 0
        assert metadata["opscope_boot"] and metadata["host_name"]
        assert steps(trace) == [1, 2]
        assert names(trace)["gloo:all_reduce"] == 2
    agents = [line for line in ran.lines() if line["rank"] == -1 and line["framework"] == "torch"]
    assert [line["why_not"] for line in agents] == ["step 1 did not begin: no optimizer and no profiler has stepped"]


DYING = TRAIN.replace("sys.exit(3)", "import os, signal; os.kill(os.getpid(), int(sys.argv[1]))")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_a_signal_kills_leaves_its_file(tmp_path, number):
    (tmp_path / "train.py").write_text(DYING)
    ran = run([PYTHON, tmp_path / "train.py", str(int(number))], tmp_path / "out", stdin="x\n")
    assert ran.done.returncode == -number
    assert names(ran.trace())["Optimizer.step#SGD.step"] == 6
    assert "recording_not_ended" in map(str, ran.trace().problems.kind)
    assert ran.lines() == []


def test_seconds_bound_the_recording(tmp_path):
    (tmp_path / "long.py").write_text(
        "import time, torch\nx = torch.ones(3)\nx + x\nopen('half', 'w').close()\ntime.sleep(4)\ntorch.relu(x)\n"
    )
    ran = run([PYTHON, tmp_path / "long.py"], tmp_path / "out", "--seconds", "2", cwd=tmp_path)
    assert ran.done.returncode == 0, ran.done.stderr
    assert names(ran.trace())["aten::add"] == 1
    assert names(ran.trace())["aten::relu"] == 0


PROFILED = """
import os, sys
import torch
from train import train
from torch.profiler import profile, schedule

train(2)
with profile() as prof:
    train(3)
print(sorted((event.key, event.count) for event in prof.key_averages()))
train(2)
counts = []
with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: counts.append(
        sorted((event.key, event.count) for event in p.key_averages()))) as prof:
    for _ in range(5):
        train(1)
        prof.step()
print(counts)
"""


def without_times(output):
    """Kineto's lines on standard error begin with time and process."""
    return [line.rpartition("]")[2] for line in output.decode().splitlines()]


def test_the_programs_own_profiler_is_left_alone(script, tmp_path):
    program = script.with_name("profiled.py")
    program.write_text(PROFILED)
    plain = subprocess.run([PYTHON, program], env=environment(), capture_output=True, check=True)
    ran = run([PYTHON, program], tmp_path / "out")
    assert ran.done.returncode == 0, ran.done.stderr.decode()
    assert ran.done.stdout == plain.stdout
    assert without_times(ran.done.stderr) == without_times(plain.stderr)
    (line,) = ran.lines()
    assert line["why_not"] == "the program records itself with torch.profiler: not recorded meanwhile"
    assert line["files"]


SEVERAL = """
import torch
from train import train
first = torch.nn.Linear(2, 2)
second = torch.nn.Linear(2, 2)
optimizers = [torch.optim.SGD(first.parameters()), torch.optim.Adam(second.parameters())]

class Own(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)

optimizers.append(Own(first.parameters()))
for _ in range(3):
    second(first(torch.ones(1, 2))).sum().backward()
    for optimizer in optimizers:
        optimizer.step()

@torch.compile(backend="eager")
def compiled():
    optimizers[0].step()

compiled()
late = torch.optim.RMSprop(first.parameters())  # whose class torch.compile has kept from torch's own hooks
for _ in range(3):
    late.step()  # takes the lead the second time
"""


def test_a_step_of_several_optimizers_is_one_step(script, tmp_path):
    program = script.with_name("several.py")
    program.write_text(SEVERAL)
    ran = run([PYTHON, program], tmp_path / "out")
    assert ran.done.returncode == 0, ran.done.stderr.decode()
    assert steps(ran.trace()) == [0, 1, 2, 3, 4, 5]


def test_rank_variables_without_torch_distributed_are_stored(script, tmp_path):
    variables = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4"}
    ran = run([PYTHON, script], tmp_path / "out", stdin="x\n", variables=variables)
    assert ran.files()[0].name.startswith("rank3-a0-")
    metadata = dict(zip(map(str, ran.trace().metadata.key), map(str, ran.trace().metadata.json), strict=True))
    assert json.loads(metadata["distributedInfo"]) == {"rank": 3, "world_size": 4}
    assert os.path.basename(ran.files()[0]) == ran.lines()[0]["files"][0]


def test_the_page_shows_what_run_writes(script, tmp_path):
    page = (ROOT / "docs" / "how-to" / "record_without_changes.md").read_text()
    shown = re.search(r"```json\n(.*?)```", page, re.DOTALL)[1].splitlines()
    rank = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "0"}
    runs = [
        run([PYTHON, script], tmp_path / "one", stdin="x\n", variables=rank),
        run([PYTHON, "-c", "import torch"], tmp_path / "two", "--steps", "10..20"),
    ]
    for line, ran, pid in zip(shown, runs, ("4711", "4700"), strict=True):
        (found,) = ran.lines()
        written = (ran.folder / "run.jsonl").read_text().strip()
        assert written.replace(str(found["pid"]), pid).replace(found["host"], "node1") == line
