# SPDX-License-Identifier: Apache-2.0
"""What a page says about memory, beside a plain pass over the events of the trace."""

import collections
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event
from page_data import column, columns, page_of, rows

import opscope

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT, BEFORE = 1, 2


def events_of(trace):
    """The events of each device in order of time."""
    devices = collections.defaultdict(list)
    for event in sorted(trace.allocations, key=lambda event: event["time"]):
        devices[device_name(event)].append(event)
    return dict(devices)


def device_name(event):
    name = {0: "cpu", 1: "cuda"}[event["device_type"]]
    return name if (event["device"] if event["device"] is not None else -1) < 0 else f"{name}:{event['device']}"


def levels_of(events):
    """The level after the last event of each time."""
    total = events[0]["total_allocated"]
    level = 0 if total in (None, -1) else total - events[0]["bytes"]
    levels = {}
    for event in events:
        level += event["bytes"]
        levels[event["time"]] = level
    return levels


def curve_values(data, device, category=""):
    (curve,) = [
        curve
        for curve in data["memory"]["curves"]
        if data["strings"][curve["device"]] == device and data["strings"][curve["category"]] == category
    ]
    return dict(columns(curve, "times", "bytes")), curve["error_bytes"]


def value_at(values, time):
    return values[max((t for t in values if t <= time), default=min(values))]


def plain_blocks(events, begin, end):
    """(start, duration, address, bytes, state) of each block."""
    live, seen, blocks = collections.defaultdict(list), set(), []
    for event in events:
        address, size, time = event["address"], event["bytes"], event["time"]
        is_new = address not in seen
        seen.add(address)
        if size > 0:
            live[address].append((time, size))
        elif size < 0 and live[address]:
            start, allocated = live[address].pop()
            blocks.append((start, time - start, address, allocated, 0))
        elif size < 0 and is_new:
            blocks.append((begin, time - begin, address, -size, BEFORE))
    for address, kept in live.items():
        blocks += [(start, end - start, address, size, KEPT) for start, size in kept]
    return sorted(block for block in blocks if block[2] != 0)


def page_blocks(data, device):
    (blocks,) = [each for each in data["memory"]["blocks"] if data["strings"][each["device"]] == device]
    base = int(blocks["base"])
    keys = ("start", "duration", "address", "bytes", "state")
    return sorted((s, d, (a + base) % 2**64, b, state) for s, d, a, b, state in columns(blocks, *keys)), blocks


def window(trace, events):
    times = [event["time"] for event in events]
    starts = [span["start"] for span in trace.spans]
    ends = [span["start"] + span["duration"] for span in trace.spans]
    return min(starts + times), max(ends + times)


def check_memory(trace, data):
    """Curves, peaks and blocks of every device against its events."""
    answer = trace.memory()
    for device, events in events_of(trace).items():
        levels = levels_of(events)
        values, error = curve_values(data, device)
        assert error == 0
        assert all(value_at(values, time) == level for time, level in levels.items())
        (peak,) = [peak for peak in data["memory"]["peaks"] if data["strings"][peak["device"]] == device]
        assert peak["bytes"] == max([*levels.values(), levels[min(levels)]])
        found = [row for row in rows(data, "memory_rows") if row["device_type"] == events[0]["device_type"]]
        parts = [(data["strings"][name], size) for name, _, size in peak["parts"]]
        expected = [(row["name"], row["peak_bytes"]) for row in found if row["peak_bytes"] != 0]
        renamed = {"(before)": "(before the recording)"}
        assert parts == [(renamed.get(name, name), size) for name, size in expected]
        assert sum(size for _, size in parts) + peak["other_bytes"] == peak["bytes"]
        blocks, _ = page_blocks(data, device)
        assert blocks == plain_blocks(events, *window(trace, [e for each in events_of(trace).values() for e in each]))
    assert len(answer) == len(rows(data, "memory_rows"))


