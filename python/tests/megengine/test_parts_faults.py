# SPDX-License-Identifier: Apache-2.0
"""Parts of a window, and what may come between: forks, signals, exits, threads, tracers, callbacks of MegEngine."""

import os
import signal
import sys
import threading

import megengine.functional as F
import megengine.module as M
import pytest
from conftest import Timeline, counts, until
from megengine.autodiff import Function, GradManager
from megengine.core._imperative_rt import core2

from opscope.megengine import Profiler, parts


@pytest.fixture
def profiler(tmp_path):
    made = Profiler(str(tmp_path))
    yield made
    made._forget_results()


def add_all(stops, ones):
    """Operators until there are several parts, and how many."""
    return until(stops, lambda: F.add(ones, ones))


def wait_for_a_place_to_be_looked_for():
    """Our function then sees the calls of this thread."""
    for _ in range(100_000_000):
        if sys.getprofile() is not None:
            return
    raise AssertionError("it was not")


def status_of_child(run):
    """Of a child that does no more, and is ended where it waits for ever."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)
            run()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# ---- forks ------------------------------------------------------------------------------------


def test_a_child_does_not_wait_for_a_lock_that_the_clock_held():
    made = parts.Parts(lambda: 0)
    with made._ended._cond:  # as its thread holds it for a moment at each tick
        status = status_of_child(made.end)
    made.end()
    assert status == 0


def test_a_child_is_not_looked_into(profiler, ones, brief):
    def look():
        assert sys.getprofile() is None and parts._running is None
        sorted([1])  # what was pending at the fork
        assert sys.getprofile() is None

    with profiler:
        wait_for_a_place_to_be_looked_for()
        status = status_of_child(look)
    assert status == 0


def test_a_child_takes_no_part_at_a_step(profiler, ones, stops, brief):
    with profiler:
        made = profiler._window._parts
        made._is_due = True
        stops.clear()
        assert status_of_child(lambda: (made.take_if_due(), stops and os._exit(3))) == 0


# ---- exceptions that come from nowhere ----------------------------------------------------------


class Interrupted(BaseException):
    """As the handler of a signal raises it, between any two instructions of Python."""


@pytest.fixture
def raises_behind():
    """Behind the next call of this method of a window's source an exception comes, once."""

    class Raising:
        def __init__(self, source, name):
            self._source, self._name = source, name

        def __getattr__(self, name):
            value = getattr(self._source, name)
            if name != self._name:
                return value
            self._name = None

            def called(*args, **kwargs):
                value(*args, **kwargs)
                raise Interrupted

            return called

    def set_on(profiler, name):
        profiler._window._source = Raising(profiler._window._source, name)

    return set_on


def test_an_exception_right_behind_a_part_loses_nothing(profiler, ones, stops, brief, raises_behind):
    done = 0

    def add():
        nonlocal done
        done += 1
        F.add(ones, ones)

    with profiler:
        raises_behind(profiler, "take_part")
        with pytest.raises(Interrupted):
            until(stops, add)
        until(stops, add)
    assert counts(profiler.trace)["OpDispatch"] == done
    assert counts(profiler.trace)["StartProfile"] == 1


def test_an_exception_at_the_stop_leaves_the_next_start(profiler, ones, raises_behind):
    profiler.start()
    raises_behind(profiler, "take")
    with pytest.raises(Interrupted):
        profiler.stop()
    with profiler:
        F.add(ones, ones)
    assert counts(profiler.trace)["OpDispatch"] == 1


def test_records_are_freed_before_the_recorder_starts_again(profiler, ones, monkeypatch):
    """MegEngine's pool of device events has no lock: what is freed beside its recorder loses operators, and ends the
    process at its exit."""
    order, start = [], core2.start_profile
    with profiler:
        source = profiler._window._source
        taken = source.taken
        monkeypatch.setattr(core2, "start_profile", lambda options: order.append(source.taken) or start(options))
        F.add(ones, ones)
        profiler._window._take_part()
    assert len(order) == 1 and order[0] > taken


def test_what_waiting_for_the_worker_raises_is_the_operators_and_recording_goes_on(
    profiler, ones, stops, brief, monkeypatch
):
    sync, raised = core2.full_sync, []

    def full_sync():
        if sys._getframe(1).f_code.co_name == "_take_part" and not raised:
            raised.append(1)
            raise RuntimeError("of the worker's")
        sync()

    monkeypatch.setattr(core2, "full_sync", full_sync)
    with profiler:
        with pytest.raises(RuntimeError, match="of the worker's") as caught:
            add_all(stops, ones)
        assert any(entry.frame.f_globals["__name__"].startswith("megengine.") for entry in caught.traceback)
        add_all(stops, ones)
    assert counts(profiler.trace)["StartProfile"] == 1


