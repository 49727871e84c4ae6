# SPDX-License-Identifier: Apache-2.0
"""EventList, FunctionEvent, FunctionEventAvg and what belongs to them: the surface of torch's classes, walked, and
events that a program makes itself, beside torch's."""

import contextlib
import copy
import inspect
import operator
import pickle
import random

import pytest

pytestmark = pytest.mark.framework("torch")

CLASSES = ("EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel", "EventMetadata")

# What may differ, and why.
INTERNAL = {  # steps of the original's _build_tree
    "_populate_cpu_children",
    "_remove_dup_nodes",
    "_set_backward_stacktraces",
}
OF_PYTHON_CLASSES = {"__orig_bases__", "__weakref__", "__dict__", "__static_attributes__", "__firstlineno__"}
MORE_KEYWORDS = {"key_averages": {"corrected"}, "table": {"corrected", "style"}}  # keyword-only, with defaults
WITHOUT_SIGNATURE = {("Interval", "elapsed_us")}  # a method of C that takes nothing


def pair(name):
    import torch.autograd.profiler_util as theirs

    import opscope.torch as ours

    if not hasattr(theirs, name):
        pytest.skip(f"this torch has no {name}")
    return getattr(theirs, name), getattr(ours, name)


def parameters(function):
    return {p.name: (p.kind, p.default) for p in inspect.signature(function).parameters.values()}


@pytest.mark.parametrize("name", CLASSES)
def test_every_name_of_torchs_class_is_there(name):
    theirs, ours = pair(name)
    assert set(dir(theirs)) - set(dir(ours)) - INTERNAL - OF_PYTHON_CLASSES == set()


@pytest.mark.parametrize("name", CLASSES)
def test_every_signature_is_torchs(name):
    theirs, ours = pair(name)
    assert parameters(theirs) == parameters(ours)
    for method in sorted(set(dir(theirs)) & set(dir(ours))):
        static = inspect.getattr_static(theirs, method)
        if not inspect.isfunction(static) or (name, method) in WITHOUT_SIGNATURE or method == "__init__":
            continue
        more = MORE_KEYWORDS.get(method, set())
        mine = parameters(getattr(ours, method))
        assert {key: value for key, value in mine.items() if key not in more} == parameters(static), method
        assert all(mine[key][0] is inspect.Parameter.KEYWORD_ONLY for key in more & set(mine)), method


def test_torchs_classes_accept_our_objects():
    import torch
    import torch.autograd.profiler_util as theirs

    import opscope.torch as ours

    with ours.profile(activities=[ours.ProfilerActivity.CPU]) as prof:
        torch.ones(2).sum()
    event, averages = prof.events()[0], prof.key_averages()
    assert isinstance(event, theirs.FunctionEvent) and isinstance(event, ours.FunctionEvent)
    assert isinstance(ours.FunctionEvent(1, "made", 1, 0.0, 1.0), theirs.FunctionEvent)
    assert isinstance(event.time_range, theirs.Interval)
    assert isinstance(averages[0], theirs.FunctionEventAvg)
    assert isinstance(prof.events(), theirs.EventList) and isinstance(averages, theirs.EventList)
    # benchmarks collect some events in a list of torch's class
    collected = theirs.EventList(each for each in prof.events() if each.cpu_parent is None)
    collected._build_tree()
    assert [(row.key, row.count) for row in collected.key_averages()] == [("aten::ones", 1), ("aten::sum", 1)]


def test_the_metadata_have_torchs_fields_in_torchs_order():
    theirs, ours = pair("EventMetadata")
    assert ours._fields == theirs._fields
    assert ours._field_defaults == theirs._field_defaults


