# SPDX-License-Identifier: Apache-2.0
"""Calls of Python, C functions and modules, as torch.profiler's own with_stack has them."""

import gc
import sys
import threading

import pytest

pytestmark = pytest.mark.framework("torch")

INNER = ("opscope/", "torch/profiler/profiler.py", "torch/autograd/profiler.py")


def calls_of(trace, *, thread=None):
    """(number of callers, name) of the calls of one thread after the other, in the order of their beginning.

    Other threads of the test's process make calls, too, at any time: the thread by which pytest-xdist gets its orders.
    """
    names, tracks, calls = trace.spans.text("name"), trace.spans.track, trace.python_calls
    rows = sorted(range(len(calls)), key=lambda row: (tracks[calls.span[row]], calls.id[row]))
    depth, found = {0: -1}, []
    for row in rows:
        span = calls.span[row]
        depth[calls.id[row]] = depth.get(calls.caller[row], -1) + 1
        if thread is None or tracks[span] == thread:
            found.append((depth[calls.id[row]], names[span]))
    return found


def recorded(run, **arguments):
    """The trace of opscope, and that of torch.profiler imported, of two runs."""
    import torch.profiler

    import opscope
    import opscope.torch

    traces = []
    for module in (opscope.torch, torch.profiler):
        with module.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True, **arguments) as prof:
            run()
        traces.append(prof)
    return traces


def imported(prof, path):
    import opscope

    prof.export_chrome_trace(str(path))
    return opscope.open(str(path))


def below(calls, name):
    """The calls inside the first one of this name, depths counted from there."""
    at = next(i for i, call in enumerate(calls) if call[1].endswith(name))
    inside = []
    for depth, called in calls[at + 1 :]:
        if depth <= calls[at][0]:
            break
        inside.append((depth - calls[at][0], called))
    return inside


def without_addresses(calls):
    """Objects of the two runs lie elsewhere."""
    return [(depth, name.split(" at 0x")[0]) for depth, name in calls]


def leaf(x):
    return len(x)


def generate(n):
    for i in range(n):
        yield leaf([i])


def recurse(n):
    return leaf([n]) if n == 0 else recurse(n - 1)


def fail(n):
    if n == 0:
        raise ValueError("asked")
    fail(n - 1)


def program():
    import torch

    layers = torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def body():
        sum(generate(3))
        recurse(4)
        try:
            fail(3)
        except ValueError:
            pass
        with torch.autograd.profiler.record_function("range"):
            leaf("abc")
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    return body


def test_calls_are_those_of_torch(tmp_path):
    body = program()
    body()  # what is made at the first use is made
    gc.collect()  # what other tests have left may run code of its own when it goes
    ours, theirs = recorded(body)
    found = without_addresses(below(calls_of(ours.trace), "): body"))
    expected = without_addresses(below(calls_of(imported(theirs, tmp_path / "t.json")), "): body"))
    assert len(expected) > 50
    assert found == expected


def is_python(name):
    """As Kineto names calls of Python, of C functions and of modules."""
    return ".py(" in name or name.startswith(("<built-in ", "nn.Module: "))


def listed(prof):
    """For each of the lists, whether it has operators and whether it has calls of Python."""
    events = prof.events()
    lists = {
        "events": [event.name for event in events],
        "key_averages": [event.key for event in prof.key_averages()],
        "by stack": [event.key for event in prof.key_averages(group_by_stack_n=5)],
        "kineto_results": [event.name() for event in prof.profiler.kineto_results.events()],
        "children": [child.name for event in events for child in event.cpu_children],
    }
    return {what: (any(map(is_python, names)), "aten::linear" in names) for what, names in lists.items()}


@pytest.mark.parametrize("memory", [False, True])
def test_lists_have_calls_of_python_where_those_of_this_torch_have_them(memory):
    ours, theirs = recorded(program(), profile_memory=memory)
    assert listed(ours) == listed(theirs)


def test_operators_are_listed_without_calls_where_torch_cannot_tell_them_apart(monkeypatch):
    """As torch before 2.12; the tree and the file have them all the same."""
    import pickle

    import opscope.torch
    from opscope.torch import features

    body = program()
    with opscope.torch.profile(with_stack=True) as prof:
        body()
    as_asked = features.has
    monkeypatch.setattr(features, "has", lambda name: name != "KinetoEvent.is_python_function" and as_asked(name))
    names = [event.name for event in prof.events()]
    assert "aten::linear" in names and not any(map(is_python, names))
    assert not any(is_python(event.name()) for event in prof.profiler.kineto_results.events())
    assert [event.name for event in pickle.loads(pickle.dumps(prof.events()))] == names
    tree = [*prof.profiler.kineto_results.experimental_event_tree()]
    for node in tree:
        tree += node.children
    assert any(is_python(node.name) for node in tree)
    assert len(calls_of(prof.trace)) > 50


