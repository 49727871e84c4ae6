# SPDX-License-Identifier: Apache-2.0
"""acc_events over cycles; the original runs the same program beside ours in most tests."""

import collections
import gc
import json

import pytest

pytestmark = [pytest.mark.framework("torch"), pytest.mark.torch_has("_KinetoProfile(acc_events)")]

SIDES = ("opscope.torch", "torch.profiler")


def profiler(side):
    import importlib

    return importlib.import_module(side)


def run_cycles(side, steps=14, ops=1, on_ready=None, **options):
    """A program of cycles of two steps: wait, warm up, record two, three times; afterwards the profile."""
    import torch

    module = profiler(side)
    value = torch.ones(4)
    prof = module.profile(
        activities=[module.ProfilerActivity.CPU],
        schedule=module.schedule(wait=1, warmup=1, active=2, repeat=3),
        on_trace_ready=on_ready,
        **options,
    )
    with prof:
        for step in range(steps):
            for _ in range(ops):
                torch.add(value, value).relu_()
            if step == 6:
                prof.seen_while_recording = len(prof.events())
            prof.step()
    return prof


def counted(events):
    return collections.Counter(event.name for event in events)


@pytest.mark.parametrize("side", SIDES)
def test_the_events_of_all_cycles_are_listed(side):
    seen = []
    prof = run_cycles(side, acc_events=True, on_ready=lambda prof: seen.append(len(prof.events())))
    assert seen == [8, 16, 24]
    assert prof.seen_while_recording == 8
    expected = {"ProfilerStep*": 6, "aten::add": 6, "aten::relu_": 6, "aten::clamp_min_": 6}
    assert {name: count for name, count in counted(prof.events()).items() if name in expected} == expected
    assert {row.key: row.count for row in prof.key_averages() if row.key in expected} == expected


def test_cycles_that_nobody_looked_at_are_listed_too():
    prof = run_cycles("opscope.torch", acc_events=True)
    assert sorted(event.trace_name for event in prof.events() if "Step" in event.name) == [
        f"ProfilerStep#{step}" for step in (10, 11, 2, 3, 6, 7)
    ]


def test_averages_over_cycles_are_those_of_the_original():
    ours, theirs = (
        run_cycles(side, acc_events=True, record_shapes=True).key_averages(group_by_input_shape=True) for side in SIDES
    )
    assert [(row.key, row.input_shapes, row.count) for row in ours] == [
        (row.key, row.input_shapes, row.count) for row in theirs
    ]


def test_the_tree_of_every_cycle_is_whole():
    prof = run_cycles("opscope.torch", acc_events=True)
    for step in (event for event in prof.events() if event.name == "ProfilerStep*"):
        assert [child.name for child in step.cpu_children] == ["aten::add", "aten::relu_"]
        assert [child.name for child in step.cpu_children[1].cpu_children] == ["aten::clamp_min_"]


def test_the_list_is_in_order_of_time_over_cycles():
    prof = run_cycles("opscope.torch", acc_events=True)
    starts = [event.time_range.start for event in prof.events()]
    assert starts == sorted(starts)
    assert prof.trace.info["recorded"] == len(prof.trace.spans) == 24
    assert len(prof.trace.tracks) == 1


@pytest.mark.parametrize("side", SIDES)
def test_the_chrome_trace_is_the_last_cycle(side, tmp_path):
    def steps_of(prof):
        path = tmp_path / f"{len(files)}.json"
        prof.events()
        prof.export_chrome_trace(str(path))
        rows = json.loads(path.read_text())["traceEvents"]
        files.append(sorted({row["name"] for row in rows if str(row.get("name", "")).startswith("ProfilerStep")}))

    files = []
    run_cycles(side, acc_events=True, on_ready=steps_of)
    assert files == [[f"ProfilerStep#{step}" for step in pair] for pair in ((2, 3), (6, 7), (10, 11))]


