# SPDX-License-Identifier: Apache-2.0
"""Writes the report of which `make screenshots` takes the pictures in the folder report beside it.

    .venv/bin/python docs/pictures/report.py OUT.html

It shows six training steps of ResNet-18 with shapes, memory and modules; times are those of the machine.
"""

import sys
from pathlib import Path

import torch

from opscope.torch import ProfilerActivity, profile, record_function, schedule

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from resnet18 import ResNet18  # noqa: E402  the examples are no package

WARM_UP, RECORDED = 2, 6


def train_step(model, optimizer, images, labels):
    with record_function("forward"):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    with record_function("backward"):
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main(output):
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


if __name__ == "__main__":
    main(sys.argv[1])
