# SPDX-License-Identifier: Apache-2.0
"""Added time of a step under opscope.integrations, beside the profiler that each trainer has itself.

A step lasts from one forward pass to the next one. All steps of a training but the first are recorded, with shapes and
memory; the median of its steps is one sample, less that of the same training without a profiler. A cell of a notebook
and a test of pytest train with a loop of their own, recorded as a whole; their hosts have no profiler of operators, so
torch.profiler stands beside them.
"""

import contextlib
import importlib.util
import inspect
import io
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import measure

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "tests"))

SIDES = ("off", "opscope", "theirs")
FLAGS = {"record_shapes": True, "profile_memory": True}
HOSTS = {
    "lightning": ("trainer_lightning", "Lightning training step, beside PyTorchProfiler", "us/step"),
    "transformers": ("trainer_transformers", "step of transformers' Trainer, beside torch.profiler", "us/step"),
    "accelerate": ("trainer_accelerate", "step with Accelerate, beside its ProfileKwargs", "us/step"),
    "paddle": ("paddle_fit", "step of paddle.Model.fit, beside paddle.profiler", "us/step"),
    "IPython": ("trainer_cell", "step in a cell under %%opscope, beside torch.profiler in the cell", "us/step"),
    "pytest": ("trainer_pytest", "step in a test under pytest --opscope, beside torch.profiler in the test", "us/step"),
}
# What a cell runs, by side.
CELLS = {
    "off": "train()",
    "opscope": "%%opscope --shapes --memory\ntrain()",
    "theirs": "with torch_profile():\n    train()",
}
# A file of tests, the same for each side.
TEST = """
import pytest

@pytest.mark.opscope(shapes=True, memory=True)
def test_training(train):
    train()
"""


