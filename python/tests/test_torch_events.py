# SPDX-License-Identifier: Apache-2.0
"""The lists behind events() and key_averages(), from a recording that torch itself exported.

The same recording is torch's list and ours, so every value can be compared, times included.
"""

import copy
import pickle
import random

import pytest

pytestmark = [pytest.mark.framework("torch"), pytest.mark.usefixtures("one_kernel_thread")]


# What a Kineto file does not hold: torch's own small thread numbers, and the scope of a node that ran
# no operator.
NOT_IN_THE_FILE = {"thread", "scope"}
ATTRIBUTES = (
    "id name key trace_name overload_name fwd_thread count input_shapes structured_input_shapes"
    " structured_input_strides input_dtypes concrete_inputs kwinputs stack use_device cpu_memory_usage"
    " device_memory_usage self_cpu_memory_usage self_device_memory_usage is_async is_remote is_legacy"
    " is_user_annotation is_python_function sequence_nr node_id device_type device_index device_resource_id"
    " flops activity_type external_id linked_correlation_id flow_id flow_type flow_start event_metadata"
    " self_cpu_percent total_cpu_percent total_device_percent python_id python_parent_id python_module_id"
    " cpu_time_total self_cpu_time_total device_time_total self_device_time_total cpu_time device_time"
    " cpu_time_str device_time_str cpu_time_total_str self_cpu_time_total_str"
).split()


class Recorded:
    """One run of the ResNet-18 step: torch's profile object and opscope's reading of its file."""

    def __init__(self, folder):
        from torch.profiler import profile
        from torch_programs import resnet18

        import opscope

        run = resnet18()
        with profile(record_shapes=True) as self.theirs:
            run()
        self.theirs_list = self.theirs.events()
        path = str(folder / "torch.json")
        self.theirs.export_chrome_trace(path)
        self.trace = opscope.open(path)

    def ours(self):
        from opscope import _core
        from opscope.torch.events import unfilled_events

        return unfilled_events(_core.torch.FunctionEvents(self.trace._core, use_device=""))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return Recorded(tmp_path_factory.mktemp("events"))


@pytest.fixture
def events(recorded):
    return recorded.ours()


def is_unfilled(events):
    return type(events).__name__ == "_UnfilledEventList"


def test_every_attribute_of_every_event_is_torchs(recorded, events):
    assert len(events) == len(recorded.theirs_list) > 1000
    for theirs, ours in zip(recorded.theirs_list, events, strict=True):
        for name in (name for name in ATTRIBUTES if hasattr(theirs, name)):
            expected, value = getattr(theirs, name), getattr(ours, name)
            assert (value, type(value)) == (expected, type(expected)), (theirs.name, name)
        assert ours.time_range.elapsed_us() == theirs.time_range.elapsed_us()


def test_the_tree_is_torchs(recorded, events):
    def id_of(event):
        return event and event.id

    for theirs, ours in zip(recorded.theirs_list, events, strict=True):
        assert id_of(ours.cpu_parent) == id_of(theirs.cpu_parent)
        assert [child.id for child in ours.cpu_children] == [child.id for child in theirs.cpu_children]
        for child in ours.cpu_children:
            assert child.cpu_parent is ours


def test_every_attribute_that_torch_stores_is_there(recorded, events):
    theirs = recorded.theirs_list[0]
    assert {name for name in vars(theirs) if not hasattr(events[0], name)} == set()
    public = {name for name in dir(type(theirs)) if not name.startswith("__")}
    assert public - set(dir(type(events[0]))) == set()


@pytest.mark.torch_has("EventList.table(time_unit)")
@pytest.mark.parametrize("sort_by", [None, "cpu_time_total", "self_cuda_time_total", "self_cpu_time_total", "count"])
@pytest.mark.parametrize("by_shape", [False, True])
def test_tables_are_torchs_to_the_character(recorded, events, sort_by, by_shape):
    theirs = recorded.theirs.key_averages(group_by_input_shape=by_shape)
    ours = events.key_averages(group_by_input_shapes=by_shape)
    for options in (
        {},
        {"row_limit": 3},
        {"row_limit": -1, "time_unit": "ms"},
        {"max_name_column_width": 20, "max_shapes_column_width": 30},
        {"max_name_column_width": None, "max_shapes_column_width": None, "header": "A header"},
        {"top_level_events_only": True},
    ):
        assert ours.table(sort_by=sort_by, **options) == theirs.table(sort_by=sort_by, **options), options


