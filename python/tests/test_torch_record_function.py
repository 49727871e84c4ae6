# SPDX-License-Identifier: Apache-2.0
"""record_function: context manager, decorator, futures, other observers, cost."""

import copy
import pickle
import threading

import pytest

pytestmark = pytest.mark.framework("torch")


def recorded(work, **arguments):
    import opscope.torch

    with opscope.torch.profile(**arguments) as prof:
        work()
    return prof.events()


@pytest.mark.torch_has("FunctionEvent.activity_type", "FunctionEvent.input_dtypes", "FunctionEvent.is_user_annotation")
def test_a_range_has_torchs_attributes():
    import torch.profiler

    import opscope.torch

    def rows(module):
        with module.profile(record_shapes=True) as prof:
            with module.record_function("outer", "some args"):
                with module.record_function("inner"):
                    torch.ones(1)
        return [
            (e.name, e.scope, e.is_user_annotation, e.input_shapes, e.concrete_inputs, e.input_dtypes,
             e.sequence_nr, e.thread, e.cpu_parent and e.cpu_parent.name, e.activity_type)
            for e in prof.events()
        ]  # fmt: skip

    assert rows(opscope.torch) == rows(torch.profiler)


@pytest.mark.torch_has("FunctionEvent.is_user_annotation")
def test_torchs_own_profiler_sees_our_ranges():
    import torch.profiler

    import opscope.torch

    with torch.profiler.profile(record_shapes=True) as prof:
        with opscope.torch.record_function("ours", "x"):
            torch.ones(1)
    event = next(e for e in prof.events() if e.name == "ours")
    assert event.is_user_annotation and [c.name for c in event.cpu_children] == ["aten::ones"]


def test_our_profile_sees_torchs_ranges():
    import torch.profiler

    def work():
        with torch.profiler.record_function("theirs"):
            pass

    assert [e.name for e in recorded(work)] == ["theirs"]


def test_one_object_can_be_entered_again():
    import opscope.torch

    label = opscope.torch.record_function("again")

    def work():
        with label:
            with label:
                with label:
                    pass
        with label:
            pass

    events = recorded(work)
    # A range around nothing but a range of the same name is one row, as in torch.
    assert {e.name for e in events} == {"again"}
    assert sum(1 for e in events) == 2


def test_a_decorated_function_can_call_itself():
    import torch

    import opscope.torch

    @opscope.torch.record_function("factorial")
    def factorial(n):
        """Doc."""
        torch.ones(1)
        return 1 if n <= 1 else n * factorial(n - 1)

    assert (factorial.__name__, factorial.__doc__) == ("factorial", "Doc.")
    events = recorded(lambda: factorial(5))
    calls = [e for e in events if e.name == "factorial"]
    assert len(calls) == 5
    for outer, inner in zip(calls, calls[1:], strict=False):
        assert inner.cpu_parent is outer


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_one_object_on_many_threads_ends_each_threads_own_range():
    import torch

    import opscope.torch

    label = opscope.torch.record_function("shared")
    barrier = threading.Barrier(4)

    def work():
        for _ in range(50):
            barrier.wait()
            with label:
                barrier.wait()
                torch.ones(1)

    def all_threads():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    config = opscope.torch._ExperimentalConfig(profile_all_threads=True)
    events = recorded(all_threads, experimental_config=config)
    ranges = [e for e in events if e.name == "shared"]
    assert len(ranges) == 200
    for event in ranges:
        assert not event.is_async
        assert [c.name for c in event.cpu_children] == ["aten::ones"]


def test_a_name_that_looks_at_the_range_when_it_dies_sees_the_next_one():
    import opscope.torch

    seen = []

    class Looking:
        def __del__(self):
            seen.append(span.name)

    span = opscope.torch.record_function("first")
    span.name = Looking()
    span.name = "next"
    span.__init__(Looking())
    span.__init__("last")
    assert seen == ["next", "last"]


def test_a_range_survives_an_exception():
    import opscope.torch

    def work():
        with pytest.raises(KeyError):
            with opscope.torch.record_function("raising"):
                raise KeyError
        with opscope.torch.record_function("after"):
            pass

    assert [(e.name, e.cpu_parent) for e in recorded(work)] == [("raising", None), ("after", None)]


def test_a_future_ends_the_range():
    import torch

    import opscope.torch

    inside = {}

    def work():
        future = torch.futures.Future()
        with opscope.torch.record_function("awaited") as label:
            handed_on = label._call_end_callbacks_on_future(future)
            with pytest.raises(RuntimeError, match="_call_end_callbacks_on_future can only be called once."):
                label._call_end_callbacks_on_future(future)
        torch.ones(1)
        assert not handed_on.done()
        future.set_result(42)
        inside["value"] = handed_on.wait()

    events = recorded(work)
    awaited, ones = (next(e for e in events if e.name == name) for name in ("awaited", "aten::ones"))
    assert inside["value"] == 42
    assert not awaited.is_async and ones.cpu_parent is awaited  # as in torch: it ended on its own thread
    assert awaited.time_range.end > ones.time_range.end


@pytest.mark.parametrize("on_another_thread", [False, True])
def test_a_range_that_awaits_a_future_is_torchs(on_another_thread):
    import threading

    import torch
    import torch.profiler

    import opscope.torch

    def recorded_by(module):
        future = torch.futures.Future()
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            with module.record_function("awaited") as label:
                handed_on = label._call_end_callbacks_on_future(future)
            torch.ones(1)
            ends = threading.Thread(target=future.set_result, args=(42,))
            ends.run() if not on_another_thread else (ends.start(), ends.join())
            handed_on.wait()
        parents = [event.cpu_parent and event.cpu_parent.name for event in prof.events()]
        own = [event.self_cpu_time_total > 0 for event in prof.events()]
        return [(event.name, event.is_async) for event in prof.events()], parents, own

    theirs, ours = recorded_by(torch.profiler), recorded_by(opscope.torch)
    assert ours == theirs
    assert ours[0][0] == ("awaited", on_another_thread)


