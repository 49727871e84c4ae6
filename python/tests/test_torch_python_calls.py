# SPDX-License-Identifier: Apache-2.0
"""Traces that torch.profiler has written with stacks: read, they say what its own events() say."""

import json

import pytest

pytestmark = pytest.mark.framework("torch")

COMPARED = (
    "name is_python_function python_id python_parent_id python_module_id activity_type sequence_nr fwd_thread scope"
).split()


def train(net, x):
    from torch.profiler import record_function

    with record_function("a step"):
        loss = net(x).sum()
    loss.backward()


@pytest.fixture(scope="module", params=[True, False], ids=["verbose", "plain"])
def both(request, tmp_path_factory):
    """(torch's profile, its trace file, our reading of that file)."""
    import torch.profiler

    import opscope

    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    train(net, torch.ones(3, 4))
    config = torch.profiler._ExperimentalConfig(verbose=request.param)
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, with_stack=True, experimental_config=config) as profile:
        train(net, torch.ones(3, 4))
    path = str(tmp_path_factory.mktemp("trace") / "trace.json")
    profile.export_chrome_trace(path)
    return profile, path, opscope.open(path)


@pytest.fixture(scope="module")
def events(both):
    from opscope import _core
    from opscope.torch.events import unfilled_events

    profile, _, trace = both
    ours = unfilled_events(_core.FunctionEvents(trace._core, use_device=""))
    assert len(ours) == len(profile.events()) > 100
    return list(zip(profile.events(), ours, strict=True))


def test_calls_are_events_with_torchs_numbers(events):
    assert sum(event.is_python_function for event, _ in events) > 50
    assert {event.python_module_id for event, _ in events} >= {-1, 0, 1}
    for theirs, ours in events:
        for name in COMPARED:
            assert getattr(ours, name) == getattr(theirs, name), (theirs.name, name)


def test_calls_and_operators_are_one_tree(events):
    for theirs, ours in events:
        parents = [event.cpu_parent and event.cpu_parent.name for event in (theirs, ours)]
        assert parents[0] == parents[1], theirs.name
        assert [child.name for child in ours.cpu_children] == [child.name for child in theirs.cpu_children]


def test_stacks_are_the_same(events):
    for theirs, ours in events:
        assert ours.stack == theirs.stack, theirs.name


def test_the_file_is_written_again_with_the_same_members(both, tmp_path):
    _, path, trace = both
    again = str(tmp_path / "again.json")
    trace._core.export_chrome(again, trace_name=path)

    def members(file):
        with open(file) as text:
            found = json.load(text)["traceEvents"]
        return {(event["name"], event["ts"]): event.get("args") for event in found if event["ph"] == "X"}

    assert members(again) == members(path)


def test_calls_outlive_the_opscope_file(both, tmp_path):
    import opscope

    _, _, trace = both
    trace.save(tmp_path / "trace.opscope")
    kept = opscope.open(tmp_path / "trace.opscope").python_calls
    assert len(kept) == len(trace.python_calls) > 50
    for column in ("span", "id", "caller", "module_id", "thread"):
        assert list(kept[column]) == list(trace.python_calls[column])
