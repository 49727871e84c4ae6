# SPDX-License-Identifier: Apache-2.0
"""Imbalanced ranks: two processes train one model, and the sentences of rank 1 are all long.

--mended: the sentences are dealt in turn, so that both ranks have as many words.
"""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from gallery_run import Run

RANKS = 2
run = Run("imbalanced_ranks", __doc__, steps=6)


def train(rank, rendezvous):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=RANKS)
    sentences = [torch.rand(length, 64) for length in [100] * 8 + [3000] * 8]  # sorted by length
    mine = sentences[rank::RANKS] if run.mended else sentences[rank * 8 : (rank + 1) * 8]
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        output = torch.stack([each.mean(dim=0) for each in model(torch.cat(mine)).split([len(s) for s in mine])])
        functional.cross_entropy(output, torch.arange(8)).backward()
        optimizer.step()

    run.record(step, rank=rank)
    dist.barrier()
    os._exit(0)  # Gloo's threads now and then end a process that takes its group down


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(train, (f"{folder}/rendezvous",), nprocs=RANKS, start_method="fork")
    run.report(*(run.stem.with_name(f"{run.stem.name}_rank{rank}.opscope") for rank in range(RANKS)))
