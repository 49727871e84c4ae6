# SPDX-License-Identifier: Apache-2.0
"""Writes the reports of which `make screenshots` takes the pictures in the folder report beside it.

    .venv/bin/python docs/pictures/report.py FOLDER

- ``steps.html``: six training steps of ResNet-18 with shapes, memory and modules;
- ``kernels.html``: training steps on a GPU; ``compared.html``: a program on a GPU that is bound by its launches,
  compared with one that is not. Both are recordings of tests/recorded_on_gpu;
- ``job.html``: the job of four ranks of docs/tutorials/find_a_slow_rank.md.

Times of the first and the last are those of the machine.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch

import opscope
from opscope.torch import ProfilerActivity, profile, record_function, schedule

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from resnet18 import ResNet18  # noqa: E402  the examples are no package

RECORDED_ON_GPU = ROOT / "tests" / "recorded_on_gpu"
WARM_UP, RECORDED = 2, 6


def train_step(model, optimizer, images, labels):
    with record_function("forward"):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    with record_function("backward"):
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def report_steps(output):
    torch.manual_seed(0)
    torch.set_num_threads(1)  # one thread's time is the time of all
    model = ResNet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(2, 3, 64, 64), torch.randint(0, 1000, (2,))
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WARM_UP - 1, warmup=1, active=RECORDED, repeat=1),
        record_shapes=True,
        profile_memory=True,
        with_modules=True,
        with_flops=True,
    ) as prof:
        for _ in range(WARM_UP + RECORDED):
            train_step(model, optimizer, images, labels)
            prof.step()
    prof.report(output, title="ResNet-18, six training steps")


def report_recorded(output, name, baseline=None):
    before = None if baseline is None else opscope.open(RECORDED_ON_GPU / baseline)
    opscope.open(RECORDED_ON_GPU / name).report(output, baseline=before, title=name)


def report_job(output):
    command = [sys.executable, "-m", "opscope"]
    program = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "4", ROOT / "examples/slow_rank.py"]
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (
            ["run", "-o", "traces", "--steps", "4..11", "--", *program],
            ["collect", "traces", "-o", "job"],
            ["report", "job", "-o", output],
        ):
            subprocess.run([*command, *arguments], cwd=folder, check=True)


def main(folder):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    report_steps(folder / "steps.html")
    report_recorded(folder / "kernels.html", "training.opscope")
    report_recorded(folder / "compared.html", "launch_bound.opscope", baseline="clean.opscope")
    report_job(folder / "job.html")


if __name__ == "__main__":
    main(sys.argv[1])
