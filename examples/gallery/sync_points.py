# SPDX-License-Identifier: Apache-2.0
"""Sync points: the program counts hits label by label, and reads a value of a tensor for each.

On a GPU each reading waits for the device. On a CPU it is a call that costs more than what it computes.
--mended: compares the whole tensors, and reads one value.
"""

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("sync_points", __doc__)
inputs, labels = torch.rand(1024, 64, device=run.device), torch.arange(1024, device=run.device) % 10
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(run.device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def count_hits(guesses):
    if run.mended:
        return (guesses == labels).sum().item()
    hits = 0
    for guess, label in zip(guesses, labels, strict=True):
        if guess == label:
            hits += 1
    return hits


def step():
    optimizer.zero_grad()
    output = model(inputs)
    functional.cross_entropy(output, labels).backward()
    optimizer.step()
    count_hits(output.argmax(dim=1))


run.record(step)
