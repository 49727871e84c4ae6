# SPDX-License-Identifier: Apache-2.0
"""Lists of events before their first look: operations of two such lists, their class, and threads that look at once."""

import threading

import pytest

pytestmark = pytest.mark.framework("torch")


def recorded(count=1):
    import torch

    import opscope.torch

    with opscope.torch.profile() as prof:
        for _ in range(count):
            torch.ones(2)
    return prof


LISTS = {"events": lambda prof: prof.events(), "raw events": lambda prof: prof.profiler.kineto_results.events()}


@pytest.mark.parametrize("what", LISTS)
def test_the_sum_of_two_unfilled_lists_has_the_elements_of_both(what):
    one, other = LISTS[what](recorded(2)), LISTS[what](recorded(3))
    count = len(one), len(other)
    both = one + other
    assert type(both) is list
    assert (len(both), both[: count[0]], both[count[0] :]) == (sum(count), list(one), list(other))


def test_the_sum_of_lists_of_two_kinds_has_the_elements_of_both():
    prof = recorded()
    raw, events = LISTS["raw events"](prof), LISTS["events"](prof)
    assert raw + events == [*raw, *events]


def test_unfilled_lists_are_compared_by_their_elements():
    import copy

    events = recorded().events()
    same = copy.copy(events)  # has the same elements
    assert same == events
    assert events != recorded().events()


@pytest.mark.parametrize("what", LISTS)
def test_the_class_of_an_unfilled_list_makes_lists(what):
    events = LISTS[what](recorded(2))
    kind = type(events)
    some = kind(events[:2])
    assert some == list(events)[:2]
    assert isinstance(some, type(events))
    assert kind() == []


@pytest.mark.parametrize("what", LISTS)
def test_threads_that_look_first_at_once_get_one_list(what):
    prof = recorded(5000)
    look = LISTS[what]
    start, seen, count = threading.Barrier(8), [], []

    def first_look():
        start.wait()
        events = look(prof)
        seen.append(events)
        count.append(len(events))

    threads = [threading.Thread(target=first_look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == [15000] * 8
    assert all(events is look(prof) for events in seen)