class Clock:
    """The medians of the steps of trainings, in microseconds of CPU; the model calls it."""

    def __init__(self, kind):
        self._times = []
        forward = kind.forward

        def timed(model, *inputs, **named):
            self._times.append(time.process_time_ns())
            return forward(model, *inputs, **named)

        timed.__signature__ = inspect.signature(forward)  # transformers and Paddle look at it
        kind.forward = timed

    def median(self):
        times, self._times = self._times, []
        steps = [after - before for before, after in zip(times, times[1:], strict=False)]
        return statistics.median(steps[len(steps) // 4 :]) / 1000


def plan(module, steps):
    return module.schedule(wait=0, warmup=1, active=steps - 1, repeat=1)


def of_lightning(side, folder, steps):
    from lightning.pytorch.profilers import PyTorchProfiler

    from opscope.integrations.lightning import profiler_of

    module = measure.profiler_module("opscope" if side == "opscope" else "torch")
    if side == "opscope":
        return profiler_of("lightning")(folder, schedule=plan(module, steps), **FLAGS)
    # Without ranges of modules, which opscope's has not; the file would be written in the middle of the training.
    options = {"schedule": plan(module, steps), "on_trace_ready": lambda _: None, "record_module_names": False}
    return PyTorchProfiler(folder, **options, **FLAGS) if side == "theirs" else None


def of_transformers(side, folder, steps):
    from transformers import TrainerCallback

    from opscope.integrations.transformers import OpscopeCallback

    if side == "opscope":
        return OpscopeCallback(folder, schedule=plan(measure.profiler_module("opscope"), steps), **FLAGS)

    class Profiling(TrainerCallback):
        def on_train_begin(self, *_, **__):
            schedule = plan(measure.profiler_module("torch"), steps)
            self.prof = measure.new_profile("torch", schedule=schedule, on_trace_ready=lambda _: None, **FLAGS)
            self.prof.start()

        def on_step_end(self, *_, **__):
            self.prof.step()

        def on_train_end(self, *_, **__):
            self.prof.stop()

    return Profiling() if side == "theirs" else TrainerCallback()


def of_accelerate(side, folder, steps):
    from accelerate import ProfileKwargs

    from opscope.integrations.accelerate import OpscopeProfileKwargs

    schedule = {"wait": 0 if side != "off" else 1 << 40, "warmup": 1, "active": steps - 1, "repeat": 1}
    options = {"activities": ["cpu"], "schedule_option": schedule, **FLAGS}
    if side == "opscope":
        return OpscopeProfileKwargs(dirpath=folder, **options)
    return ProfileKwargs(on_trace_ready=lambda _: None, **options)


def of_paddle(side, folder, steps):
    import paddle
    import paddle_fit

    from opscope.integrations.paddle import OpscopeCallback

    schedule = paddle.profiler.make_scheduler(closed=0, ready=1, record=steps - 1, repeat=1)
    if side == "opscope":
        return OpscopeCallback(folder, schedule=schedule, **FLAGS)
    if side == "off":
        return paddle.callbacks.Callback()
    return paddle_fit.UnderPaddle(schedule, lambda _: None, **FLAGS)


def torch_profile():
    return measure.new_profile("torch", **FLAGS)


def loop(steps):
    """A training as a user writes it, without a trainer."""
    import small_trainings
    import torch

    model = small_trainings.Layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.ones(small_trainings.BATCH, 8)

    def train():
        for _ in range(steps):
            model(rows)["loss"].backward()
            optimizer.step()
            optimizer.zero_grad()

    return train


def of_cells(steps):
    """side -> None: runs the loop in a cell."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "opscope")
    shell.push({"train": loop(steps), "torch_profile": torch_profile})
    return lambda side: shell.run_cell(CELLS[side]).raise_error()


def of_tests(folder, steps):
    """side -> None: runs the loop in a test, by pytest in this process."""
    import pytest

    file = Path(folder, "test_training.py")
    file.write_text(TEST)
    plugin = "opscope.integrations.pytest_plugin"  # of this build, which may not be the one that is installed

    def run(side):
        train = loop(steps)

        class Training:
            @pytest.fixture
            def train(self):
                with torch_profile() if side == "theirs" else contextlib.nullcontext():
                    yield train

        options = ["-p", "no:opscope", "-p", plugin, "-p", "no:cacheprovider", "-q", f"--rootdir={folder}"]
        options += ["--opscope"] if side == "opscope" else []
        if status := pytest.main([*options, str(file)], plugins=[Training()]):
            raise SystemExit(f"bench: pytest ended with {status}")

    return run


def trainings(host, folder, steps):
    """(clock, function that trains with one side)"""
    if host == "paddle":
        import paddle_fit

        return Clock(paddle_fit.Layers), lambda side: paddle_fit.fit(of_paddle(side, folder, steps), steps=steps)
    import small_trainings

    clock = Clock(small_trainings.Layers)
    if host == "IPython":
        return clock, of_cells(steps)
    if host == "pytest":
        return clock, of_tests(folder, steps)
    make, path = globals()[f"of_{host}"], Path(folder)
    return clock, lambda side: small_trainings.train(host, make(side, folder, steps), path, steps=steps)


def measured(arguments):
    """{side: [median microseconds of a step, ...]}"""
    found = {side: [] for side in SIDES}
    logging.disable(logging.WARNING)  # PyTorchProfiler logs its table
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        clock, train = trainings(arguments["host"], folder, arguments["steps"])
        for _ in range(arguments["rounds"]):
            for side in SIDES:
                train(side)
                found[side].append(clock.median())
    return found


def absent(host):
    names = ("paddle",) if host == "paddle" else ("torch", host)
    return next((f"{name} is not installed" for name in names if importlib.util.find_spec(name) is None), "")


def main():
    options = measure.parse_options(__doc__, ops=100, quick_ops=6, rounds=20)  # ops: steps
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rounds = 1 if options.quick else max(options.rounds, 5)
    for host, (row, title, unit) in HOSTS.items():
        title = f"added CPU time per {title}"
        if why := absent(host):
            measure.print_absent(row, title, unit, why)
            continue
        run = measure.in_forked_process if measure.forks_are_enough else measure.in_fresh_process
        found = run(__file__, {"host": host, "steps": options.ops, "rounds": rounds})
        off = statistics.median(found["off"])
        ours, theirs = (
            statistics.median(during - before for during, before in zip(found[side], found["off"], strict=True))
            for side in SIDES[1:]
        )
        note = f"of {off:.0f} us without a profiler; medians"
        sides = ({"min": side, "median": side} for side in (ours, theirs))
        measure.print_row(row, title, unit, *sides, note=note, repetitions=rounds)


if __name__ == "__main__":
    main()
