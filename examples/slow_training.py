# SPDX-License-Identifier: Apache-2.0
"""A training loop with four faults: slow_training.py RECORDING [REPAIR...]

Repairs are `data`, `gelu`, `history` and `accuracy`. docs/tutorials/make_training_faster.md finds them one by one.
"""

import sys

import torch
from torch.nn import functional

from opscope.torch import ProfilerActivity, profile, record_function, schedule

recording, repairs = sys.argv[1], set(sys.argv[2:])
unknown = repairs - {"data", "gelu", "history", "accuracy"}
if unknown:
    sys.exit(f"unknown repairs: {', '.join(sorted(unknown))}")
torch.manual_seed(0)
torch.set_num_threads(1)


class Pictures(torch.utils.data.Dataset):
    def __init__(self):
        self.pictures, self.labels = torch.rand(4096, 256), torch.arange(4096) % 10
        if "data" in repairs:
            self.pictures = (self.pictures - 0.5) / 0.25  # all at once

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        if "data" in repairs:
            return self.pictures[index], self.labels[index]  # index: those of a whole batch
        # One by one, and row by row, while the model waits.
        rows = [(row - 0.5) / 0.25 for row in self.pictures[index].view(16, 16)]
        return torch.stack(rows).flatten(), self.labels[index]


def load(pictures):
    if "data" in repairs:
        batches = torch.utils.data.BatchSampler(range(len(pictures)), batch_size=256, drop_last=False)
        return torch.utils.data.DataLoader(pictures, sampler=batches, batch_size=None)
    return torch.utils.data.DataLoader(pictures, batch_size=256)


class Gelu(torch.nn.Module):
    def forward(self, x):
        if "gelu" in repairs:
            return functional.gelu(x, approximate="tanh")
        return 0.5 * x * (1 + torch.tanh(0.7978846 * (x + 0.044715 * x * x * x)))


model = torch.nn.Sequential(torch.nn.Linear(256, 4096), Gelu(), torch.nn.Linear(4096, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = iter(load(Pictures()))
history = []

with profile(
    activities=[ProfilerActivity.CPU],
    schedule=schedule(wait=0, warmup=2, active=10, repeat=1),
    profile_memory=True,
    record_shapes=True,
) as prof:
    for _ in range(12):
        pictures, labels = next(batches)
        with record_function("forward"):
            output = model(pictures)
            loss = functional.cross_entropy(output, labels)
        with record_function("backward"):
            optimizer.zero_grad()
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
        with record_function("accuracy"):
            if "accuracy" not in repairs:
                output = model(pictures)
            accuracy = (output.argmax(dim=1) == labels).float().mean()
        history.append((loss.item(), accuracy.item()) if "history" in repairs else (loss, accuracy, output))
        prof.step()
prof.save(recording)
