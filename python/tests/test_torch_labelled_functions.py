# SPDX-License-Identifier: Apache-2.0
"""``@record_function`` on coroutines, generators and asynchronous generators: what is timed, and that the function does
what it did. Each undecorated function is the oracle of its decorated twin."""

import asyncio
import inspect
import itertools

import pytest

pytestmark = pytest.mark.framework("torch")


def recorded(work, **arguments):
    import opscope.torch

    with opscope.torch.profile(**arguments) as prof:
        result = work()
    return result, prof


def labelled(function):
    import opscope.torch

    return opscope.torch.record_function(f"label of {function.__name__}")(function)


async def fetch(x, fails=False):
    """Doc."""
    import torch

    torch.ones(1)
    await asyncio.sleep(0)
    torch.zeros(1)
    if fails:
        raise KeyError(x)
    return x


def batches(count):
    import torch

    got = []
    try:
        for i in range(count):
            torch.ones(1)
            got.append((yield i))
    except KeyError as raised:
        got.append(("raised", str(raised)))
        got.append((yield "after"))
    finally:
        torch.zeros(1)
        got.append("closed")
    return got


async def stream(count):
    import torch

    try:
        for i in range(count):
            torch.ones(1)
            await asyncio.sleep(0)
            got = yield i
            if got is not None:
                yield ("got", got)
    except KeyError as raised:
        yield ("raised", str(raised))
    finally:
        torch.zeros(1)
        await asyncio.sleep(0)


@pytest.mark.parametrize("function", [fetch, batches, stream])
def test_a_labelled_function_is_what_it_was(function):
    same = labelled(function)
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    assert [is_kind(same) for is_kind in kinds] == [is_kind(function) for is_kind in kinds]
    assert (same.__name__, same.__doc__, same.__wrapped__) == (function.__name__, function.__doc__, function)
    assert inspect.signature(same) == inspect.signature(function)


def outcome(work):
    try:
        return work()
    except BaseException as raised:
        return type(raised), raised.args


ACTIONS = ("next", "send", "throw", "close")


def driven(generator, actions):
    """What a generator answers to each action."""
    answers = []
    for action in actions:
        step = {
            "next": lambda: next(generator),
            "send": lambda: generator.send("sent"),
            "throw": lambda: generator.throw(KeyError("thrown")),
            "close": generator.close,
        }[action]
        answers.append(outcome(step))
    return answers


async def driven_async(generator, actions):
    answers = []
    for action in actions:
        step = {
            "next": lambda: generator.__anext__(),
            "send": lambda: generator.asend("sent"),
            "throw": lambda: generator.athrow(KeyError("thrown")),
            "close": generator.aclose,
        }[action]
        try:
            answers.append(await step())
        except BaseException as raised:
            answers.append((type(raised), raised.args))
    return answers


def test_a_labelled_generator_answers_as_the_function_does():
    for actions in itertools.product(ACTIONS, repeat=4):
        assert driven(labelled(batches)(2), actions) == driven(batches(2), actions), actions


def test_a_labelled_asynchronous_generator_answers_as_the_function_does():
    async def compare():
        for actions in itertools.product(ACTIONS, repeat=4):
            assert await driven_async(labelled(stream)(2), actions) == await driven_async(stream(2), actions), actions

    asyncio.run(compare())


def test_a_labelled_coroutine_returns_raises_and_is_cancelled_as_the_function_is():
    async def waiting(log):
        try:
            while True:
                await asyncio.sleep(0)
        finally:
            log.append("cleaned up")

    async def cancelled(function, log):
        task = asyncio.ensure_future(function(log))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    for function in (fetch, labelled(fetch)):
        assert asyncio.run(function(3)) == 3
        assert outcome(lambda f=function: asyncio.run(f(3, fails=True))) == (KeyError, (3,))
    for function in (waiting, labelled(waiting)):
        log = []
        assert asyncio.run(cancelled(function, log)) and log == ["cleaned up"]
        coroutine = function(log)
        coroutine.send(None)
        coroutine.close()
        assert log == ["cleaned up"] * 2


