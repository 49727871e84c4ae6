# SPDX-License-Identifier: Apache-2.0
"""Traces of the ranks of a small job."""

from opscope_command import run

RANKS = 4
STEPS = 3
STEP_US = 1000


def rank_trace(rank, *, size=RANKS, slow=None, shift_us=0, host="node0"):
    """Kineto's JSON of one rank: in each step an operator, then an all-reduce that ends on all ranks at once."""
    events = []
    for step in range(STEPS):
        begin = shift_us + 10_000 + step * STEP_US
        compute = 500 if rank == slow else 400
        events += [
            span(f"ProfilerStep#{step}", "user_annotation", begin, STEP_US),
            span("aten::mm", "cpu_op", begin + 10, compute),
            span("gloo:all_reduce", "user_annotation", begin + 20 + compute, 600 - compute),
        ]
    info = {"rank": rank, "world_size": size}
    return {
        "distributedInfo": info,
        "host_name": host,
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
        "traceEvents": events,
    }


def span(name, category, begin, duration):
    return {"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1, "ts": begin, "dur": duration}


def run_merge(files, output):
    run("merge", *files, "-o", output, "-q")
    return output