def test_a_table_of_single_events_is_torchs(recorded, events):
    assert events.table(sort_by="cpu_time", row_limit=50) == recorded.theirs_list.table(
        sort_by="cpu_time", row_limit=50
    )
    assert str(recorded.ours()) == str(recorded.theirs_list)


def test_averages_have_torchs_values(recorded, events):
    theirs, ours = recorded.theirs.key_averages(), events.key_averages()
    left_out = {"cpu_children", "cpu_parent", "scope"}
    for expected, value in zip(theirs, ours, strict=True):
        assert {k: v for k, v in vars(value).items() if k not in left_out} == {
            k: v for k, v in vars(expected).items() if k not in left_out
        }
        assert repr(value) == repr(expected)
    assert repr(events.total_average()) == repr(recorded.theirs_list.total_average())
    assert events.self_cpu_time_total == recorded.theirs_list.self_cpu_time_total


def test_an_unknown_sort_key_raises_what_torch_raises(recorded, events):
    said = []
    for averages in (recorded.theirs.key_averages(), events.key_averages()):
        with pytest.raises(AttributeError) as error:
            averages.table(sort_by="no_such_time")
        said.append(str(error.value))
    assert said[0] == said[1]


def test_averages_length_and_totals_do_not_fill_the_list(events):
    assert len(events) > 0 and bool(events)
    events.key_averages().table()
    events.total_average()
    assert events.self_cpu_time_total > 0
    assert is_unfilled(events)
    assert isinstance(events, list)


def test_filling_makes_a_plain_event_list_of_the_same_object(events):
    import opscope.torch

    first = events[0]
    assert type(events) is opscope.torch.EventList
    assert events[0] is first


USES = {
    "[] + events": lambda e, x: [] + e,
    "[1] + events": lambda e, x: [1] + e,
    "events + []": lambda e, x: e + [],
    "events * 2": lambda e, x: e * 2,
    "2 * events": lambda e, x: 2 * e,
    "iteration": lambda e, x: _iterated(e),
    "list()": lambda e, x: list(e),
    "tuple()": lambda e, x: tuple(e),
    "unpacking": lambda e, x: (*e,),
    "reversed": lambda e, x: list(reversed(e)),
    "slice": lambda e, x: e[2:9:3],
    "negative index": lambda e, x: e[-1],
    "sorted": lambda e, x: sorted(e, key=lambda v: -v.cpu_time_total),
    "in": lambda e, x: x in e,
    "index": lambda e, x: e.index(x),
    "count": lambda e, x: e.count(x),
    "copy": lambda e, x: e.copy(),
    "copy.copy": lambda e, x: copy.copy(e),
    "zip": lambda e, x: list(zip(e, range(3), strict=False)),
    "extend into": lambda e, x: [0, *e],
    "slice assignment": lambda e, x: _assigned_into(e),
    "==": lambda e, x: [] == e,
    "!=": lambda e, x: e != [],
    "append": lambda e, x: (e.append(1), list(e))[1],
    "insert": lambda e, x: (e.insert(0, 1), list(e))[1],
    "pop": lambda e, x: (e.pop(), e.pop(0), list(e))[2],
    "remove": lambda e, x: (e.remove(x), list(e))[1],
    "clear": lambda e, x: (e.clear(), list(e))[1],
    "del": lambda e, x: _deleted(e),
    "set item": lambda e, x: _with_set_item(e),
    "sort": lambda e, x: (e.sort(key=lambda v: v.self_cpu_time_total), list(e))[1],
    "reverse": lambda e, x: (e.reverse(), list(e))[1],
    "+=": lambda e, x: _grown(e),
}


def _iterated(events):
    found = []
    for event in events:
        found.append(event)  # noqa: PERF402 - the loop is what is tested
    return found


def _assigned_into(events):
    other = [1, 2]
    other[1:1] = events
    return other


def _deleted(events):
    del events[1:]
    return list(events)


def _with_set_item(events):
    events[0] = 5
    return list(events)


def _grown(events):
    events += [1]
    return list(events)


@pytest.mark.parametrize("use", USES)
def test_an_unfilled_list_behaves_like_a_filled_one(recorded, use):
    unfilled = recorded.ours()
    plain = list(unfilled)
    again = recorded.ours()
    # Elements of two lists are two objects: compare by id and values that are no events as they are.
    assert is_unfilled(again)
    element = again._columns.event(7)
    expected = USES[use](plain.copy(), plain[7])
    value = USES[use](again, element)
    assert _plain(value) == _plain(expected)


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "id", value)


