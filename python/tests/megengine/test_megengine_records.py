# SPDX-License-Identifier: Apache-2.0
"""What opscope takes of MegEngine's records in memory, against what MegEngine writes of the same records as JSON."""

import collections
import json
import math
import os
import re
from pathlib import Path

import megengine
import megengine.functional as functional
import megengine.module as module
import numpy
import pytest
from conftest import written_by_megengine
from megengine.autodiff import GradManager
from megengine.core._imperative_rt import core2
from megengine.optimizer import SGD

import opscope
from opscope import _core
from opscope.trace import Trace


class LeNet(module.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = module.Conv2d(1, 6, 5), module.Conv2d(6, 16, 5)
        self.pool = module.MaxPool2d(2)
        self.fc1, self.fc2 = module.Linear(256, 120), module.Linear(120, 10)

    def forward(self, x):
        x = self.pool(functional.relu(self.conv1(x)))
        x = self.pool(functional.relu(self.conv2(x)))
        return self.fc2(functional.relu(self.fc1(functional.flatten(x, 1))))


@pytest.fixture(scope="module")
def source():
    return _core.megengine.load_source(Path(_core.__file__).parent / "lib/libopscope_megengine.so")


@pytest.fixture(scope="module")
def step():
    net = LeNet()
    manager, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.01, momentum=0.9)
    image, label = megengine.tensor(numpy.ones((8, 1, 28, 28), "float32")), megengine.tensor(numpy.zeros(8, "int32"))

    def train():
        with manager:
            loss = functional.nn.cross_entropy(net(image), label)
            manager.backward(loss)
        optimizer.step()
        optimizer.clear_grad()
        return loss

    train()
    core2.full_sync()
    return train


def recorded(source, program, pieces=1, folder=None, **options):
    """The trace of ``pieces`` runs of the program, and what MegEngine writes of the last one."""

    def record():
        recording = _core.Recording(sources=[(source, [])], native_threads="none")
        recording.start()
        for _ in range(pieces):
            core2.start_profile({"profile_device": 1, **options})
            program()
            core2.full_sync()
            result = core2.stop_profile()
            assert source.take(result) == ""
        recording.stop()
        return result, recording

    if folder is None:
        return Trace(record()[1].trace()), None
    path = folder / "theirs.json"
    (recording,) = written_by_megengine(record, path, "chrome_timeline.json")
    return Trace(recording.trace()), json.loads(path.read_text())["traceEvents"]


@pytest.fixture(scope="module")
def both(source, step, tmp_path_factory):
    def program():
        core2.push_scope("whole step")
        step().numpy()
        core2.pop_scope("whole step")
        core2.stop_step()

    return recorded(source, program, folder=tmp_path_factory.mktemp("both"), sample_rate=10)


def track_names(events):
    return {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}


def test_tracks_are_theirs(both):
    ours, theirs = both
    rows = [(row["tid"], row["name"]) for row in ours.tracks if row["name"] != "steps"]
    assert sorted(rows) == sorted(track_names(theirs).items())


def test_ranges_have_their_names_tracks_and_times(both):
    """Every B and X of theirs is a span; device rows have times of their own, which are exact."""
    ours, theirs = both
    names = track_names(theirs)
    tracks = [row["name"] for row in ours.tracks]

    def their_name(event):
        return re.sub(r"^(Input|Output|Put|Del|Drop|ReGen|RecFree|GetValue) \d+$", r"\1", event["name"])

    def is_host(track):
        return track in ("worker", "interpreter")

    begins = [event for event in theirs if event["ph"] in "BX"]
    host = collections.Counter(
        (names[event["tid"]], their_name(event), round(event["ts"] * 1000))
        for event in begins
        if is_host(names[event["tid"]])
    )
    device = collections.Counter(
        (event["name"], event.get("cat", "")) for event in begins if not is_host(names[event["tid"]])
    )
    spans = [row for row in ours.spans if tracks[row["track"]] != "steps"]
    assert host == collections.Counter(
        (tracks[row["track"]], row["name"], row["start"]) for row in spans if is_host(tracks[row["track"]])
    )
    assert device == collections.Counter(
        (row["name"], row["category"]) for row in spans if tracks[row["track"]] == "xpux:0"
    )
    assert len(spans) == len(begins) > 500


def test_ends_are_theirs(both):
    ours, theirs = both
    names, tracks = track_names(theirs), [row["name"] for row in ours.tracks]
    ends = collections.Counter(
        (names[event["tid"]], round(event["ts"] * 1000))
        for event in theirs
        if event["ph"] == "E" and names[event["tid"]] in ("worker", "interpreter")
    )
    found = collections.Counter(
        (tracks[row["track"]], row["start"] + row["duration"])
        for row in ours.spans
        if row["name"] != "TensorGetProp" and tracks[row["track"]] in ("worker", "interpreter")
    )
    assert found == ends


