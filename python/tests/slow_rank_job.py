# SPDX-License-Identifier: Apache-2.0
"""One rank of a Gloo job, recorded by opscope: each step works for FACTOR times 150 ms, then reduces.

Run as ``slow_rank_job.py RANK FACTOR RENDEZVOUS_FILE FOLDER``; writes FOLDER/rankRANK.opscope. The work is an operator
that waits, because how long a computation takes depends on what else the machine does. The faster rank waits in the
collective, which counts as communication.
"""

import os
import sys
import time

import torch
import torch.distributed as dist

from opscope.torch import ProfilerActivity, profile, schedule

STEPS = 4
WORK_S = 0.15


def main(rank, factor, rendezvous, folder):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    library = torch.library.Library("planted", "DEF")
    library.define("work(Tensor a, float seconds) -> Tensor")

    def work(a, seconds):
        time.sleep(seconds)
        return a.clone()

    library.impl("work", work, "CPU")
    gradient = torch.ones(1000)
    dist.all_reduce(gradient)  # connections are made at the first use
    recorded = schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=recorded) as prof:
        for _ in range(1 + STEPS):
            torch.ops.planted.work(gradient, WORK_S * factor)
            dist.all_reduce(gradient)
            prof.step()
    prof.save(f"{folder}/rank{rank}.opscope")
    dist.barrier()
    os._exit(0)  # Gloo's threads now and then end a process that tears its group down


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4])