@pytest.mark.torch_has("FunctionEvent.event_metadata")
def test_metadata_are_read_as_torch_reads_them():
    from torch.autograd import profiler_util

    from opscope.torch.event_metadata import read_event_metadata

    texts = {
        name: {"grid": "[1, 2, 3]", "block": "[4,5,6]", "occupancy": '{"a": 1}'}.get(name, "7")
        for name in profiler_util._EVENT_METADATA_KEYS
    }
    assert tuple(read_event_metadata(texts)) == tuple(profiler_util._build_metadata(texts))
    for name, text in texts.items():
        theirs = profiler_util._build_metadata({name: text})
        assert tuple(read_event_metadata({name: text, "unknown": "1"})) == tuple(theirs), name
    assert read_event_metadata({"unknown": 1}) is None
    assert read_event_metadata({"grid": [1, 1, 1], "Is asynchronized op": True}).grid == [1, 1, 1]


def make(module, number, start, end, **more):
    return module.FunctionEvent(number, f"op{number}", 1, start, end, **more)


def attributes_of(event):
    """All values, objects as their ids."""
    values = {}
    for name in sorted({*vars(event), *(n for n in dir(type(event)) if not n.startswith("__"))}):
        if "cuda" in name or name in ("_place", "_extra_json"):
            continue
        if name == "metadata_json" and hasattr(event, "_metadata_json"):  # which it then warns of
            continue
        value = getattr(event, name)
        if callable(value):
            continue
        if name.endswith("event_metadata"):
            value = value and tuple(value)
        if name == "time_range":
            value = (value.start, value.end, value.elapsed_us())
        elif name == "cpu_children":
            value = [child.id for child in value]
        elif name == "cpu_parent":
            value = value and value.id
        elif name == "kernels":
            value = [tuple(kernel) for kernel in value]
        values[name] = value
    return values


def both():
    import torch.autograd.profiler_util as theirs

    import opscope.torch as ours

    return theirs, ours


ALL_ARGUMENTS = {
    "overload_name": "Tensor",
    "fwd_thread": 2,
    "input_shapes": [[2, 3]],
    "stack": ["a", "b"],
    "scope": 1,
    "use_device": "cuda",
    "cpu_memory_usage": 10,
    "device_memory_usage": 20,
    "is_remote": True,
    "sequence_nr": 4,
    "node_id": 3,
    "device_index": 1,
    "device_resource_id": 9,
    "flops": 100,
    "trace_name": "op#1",
    "concrete_inputs": [1],
    "kwinputs": {"a": 1},
    "is_user_annotation": True,
    "is_python_function": True,
    "activity_type": "cpu_op",
    "metadata_json": '"a": 1',
    "flow_id": 1,
    "flow_type": 1,
    "flow_start": True,
    "external_id": 4,
    "linked_correlation_id": 5,
    "extra_meta": {"Rank": "3"},
    "structured_input_shapes": [[2, 3]],
    "structured_input_strides": [[3, 1]],
    "input_dtypes": ["float"],
    "python_id": 1,
    "python_parent_id": 2,
    "python_module_id": 3,
}


UNKNOWN_STREAM = {"extra_meta": {"stream": None, "bytes": "5"}}


@pytest.mark.parametrize(
    "arguments",
    [{}, ALL_ARGUMENTS, {"is_async": True}, {"is_legacy": True, "use_device": "xpu"}, UNKNOWN_STREAM],
)
def test_a_made_event_has_torchs_values(arguments):
    from opscope.torch import features

    lacking = features.absent("FunctionEvent")[1].get("", ())
    arguments = {name: value for name, value in arguments.items() if name not in lacking}
    theirs, ours = (make(module, 7, 10.5, 20.25, **arguments) for module in both())
    expected, values = attributes_of(theirs), attributes_of(ours)
    assert values == expected
    assert repr(ours) == repr(theirs)
    if features.behaves("deprecates_metadata_json") and features.has("FunctionEvent.metadata_json"):
        with pytest.warns(FutureWarning, match="event_metadata"):
            assert ours.metadata_json == arguments.get("metadata_json")


