# SPDX-License-Identifier: Apache-2.0
"""Dumps of a session without torch: requests, signals, exceptions, the watchdog, forks."""

import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest

import opscope
from opscope import _core
from opscope.flight import Flight


def started(**options):
    flight = Flight(**options)
    session = _core.Session(at_cap="keep_newest", flight=flight.core)
    flight.start()
    session.start()
    return flight, session


def await_files(flight, count):
    end = time.monotonic() + 60
    while len(flight.files) < count:
        assert time.monotonic() < end, f"{len(flight.files)} of {count} dumps"
        time.sleep(0.005)


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def options_of(path):
    return opscope.open(path).info["options"]["dump"]


def test_a_dump_on_request_is_a_file_and_the_session_goes_on(tmp_path):
    flight, session = started()
    with pytest.raises(RuntimeError, match="no path"):
        flight.dump()
    path = flight.dump(tmp_path / "{number}.opscope")
    assert path == str(tmp_path / "1.opscope")
    assert session.running
    session.stop()
    flight.stop()
    assert flight.files == [path]
    assert options_of(path)["reason"] == "request"
    assert options_of(path)["number"] == 1
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(RuntimeError, match="nothing is being recorded"):
        flight.dump(tmp_path / "late.opscope")


def test_wrong_options_are_value_errors(tmp_path):
    with pytest.raises(ValueError, match="needs a path"):
        Flight(signal=signal.SIGUSR1)
    with pytest.raises(ValueError, match="positive number of seconds"):
        Flight(tmp_path / "x", no_step_for=0)
    with pytest.raises(ValueError, match="SIGKILL cannot be handled"):
        Flight(tmp_path / "x", signal=signal.SIGKILL).start()


def test_a_missing_folder_is_an_os_error_with_the_path(tmp_path):
    flight, session = started()
    with pytest.raises(FileNotFoundError) as raised:
        flight.dump(tmp_path / "no" / "x.opscope")
    assert "x.opscope" in str(raised.value)
    session.stop()
    flight.stop()


def test_a_signal_dumps_and_pythons_own_handler_runs(tmp_path):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        flight, session = started(path=tmp_path / "f.opscope", signal=signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        await_files(flight, 1)
        session.stop()
        flight.stop()
        assert seen == [1]
        os.kill(os.getpid(), signal.SIGUSR1)
        assert seen == [1, 1]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert flight.files == [str(tmp_path / f"f-{os.getpid()}-1.opscope")]
    assert options_of(flight.files[0])["detail"] == "SIGUSR1"


def test_a_signal_dumps_while_the_main_thread_hangs_in_c_code_with_the_gil(tmp_path):
    done = run(
        """
        import ctypes, os, signal, sys, threading
        from opscope import _core
        from opscope.flight import Flight
        flight = Flight(sys.argv[1], signal=signal.SIGUSR1)
        session = _core.Session(flight=flight.core)
        flight.start(); session.start()
        libc = ctypes.PyDLL(None)  # keeps the GIL
        pid = os.fork()
        if pid == 0:
            os.execvp("sh", ["sh", "-c", f"sleep 0.3; kill -USR1 {os.getppid()}; "
                             f"for i in $(seq 600); do test -e {sys.argv[2]}*.opscope && break; sleep 0.1; done; "
                             f"kill -KILL {os.getppid()}"])
        while True:
            libc.usleep(100000000)
        """,
        tmp_path / "hang.opscope",
        tmp_path / "hang-",
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    (path,) = tmp_path.iterdir()
    assert options_of(path)["reason"] == "signal"


def test_the_watchdog_fires_once_per_hang(tmp_path):
    flight, session = started(path=tmp_path / "f.opscope", no_step_for=0.3)
    await_files(flight, 1)
    time.sleep(0.8)
    assert len(flight.files) == 1
    flight.step()
    await_files(flight, 2)
    session.stop()
    flight.stop()
    assert options_of(flight.files[1])["reason"] == "no_step"


PROGRAM = """
    import sys, threading
    from opscope import _core
    from opscope.flight import Flight
    flight = Flight(sys.argv[1], on_exception=True)
    session = _core.Session(flight=flight.core)
    if sys.argv[2] == "with":
        flight.start(); session.start()
    def fail():
        raise LookupError("nobody catches this")
    if sys.argv[3] == "thread":
        thread = threading.Thread(target=fail, name="worker")
        thread.start(); thread.join()
    else:
        fail()
"""


@pytest.mark.parametrize("where", ["main", "thread"])
def test_an_uncaught_exception_is_dumped_and_ends_as_it_would_have(tmp_path, where):
    without = run(PROGRAM, tmp_path / "f.opscope", "without", where)
    done = run(PROGRAM, tmp_path / "f.opscope", "with", where)
    assert done.returncode == without.returncode == (1 if where == "main" else 0)
    assert done.stderr == without.stderr
    assert "LookupError: nobody catches this" in done.stderr
    (path,) = tmp_path.iterdir()
    assert options_of(path)["reason"] == "exception"
    assert options_of(path)["detail"] == "LookupError"


def test_hooks_call_those_before_and_come_back(tmp_path):
    told = []
    before = sys.excepthook, threading.excepthook
    mine = lambda *args: told.append(args)  # noqa: E731
    sys.excepthook = threading.excepthook = mine
    try:
        flight, session = started(path=tmp_path / "f.opscope", on_exception=True)
        assert sys.excepthook is not mine
        sys.excepthook(ValueError, ValueError("x"), None)
        sys.excepthook(SystemExit, SystemExit(3), None)
        session.stop()
        flight.stop()
        assert sys.excepthook is mine
        assert threading.excepthook is mine
        assert len(told) == 2
        assert len(flight.files) == 1
    finally:
        sys.excepthook, threading.excepthook = before


def test_a_dropped_flight_takes_its_hooks_along(tmp_path):
    before = sys.excepthook, threading.excepthook
    flight = Flight(tmp_path / "f.opscope", on_exception=True, signal=signal.SIGUSR2, no_step_for=1000)
    flight.start()
    del flight
    assert (sys.excepthook, threading.excepthook) == before


def test_a_dump_that_fails_unasked_is_a_warning_and_one_per_hang(tmp_path):
    flight, session = started(path=tmp_path / "no" / "f.opscope", no_step_for=0.01)
    end = time.monotonic() + 60
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while not caught:
            assert time.monotonic() < end
            time.sleep(0.05)
            flight.step()
        session.stop()
        flight.stop()
    assert {type(warning.message) for warning in caught} == {UserWarning}
    assert re.fullmatch(r"dump \(no_step\): .*f-\d+-\d+\.opscope.*", str(caught[0].message)), caught[0].message
    assert flight.files == []


def test_a_forked_child_has_no_part_in_it(tmp_path):
    done = run(
        """
        import os, signal, sys
        from opscope import _core
        from opscope.flight import Flight
        flight = Flight(sys.argv[1], signal=signal.SIGUSR2, on_exception=True, no_step_for=0.2)
        session = _core.Session(flight=flight.core)
        flight.start(); session.start()
        pid = os.fork()
        if pid == 0:
            flight.stop()
            os.kill(os.getpid(), signal.SIGUSR2)  # ends it, as it would have without us
        print(os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGUSR2)
        session.stop(); flight.stop()
        """,
        tmp_path / "f.opscope",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"