def test_a_future_that_fails_hands_its_exception_on():
    import torch

    import opscope.torch

    future = torch.futures.Future()
    with opscope.torch.record_function("failing") as label:
        handed_on = label._call_end_callbacks_on_future(future)
    future.set_exception(ValueError("the cause"))
    # Future.then wraps what its callback raises; the original loses the exception altogether.
    with pytest.raises(RuntimeError, match="ValueError: the cause"):
        handed_on.wait()


@pytest.mark.torch_does("asserts_with_message")
def test_ending_what_was_not_entered_raises_what_torch_raises():
    import torch.profiler

    import opscope.torch

    for module in (torch.profiler, opscope.torch):
        with pytest.raises(AssertionError, match="Expected record to be set"):
            module.record_function("x").__exit__(None, None, None)


def test_a_range_dropped_while_open_ends():
    import torch

    import opscope.torch

    def work():
        label = opscope.torch.record_function("dropped")
        label.__enter__()
        del label
        torch.ones(1)

    events = recorded(work)
    assert next(e for e in events if e.name == "aten::ones").cpu_parent is None


def left_open_at_the_top(label, keep):
    import torch

    keep.append(label("a").__enter__())
    torch.ones(2)
    keep.append(label("b").__enter__())
    torch.ones(3)


def left_open_inside(label, keep):
    import torch

    with label("outer"):
        keep.append(label("a").__enter__())
        with label("middle"):
            keep.append(label("b").__enter__())
            torch.ones(1)
        torch.ones(2)
    torch.ones(3)


@pytest.mark.parametrize("program", [left_open_at_the_top, left_open_inside])
def test_ranges_that_are_open_at_the_end_are_torchs(program):
    import torch.profiler

    import opscope.torch
    from opscope.torch import features

    def recorded_by(module):
        keep = []
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            program(module.record_function, keep)
        for label in reversed(keep):
            label.__exit__(None, None, None)
        events = prof.events()
        ends = {e.time_range.end: e.name for e in events if not e.is_async}
        return [
            (
                e.name,
                e.cpu_parent and e.cpu_parent.name,
                e.is_async,
                e.self_cpu_time_total > 0,
                ends.get(e.time_range.end),
            )
            for e in events
        ]

    theirs, ours = recorded_by(torch.profiler), recorded_by(opscope.torch)
    assert ours == theirs
    is_listed = features.behaves("lists_unfinished_events") or program is left_open_inside  # then the outer one ends it
    assert [row[0] for row in ours if row[2]] == (["a", "b"] if is_listed else [])


def test_subclasses_and_attributes_work():
    import opscope.torch

    class Numbered(opscope.torch.record_function):
        def __init__(self, number):
            super().__init__(f"number {number}")
            self.number = number

    def work():
        with Numbered(5) as label:
            assert label.number == 5
        label.name = "renamed"
        with label:
            pass

    assert [e.name for e in recorded(work)] == ["number 5", "renamed"]


def test_a_range_that_is_not_open_can_be_copied_and_pickled():
    from opscope.torch import record_function

    class Derived(record_function):
        pass

    derived = Derived("derived")
    derived.note = [1]
    for made in (copy.copy(derived), copy.deepcopy(derived)):
        assert (type(made), made.name, made.args, made.note) == (Derived, "derived", None, [1])
    label = record_function("label", "x")
    for made in (copy.deepcopy(label), pickle.loads(pickle.dumps(label))):
        assert (made.name, made.args, made.run_callbacks_on_exit) == ("label", "x", True)
        with pytest.raises(AssertionError, match="Expected record to be set"):
            made.__exit__(None, None, None)


def test_a_subclass_with_its_own_constructor_decorates():
    """Its object is entered, as under torch, and its constructor is not called again."""
    import opscope.torch

    class Marked(opscope.torch.record_function):
        def __init__(self, number, *, mark):
            super().__init__(f"{mark} {number}")
            self.entries = 0

        def __enter__(self):
            self.entries += 1
            return super().__enter__()

    marked = Marked(5, mark="<>")

    @marked
    def double(x):
        return double(x - 1) + 2 if x else 0

    @marked
    def count(limit):
        yield from range(limit)

    @marked
    async def wait():
        return 7

    def work():
        assert (double(2), list(count(2))) == (4, [0, 1])
        with pytest.raises(StopIteration, match="7"):
            wait().send(None)

    names = [e.name for e in recorded(work)]
    assert names == ["<> 5"] * 5 + ["<> 5 (running)"]  # the nested calls are folded into the outer one
    assert marked.entries == 6  # three calls, three steps; the coroutine entered a copy


def test_ranges_are_copied_and_pickled_without_their_open_entries():
    import copy
    import pickle

    import opscope.torch

    label = opscope.torch.record_function("name", "input")
    with label:
        copies = [copy.copy(label), copy.deepcopy(label), pickle.loads(pickle.dumps(label))]
    for made in copies:
        assert (type(made), made.name, made.args) == (type(label), "name", "input")
        with pytest.raises(AssertionError, match="Expected record to be set"):
            made.__exit__(None, None, None)
        with made:
            pass