def test_what_follows_from_values_follows_from_those_that_are_set():
    for module in both():
        event, child = make(module, 1, 0, 100), make(module, 2, 10, 40, cpu_memory_usage=6)
        event.append_cpu_child(child)
        child.set_cpu_parent(event)
        event.append_kernel("kernel", 0, 5)
        event.cpu_memory_usage = 10
        event.use_device = "cuda"
        assert (event.self_cpu_time_total, event.self_cpu_memory_usage) == (70, 4)
        assert (event.device_time_total, event.self_device_time_total) == (5, 5)
        assert event.kernels[0]._fields == ("name", "device", "duration")
        event.time_range.end = 200
        event.name = "renamed"
        assert (event.cpu_time, event.key, child.cpu_parent) == (200.0, "renamed", event)
        event.is_async = True
        assert event.self_cpu_time_total == event.device_time_total == 0
        event.anything = 1
        assert event.anything == 1
        del event.anything
        with pytest.raises(AttributeError, match="'FunctionEvent' object has no attribute 'anything'"):
            _ = event.anything


@pytest.mark.torch_does("asserts_with_message")
def test_a_wrong_child_is_refused_in_torchs_words():
    for module in both():
        event = make(module, 1, 0, 1)
        with pytest.raises(AssertionError, match="Expected child to be a FunctionEvent"):
            event.append_cpu_child(3)
        with pytest.raises(AssertionError, match="Expected parent to be a FunctionEvent"):
            event.set_cpu_parent(None)
        from torch.autograd import DeviceType

        event.device_type = DeviceType.CUDA
        with pytest.raises(AssertionError, match="Expected device_type to be CPU"):
            event.append_kernel("k", 0, 1)
        for arguments in ((), (1, "n", 1, 0)):
            with pytest.raises(TypeError, match="missing"):
                module.FunctionEvent(*arguments)


def test_made_events_are_copied_and_pickled_with_their_tree():
    _, ours = both()
    events = ours.EventList([make(ours, 1, 0, 100), make(ours, 2, 10, 40)])
    events._build_tree()
    for again in (pickle.loads(pickle.dumps(events)), copy.deepcopy(events)):
        assert again[0].cpu_children == [again[1]] and again[1].cpu_parent is again[0]
        assert isinstance(again[0], ours.FunctionEvent) and again._tree_built
        assert again.table() == events.table()
    twin = copy.copy(events[0])
    assert twin is not events[0] and attributes_of(twin) == attributes_of(events[0])


def test_a_class_of_a_program_may_derive_from_it():
    _, ours = both()

    class Mine(ours.FunctionEvent):
        label = "mine"

    event = Mine(1, "a", 1, 0, 10)
    assert (event.label, event.name, event.cpu_time_total) == ("mine", "a", 10)
    assert isinstance(event, ours.FunctionEvent)


def random_lists(seed):
    """The same random program as torch's list and ours: nested, crossing, equal, backward and asynchronous events."""
    lists = []
    for module in both():
        rows = random.Random(seed)
        events = []
        for number in range(60):
            start = rows.randrange(0, 400)
            thread = rows.randrange(1, 4)
            event = module.FunctionEvent(
                number,
                rows.choice(("a", "b", "c")),
                thread,
                start,
                start + rows.choice((0, 1, 5, 20, 100)),
                fwd_thread=rows.randrange(1, 4),
                sequence_nr=rows.randrange(0, 5),
                scope=rows.choice((0, 0, 0, 1)),
                stack=[f"frame {rows.randrange(3)}", "main"],
                input_shapes=rows.choice(([], [[2]])),
                is_async=rows.random() < 0.1,
                node_id=thread % 2 - 1,
                cpu_memory_usage=rows.randrange(100),
                overload_name=rows.choice(("", "out")),
            )
            for _ in range(rows.randrange(2)):
                event.append_kernel("k", 0, rows.randrange(5))
            events.append(event)
        made = module.EventList(events, profile_memory=True)
        made._build_tree()
        lists.append(made)
    return lists


@pytest.mark.torch_has("EventList.key_averages(group_by_overload_name)")
@pytest.mark.parametrize("round", range(8))
def test_the_tree_over_made_events_is_torchs(round):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    theirs, ours = random_lists(seed)
    assert [attributes_of(event) for event in ours] == [attributes_of(event) for event in theirs]
    assert ours.self_cpu_time_total == theirs.self_cpu_time_total
    assert repr(ours.total_average()) == repr(theirs.total_average())
    for grouping in ({}, {"group_by_input_shapes": True}, {"group_by_stack_n": 1}, {"group_by_overload_name": True}):
        mine, other = ours.key_averages(**grouping), theirs.key_averages(**grouping)
        assert [repr(row) for row in mine] == [repr(row) for row in other]
        assert mine.table(sort_by="cpu_memory_usage", row_limit=4) == other.table(
            sort_by="cpu_memory_usage", row_limit=4
        )


