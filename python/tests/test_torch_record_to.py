# SPDX-License-Identifier: Apache-2.0
"""record_to=: the recording lies in a file while it is made, so a killed job leaves it."""

import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")

TRAINING = """
    import sys, torch
    from opscope.torch import profile, record_function, schedule

    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(16, 32)
    with profile(record_shapes=True, record_to=sys.argv[1], **eval(sys.argv[2])) as prof, record_function("training"):
        step = 0
        while True:
            with record_function(f"my step {step}"):
                optimizer.zero_grad()
                model(data).pow(2).mean().backward()
                optimizer.step()
            step += 1
            if step % 10 == 0:
                print(step, flush=True)  # everything of these steps was published
            prof.step()
"""


def killed_training(path, steps, options):
    """Starts the training, kills it at a moment of its own after `steps`; returns the steps that it told of."""
    command = [sys.executable, "-c", textwrap.dedent(TRAINING), str(path), repr(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        told = 0
        while told < steps:
            line = job.stdout.readline()
            assert line, job.stderr.read()
            told = int(line)
        job.kill()
        rest = job.stdout.read().split()  # not communicate(), which passes by what readline() has read ahead
    assert job.returncode == -signal.SIGKILL
    return max([told, *map(int, rest)])


def problems(trace):
    return dict(zip(trace.problems.text("kind"), trace.problems["count"], strict=True))


def names(trace, unfinished):
    flags = trace.spans["flags"]
    return [n for n, f in zip(trace.spans.text("name"), flags, strict=True) if bool(f & 1) == unfinished]


@pytest.mark.parametrize("steps", [10, 150])
def test_a_killed_training_is_read_back(tmp_path, steps):
    import opscope

    path = tmp_path / "x.opscope"
    told = killed_training(path, steps, {})
    trace = opscope.open(path)
    found = problems(trace)
    assert found.pop("recording_not_ended") == 1
    is_open = names(trace, unfinished=True)
    assert found.pop("unfinished_scope") == len(is_open)
    assert is_open[0] == "training"
    assert not found
    done = names(trace, unfinished=False)
    # It was killed in the middle of a step, and earlier steps called whatever this one was in.
    assert [name for name in is_open[1:] if not name.startswith("my step ") and name not in done] == []
    my_steps = [name for name in done if name.startswith("my step ")]
    assert my_steps == [f"my step {number}" for number in range(len(my_steps))]
    assert told <= len(my_steps) <= told + 10
    assert done.count("aten::addmm") >= 2 * told
    assert done.count("autograd::engine::evaluate_function: AddmmBackward0") >= 2 * told


def test_a_killed_flight_recorder_leaves_the_newest(tmp_path):
    import opscope

    path = tmp_path / "x.opscope"
    told = killed_training(path, 2000, {"at_cap": "keep_newest", "max_bytes": 4 << 20})
    assert path.stat().st_size < 12 << 20
    trace = opscope.open(path)
    assert set(problems(trace)) == {"recording_not_ended", "unfinished_scope", "dropped_at_cap"}
    newest = [name for name in names(trace, unfinished=False) if name.startswith("my step ")][-1]
    assert told - 1 <= int(newest.removeprefix("my step ")) < told + 10
    assert names(trace, unfinished=True)[0] == "training"


def test_the_command_line_reads_what_was_killed(tmp_path):
    path = tmp_path / "x.opscope"
    killed_training(path, 20, {})
    info = subprocess.run(
        [sys.executable, "-m", "opscope", "info", str(path)], capture_output=True, text=True, timeout=60
    )
    assert info.returncode == 3, info.stderr  # partial, and said so
    assert "recording_not_ended" in info.stdout
    assert re.search(r"^Open on thread \d+.*\n +[\d.]+ \w+  training\n", info.stdout, re.MULTILINE)
    summary = subprocess.run(
        [sys.executable, "-m", "opscope", "summary", str(path)], capture_output=True, text=True, timeout=60
    )
    assert "aten::addmm" in summary.stdout


def test_the_file_is_the_recording(tmp_path):
    import torch

    import opscope
    from opscope.torch import profile

    path = tmp_path / "x.opscope"
    with profile(record_to=path) as prof:
        torch.neg(torch.ones(3))
        prof.add_metadata("later", "on")
        running = opscope.open(path)
    assert problems(running) == {"recording_not_ended": 1}
    assert "aten::neg" in names(running, unfinished=False)
    assert "later" in list(running.metadata.text("key"))
    trace = opscope.open(path)
    assert not problems(trace)
    assert list(trace.spans.text("name")) == list(prof.trace.spans.text("name"))
    assert list(trace.spans["start"]) == list(prof.trace.spans["start"])
    assert running.info["options"]["own_cost"] == prof.trace.info["options"]["own_cost"]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.filterwarnings("ignore:Profiler won.t be using warmup")
def test_each_cycle_has_its_file(tmp_path):
    import torch

    import opscope
    from opscope.torch import profile, schedule

    with profile(schedule=schedule(wait=1, warmup=0, active=1, repeat=2), record_to=tmp_path / "x.opscope") as prof:
        for _ in range(4):
            torch.neg(torch.ones(3))
            prof.step()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.2.opscope", "x.opscope"]
    for file in tmp_path.iterdir():
        trace = opscope.open(file)
        assert not problems(trace)
        assert names(trace, unfinished=False).count("aten::neg") == 1


def test_a_folder_that_is_not_there_is_a_warning_and_a_recording_in_memory(tmp_path):
    import torch

    from opscope.torch import profile

    path = tmp_path / "no" / "x.opscope"
    with pytest.warns(RuntimeWarning, match="No such file or directory.*kept in memory") as warned:  # noqa: SIM117
        with profile(record_to=path) as prof:
            torch.neg(torch.ones(3))
    assert len(warned) == 1
    assert str(path) in str(warned[0].message)
    assert "aten::neg" in names(prof.trace, unfinished=False)
    assert problems(prof.trace) == {"record_to_failed": 1}


def test_a_start_that_raises_its_warning_leaves_nothing_running(tmp_path):
    import torch

    import opscope.torch.autograd_profiler as legacy
    from opscope.torch import profile

    path = tmp_path / "no" / "x.opscope"
    for failing in (profile(record_to=path), legacy.profile(record_to=path)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="kept in memory"), failing:
                pass
        assert not torch.autograd.profiler._is_profiler_enabled
        with profile() as prof:  # no recording of `failing` is in its way
            torch.neg(torch.ones(3))
        assert "aten::neg" in names(prof.trace, unfinished=False)


def test_a_forked_child_records_into_a_file_of_its_own(tmp_path):
    import torch

    import opscope
    from opscope.torch import profile

    path = tmp_path / "x.opscope"
    with profile(record_to=path):
        torch.neg(torch.ones(3))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                torch.sin(torch.ones(3))
                with profile(record_to=path):
                    torch.cos(torch.ones(3))
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        torch.neg(torch.ones(3))
    parent = opscope.open(path)
    assert not problems(parent)
    assert names(parent, unfinished=False).count("aten::neg") == 2
    assert "aten::sin" not in names(parent, unfinished=False)
    own = opscope.open(tmp_path / f"x.{child}.opscope")
    assert "aten::cos" in names(own, unfinished=False)
    assert not problems(own)


def test_the_environment_gives_a_file_to_who_names_none(tmp_path):
    import opscope

    program = """
        import torch
        from opscope.torch import profile
        for _ in range(2):
            with profile(): torch.ones(2)
        with profile(record_to="mine.opscope"): torch.ones(2)
    """
    environment = {**os.environ, "OPSCOPE_RECORD_TO": "run.opscope"}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, env=environment) as job:
        assert job.wait(120) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["mine.opscope", f"run.{job.pid}.2.opscope", f"run.{job.pid}.opscope"]
    for name in names:
        assert "aten::ones" in opscope.open(str(tmp_path / name)).spans.text("name")