@pytest.mark.framework("torch")
class TestTorch:
    @pytest.fixture(scope="class")
    @staticmethod
    def trace():
        import torch

        import opscope.torch as profiler

        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        optimizer = torch.optim.Adam(model.parameters())
        options = {"profile_memory": True, "record_shapes": True, "with_stack": True}
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], **options) as prof:
            for _ in range(3):
                model(torch.randn(32, 64)).square().sum().backward()
                optimizer.step()
                optimizer.zero_grad()
                prof.step()
        return prof.trace

    @pytest.fixture(scope="class")
    @staticmethod
    def data(trace, tmp_path_factory):
        return page_of(trace, tmp_path_factory.mktemp("torch"))

    def test_curves_peaks_and_blocks_are_those_of_a_plain_pass(self, trace, data):
        check_memory(trace, data)

    def test_categories_sum_to_the_level_but_for_what_was_there_before(self, trace, data):
        strings = data["strings"]
        names = {strings[curve["category"]] for curve in data["memory"]["curves"]} - {""}
        assert {"PARAMETER", "GRADIENT", "ACTIVATION", "OPTIMIZER_STATE"} <= names
        curves = [curve_values(data, "cpu", name)[0] for name in names]
        (events,) = events_of(trace).values()
        levels = levels_of(events)
        rest = {
            level - sum(value_at(curve, time) for curve in curves if min(curve) <= time)
            for time, level in levels.items()
        }
        assert len(rest) == 1, rest

    def test_blocks_have_a_category_and_the_operator_that_allocated_them(self, trace, data):
        strings = data["strings"]
        (blocks,) = data["memory"]["blocks"]
        names = [strings[name] for name in column(blocks["name"])]
        categories = collections.Counter(strings[category] for category in column(blocks["category"]))
        assert any(name.startswith("aten::") for name in names)
        assert categories["GRADIENT"] > 0 and categories["ACTIVATION"] > 0 and categories["OPTIMIZER_STATE"] > 0


@pytest.mark.framework("torch")
def test_a_planted_leak_is_the_first_candidate_and_a_clean_twin_has_none_in_many_steps(tmp_path):
    import torch

    import opscope.torch as profiler

    def train(leaks):
        held, model = [], torch.nn.Linear(64, 64)
        schedule = profiler.schedule(wait=0, warmup=0, active=6, repeat=1)
        with profiler.profile(
            activities=[profiler.ProfilerActivity.CPU], schedule=schedule, profile_memory=True
        ) as prof:
            for _ in range(6):
                loss = model(torch.randn(32, 64)).square().sum()
                loss.backward()
                if leaks:
                    held.append(torch.ones(100_000))
                model.zero_grad(set_to_none=True)
                prof.step()
        return page_of(prof.trace, tmp_path)

    leaks = rows(train(True), "leaks")
    assert leaks[0]["steps"] >= 4
    assert leaks[0]["bytes"] == leaks[0]["allocations"] * 400_000
    assert all(row["bytes"] < 400_000 for row in rows(train(False), "leaks"))


def test_a_sample_of_paddle_has_the_memory_of_a_plain_pass(tmp_path):
    trace = opscope.open(ROOT / "tests/golden/paddle_json" / "forward_with_memory" / "input.json")
    check_memory(trace, page_of(trace, tmp_path))


def test_memory_of_several_devices_with_lost_and_unknown_frees(tmp_path):
    events = [complete_event("aten::mm", 0, 1000)]
    for i in range(300):
        args = {"Addr": 16 * (1 + i * 7 % 11), "Bytes": (64 + i % 5) * (1 if i % 3 else -1)}
        args |= {"Device Type": i % 2, "Device Id": i % 2 - 1}
        where = {"cat": "cpu_instant_event", "ts": 3 * i + 1, "pid": 1, "tid": 1}
        events.append({"ph": "i", "s": "t", "name": "[memory]", "args": args} | where)
    path = tmp_path / "trace.json"
    path.write_bytes(chrome_json(*events))
    trace = opscope.open(path)
    assert len(trace.allocations) == 300
    check_memory(trace, page_of(trace, tmp_path))


