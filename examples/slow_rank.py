# SPDX-License-Identifier: Apache-2.0
"""A job of which one rank is slow: torchrun --nproc-per-node 4 slow_rank.py [repaired]

docs/tutorials/find_a_slow_rank.md finds that rank, and what it does longer than the others.
"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
torch.set_num_threads(1)


class Batches(torch.utils.data.Dataset):
    """Each takes 30 ms to read. The disk of rank 2 is slow: there it takes 150 ms."""

    def __len__(self):
        return 14

    def __getitem__(self, index):
        time.sleep(0.15 if rank == 2 and "repaired" not in sys.argv else 0.03)
        return torch.rand(32, 64), torch.arange(32) % 10


model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for pictures, labels in torch.utils.data.DataLoader(Batches(), batch_size=None):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(pictures), labels).backward()
    optimizer.step()
dist.barrier()
os._exit(0)  # Gloo's threads now and then end a process that takes its group down
