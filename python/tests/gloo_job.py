# SPDX-License-Identifier: Apache-2.0
"""One process of a Gloo job: the same work under torch.profiler and under opscope, a trace file of each.

Run as ``gloo_job.py RANK WORLD RENDEZVOUS_FILE FOLDER``; writes FOLDER/{torch,opscope}/RANK*.pt.trace.json, and the
events of each as rows (`row_of`) into FOLDER/{torch,opscope}.RANK.json.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.profiler

import opscope.torch


def work(rank, world):
    x = torch.ones(4, 3) * rank
    dist.all_reduce(x)
    dist.broadcast(x, src=0)
    dist.all_gather([torch.empty(4, 3) for _ in range(world)], x)
    dist.barrier()
    pending = dist.all_reduce(torch.ones(2, dtype=torch.float64), async_op=True)
    pending.wait()
    if rank == 0:
        dist.send(torch.ones(5), dst=1)
    else:
        dist.recv(torch.empty(5), src=0)
    layer = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    layer(x).sum().backward()


def row_of(event):
    return {
        "name": event.name,
        "thread": event.thread,
        "is_async": event.is_async,
        "parent": event.cpu_parent and event.cpu_parent.name,
        "start": event.time_range.start,
        "end": event.time_range.end,
        "self": event.self_cpu_time_total,
    }


def main(rank, world, rendezvous, folder):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    work(rank, world)  # connections are made at the first use
    for kind, module in (("torch", torch.profiler), ("opscope", opscope.torch)):
        handler = module.tensorboard_trace_handler(f"{folder}/{kind}", worker_name=f"rank{rank}", use_gzip=rank == 1)
        with module.profile(
            activities=[module.ProfilerActivity.CPU], record_shapes=True, on_trace_ready=handler
        ) as prof:
            work(rank, world)
        events = prof.events()
        with open(f"{folder}/{kind}.{rank}.json", "w", encoding="utf-8") as file:
            json.dump({"events": [row_of(each) for each in events], "self_total": events.self_cpu_time_total}, file)
    dist.barrier()
    # Everything is written. Gloo's threads now and then end a process that tears its group down.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
