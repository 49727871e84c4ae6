# SPDX-License-Identifier: Apache-2.0
"""Calls of tensors' C methods, which are watched in place of Python's events where the Python has such a way
(src/sources/python/method_calls.h): told are those that Python would tell of, however they are called."""

import functools
import operator
import re
import sys
import types

import pytest

pytestmark = pytest.mark.framework("torch")


@pytest.fixture
def calls():
    import torch

    class Derived(torch.Tensor):
        pass

    a, b, derived = torch.ones(2), torch.ones(2), torch.ones(2).as_subclass(Derived)
    more = {"alpha": 1}

    def fail(call, *arguments):
        try:
            call(*arguments)
        except (RuntimeError, TypeError):
            pass

    def pause():
        yield a.neg()
        yield a.abs()

    def calls_of_methods():
        # By instructions of Python for calls.
        a.add_(b)
        torch.Tensor.add_(a, b)
        a.add_(b, alpha=2)
        a.add_(*[b])
        torch.Tensor.add_(*[a, b], **more)
        bound = a.mul
        bound(b)
        bound(*[b])
        derived.add_(b)
        (lambda method: method(a))(torch.Tensor.abs)
        a.size(), a.dim(), a.requires_grad_(False), a.view(-1), a.tolist(), list(a), list(pause())
        # By C code.
        list(map(torch.Tensor.neg, [a, b]))
        functools.reduce(torch.Tensor.add, [a, b, a])
        functools.partial(torch.Tensor.add, a)(b)
        functools.partial(torch.Tensor.add, a)(*[b])
        operator.methodcaller("add", b)(a)
        sorted([a, b], key=torch.Tensor.sum)
        a + b, a[0], len(a)
        # That fail.
        fail(a.add_, torch.ones(3))
        fail(torch.Tensor.add_, a, torch.ones(3))
        fail(torch.Tensor.add_, 3, b)
        fail(torch.Tensor.add_)
        fail(lambda: torch.Tensor.add_(3, b))
        fail(lambda: torch.Tensor.add_(a, torch.ones(3)))

    calls_of_methods()
    return calls_of_methods


def tree(prof):
    """(depth, name) of all calls within the program."""
    found = []

    def walk(node, depth):
        if depth is None and "): calls_of_methods" in node.name:
            depth = 0
        if depth is not None:
            found.append((depth, re.sub("0x[0-9a-f]+", "0x", node.name)))
            depth += 1
        for child in node.children:
            walk(child, depth)

    for root in prof.profiler.kineto_results.experimental_event_tree():
        walk(root, None)
    return found


def recorded(profile, run, **arguments):
    with profile(with_stack=True, **arguments) as prof:
        run()
    return tree(prof)


def profiles():
    import torch.profiler

    import opscope.torch

    arguments = {"activities": [torch.profiler.ProfilerActivity.CPU]}
    return (functools.partial(module.profile, **arguments) for module in (torch.profiler, opscope.torch))


def test_calls_are_those_that_torch_profiler_shows(calls):
    theirs, ours = profiles()
    expected = recorded(theirs, calls)
    assert sum("of Tensor object" in name for _, name in expected) > 20
    assert recorded(ours, calls) == expected
    assert recorded(ours, calls, record_shapes=True) == expected


def test_each_of_two_profilers_at_work_sees_them_all(calls):
    theirs, ours = profiles()
    expected = recorded(theirs, calls)
    for outer in (theirs, ours):
        with outer(with_stack=True) as around:
            assert recorded(ours, calls) == expected
        assert tree(around) == expected
    with ours(with_stack=True):
        assert recorded(theirs, calls) == expected


def told_to(function, run):
    """What a profile function of the program sees meanwhile."""
    seen = []

    def note(frame, what, argument):
        if what.startswith("c_") and "Tensor" in repr(argument):
            seen.append((what, argument.__name__, frame.f_code.co_name))

    function(note, run)
    return seen


def before(note, run):
    sys.setprofile(note)
    run()
    sys.setprofile(None)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_profile_function_of_the_program_sees_them_all(calls, is_first):
    _, ours = profiles()
    expected = told_to(before, calls)
    assert len(expected) > 40

    def around(note, run):
        if is_first:
            sys.setprofile(note)
        with ours(with_stack=True):
            if not is_first:
                sys.setprofile(note)
            run()
        sys.setprofile(None)

    assert told_to(around, calls) == expected


def test_methods_stay_what_they_are(calls):
    import torch

    _, ours = profiles()
    method = torch.Tensor.add_
    shown = type(method), repr(method), method.__doc__, method.__objclass__, method.__call__
    with ours(with_stack=True):
        assert torch.Tensor.add_ is method and isinstance(method, types.MethodDescriptorType)
        assert (repr(method), method.__doc__, method.__objclass__) == shown[1:4]
        assert type(method).__name__ == "method_descriptor" and hash(method) == hash(torch.Tensor.add_)
        with pytest.raises(TypeError):
            type(method)()
        with ours(with_stack=True):
            calls()
        calls()
    assert (type(method), repr(method), method.__doc__, method.__objclass__, method.__call__) == shown


def tensor_that_first(run):
    """Its methods are C code that runs Python, which calls `run`."""
    import torch

    class Runs(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            run()
            return super().__torch_function__(func, types, args, kwargs or {})

    return torch.ones(2).as_subclass(Runs)


def test_a_window_that_ends_within_a_call_leaves_it_alone(calls):
    import torch

    _, ours = profiles()
    stops = tensor_that_first(lambda: prof.stop())
    for _ in range(3):
        prof = ours(with_stack=True)
        prof.start()
        stops.add_(1)
        assert type(torch.Tensor.add_) is types.MethodDescriptorType
        assert any("of Runs object" in name for name in prof.trace.spans.text("name"))


def test_a_window_that_comes_or_goes_within_a_call_leaves_its_end_to_the_other(calls):
    _, ours = profiles()
    for change in ("start", "stop"):
        with ours(with_stack=True) as around:
            within = ours(with_stack=True)
            if change == "stop":
                within.start()
            tensor_that_first(getattr(within, change)).add_(1)
            for _ in range(1_000_000):  # calls nothing: a call without an end would last until the next one
                pass
            calls()
        if change == "start":
            within.stop()
        spans = around.trace.spans
        times = zip(spans.text("name"), spans["start"], spans["duration"], strict=True)
        times = [(name, start, start + duration) for name, start, duration in times]
        outermost = (
            min((start, end) for name, start, end in times if text in name)
            for text in ("add_ of Runs object", ": __torch_function__", ": calls_of_methods")
        )
        call, inner, after = outermost
        assert call[0] <= inner[0] and inner[1] <= call[1]
        assert call[1] - call[0] < (after[0] - call[1]) / 2, change
