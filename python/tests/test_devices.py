# SPDX-License-Identifier: Apache-2.0
"""What `Trace.devices` says of random programs, beside a brute force that looks at every nanosecond of their JSON."""

import json
import random

import pytest

import opscope

NAMES = {
    "kernel": ("gemm", "ncclDevKernel_AllReduce_Sum", "rcclGeneric", "a_ncclKernel", "elementwise"),
    "gpu_memcpy": ("Memcpy HtoD (Pageable -> Device)",),
    "gpu_memset": ("Memset (Device)",),
}
GAP = 20


def random_events(rng):
    """Calls on two threads that launch works on two streams, with whole nanoseconds for times."""
    events = []
    for correlation in range(1, rng.randrange(2, 30)):
        called = rng.randrange(0, 300)
        category = rng.choice(("kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset"))
        work = {"pid": 0, "tid": rng.choice((7, 20)), "cat": category, "name": rng.choice(NAMES[category])}
        begin = max(0, called + rng.choice((-4, 1, 5, 60, 200)))
        work |= {"ts": begin / 1000, "dur": rng.choice((0, 1, 9, 40)) / 1000}
        work["args"] = {"device": 0, "stream": work["tid"], "correlation": correlation}
        if rng.random() < 0.8:
            call = {"pid": 9, "tid": 1000 + called, "cat": "cuda_runtime", "name": "cudaLaunchKernel"}
            call |= {"ts": called / 1000, "dur": rng.randrange(0, 12) / 1000, "args": {"correlation": correlation}}
            events.append(call)
        events.append(work)
    rng.shuffle(events)
    return [{"ph": "X"} | event for event in events]


def ns(event):
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


def brute_force(events, stream):
    """The row of a stream, or of "all", by the definitions, moment by moment."""
    calls = {e["args"]["correlation"]: ns(e) for e in events if e["cat"] == "cuda_runtime"}
    device = [e for e in events if e["cat"] in NAMES]
    works = [e for e in device if stream in ("all", str(e["tid"]))]
    first, last = min(ns(e)[0] for e in device), max(ns(e)[1] for e in device)
    classes = {"compute": set(), "communication": set(), "copy": set()}
    for e in works:
        of = "communication" if e["name"].startswith(("nccl", "rccl")) or "ncclKernel" in e["name"] else "compute"
        classes["copy" if e["cat"] != "kernel" else of].update(range(*ns(e)))
    compute, communication, copy = classes.values()
    row = {
        "window_ns": last - first,
        "busy_ns": len(compute | communication | copy),
        "compute_ns": len(compute),
        "communication_ns": len(communication),
        "overlap_ns": len(compute & communication),
        "exposed_communication_ns": len(communication - compute),
        "exposed_copy_ns": len(copy - compute - communication),
    }
    waits = {"host_wait_ns": 0, "kernel_wait_ns": 0, "other_wait_ns": 0}
    begins = sorted({ns(e)[0] for e in works})
    for begin in begins[1:]:
        reached = max(ns(e)[1] for e in works if ns(e)[0] < begin)
        if begin <= reached:
            continue
        next_ones = [e["args"]["correlation"] for e in works if ns(e)[0] == begin]
        called = min((calls[c][0] for c in next_ones if c in calls), default=None)
        late = called is not None and called > reached
        kind = "host_wait_ns" if late else "kernel_wait_ns" if begin - reached < GAP else "other_wait_ns"
        waits[kind] += begin - reached
    row |= waits
    row["outside_ns"] = row["window_ns"] - row["busy_ns"] - sum(waits.values())
    pairs = [(ns(e), calls[e["args"]["correlation"]]) for e in works if e["args"]["correlation"] in calls]
    delays = sorted(max(0, work[0] - call[1]) for work, call in pairs)
    row["launched"] = len(pairs)
    row["launch_delay_mean_ns"] = sum(delays) // len(delays) if delays else None
    row["launch_delay_max_ns"] = delays[-1] if delays else None
    for percent in (50, 99):
        smallest = [d for d in delays if sum(other <= d for other in delays) * 100 >= percent * len(delays)]
        row[f"launch_delay_p{percent}_ns"] = smallest[0] if delays else None
    row["shorter_than_launch"] = sum(work[1] - work[0] < call[1] - call[0] for work, call in pairs)
    waiting = [range(call[0], work[0]) for work, call in pairs]
    row["queue_max"] = max((sum(moment in each for each in waiting) for moment in range(last)), default=0)
    row["queue_mean"] = sum(map(len, waiting)) / row["window_ns"] if row["window_ns"] else 0
    return row


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_those_of_a_brute_force(seed):
    events = random_events(random.Random(seed))
    rows = opscope.read(json.dumps(events).encode()).devices(kernel_gap_ns=GAP)
    assert [row["stream"] for row in rows][:1] == ["all"]
    for row in rows:
        expected = brute_force(events, row["stream"])
        assert {key: row[key] for key in expected} == expected, row["stream"]
        assert row["idle_ns"] == sum(row[key] for key in row if key.endswith("_wait_ns")) + row["outside_ns"]


def test_negative_sizes_and_times_are_refused():
    trace = opscope.read(b'{"traceEvents": []}')
    for answer, name in (
        (trace.devices, "kernel_gap_ns"),
        (trace.device_table, "kernel_gap_ns"),
        (trace.device_copies, "small_bytes"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must not be negative$"):
            answer(**{name: -1})
        answer(**{name: 0})


def test_launches_of_another_rank_launch_nothing_here(tmp_path):
    """Correlations are numbers of a process: both ranks use the same ones."""
    files = []
    for rank, called in ((0, 100), (1, 5)):
        call = {
            "ph": "X",
            "pid": 9,
            "tid": 1,
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "ts": called,
            "dur": 1,
        }
        work = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm", "ts": 200, "dur": 10}
        call["args"] = {"correlation": 3}
        work["args"] = {"device": 0, "stream": 7, "correlation": 3}
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [call, work]}))
        files.append(path)
    merged = opscope.merge(files)
    delays = {row["rank"]: row["launch_delay_max_ns"] for row in merged.devices() if row["stream"] == "all"}
    assert delays == {0: 99_000, 1: 194_000}