def test_a_list_equals_its_own_elements(events):
    elements = list(events)
    assert events == elements and elements == events
    assert not events != elements


def test_random_operations_leave_both_lists_alike(recorded):
    seed = random.randrange(2**32)
    print("seed", seed)
    choose = random.Random(seed)
    for _ in range(50):
        ours = recorded.ours()
        plain = [event.id for event in recorded.ours()]
        for _ in range(choose.randrange(1, 6)):
            name = choose.choice(("append", "reverse", "+=", "insert"))
            USES[name](ours, None)
            USES[name](plain, None)
        USES["del"](ours, None)
        USES["del"](plain, None)
        assert _plain(list(ours)) == plain


def test_pickling_keeps_lists_and_elements(recorded, events):
    for copied in (pickle.loads(pickle.dumps(events)), copy.deepcopy(recorded.ours())):
        assert type(copied).__name__ == "EventList"
        assert [e.id for e in copied] == [e.id for e in events]
        assert copied[20].cpu_parent is copied[copied.index(copied[20].cpu_parent)]
        assert copied.key_averages().table() == events.key_averages().table()
    one = pickle.loads(pickle.dumps(events[3]))
    assert (one.name, one.cpu_time_total) == (events[3].name, events[3].cpu_time_total)


def test_attributes_can_be_set_and_others_follow(events):
    parent = next(e for e in events if e.cpu_children)
    child = parent.cpu_children[0]
    before = parent.self_cpu_time_total
    child.time_range.end += 1000.0
    assert child.cpu_time_total == child.time_range.elapsed_us()
    assert parent.self_cpu_time_total == pytest.approx(before - 1000.0)
    child.name = "renamed"
    child.whatever = {"any": "thing"}
    assert (child.key, child.whatever) == ("renamed", {"any": "thing"})
    assert events[events.index(child)].name == "renamed"
    rows = {average.key: average for average in events.key_averages()}
    assert rows["renamed"].count == 1
    del child.whatever
    with pytest.raises(AttributeError):
        child.whatever  # noqa: B018
    with pytest.raises(AttributeError):
        del child.whatever


def test_changing_the_list_changes_its_averages(recorded):
    events = recorded.ours()
    del events[100:]
    assert sum(average.count for average in events.key_averages()) == 100
    theirs = copy.copy(recorded.theirs_list)
    del theirs[100:]
    theirs._tree_built = True
    assert events.key_averages().table() == theirs.key_averages().table()


def test_elements_live_without_their_list(recorded):
    event = recorded.ours()[5]
    name = event.name
    assert event.cpu_parent is None or event in event.cpu_parent.cpu_children
    assert event.name == name


def test_a_list_of_ones_own_needs_a_tree(recorded, events):
    import opscope.torch

    own = opscope.torch.EventList(list(events)[:10], use_device="cuda", profile_memory=False, with_flops=False)
    assert len(own.table().splitlines()) > 10
    with pytest.raises(AssertionError, match="Expected tree to be built before calling key_averages"):
        own.key_averages()


def test_an_empty_list_has_an_empty_table():
    import opscope.torch

    assert opscope.torch.EventList().table() == ""


def test_deprecated_names_warn_and_work(events):
    from opscope.torch import features

    event = events[0]
    names = ["cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage"]
    if features.has("FunctionEvent.metadata_json") and features.behaves("deprecates_metadata_json"):
        names.append("metadata_json")
    for name in names:
        with pytest.warns(FutureWarning, match=name):
            getattr(event, name)


def test_the_legacy_array_is_torchs(recorded, events, tmp_path):
    import json

    ours, theirs = str(tmp_path / "ours.json"), str(tmp_path / "theirs.json")
    events.export_chrome_trace(ours)
    recorded.theirs_list.export_chrome_trace(theirs)
    # Starts count from the profiler's own start, which the file does not tell; threads are OS threads in it.
    leave_out = {"ts", "tid"}

    def rows(path):
        with open(path) as file:
            return [{k: v for k, v in row.items() if k not in leave_out} for row in json.load(file)]

    assert rows(ours) == rows(theirs)


def test_export_stacks_of_events_without_stacks_is_an_empty_file(events, tmp_path):
    for metric in events.supported_export_stacks_metrics():
        events.export_stacks(str(tmp_path / metric), metric)
        assert (tmp_path / metric).read_bytes() == b""
