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


class Columns:
    """Elements whose creation runs Python code: `meanwhile`, which gets the list."""

    def __init__(self, meanwhile):
        self.meanwhile = meanwhile

    def __len__(self):
        return 3

    def fill(self, target):
        self.meanwhile(target)
        list.extend(target, [1, 2, 3])


def unfilled(meanwhile):
    from opscope.frontend.lazy_list import unfill, unfilled_kind

    class Events(list):
        pass

    return unfill(Events(), unfilled_kind(Events), Columns(meanwhile))


def test_a_thread_that_looks_while_the_list_is_filled_waits_for_its_elements():
    seen, threads = [], []

    def look_elsewhere(events):
        threads.append(threading.Thread(target=lambda: seen.append(list(events))))
        threads[0].start()
        threads[0].join(0.2)
        assert seen == []

    events = unfilled(look_elsewhere)
    assert list(events) == [1, 2, 3]
    threads[0].join()
    assert seen == [[1, 2, 3]]


def test_a_list_whose_elements_could_not_be_created_is_filled_at_the_next_look():
    failures = [MemoryError()]

    def fail_once(_):
        if failures:
            raise failures.pop()

    events = unfilled(fail_once)
    with pytest.raises(MemoryError):
        events[0]
    assert (len(events), events[0], len(events)) == (3, 1, 3)


def test_code_that_runs_while_the_list_is_filled_finds_it_empty():
    seen = []
    events = unfilled(lambda target: seen.append(list(target)))
    assert (events[2], seen) == (3, [[]])


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
