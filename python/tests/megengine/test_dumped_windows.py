# SPDX-License-Identifier: Apache-2.0
"""Windows whose records cannot be taken: MegEngine writes them in a child, and no end of that is the program's end."""

import faulthandler
import os
import signal
import time

import megengine
import megengine.functional as functional
import numpy
import pytest
from megengine.core._imperative_rt import core2

from opscope.adapters import megengine_dump
from opscope.adapters.megengine_dump import dumped_trace
from opscope.trace import Trace

WHY = "its layout is not known"
EVENTS = '{"traceEvents":[{"name":"exp","ph":"X","pid":%d,"tid":1,"ts":1,"dur":2}]}'


@pytest.fixture
def recorded():
    data = megengine.tensor(numpy.ones((4, 4), "float32"))

    def program():
        core2.start_profile({"profile_device": 1})
        for _ in range(100):
            functional.exp(data + 1).numpy()
        core2.full_sync()
        return core2.stop_profile()

    return program


def messages(trace):
    """Why the file of the framework was read, as its problems say in brackets."""
    told = [row["message"] for row in trace.problems if row["kind"] == "framework_file"]
    return [message.partition(" (")[2].rstrip(")") for message in told]


def no_child_is_left():
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return True


def test_a_child_writes_what_this_process_would_have_written(recorded, monkeypatch):
    monkeypatch.setattr(megengine_dump, "_BLOCK", 777)  # names lie over the ends of blocks
    trace = Trace(dumped_trace(recorded(), WHY))
    assert messages(trace) == [WHY]
    assert [row["pid"] for row in trace.processes] == [os.getpid()]
    assert list(trace.spans.text("name")).count("EXP") >= 100
    flows = {row["name"] for row in trace.flows}
    assert flows == {str(os.getpid())}
    assert no_child_is_left()


def wrote(text):
    def dump(path, format):
        with open(path, "w") as file:
            file.write(text)
            file.flush()
            faulthandler.disable()
            os.kill(os.getpid(), signal.SIGSEGV)

    return dump


@pytest.mark.parametrize(("text", "spans"), [("", 0), (EVENTS % 7, 1), ((EVENTS % 7)[:-2] + ',{"name":"ex', 1)])
def test_a_crash_of_the_writer_is_a_problem_and_what_it_wrote_is_there(text, spans):
    with pytest.warns(RuntimeWarning, match="not whole: its layout is not known; MegEngine's own writer was ended by"):
        trace = Trace(dumped_trace(wrote(text), WHY))
    assert messages(trace) == [f"{WHY}; MegEngine's own writer was ended by SIGSEGV"]
    assert len(trace.spans) == spans
    assert no_child_is_left()


def test_a_writer_that_waits_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr(megengine_dump, "_STUCK_S", 0.2)
    with pytest.warns(RuntimeWarning, match="writer computed nothing for 0.2 s"):
        trace = Trace(dumped_trace(lambda path, format: time.sleep(600), WHY))
    assert len(trace.spans) == 0
    assert no_child_is_left()


def test_a_writer_that_computes_is_waited_for(monkeypatch):
    def dump(path, format):
        until = time.process_time() + 1
        while time.process_time() < until:
            pass
        with open(path, "w") as file:
            file.write(EVENTS % os.getpid())

    monkeypatch.setattr(megengine_dump, "_STUCK_S", 0.3)
    trace = Trace(dumped_trace(dump, WHY))
    assert (len(trace.spans), messages(trace)) == (1, [WHY])
    assert [row["pid"] for row in trace.processes] == [os.getpid()]


def test_what_is_refused_in_a_child_is_written_here():
    home = os.getpid()

    def dump(path, format):
        if os.getpid() != home:
            raise RuntimeError("no device in a child")
        with open(path, "w") as file:
            file.write(EVENTS % home)

    trace = Trace(dumped_trace(dump, WHY))
    assert (len(trace.spans), messages(trace)) == (1, [WHY])


def test_a_program_that_waits_for_all_its_children_may(recorded):
    """Its handler of SIGCHLD takes the writer's end, too."""

    def reap(*_):
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    return
            except ChildProcessError:
                return

    before = signal.signal(signal.SIGCHLD, reap)
    try:
        trace = Trace(dumped_trace(recorded(), WHY))
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert messages(trace) == [WHY]
    assert list(trace.spans.text("name")).count("EXP") >= 100


def test_an_exception_of_a_signals_handler_ends_the_writer():
    def stop(*_):
        raise InterruptedError("enough")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(InterruptedError, match="enough"):
            dumped_trace(lambda path, format: time.sleep(600), WHY)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert no_child_is_left()