@pytest.mark.parametrize("side", SIDES)
def test_without_acc_events_a_cycle_replaces_the_one_before(side, recwarn):
    seen = []
    prof = run_cycles(side, on_ready=lambda prof: seen.append(len(prof.events())))
    assert seen == [8, 8, 8] and len(prof.events()) == 8
    assert prof.seen_while_recording == 0


def test_acc_events_warns_of_no_clearing(recwarn):
    run_cycles("opscope.torch", acc_events=True)
    assert not [warning for warning in recwarn if "clears events" in str(warning.message)]


def test_start_and_stop_again_adds_a_cycle():
    import torch

    counts = []
    for side in SIDES:
        module = profiler(side)
        prof = module.profile(activities=[module.ProfilerActivity.CPU], acc_events=True)
        for ops in (2, 3, 4):
            prof.start()
            for _ in range(ops):
                torch.ones(2).neg()
            prof.stop()
            counts.append(counted(prof.events())["aten::neg"])
    assert counts == [2, 5, 9] * 2


def test_metadata_of_the_last_cycle_is_that_of_the_joined_recording():
    prof = run_cycles(
        "opscope.torch", acc_events=True, on_ready=lambda prof: prof.add_metadata("step", str(prof.step_num))
    )
    members = dict(zip(prof.trace.metadata.text("key"), prof.trace.metadata.text("json"), strict=True))
    assert json.loads(members["step"]) == "12"
    assert json.loads(members["trace_id"]) == prof.get_trace_id()


def test_a_hundred_cycles_need_no_more_windows_than_one():
    import torch

    import opscope.torch as module

    prof = module.profile(activities=[module.ProfilerActivity.CPU], acc_events=True)
    for _ in range(100):  # a process has 64 windows
        prof.start()
        torch.ones(2).neg()
        prof.stop()
    assert counted(prof.events())["aten::neg"] == 100


@pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
def test_the_cap_holds_for_all_cycles_together(at_cap):
    limit = 1 << 20
    prof = run_cycles("opscope.torch", ops=5000, acc_events=True, max_bytes=limit, at_cap=at_cap)
    info = prof.trace.info
    assert info["dropped"] > 0
    assert 0 < info["recorded"] * 32 <= 1.5 * limit
    assert info["recorded"] + info["dropped"] == 6 * (5000 * 3 + 1)
    assert "dropped_at_cap" in list(prof.trace.problems.text("kind"))
    steps = [event.trace_name for event in prof.events() if "Step" in event.name]
    assert ("ProfilerStep#11" in steps) == (at_cap == "keep_newest")


def test_dropping_the_profile_gives_the_memory_of_all_cycles_back():
    import opscope.torch  # noqa: F401

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    def rounds(count):
        for _ in range(count):
            prof = run_cycles("opscope.torch", ops=2000, acc_events=True)
            assert len(prof.events()) > 6 * 2000
            del prof
            gc.collect()

    rounds(3)
    before = resident()
    rounds(10)
    assert resident() - before < 16 << 20  # one round holds 2 MB of recordings and 6 MB of columns


@pytest.mark.parametrize("acc_events", [True, False])
@pytest.mark.parametrize(
    "schedule",
    [
        {"warmup": 0, "active": 1, "repeat": 1},
        {"warmup": 0, "active": 5},
        {"warmup": 0, "active": 3, "repeat": 4},
        {"warmup": 1, "active": 5},
        {"warmup": 7, "active": 6, "repeat": 2},
        {"warmup": 25, "active": 1},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Profiler")
def test_as_many_steps_are_listed_as_with_the_original(schedule, acc_events):
    import torch

    counts = []
    for side in SIDES:
        module = profiler(side)
        with module.profile(
            activities=[module.ProfilerActivity.CPU],
            schedule=module.schedule(wait=0, **schedule),
            acc_events=acc_events,
        ) as prof:
            for _ in range(40):
                torch.add(1, 2)
                prof.step()
        counts.append({row.key: row.count for row in prof.key_averages()}.get("aten::add", 0))
    assert counts[0] == counts[1]