def test_blocks_that_do_not_fit_are_counted_with_their_bytes(tmp_path):
    def event(i, address, size):
        args = {"Addr": address, "Bytes": size, "Device Type": 0, "Device Id": -1}
        where = {"cat": "cpu_instant_event", "ts": i, "pid": 1, "tid": 1}
        return {"ph": "i", "s": "t", "name": "[memory]", "args": args} | where

    events, count = [complete_event("aten::mm", 0, 800_000)], 160_000
    sizes = [1 + i * 7919 % 100_003 for i in range(count)]
    for i, size in enumerate(sizes):
        address = 4096 * (i + 1) + i * i % 977
        events += [event(4 * i, address, size), event(4 * i + 3, address, -size)]
    path = tmp_path / "trace.json"
    path.write_bytes(chrome_json(*events))
    data = page_of(opscope.open(path), tmp_path, max_size=1 << 20)
    blocks, written = page_blocks(data, "cpu")
    assert 1000 < len(blocks) < count
    assert len(blocks) + written["left_out"] == count
    assert sum(block[3] for block in blocks) + written["left_out_bytes"] == sum(sizes)
    assert sorted(block[3] for block in blocks) == sorted(sizes)[-len(blocks) :]


def test_a_memory_timeline_without_addresses_has_none_and_says_so(tmp_path):
    path = ROOT / "tests/golden/torch_memory_timeline" / "adam_step_raw" / "input.json"
    data = page_of(opscope.open(path), tmp_path)
    assert all(blocks["address"]["n"] == 0 for blocks in data["memory"]["blocks"])
    assert sum(blocks["without_address"] for blocks in data["memory"]["blocks"]) > 0
    assert data["tables"]["leaks"]["why_empty"] != ""


def test_tensor_lives_of_megengine_are_blocks(tmp_path):
    paths = [ROOT / "tests/golden/megengine_json" / name / "input.json" for name in ("training_steps", "one_operator")]
    traces = [trace for trace in map(opscope.open, paths) if len(trace.tensor_lives) > 0]
    assert traces
    for trace in traces:
        data = page_of(trace, tmp_path)
        lives = [(life["produced"], life["address"], life["bytes"]) for life in trace.tensor_lives if life["bytes"] > 0]
        blocks = [
            (start, (address + int(device["base"])) % 2**64, size)
            for device in data["memory"]["blocks"]
            for start, address, size in columns(device, "start", "address", "bytes")
        ]
        assert sorted(blocks) == sorted(life for life in lives if life[1])


def test_tensor_lives_have_a_curve_whose_peak_the_overview_has(tmp_path):
    trace = opscope.open(ROOT / "tests/golden/megengine_json" / "training_steps" / "input.json")
    data = page_of(trace, tmp_path)
    lives = [life for life in trace.tensor_lives if life["bytes"] > 0]
    assert lives and all(life["address"] in (None, 0) for life in lives)
    changes = [(life["produced"], life["bytes"]) for life in lives]
    changes += [(life["produced"] + life["duration"], -life["bytes"]) for life in lives if life["duration"] is not None]
    level, levels = 0, {}
    for time, change in sorted(changes):
        level += change
        levels[time] = level
    (curve,) = data["memory"]["curves"]
    values = dict(columns(curve, "times", "bytes"))
    assert all(value_at(values, time) == level for time, level in levels.items())
    (peak,) = data["overview"]["memory_peak"]
    assert peak["bytes"] == max(levels.values()) and levels[peak["time_ns"]] == peak["bytes"]
    (device,) = rows(data, "memory_devices")
    assert device["peak_bytes"] == peak["bytes"] and device["peak_ns"] == peak["time_ns"]
    assert sum(row["peak_bytes"] for row in rows(data, "memory_rows")) == peak["bytes"]
    assert "lives of tensors" in data["tables"]["leaks"]["why_empty"]