def spans_of(prof):
    spans = prof.trace.spans
    names, parents = list(spans.text("name")), list(spans["parent"])
    around = {i: parents[i] if 0 <= parents[i] < len(names) else None for i in range(len(names))}
    ends = [start + duration for start, duration in zip(spans["start"], spans["duration"], strict=True)]
    return names, around, list(spans["start"]), ends


def test_a_coroutine_is_timed_from_its_first_step_to_its_last():
    """The marks before and after are the clock: no time is compared with another clock."""
    import torch

    import opscope.torch

    async def work():
        with opscope.torch.record_function("mark"):
            torch.ones(1)
        await asyncio.sleep(0.001)
        with opscope.torch.record_function("mark"):
            torch.ones(1)

    _, prof = recorded(lambda: asyncio.run(labelled(work)()))
    names, _, starts, ends = spans_of(prof)
    first, second = (i for i, name in enumerate(names) if name == "mark")
    (whole,) = (i for i, name in enumerate(names) if name == "label of work")
    assert starts[whole] <= starts[first] < ends[second] <= ends[whole]
    assert ends[whole] - starts[whole] > 1_000_000  # it waited a millisecond at least


def labels_around(names, around, row):
    found = []
    while (row := around[row]) is not None:
        found.append(names[row])
    return [name for name in found if name.startswith("label of")]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_interleaved_coroutines_do_not_nest_each_others_operators(count):
    import torch

    import opscope.torch

    def worker(number):
        @opscope.torch.record_function(f"label of worker {number}")
        async def work():
            for _ in range(3):
                with opscope.torch.record_function(f"work {number}"):
                    torch.ones(1)
                await asyncio.sleep(0)

        return work()

    async def main():
        await asyncio.gather(*(worker(number) for number in range(count)))

    _, prof = recorded(lambda: asyncio.run(main()))
    names, around, _, _ = spans_of(prof)
    work = [row for row, name in enumerate(names) if name.startswith("work ")]
    assert len(work) == 3 * count
    for row in work:
        assert labels_around(names, around, row) == [f"label of worker{names[row].removeprefix('work')} (running)"]
    for number in range(count):
        assert names.count(f"label of worker {number}") == 1
        assert names.count(f"label of worker {number} (running)") == 4
    assert {e.name for e in prof.events() if e.is_async} == {f"label of worker {number}" for number in range(count)}


def test_steps_of_a_generator_are_ranges_without_what_runs_between_them():
    import torch

    import opscope.torch

    def consume():
        for _ in labelled(batches)(3):
            with opscope.torch.record_function("between"):
                torch.add(torch.ones(1), 1)

    _, prof = recorded(consume)
    names, around, _, _ = spans_of(prof)
    assert names.count("label of batches") == 4
    for row, name in enumerate(names):
        if name == "between":
            assert labels_around(names, around, row) == []
        elif name == "aten::zeros" or (name == "aten::ones" and names[around[row]] != "between"):
            assert labels_around(names, around, row) == ["label of batches"]


def test_steps_of_an_asynchronous_generator_are_timed_as_coroutines_are():
    import torch

    async def consume():
        return [torch.add(torch.ones(1), 1) async for _ in labelled(stream)(3)]

    result, prof = recorded(lambda: asyncio.run(consume()))
    assert len(result) == 3
    names, around, _, _ = spans_of(prof)
    assert names.count("label of stream") == 4
    for row, name in enumerate(names):
        if name == "aten::add":
            assert labels_around(names, around, row) == []
        elif name == "aten::zeros":
            assert labels_around(names, around, row) == ["label of stream (running)"]


def test_torchs_profiler_sees_the_ranges_of_a_coroutine():
    import torch.profiler

    with torch.profiler.profile() as prof:
        asyncio.run(labelled(fetch)(1))
    events = {event.name: event for event in prof.events()}
    assert events["label of fetch"].is_async and not events["label of fetch (running)"].is_async


def test_a_generator_that_is_dropped_ends_its_range():
    def drop():
        generator = labelled(batches)(3)
        next(generator)
        del generator

    _, prof = recorded(drop)
    names, around, _, _ = spans_of(prof)
    (row,) = (row for row, name in enumerate(names) if name == "aten::zeros")
    assert labels_around(names, around, row) == ["label of batches"]
    assert list(prof.trace.problems) == []