def test_operators_have_their_parameters_and_numbers(both):
    ours, theirs = both
    told = {
        event["args"]["__id__"]: {
            key: text for key, text in event["args"].items() if key not in ("__id__", "__device__")
        }
        for event in theirs
        if event["ph"] == "E" and event["name"] == "OpDispatch"
    }
    dispatched = [row for row in ours.spans if row["name"] == "OpDispatch"]
    found = {row["external_id"]: json.loads("{" + row["extra"] + "}") for row in dispatched}
    assert found == told and len(told) > 80
    for text in {row["extra"] for row in dispatched}:
        assert list(json.loads("{" + text + "}")) == sorted(json.loads("{" + text + "}")), "in the order of the keys"
    executed = [row for row in ours.spans if row["kind"] == 1]
    assert {row["external_id"] for row in executed} == set(told)
    assert all(told[row["external_id"]]["__name__"] == row["name"] for row in executed)


def test_tensors_have_their_shapes_names_and_devices(both):
    ours, theirs = both
    told = {}
    for event in theirs:
        if event["ph"] == "E" and {"id", "shape"} <= set(event.get("args", ())):
            told[event["args"]["id"]] = event["args"]
    lives = {row["tensor"]: row for row in ours.tensor_lives}
    assert len(lives) == len(ours.tensor_lives) and set(told) <= set(lives)
    devices = json.loads({row["key"]: row["json"] for row in ours.metadata}["megengine.devices"])
    [process] = [row["pid"] for row in ours.processes]
    numbers = [row["tid"] for row in ours.tracks]
    for number, details in told.items():
        row = lives[number]
        [argument] = ours.arguments(row["args"])
        assert "{" + ",".join(map(str, argument["sizes"])) + "}" == details["shape"]
        assert argument["dtype"] == details["dtype"]
        assert (row["name"] or "") == details["name"]
        assert devices[f"{process}:{numbers[row['track']]}"] == details["device"]
        if details["nr_elements"] and 0 not in argument["strides"]:  # else it is broadcast, of fewer bytes
            assert row["bytes"] >= details["nr_elements"] and row["address"] > 4096
    by_operator = [row for row in ours.tensor_lives if row["op"]]
    assert len(by_operator) > 80 and all(row["uses"] >= 0 and row["duration"] >= 0 for row in by_operator)


def test_counters_of_memory_are_theirs(both):
    ours, theirs = both
    told = [
        (event["name"], round(event["ts"] * 1000), event["args"]["value"])
        for event in theirs
        if event["ph"] == "C" and event["name"].endswith("_alloc_mem")
    ]
    assert [(row["name"], row["time"], row["value"]) for row in ours.counters] == told
    assert len(told) > 10


def test_waits_for_tensors_are_joined_to_what_ended_them(both):
    ours, theirs = both
    told = collections.Counter(
        event["id"] for event in theirs if event.get("cat") == "TensorProp" and event["ph"] == "f"
    )
    notices = {event["id"] for event in theirs if event.get("cat") == "TensorProp" and event["ph"] == "s"}
    rows = [row for row in ours.flows if row["category"] == "TensorProp"]
    assert {row["id"] for row in rows} == set(told) & notices
    assert all(row["end_time"] >= row["start_time"] for row in rows)


def test_kernels_lie_within_the_window_and_in_order(both):
    ours, theirs = both
    kernels = [row for row in ours.spans if row["category"] == "Kernel"]
    assert [row["start"] for row in kernels] == sorted(row["start"] for row in kernels)
    numbers = [event["id"] for event in theirs if event.get("cat") == "KernelLaunch" and event["ph"] == "s"]
    assert sorted(row["correlation"] for row in kernels) == sorted(numbers)
    # Their edges are interpolated from the events on the device, which lie right behind the launch and before its end.
    names = track_names(theirs)
    edges = [event for event in theirs if event.get("cat") == "Kernel" and names[event["tid"]] == "xpux:0"]
    begins = [event["ts"] * 1000 for event in edges if event["ph"] == "B"]
    ends = {event["args"]["__id__"]: event["ts"] * 1000 for event in edges if event["ph"] == "E"}
    theirs_of = {number: (begin, end) for begin, (number, end) in zip(begins, ends.items(), strict=True)}
    # Ours are later by a constant where kernels of theirs begin before their launches.
    least, most = 0, math.inf
    for row in kernels:
        begin, end = theirs_of[row["external_id"]]
        least = max(least, row["start"] + row["duration"] - end - 2)
        most = min(most, row["start"] - begin + 2)
    assert least <= most


def test_no_kernel_begins_before_its_launch(both):
    ours, theirs = both
    launched = {
        event["id"]: event["ts"] * 1000 for event in theirs if event.get("cat") == "KernelLaunch" and event["ph"] == "s"
    }
    kernels = [row for row in ours.spans if row["category"] == "Kernel"]
    assert all(row["start"] > launched[row["correlation"]] - 1 for row in kernels) and len(kernels) > 80