@pytest.mark.torch_does("asserts_with_message")
def test_averages_before_the_tree_are_refused_in_torchs_words():
    for module in both():
        with pytest.raises(AssertionError, match="Expected tree to be built before calling key_averages"):
            module.EventList([make(module, 1, 0, 1)]).key_averages()


def test_lists_and_averages_behave_as_torchs_under_the_operations_of_lists():
    for module in both():
        rows = [make(module, number, number, number + 1) for number in range(5)]
        events = module.EventList(rows, use_device=None)
        assert type(events + events) is type(events[1:]) is type(events.copy()) is list
        assert events == rows and rows == events and events[1:3] == rows[1:3]
        events += [rows[0]]
        assert type(events).__name__ == "EventList" and len(events) == 6
        events.sort(key=lambda event: -event.id)
        assert [event.id for event in events] == [4, 3, 2, 1, 0, 0]
        assert rows[0] != make(module, 0, 0, 1) and hash(rows[0]) == hash(rows[0])
        assert str(module.EventList([])) == "" and repr(module.EventList([])) == "[]"
        assert events.supported_export_stacks_metrics() == [
            "self_cpu_time_total",
            "self_cuda_time_total",
            "self_xpu_time_total",
            "self_privateuse1_time_total",
        ]


@pytest.mark.torch_does("asserts_with_message")
def test_averages_add_up_as_torchs():
    for module in both():
        sums = module.FunctionEventAvg()
        for number in range(3):
            sums += module.FunctionEvent(number, "a", 1, 0, 10 * number, flops=None if number == 1 else 2)
        assert (sums.key, sums.count, sums.cpu_time_total, sums.cpu_time, sums.flops) == ("a", 3, 30, 10.0, 4)
        other = module.FunctionEventAvg().add(make(module, 1, 0, 1))
        with pytest.raises(AssertionError, match="Expected keys to match, but got op1 vs a"):
            sums.add(other)


@pytest.mark.torch_has("FunctionEvent(overload_name)")
def test_lists_are_exported_as_torchs(tmp_path):
    import json

    files = []
    for which, events in enumerate(random_lists(5)):
        for event in events:
            event.trace_name = event.name
        path = tmp_path / f"{which}.json"
        events.export_chrome_trace(str(path))
        files.append(json.loads(path.read_text()))
    assert files[0] == files[1]


@pytest.mark.torch_has("FunctionEvent.metadata_json")
def test_kineto_metadata_is_shown_when_asked():
    import torch
    from torch._C._profiler import _ExperimentalConfig

    from opscope.torch import features

    warns = features.behaves("deprecates_metadata_json")
    for asked in (False, True):
        texts = []
        for name in ("torch.profiler", "opscope.torch"):
            import importlib

            module = importlib.import_module(name)
            config = _ExperimentalConfig(expose_kineto_event_metadata=asked)
            with module.profile(
                activities=[module.ProfilerActivity.CPU], experimental_config=config, profile_memory=True
            ) as prof:
                value = torch.ones(2)
                value.neg()
            rows = [event for event in prof.events() if event.name != "[memory]"]
            assert not features.has("FunctionEvent.event_metadata") or {e.event_metadata for e in rows} == {None}
            with pytest.warns(FutureWarning) if warns else contextlib.nullcontext():
                texts.append([event.metadata_json for event in rows])
        text = operator.attrgetter("_metadata_json" if warns else "metadata_json")
        assert {text(event) for event in prof.events() if event.name == "[memory]"} == {None}
        assert texts[0] == texts[1]
        assert texts[1][0] == ('"Ev Idx": 0' if asked else "")
        assert text(pickle.loads(pickle.dumps(prof.events()))[0]) == texts[1][0]