def test_a_part_that_takes_long_is_not_followed_by_the_next_at_once():
    def take():
        while not made._is_due:  # the clock goes on
            pass
        return 1

    made = parts.Parts(take)
    try:
        while not made._is_due:
            pass
        made.take_if_due()
        assert not made._is_due
    finally:
        made.end()


# ---- who else looks at calls --------------------------------------------------------------------


def test_a_program_that_puts_our_function_back_later_loses_it_at_the_next_call(profiler, ones, brief):
    with profiler:
        wait_for_a_place_to_be_looked_for()
        ours = sys.getprofile()
        sys.setprofile(None)
    sys.setprofile(ours)
    sorted([1])
    assert sys.getprofile() is None


def test_a_tracer_stays_and_parts_are_taken_beside_it(profiler, ones, stops, brief):
    lines = []

    def tracer(frame, event, arg):
        lines.append(event)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with profiler:
            done = add_all(stops, ones)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert "line" in lines and counts(profiler.trace)["OpDispatch"] == done


# ---- where programs are -------------------------------------------------------------------------


def test_operators_of_generators_and_coroutines_are_taken_after(profiler, ones, stops, brief):
    def generator():
        while True:
            yield F.add(ones, ones)

    async def coroutine():
        return F.add(ones, ones)

    def await_one():
        with pytest.raises(StopIteration):
            coroutine().send(None)

    sums = generator()
    with profiler:
        done = until(stops, lambda: [next(sums), await_one()])
    assert counts(profiler.trace)["OpDispatch"] == 2 * done


class Doubled(Function):
    """What MegEngine calls back in the midst of a backward pass."""

    def forward(self, x):
        return x * 2

    def backward(self, gradient):
        for _ in range(20):
            gradient = F.add(gradient, 0)
        return gradient * 2


def trained(layer, manager, data):
    with manager:
        manager.backward(Doubled()(layer(data)).sum())
    return layer.weight.grad.numpy()


def test_a_part_may_be_taken_in_the_midst_of_a_backward_pass(profiler, ones, stops, brief):
    layer = M.Linear(8, 8)
    manager = GradManager().attach(layer.parameters())
    expected = trained(layer, manager, ones)
    layer.weight.grad = None
    in_backward, stop = [], core2.stop_profile

    def noted():
        frame = sys._getframe()
        while frame is not None and frame.f_code is not Doubled.backward.__code__:
            frame = frame.f_back
        in_backward.extend([1] if frame is not None else [])
        return stop()

    def step():
        assert (trained(layer, manager, ones) == expected).all()
        layer.weight.grad = None

    core2.stop_profile = noted
    try:
        with profiler:
            done = until(in_backward, step)
    finally:
        core2.stop_profile = stop
    found = counts(profiler.trace)
    assert found["backward"] == 2 * done and found["StartProfile"] == 1
    assert len(profiler.trace.problems) == 0


def test_a_window_that_another_thread_began_is_taken_in_parts_by_steps_alone(profiler, ones, stops, brief):
    thread = threading.Thread(target=profiler.start)
    thread.start()
    thread.join()
    for _ in range(3000):
        F.add(ones, ones)
    assert not stops
    done = until(stops, lambda: [F.add(ones, ones), profiler.step()])
    profiler.stop()
    assert counts(profiler.trace)["OpDispatch"] == 3000 + done


END = """
from megengine.core._imperative_rt import core2
from opscope.megengine import parts
parts._FIRST = parts._SHORTEST = 0.001
parts._RECORDS = 1
stops, stop = [], core2.stop_profile
core2.stop_profile = lambda: stops.append(1) or stop()
profiler = Profiler()
profiler.start()
done = 0
while len(stops) < 3 and done < 200_000:
    F.add(x, x)
    done += 1
print(done, flush=True)
"""


@pytest.mark.parametrize(
    ("last", "status"),
    [("", 0), ("sys.exit(3)", 3), ("raise ValueError", 1), ("mge._run_exit_handlers(); os._exit(0)", 0)],
)
def test_a_program_that_ends_with_an_open_window_leaves_all_parts_in_its_file(run, last, status):
    ran = run(END + last, status=status)
    [file] = ran.files
    assert Timeline(ran.folder / file).begins()["OpDispatch"] == int(ran.printed.split()[-1])
