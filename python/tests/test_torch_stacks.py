# SPDX-License-Identifier: Apache-2.0
"""Calls of Python, C functions and modules, as torch.profiler's own with_stack has them."""

import pytest

pytestmark = pytest.mark.framework("torch")

INNER = ("opscope/", "torch/profiler/profiler.py", "torch/autograd/profiler.py")


def calls_of(trace, *, thread=None):
    """(number of callers, name) of the calls, in the order of their beginning."""
    names, tracks, calls = trace.spans.text("name"), trace.spans.track, trace.python_calls
    rows = sorted(range(len(calls)), key=lambda row: calls.id[row])
    depth, found = {0: -1}, []
    for row in rows:
        span = calls.span[row]
        depth[calls.id[row]] = depth[calls.caller[row]] + 1
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
    ours, theirs = recorded(body)
    found = without_addresses(below(calls_of(ours.trace), "): body"))
    expected = without_addresses(below(calls_of(imported(theirs, tmp_path / "t.json")), "): body"))
    assert len(expected) > 50
    assert found == expected