@pytest.mark.torch_has("_ExperimentalConfig(record_python_gc_info)")
def test_the_collector_is_a_call_when_it_is_asked(tmp_path):
    import torch.profiler

    import opscope.torch

    for asked in (False, True):
        config = torch.profiler._ExperimentalConfig(record_python_gc_info=asked)
        with opscope.torch.profile(with_stack=True, experimental_config=config) as prof:
            gc.collect()
        assert [name for _, name in calls_of(prof.trace)].count("Python GC") == asked


def test_modules_alone_are_recorded_without_stacks():
    import torch

    import opscope.torch

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
    with opscope.torch.profile(with_modules=True) as prof:
        model(torch.ones(1, 2))
    assert calls_of(prof.trace) == [
        (0, "nn.Module: Sequential_0"),
        (1, "nn.Module: Linear_0"),
        (1, "nn.Module: Sequential_1"),
        (2, "nn.Module: Linear_1"),
        (2, "nn.Module: ReLU_0"),
    ]
    spans = prof.trace.spans
    names = spans.text("name")
    linear = next(row for row in range(len(spans)) if names[row] == "aten::linear")
    assert names[spans.parent[linear]] == "nn.Module: Linear_0"


def test_a_module_that_dies_gives_its_place_free():
    import gc
    import weakref

    import torch

    import opscope.torch

    died = []
    with opscope.torch.profile(with_stack=True) as prof:
        for _ in range(3):
            model = torch.nn.ReLU()
            model(torch.ones(1))
            died.append(weakref.ref(model))
            del model
        gc.collect()
        assert [ref() for ref in died] == [None] * 3
    names = [name for _, name in calls_of(prof.trace) if name.startswith("nn.Module: ")]
    assert names == ["nn.Module: ReLU_0", "nn.Module: ReLU_1", "nn.Module: ReLU_2"]


def test_calls_survive_a_file(tmp_path):
    import opscope
    import opscope.torch

    with opscope.torch.profile(with_stack=True) as prof:
        recurse(3)
    prof.save(str(tmp_path / "calls.opscope"))
    assert calls_of(opscope.open(str(tmp_path / "calls.opscope"))) == calls_of(prof.trace)


def test_threads_that_were_there_are_those_of_torch(tmp_path):
    entered, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def work():
        while True:
            entered.release()
            go_on.acquire()
            if done:
                return
            recurse(2)

    def drive():
        go_on.release()
        entered.acquire()
        late = threading.Thread(target=leaf, args=("late",))
        late.start()
        late.join()

    done = []
    thread = threading.Thread(target=work)
    thread.start()
    entered.acquire()
    try:
        ours, theirs = recorded(drive)
    except RuntimeError as error:
        if "Python replay stack is empty" not in str(error):
            raise
        pytest.skip("torch's own profiler cannot follow threads that were there (2.4)")
    finally:
        done.append(True)
        go_on.release()
        thread.join()
    counts = []
    for trace in (ours.trace, imported(theirs, tmp_path / "t.json")):
        names = [name.rpartition(": ")[2] for _, name in calls_of(trace)]
        counts.append({name: names.count(name) for name in ("work", "recurse", "leaf", "drive")})
    assert counts[0] == counts[1] == {"work": 1, "recurse": 3, "leaf": 1, "drive": 1}


def test_what_was_not_seen_is_told():
    import opscope.torch

    waiting, go_on = threading.Event(), threading.Event()

    def wait():
        waiting.set()
        go_on.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    others = len(sys._current_frames()) - 1  # who runs the tests may have threads, too
    with opscope.torch.profile(with_stack=True) as prof:
        leaf("x")
        sys.setprofile(None)
    go_on.set()
    thread.join()
    problems = prof.trace.problems
    told = {problems.text("kind")[row]: problems.count[row] for row in range(len(problems))}
    assert others >= 1
    unseen = {"calls_unseen": 1} if sys.version_info < (3, 12) else {}
    assert told == {"idle_threads": others, **unseen}
