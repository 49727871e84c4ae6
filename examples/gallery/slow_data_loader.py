# SPDX-License-Identifier: Apache-2.0
"""Slow data loader: each picture of a batch is read by itself, while the model waits.

--mended: all pictures of a batch are read at once.
"""

import time

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("slow_data_loader", __doc__)


class Pictures(torch.utils.data.Dataset):
    """Each access to the disk takes half a millisecond."""

    def __len__(self):
        return 32 * 64

    def read(self, indices):
        time.sleep(0.0005)
        return [(torch.full((3, 32, 32), index / len(self)), index % 10) for index in indices]

    def __getitem__(self, index):
        return self.read([index])[0]

    def __getitems__(self, indices):  # torch asks it, where it is there, for a whole batch
        return self.read(indices) if run.mended else [self[index] for index in indices]


batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=32))
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(32, 32, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Flatten(),
    torch.nn.Linear(32 * 32 * 32, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step():
    pictures, labels = next(batches)
    optimizer.zero_grad()
    functional.cross_entropy(model(pictures), labels).backward()
    optimizer.step()


run.record(step)
