# SPDX-License-Identifier: Apache-2.0
"""Random jobs: windows of ranks with operators, works of devices, memory and steps, collected into a JOB."""

import json
import random

from opscope_command import run

EPOCH_NS = 1_700_000_000_000_000_000


def work(rng, rank, correlation, begin_us):
    """A launch in an operator, and what it starts on a device: a kernel or a copy."""
    device, stream, length = rng.randrange(2), rng.choice((7, 20)), rng.randrange(1, 40)
    is_copy = rng.random() < 0.3
    host = {"pid": 100 + rank, "tid": 1}
    launch = {"name": "cudaMemcpyAsync" if is_copy else "cudaLaunchKernel", "cat": "cuda_runtime", **host}
    on_device = {"pid": device, "tid": stream, "ts": begin_us + rng.randrange(5, 90), "dur": length}
    args = {"device": device, "stream": stream, "correlation": correlation}
    if is_copy:
        kind = rng.choice(("HtoD", "DtoH"))
        on_device |= {"name": f"Memcpy {kind} (Pageable -> Device)", "cat": "gpu_memcpy"}
        args["bytes"] = rng.choice((64, 1 << 20))
    else:
        name = rng.choice(("gemm_s16816", "elementwise", f"only_rank_{rank}"))
        on_device |= {"name": name, "cat": "kernel"}
        args |= {"grid": [rng.randrange(1, 3), 1, 1], "block": [64, 1, 1]}
    operator = {"name": rng.choice(("aten::mm", "aten::add")), "cat": "cpu_op", **host, "ts": begin_us, "dur": 20}
    return [
        {"ph": "X", **operator, "args": {"External id": correlation}},
        {"ph": "X", **launch, "ts": begin_us + 2, "dur": 3, "args": {"correlation": correlation}},
        {"ph": "X", **on_device, "args": {**args, "External id": correlation}},
    ]


def memory_events(rng, rank, begin_us):
    """Blocks of the host and of a device, some of them freed."""
    events = []
    for address in range(1, rng.randrange(2, 6)):
        device_type = rng.choice((0, 1))
        args = {"Addr": address, "Device Type": device_type, "Device Id": 0 if device_type else -1}
        size = rng.randrange(1, 1000)
        for at, bytes_ in ((begin_us + 3, size), (begin_us + 11, -size))[: rng.randrange(1, 3)]:
            events.append(
                {
                    "ph": "i",
                    "s": "t",
                    "cat": "cpu_instant_event",
                    "name": "[memory]",
                    "ts": at + address / 10,
                    "pid": 100 + rank,
                    "tid": 1,
                    "args": {**args, "Bytes": bytes_, "Total Allocated": size},
                }
            )
    return events


def window(seed, rank, number, world_size):
    rng = random.Random(f"{seed} {rank} {number}")
    first_us = 1_000_000 * number + rng.randrange(10_000) + 10
    events = []
    for step in range(rng.randrange(1, 4)):
        begin_us = first_us + 1000 * step
        event = {"ph": "X", "name": f"ProfilerStep#{step}", "cat": "user_annotation", "ts": begin_us, "dur": 900}
        events.append({**event, "pid": 100 + rank, "tid": 1})
        for i in range(rng.randrange(0 if step else 1, 4)):
            at = begin_us + 100 * i + 5
            events += work(rng, rank, 1000 * number + 100 * step + i + 1, at) + memory_events(rng, rank, at)
    known = {"distributedInfo": {"rank": rank, "world_size": world_size}} if rank >= 0 else {}
    return {**known, "baseTimeNanoseconds": EPOCH_NS, "displayTimeUnit": "ms", "traceEvents": events}


def a_job(tmp_path, seed, has_steps=True):
    """Ranks that do not follow each other, of several windows each; a doubled file; sometimes one of unknown rank."""
    tmp_path.mkdir(exist_ok=True)
    rng = random.Random(seed)
    ranks = sorted(rng.sample(range(6), rng.randrange(1, 4)))
    files = []
    for rank in ranks:
        for number in range(rng.randrange(1, 3)):
            files.append(tmp_path / f"w{number}_of_{rank}.json")
            written = window(seed, rank, number, 6)
            if not has_steps:
                written["traceEvents"] = [each for each in written["traceEvents"] if "Step" not in each["name"]]
            files[-1].write_text(json.dumps(written))
    doubled = json.loads(files[0].read_text())
    doubled["traceEvents"] = doubled["traceEvents"][:1]  # within the time of the other file, and smaller
    files.append(tmp_path / "again.json")
    files[-1].write_text(json.dumps(doubled))
    if seed % 3 == 0:
        files.append(tmp_path / "unknown.json")
        files[-1].write_text(json.dumps(window(seed, -1, 0, 6)))
    run("collect", *files, "-o", tmp_path / "job", "-q", code=3 if seed % 3 == 0 else 0)
    return tmp_path / "job"
