# SPDX-License-Identifier: Apache-2.0
"""CPU oversubscription: torch computes with a thread for each processor of the machine, but may use only one of them.

That is what happens in a container with a limit, which torch does not know.
--mended: as many threads as the process may use processors.
"""

import os

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("cpu_oversubscription", __doc__)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # as in a container of one processor
usable, of_the_machine = len(os.sched_getaffinity(0)), max(2, os.cpu_count())
torch.set_num_threads(usable if run.mended else of_the_machine)
inputs, labels = torch.rand(256, 64), torch.arange(256) % 10
model = torch.nn.Sequential(torch.nn.Linear(64, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()


run.record(step)