def test_steps_and_stops_are_there(both):
    ours, _ = both
    assert [row["name"] for row in ours.instants] == ["StopStep", "StopStep"]
    assert len(ours.steps) == 1 and len(ours.problems) == 0


def test_pieces_are_joined_without_a_seam(source, step):
    """Operators, tensors and scopes of three pieces; what MegEngine releases and produces between them is not there."""
    one, _ = recorded(source, step)
    core2.push_scope("around")
    three, _ = recorded(source, step, pieces=3)
    core2.pop_scope("around")
    count_one, count_three = (collections.Counter(row["name"] for row in trace.spans) for trace in (one, three))
    assert count_three["OpDispatch"] == 3 * count_one["OpDispatch"]
    assert count_three["StartProfile"] == count_three["StopProfile"] == 1
    assert len({row["tensor"] for row in three.tensor_lives}) == len(three.tensor_lives)
    assert all(row["duration"] >= 0 for row in three.tensor_lives)
    assert {row["name"] for row in three.tracks} == {row["name"] for row in one.tracks}
    assert len(three.tracks) == 3
    parameters = [row for row in three.tensor_lives if row["op"] is None and row["args"] is not None]
    assert (
        max(row["duration"] for row in parameters)
        > 0.9 * max(row["start"] + row["duration"] for row in three.spans if row["name"] == "StopProfile") - 10**7
    )


def test_scopes_that_are_open_at_the_stop_are_unfinished(source):
    def program():
        core2.push_scope("left open")
        functional.exp(megengine.tensor(numpy.ones(1000, "float32")))

    trace, _ = recorded(source, program)
    core2.pop_scope("left open")
    rows = [row for row in trace.spans if row["name"] == "left open"]
    assert rows and all(row["flags"] & 1 for row in rows)


def test_backtraces_are_taken_with_the_gil(source):
    core2.set_python_backtrace_enabled(True)
    try:
        recording = _core.Recording(sources=[(source, [])], native_threads="none")
        recording.start()
        core2.start_profile({"profile_device": 1})
        functional.exp(megengine.tensor(numpy.ones(1000, "float32"))).numpy()
        core2.full_sync()
        assert source.take(core2.stop_profile(), with_gil=True) == ""
        recording.stop()
    finally:
        core2.set_python_backtrace_enabled(False)
    texts = [row["extra"] for row in Trace(recording.trace()).spans if row["name"] == "OpDispatch"]
    assert any("python_backtrace" in text and os.path.basename(__file__) in text for text in texts)


def test_what_is_no_result_of_megengine_is_refused(source):
    recording = _core.Recording(sources=[(source, [])], native_threads="none")
    recording.start()
    assert "stop_profile" in source.take(len)
    assert "stop_profile" in source.take(lambda path, format: None)
    other = core2.full_sync  # of MegEngine's, without records behind it
    assert "not laid out as known" in source.take(other)
    recording.stop()
    core2.start_profile({})
    result = core2.stop_profile()
    assert "no recording" in source.take(result)


def test_only_one_recording_takes_records(source):
    first = _core.Recording(sources=[(source, [])], native_threads="none")
    second = _core.Recording(sources=[(source, [])], native_threads="none")
    first.start()
    with pytest.raises(RuntimeError, match="another recording"):
        second.start()
    first.stop()


def test_a_child_of_a_fork_may_record_by_itself(source):
    recording = _core.Recording(sources=[(source, [])], native_threads="none")
    recording.start()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            own = _core.Recording(sources=[(source, [])], native_threads="none")
            own.start()
            own.stop()
            recording.stop()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    core2.start_profile({})
    assert source.take(core2.stop_profile()) == ""
    recording.stop()
    assert len(Trace(recording.trace()).problems) == 0


def test_recordings_that_are_files_say_the_same(source, step, tmp_path):
    path = tmp_path / "window.opscope"
    recording = _core.Recording(sources=[(source, [])], native_threads="none", record_to=str(path))
    recording.start()
    core2.start_profile({"profile_device": 1})
    step()
    core2.full_sync()
    assert source.take(core2.stop_profile()) == ""
    recording.stop()
    trace, file = Trace(recording.trace()), opscope.open(path)
    for table in ("spans", "tensor_lives", "counters", "tracks"):
        assert list(getattr(trace, table)) == list(getattr(file, table)), table


def test_all_kernels_of_an_operator_are_launched_by_it(source, tmp_path):
    """A copy to another device has a kernel on each, which MegEngine calls as the operator."""
    ones = megengine.tensor(numpy.ones((64, 64), "float32"))

    def program():
        functional.copy(ones, "cpu1").numpy()

    program()
    ours, theirs = recorded(source, program, folder=tmp_path)
    told = collections.Counter(event["name"] for event in theirs if event["ph"] == "B" and event.get("cat") == "Kernel")
    assert told == {"Copy": 2}
    on_devices = {row["name"]: row["device_total_ns"] for row in ours.summary() if row["device_total_ns"]}
    assert on_devices.keys() == {"Copy"}
