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
    from opscope.torch.features import has

    if not has("FunctionEvent.is_python_function"):
        pytest.skip("this torch has no calls of Python among its events")
    profile, _, trace = both
    ours = unfilled_events(_core.torch.FunctionEvents(trace._core, use_device=""))
    assert len(ours) == len(profile.events()) > 100
    return list(zip(profile.events(), ours, strict=True))


@pytest.mark.torch_has("FunctionEvent.is_python_function", "FunctionEvent.python_module_id")
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


def list_like(events, members):
    """An EventList of the same module, of objects."""
    from torch.autograd.profiler_util import EventList as TorchsList

    from opscope.torch import EventList

    made = (EventList if isinstance(events, EventList) else TorchsList)(members)
    made._tree_built = True
    return made


def lines_of(events, tmp_path, metric="self_cpu_time_total"):
    events.export_stacks(str(tmp_path / "stacks.txt"), metric)
    return (tmp_path / "stacks.txt").read_text()


@pytest.fixture(scope="module")
def lists(events, both):
    """torch's EventList and ours."""
    from opscope import _core
    from opscope.torch.events import unfilled_events

    profile, _, trace = both
    return profile.events(), unfilled_events(_core.torch.FunctionEvents(trace._core, use_device=""))


def test_export_stacks_writes_torchs_lines(lists, tmp_path):
    theirs, ours = lists
    for metric in theirs.supported_export_stacks_metrics():
        written = [lines_of(events, tmp_path, metric) for events in (theirs, ours)]
        assert written[0] == written[1], metric
    verbose = any(event.stack for event in theirs)
    assert (len(lines_of(ours, tmp_path).splitlines()) > 20) == verbose


def test_export_stacks_of_changed_lists_writes_what_they_say(lists, tmp_path):
    theirs, ours = lists
    both_lists = [list_like(events, list(events)[::2]) for events in (theirs, ours)]
    written = [lines_of(events, tmp_path) for events in both_lists]
    assert written[0] == written[1]
    averages = [events.key_averages(group_by_stack_n=2) for events in (theirs, ours)]
    written = [lines_of(events, tmp_path) for events in averages]
    assert written[0] == written[1]


@pytest.mark.parametrize("depth", [0, 1, 3, 100])
def test_averages_by_stack_are_torchs(lists, depth):
    def rows(events):
        averages = events.key_averages(group_by_stack_n=depth)
        return [(row.key, row.count, row.stack, row.cpu_time_total, row.self_cpu_time_total) for row in averages]

    assert rows(lists[1]) == rows(lists[0])


def test_the_table_by_stack_is_torchs(lists):
    def table(events, **options):
        averages = events.key_averages(group_by_stack_n=4)
        return averages.table(sort_by="self_cpu_time_total", row_limit=30, **options)

    assert table(lists[1]) == table(lists[0])
    assert table(lists[1], max_src_column_width=30) == table(lists[0], max_src_column_width=30)


@pytest.mark.parametrize("changed", [False, True], ids=["columns", "objects"])
def test_export_stacks_fails_as_torchs_does(lists, tmp_path, changed):
    lists = [list_like(events, list(events)) if changed else events for events in lists]
    (tmp_path / "kept").write_text("before")

    def outcome(events, path, metric="self_cpu_time_total"):
        with pytest.raises((OSError, ValueError)) as failure:
            events.export_stacks(str(path), metric)
        error = failure.value
        return type(error), getattr(error, "errno", None) or str(error)

    for path in (tmp_path, tmp_path / "missing" / "x", tmp_path / "kept" / "x", "/proc/x"):
        assert outcome(lists[1], path) == outcome(lists[0], path), path
    assert outcome(lists[1], tmp_path / "kept", "time") == outcome(lists[0], tmp_path / "kept", "time")
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "before"


def test_export_stacks_leaves_nothing_of_a_list_that_cannot_be_read(lists, tmp_path):
    broken = list_like(lists[1], [*list(lists[1])[:50], "no event"])
    with pytest.raises(AttributeError):
        broken.export_stacks(str(tmp_path / "x"), "self_cpu_time_total")
    assert list(tmp_path.iterdir()) == []


def test_modules_have_their_forward_and_backward_work(both):
    _, _, trace = both
    rows = {row["module"]: row for row in trace.modules()}
    assert list(rows) == ["", "Sequential_0", "Sequential_0.Linear_0", "Sequential_0.ReLU_0", "Sequential_0.Linear_1"]
    for path in ("Sequential_0.Linear_0", "Sequential_0.ReLU_0", "Sequential_0.Linear_1"):
        assert rows[path]["calls"] == 1
        assert rows[path]["forward_ns"] > 0, path
        assert rows[path]["backward_ns"] > 0, path
    assert rows["Sequential_0"]["ops"] == sum(row["self_ops"] for path, row in rows.items() if path)
    titles, *lines = trace.module_table().splitlines()
    assert titles.split()[:3] == ["Module", "Calls", "Ops"]
    assert [line.split()[0] for line in lines] == ["(all)", *(path.split(".")[-1] for path in rows if path)]
    grouped = trace.summary(group_by=["name", "module"])
    assert {"Sequential_0.Linear_0", "Sequential_0.Linear_1"} <= {
        row["module"] for row in grouped if row["name"] == "AddmmBackward0"
    }
