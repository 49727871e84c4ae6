# SPDX-License-Identifier: Apache-2.0
"""`Trace.advise`: faults planted in real torch programs and their clean twins, and random jobs beside a brute force."""

import json
import random
import subprocess
import sys
import threading
import time

import pytest

import opscope

torch = pytest.importorskip("torch")

STEPS = 6


def record(tmp_path, step, **options):
    """The trace of some steps."""
    from opscope.torch import ProfilerActivity, profile, schedule

    recorded = schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    all_threads = options.pop("profile_all_threads", False)
    config = torch._C._profiler._ExperimentalConfig(profile_all_threads=all_threads)
    with profile(activities=[ProfilerActivity.CPU], schedule=recorded, experimental_config=config, **options) as prof:
        for _ in range(1 + STEPS):
            step()
            prof.step()
    path = tmp_path / "run.opscope"
    prof.save(path)
    return opscope.open(path)


def kinds(trace):
    return [finding["kind"] for finding in trace.advise()]


class Slow(torch.utils.data.Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.zeros(8)


@pytest.mark.parametrize("seconds, expected", [(0.05, ["input_starvation"]), (0, [])])
def test_waiting_for_input_is_found(tmp_path, seconds, expected):
    batches = iter(torch.utils.data.DataLoader(Slow(seconds), batch_size=1))
    left, right = torch.randn(500, 500), torch.randn(500, 500)

    def step():
        next(batches)
        for _ in range(20):
            torch.mm(left, right)

    trace = record(tmp_path, step)
    assert kinds(trace) == expected
    for finding in trace.advise():
        assert finding["saving_ns"] > 45_000_000
        assert "DataLoader" in finding["message"] and finding["count"] == STEPS
        assert finding["evidence"][0]["name"].startswith("enumerate(DataLoader)")


@pytest.mark.parametrize("fused, expected", [(False, ["small_ops"]), (True, [])])
def test_pointwise_operators_in_a_row_are_found(tmp_path, fused, expected):
    data = torch.randn(500_000)

    def step():
        if fused:
            torch.nn.functional.hardswish(data)
        else:
            data.mul(2).add(1).exp().sigmoid()

    trace = record(tmp_path, step)
    assert kinds(trace) == expected


@pytest.mark.parametrize("keeps, expected", [(True, ["memory_growth"]), (False, [])])
def test_memory_that_the_program_keeps_is_found(tmp_path, keeps, expected):
    left, right, kept = torch.randn(500, 500), torch.randn(500, 500), []

    def step():
        for _ in range(5):
            product = torch.mm(left, right)
        if keeps:
            kept.append(product)

    trace = record(tmp_path, step, profile_memory=True)
    assert kinds(trace) == expected
    for finding in trace.advise():
        assert finding["bytes_per_step"] == 500 * 500 * 4
        assert "976.56 KiB" in finding["message"]


@pytest.mark.parametrize("seconds, expected", [((0.02, 0.005), ["thread_imbalance"]), ((0.1, 0.1), [])])
def test_threads_that_wait_for_the_slowest_are_found(tmp_path, seconds, expected):
    from opscope.torch import record_function

    def work(time_s):
        with record_function("shard"):
            time.sleep(time_s)

    def step():
        threads = [threading.Thread(target=work, args=(each,)) for each in seconds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert kinds(record(tmp_path, step, profile_all_threads=True)) == expected


@pytest.mark.parametrize("changes, expected", [(True, ["recompiles"]), (False, [])])
def test_compilation_in_later_steps_is_found(tmp_path, changes, expected):
    torch._dynamo.reset()
    double = torch.compile(lambda data: data.sin() @ data, backend="eager", dynamic=False)
    sizes = iter(range(200, 201 + STEPS) if changes else [200] * (1 + STEPS))

    def step():
        size = next(sizes)
        double(torch.ones(size, size))

    try:
        trace = record(tmp_path, step)
    finally:
        torch._dynamo.reset()
    assert kinds(trace) == expected
    for finding in trace.advise():
        assert finding["count"] >= STEPS - 1


def test_the_command_line_has_the_same(tmp_path):
    batches = iter(torch.utils.data.DataLoader(Slow(0.003), batch_size=1))
    trace = record(tmp_path, lambda: next(batches))
    command = [sys.executable, "-m", "opscope", "advise", str(tmp_path / "run.opscope")]
    answer = json.loads(subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    assert answer["schema"] == "opscope.advise/1"
    assert answer["rows"] == list(trace.advise())
    steps = trace.step_durations()
    assert (answer["steps"], answer["step_mean_ns"]) == (steps["count"], steps["mean_ns"])
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert f"input_starvation: {answer['rows'][0]['message']}" in text


def test_without_findings_the_text_says_so(tmp_path):
    event = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "name": "aten::mm", "cat": "cpu_op"}
    path = tmp_path / "clean.json"
    path.write_text(json.dumps([event]))
    done = subprocess.run([sys.executable, "-m", "opscope", "advise", str(path)], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"nothing found\n"


STEP_NS = 100


def random_job(rng):
    """Two steps of 100 ns on one rank: calls that launch works on two streams, waits, input."""
    events = []

    def add(tid, category, name, begin, length, **args):
        events.append(
            {"ph": "X", "pid": 1, "tid": tid, "cat": category, "name": name, "ts": begin / 1000, "dur": length / 1000}
            | {"args": args}
        )

    for number in range(2):
        add(1, "user_annotation", f"ProfilerStep#{number}", number * STEP_NS, STEP_NS)
    for correlation in range(1, rng.randrange(3, 14)):
        called = rng.randrange(0, 190)
        category, name = rng.choice(
            (
                ("kernel", "gemm"),
                ("kernel", "elementwise_kernel"),
                ("kernel", "elementwise_kernel"),
                ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"),
                ("gpu_memcpy", "Memcpy DtoD (Device -> Device)"),
            )
        )
        stream = rng.choice((7, 8))
        add(100 + correlation, "cuda_runtime", "cudaLaunchKernel", called, 2, correlation=correlation)
        begin = called + rng.choice((2, 5, 30))
        add(stream, category, name, begin, rng.choice((0, 4, 9)), correlation=correlation, device=0, stream=stream)
    for thread in range(rng.randrange(0, 3)):
        add(200 + thread, "cpu_op", rng.choice(("aten::item", "aten::mm")), rng.randrange(0, 190), rng.randrange(1, 30))
    add(1, "user_annotation", "enumerate(DataLoader)#x", rng.choice((10, 120)), rng.choice((3, 40)))
    return events


def ns(event):
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


def brute_force(events):
    """The saving of each kind by its definition, moment by moment; kinds that cost too little are left out."""
    works = sorted((e for e in events if e["cat"] in ("kernel", "gpu_memcpy")), key=lambda e: ns(e)[0])
    calls = {e["args"]["correlation"]: ns(e)[0] for e in events if e["cat"] == "cuda_runtime"}
    busy = {t for e in works for t in range(*ns(e))}
    kernels = {t for e in works if e["cat"] == "kernel" for t in range(*ns(e))}
    first, last = ns(works[0])[0], max(ns(e)[1] for e in works)
    # Gaps: from the largest end so far to the next begin.
    gaps = {}
    for begin in sorted({ns(e)[0] for e in works})[1:]:
        reached = max(ns(e)[1] for e in works if ns(e)[0] < begin)
        if begin > reached:
            gaps[reached] = begin
    assert all(t in busy or any(b <= t < e for b, e in gaps.items()) for t in range(first, last))
    waited, waits_for_launch = set(), set()
    for event in events:
        if event["name"] != "aten::item":
            continue
        begin, end = ns(event)
        ended = [ns(e)[1] for e in works if begin < ns(e)[1] <= end]
        step_end = (begin // STEP_NS + 1) * STEP_NS
        if ended and begin < 2 * STEP_NS and step_end > end and max(ended) in gaps:
            waited.update(range(max(ended), gaps[max(ended)]))
    inputs = {t for e in events if "DataLoader" in e["name"] for t in range(*ns(e))} - busy
    for begin, end in gaps.items():
        launches = [calls[e["args"]["correlation"]] for e in works if ns(e)[0] == end]
        if min(launches) > begin:
            waits_for_launch.update(range(begin, end))
    small = dict.fromkeys((0, 1), 0)
    for stream in (7, 8):
        run = []
        for e in [*(e for e in works if e["tid"] == stream), None]:
            step = ns(e)[0] // STEP_NS if e else None
            if run and (e is None or e["name"] != "elementwise_kernel" or step != run[0][0]):
                if len(run) >= 3:
                    small[run[0][0]] += sum(length for _, length in run) - max(length for _, length in run)
                run = []
            if e and e["name"] == "elementwise_kernel" and step in (0, 1):
                run.append((step, ns(e)[1] - ns(e)[0]))

    def by_step(moments):
        return {step: sum(step * STEP_NS <= t < (step + 1) * STEP_NS for t in moments) for step in (0, 1)}

    copies = {t for e in works if "HtoD" in e["name"] for t in range(*ns(e))}
    savings = {
        "sync_points": by_step(waited),
        "launch_bound": by_step(waits_for_launch - waited - inputs),
        "input_starvation": by_step(inputs),
        "small_ops": small,
        "host_device_copies": by_step(copies - kernels),
    }
    means = {kind: sum(of.values()) // 2 for kind, of in savings.items()}
    return {kind: mean for kind, mean in means.items() if mean >= STEP_NS / 20}


def test_findings_are_those_of_a_brute_force():
    seen = set()
    for seed in range(1000):
        events = random_job(random.Random(seed))
        rows = opscope.read(json.dumps(events).encode()).advise()
        rows = [row for row in rows if row["kind"] != "thread_imbalance"]  # of the threads that launch
        expected = brute_force(events)
        assert {row["kind"]: row["saving_ns"] for row in rows} == expected, seed
        assert [row["saving_ns"] for row in rows] == sorted(expected.values(), reverse=True)
        seen.update(expected)
    assert len(seen) == 5
