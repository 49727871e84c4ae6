# SPDX-License-Identifier: Apache-2.0
"""`Trace.memory` of a training program, beside a plain pass over `trace.allocations` and `trace.spans`."""

import collections

import pytest

pytestmark = pytest.mark.framework("torch")


def train(profiler):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters())
    schedule = profiler.schedule(wait=0, warmup=1, active=4, repeat=1)
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=schedule, profile_memory=True) as prof:
        for _ in range(5):
            model(torch.randn(32, 64)).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return prof


@pytest.fixture(scope="module", params=["recording", "file of torch.profiler"])
def trace(request, tmp_path_factory):
    import opscope.torch

    if request.param == "recording":
        return train(opscope.torch).trace
    import torch.profiler

    path = tmp_path_factory.mktemp("memory") / "trace.json"
    train(torch.profiler).export_chrome_trace(str(path))
    return opscope.open(path)


@pytest.fixture(scope="module")
def events(trace):
    return sorted(trace.allocations, key=lambda event: event["time"])


def operator_finder(trace):
    """The name of the innermost host span of a thread at a time."""
    steps = set(trace.steps["span"])
    threads = collections.defaultdict(list)
    for row, span in enumerate(trace.spans):
        if row not in steps and span["category"] != "Trace":
            threads[span["track"]].append((span["start"], span["start"] + span["duration"], row, span["name"]))

    def find(event):
        time = event["time"]
        return max(((b, row, name) for b, end, row, name in threads[event["track"]] if b <= time < end), default=None)

    return lambda event: (find(event) or ("(none)",))[-1]


def levels(events):
    level = events[0]["total_allocated"] - events[0]["bytes"]
    yield level
    for event in events:
        level += event["bytes"]
        yield level


def test_the_device_has_the_numbers_of_a_plain_pass(trace, events):
    allocated = [event["bytes"] for event in events if event["bytes"] > 0]
    freed = [-event["bytes"] for event in events if event["bytes"] < 0]
    after = list(levels(events))
    assert len(allocated) > 50 and len(freed) > 50
    (device,) = trace.memory_devices()
    assert device["peak_bytes"] > max(after[0], after[-1])
    assert device == {
        "rank": -1,
        "device_type": 0,
        "device": -1,
        "allocations": len(allocated),
        "frees": len(freed),
        "allocated_bytes": sum(allocated),
        "freed_bytes": sum(freed),
        "start_bytes": after[0],
        "end_bytes": after[-1],
        "peak_bytes": max(after),
        "peak_ns": events[after.index(max(after)) - 1]["time"],
        "peak_reserved_bytes": max(event["total_reserved"] for event in events),
        "kept": device["kept"],
    }


def test_the_level_is_what_torch_counts_itself(events):
    assert list(levels(events))[1:] == [event["total_allocated"] for event in events]


def test_rows_are_the_allocations_of_each_operator_and_what_is_live_at_the_peak(trace, events):
    after = list(levels(events))
    peak = after.index(max(after))
    operator_of = operator_finder(trace)
    rows, live, kept = {}, {}, {}
    for i, event in enumerate(events):
        if event["bytes"] > 0:
            row = rows.setdefault(operator_of(event), [0, 0, 0])
            row[0] += 1
            row[1] += event["bytes"]
            kept[event["address"]] = (row, event["bytes"])
        else:
            kept.pop(event["address"], None)
        if i + 1 == peak:
            live = dict(kept)
    for row, size in live.values():
        row[2] += size
    rest = max(after) - sum(row[2] for row in rows.values())
    if rest:
        rows["(before)"] = [0, 0, rest]
    measured = trace.memory()
    assert {row["name"]: [row["allocations"], row["allocated_bytes"], row["peak_bytes"]] for row in measured} == rows
    assert len(measured) == len(rows)
    assert rows["aten::addmm"][0] == 8, "two layers in four steps"
    assert trace.memory_devices()[0]["kept"] == len(kept)


def test_steps_have_the_level_at_their_begin_and_end_and_the_largest_between(trace, events):
    after = list(levels(events))
    spans = trace.spans

    def level_at(time):
        return after[sum(event["time"] < time for event in events)]

    expected = []
    for number, span in sorted(zip(trace.steps["number"], trace.steps["span"], strict=True)):
        begin = spans["start"][span]
        end = begin + spans["duration"][span]
        within = [level for level, event in zip(after[1:], events, strict=True) if begin <= event["time"] < end]
        expected.append((number, level_at(begin), level_at(end), max([level_at(begin), *within])))
    assert len(expected) == 4
    keys = ("step", "start_bytes", "end_bytes", "peak_bytes")
    assert [tuple(row[key] for key in keys) for row in trace.memory_steps()] == expected


def test_the_peak_of_a_step_is_found_by_choosing_it(trace):
    step = trace.memory_steps()[2]
    (device,) = trace.memory_devices(where=f"step = {step['step']}")
    assert device["peak_bytes"] == step["peak_bytes"]
    rows = trace.memory(where=f"step = {step['step']}")
    assert sum(row["peak_bytes"] for row in rows) == step["peak_bytes"]
