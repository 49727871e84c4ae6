# SPDX-License-Identifier: Apache-2.0
"""Requests for memory that is not there, beside torch.profiler: `[OutOfMemory]` wherever it shows them."""

import json

import pytest

pytestmark = pytest.mark.framework("torch")
TOO_MUCH = 1 << 46


def program(module):
    """Within a range of operators, within an operator alone, and outside of all."""
    import torch

    kept = torch.ones(1000)
    with module.record_function("a range"):
        with pytest.raises(RuntimeError, match="can't allocate"):
            torch.empty(TOO_MUCH)
        torch.ones(10).add_(1)
    with pytest.raises(RuntimeError, match="can't allocate"):
        kept.repeat(TOO_MUCH)
    with pytest.raises(RuntimeError, match="can't allocate"):
        torch.UntypedStorage(TOO_MUCH)


@pytest.fixture(scope="module")
def both():
    """The original's profile and ours."""
    import torch.profiler

    import opscope.torch

    profiles = []
    for module in (torch.profiler, opscope.torch):
        with module.profile(profile_memory=True, record_shapes=True) as prof:
            program(module)
        profiles.append(prof)
    return profiles


def rows_of(events):
    def name(event):
        return event and event.name

    return [
        (e.name, name(e.cpu_parent), [c.name for c in e.cpu_children], e.thread, e.device_type, e.device_index)
        + (e.self_cpu_memory_usage, e.input_shapes, e.sequence_nr, e.flops, e.is_async)
        for e in events
        if "Memory" in e.name or any("Memory" in c.name for c in e.cpu_children)
    ]


def test_events_and_averages_are_the_originals(both):
    theirs, ours = (rows_of(prof.events()) for prof in both)
    assert ours == theirs
    assert [row[:2] for row in ours if row[0] == "[OutOfMemory]"] == [
        ("[OutOfMemory]", "aten::empty"),
        ("[OutOfMemory]", "aten::empty"),
        ("[OutOfMemory]", None),
    ]
    theirs, ours = ({row.key: row.count for row in prof.key_averages()} for prof in both)
    assert ours == theirs
    assert ours["[OutOfMemory]"] == 3


def test_raw_events_are_the_originals(both):
    def raw(prof):
        return [
            (e.name(), e.nbytes(), e.device_type(), e.device_index(), e.duration_ns(), e.start_thread_id(), e.flops())
            for e in prof.profiler.kineto_results.events()
            if e.name() == "[OutOfMemory]"
        ]

    theirs, ours = (raw(prof) for prof in both)
    assert ours == theirs
    assert len(ours) == 3


def test_nodes_of_the_event_tree_are_the_originals(both):
    def nodes(prof):
        found, left = [], [(None, root) for root in prof.profiler.kineto_results.experimental_event_tree()]
        while left:
            parent, node = left.pop()
            if node.name == "[OutOfMemory]":
                tag, fields = node.typed
                kind = next(c for c in type(fields).__mro__ if c.__module__.startswith("torch"))
                found.append((parent, int(tag), kind.__name__, node.duration_time_ns, len(node.children)))
            left += [(node.name, child) for child in node.children]
        return sorted(found, key=str)

    theirs, ours = (nodes(prof) for prof in both)
    assert ours == theirs
    assert len(ours) == 3


@pytest.fixture(scope="module")
def files(both, tmp_path_factory):
    """JSON of the original's and ours, and our recording."""
    folder = tmp_path_factory.mktemp("out_of_memory")
    paths = [folder / name for name in ("theirs.json", "ours.json", "ours.opscope")]
    both[0].export_chrome_trace(str(paths[0]))
    both[1].export_chrome_trace(str(paths[1]))
    both[1].save(str(paths[2]))
    return paths


def test_the_file_has_them_as_the_originals(files):
    def instants(path):
        events = json.loads(path.read_text())["traceEvents"]
        found = [e for e in events if e["name"] == "[OutOfMemory]"]
        for event in found:
            event["args"].pop("finished", None)  # the original's slip, of some versions
            # The original counts on from the windows before, so what is compared is the last total before the request.
            before = [e for e in events if e["name"] == "[memory]" and e["ts"] <= event["ts"]]
            last = max(before, key=lambda e: e["ts"])
            assert event["args"].pop("Total Allocated") == last["args"]["Total Allocated"]
        for event in found:
            del event["ts"]
        return found

    theirs, ours = (instants(path) for path in files[:2])
    assert [e["args"]["Bytes"] for e in ours] == [e["args"]["Bytes"] for e in theirs]
    assert ours == theirs


def test_a_file_that_was_read_lists_them_too(both, files):
    import opscope
    from opscope import _core
    from opscope.torch.events import unfilled_events

    expected = [e.name for e in both[1].events()]
    for path in files:
        columns = _core.torch.FunctionEvents(opscope.open(str(path))._core, use_device="")
        assert [e.name for e in unfilled_events(columns)] == expected, path
    assert expected.count("[OutOfMemory]") == 3


def test_without_memory_none_is_recorded():
    import opscope.torch

    with opscope.torch.profile() as prof:
        program(opscope.torch)
    assert "[OutOfMemory]" not in [e.name for e in prof.events()]
