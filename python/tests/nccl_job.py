# SPDX-License-Identifier: Apache-2.0
"""Kineto's JSON of a job whose collectives are NCCL's kernels, with the arguments that PyTorch gives them.

Six ranks on three hosts with clocks of their own. A step takes 3 ms, and a few microseconds more or less. In it each
rank launches a kernel that computes (rank SLOW a longer one), an all-reduce of all ranks that ends everywhere at once,
and a broadcast of every other rank; a barrier of Gloo ends it. Every second all-reduce may run a step late.
"""

import json
import random

RANKS, SLOW = 6, 3
STEPS = range(12)
STEP_US = 3000
CLOCKS_US = (0, 2000, -700)  # of the hosts
EPOCH_NS = 1_700_000_000_000_000_000
GROUPS = {"0": list(range(RANKS)), "1": [0, 2, 4], "2": [1, 3, 5]}


def event(name, category, start, duration, pid=1, tid=1, **args):
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": pid,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "args": args,
    }


class NcclJob:
    def __init__(self, seed, with_seq=True, runs_later=True):
        self.random, self.with_seq, self.runs_later = random.Random(seed), with_seq, runs_later
        self.begins, begin = {}, 10_000
        for step in STEPS:
            self.begins[step] = begin
            begin += STEP_US + self.random.randint(1, 5)
        self.work = {(rank, step): 800 + self.random.randint(0, 30) for rank in range(RANKS) for step in STEPS}

    def trace(self, rank, steps=STEPS):
        self.events, self.rank, self.correlation = [], rank, 1000 * steps[0]
        for step in steps:
            self.step(step, self.begins[step] + CLOCKS_US[rank // 2])
        groups = [
            {"pg_name": name, "pg_desc": "default_pg" if name == "0" else "pp", "pg_size": len(ranks), "ranks": ranks}
            for name, ranks in GROUPS.items()
        ]
        return {
            "distributedInfo": {"rank": rank, "world_size": RANKS, "pg_config": groups},
            "host_name": f"node{rank // 2}",
            "baseTimeNanoseconds": EPOCH_NS,
            "traceEvents": self.events,
        }

    def step(self, step, begin):
        self.events.append(event(f"ProfilerStep#{step}", "user_annotation", begin, STEP_US))
        compute = self.work[self.rank, step] + (400 if self.rank == SLOW else 0)
        self.kernel("gemm", begin + 20, begin + 100, compute, stream=7)
        late = step % 2 * self.runs_later * (STEP_US - 800)  # it runs in the next step
        start, end = begin + 100 + compute + late, begin + 1600 + late
        self.collective("ncclDevKernel_Generic_4", "allreduce", "0", begin + 40, start, end - start, 1024, 2 * step)
        group = "1" if self.rank % 2 == 0 else "2"
        name = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        self.collective(name, "broadcast", group, begin + 60, begin + 2150 + self.rank, 30, 10, step)
        self.events.append(event("gloo:barrier", "user_annotation", begin + 2500 - self.rank, 200 + self.rank, tid=3))

    def kernel(self, name, launch, start, duration, stream, **args):
        self.correlation += 1
        self.events.append(event("cudaLaunchKernel", "cuda_runtime", launch, 5, correlation=self.correlation))
        args |= {"device": 0, "stream": stream, "correlation": self.correlation}
        self.events.append(event(name, "kernel", start, duration, pid=0, tid=stream, **args))

    def collective(self, name, kind, group, launch, start, duration, elements, seq):
        args = {
            "Collective name": kind,
            "In msg nelems": elements,
            "Group size": len(GROUPS[group]),
            "Process Group Name": group,
            "Process Group Ranks": str(GROUPS[group]),
        }
        if self.with_seq:
            args["Seq"] = 100 + seq
        self.kernel(name, launch, start, duration, stream=20, **args)

    def write(self, folder):
        """Of rank 1 two files, one after the other; nothing of the first runs later."""
        middle = len(STEPS) // 2 + 1
        for rank in range(RANKS):
            for number, steps in enumerate((STEPS[:middle], STEPS[middle:]) if rank == 1 else (STEPS,)):
                (folder / f"rank{rank}-{number}.json").write_text(json.dumps(self.trace(rank, steps)))
