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
from waiting import wait_for

import opscope
from opscope.frontend.session import Session


def started(**options):
    session = Session(**options)
    recording = session.prepare(at_cap="keep_newest")
    session.start()
    session.begin(recording)
    return session, recording


def await_files(session, count):
    wait_for(lambda: len(session.files) >= count, f"fewer than {count} dumps")


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
    session, recording = started()
    with pytest.raises(RuntimeError, match="no path"):
        session.dump()
    path = session.dump(tmp_path / "{number}.opscope")
    assert path == str(tmp_path / "1.opscope")
    assert recording.is_running
    session.end(recording)
    session.stop()
    assert session.files == [path]
    assert options_of(path)["reason"] == "request"
    assert options_of(path)["number"] == 1
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(RuntimeError, match="nothing is being recorded"):
        session.dump(tmp_path / "late.opscope")


def test_wrong_options_are_value_errors(tmp_path):
    with pytest.raises(ValueError, match="need a path"):
        Session(signal=signal.SIGUSR1)
    with pytest.raises(ValueError, match="positive number of seconds"):
        Session(tmp_path / "x", no_step_for=0)
    with pytest.raises(ValueError, match="SIGKILL cannot be handled"):
        Session(tmp_path / "x", signal=signal.SIGKILL).start()


def test_a_missing_folder_is_an_os_error_with_the_path(tmp_path):
    session, recording = started()
    with pytest.raises(FileNotFoundError) as raised:
        session.dump(tmp_path / "no" / "x.opscope")
    assert "x.opscope" in str(raised.value)
    session.end(recording)
    session.stop()


def test_a_signal_dumps_and_pythons_own_handler_runs(tmp_path):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        session, recording = started(dump_to=tmp_path / "f.opscope", signal=signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        await_files(session, 1)
        session.end(recording)
        session.stop()
        assert seen == [1]
        os.kill(os.getpid(), signal.SIGUSR1)
        assert seen == [1, 1]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert session.files == [str(tmp_path / f"f-{os.getpid()}-1.opscope")]
    assert options_of(session.files[0])["detail"] == "SIGUSR1"


def test_a_signal_dumps_while_the_main_thread_hangs_in_c_code_with_the_gil(tmp_path):
    done = run(
        """
        import ctypes, os, signal, sys, threading
        from opscope import _core
        from opscope.frontend.session import Session
        session = Session(sys.argv[1], signal=signal.SIGUSR1)
        recording = session.prepare()
        session.start(); session.begin(recording)
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
    session, recording = started(dump_to=tmp_path / "f.opscope", no_step_for=0.3)
    await_files(session, 1)
    time.sleep(0.8)
    assert len(session.files) == 1
    session.step()
    await_files(session, 2)
    session.end(recording)
    session.stop()
    assert options_of(session.files[1])["reason"] == "no_step"


PROGRAM = """
    import sys, threading
    from opscope import _core
    from opscope.frontend.session import Session
    session = Session(sys.argv[1], on_exception=True)
    recording = session.prepare()
    if sys.argv[2] == "with":
        session.start(); session.begin(recording)
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
        session, recording = started(dump_to=tmp_path / "f.opscope", on_exception=True)
        assert sys.excepthook is not mine
        sys.excepthook(ValueError, ValueError("x"), None)
        sys.excepthook(SystemExit, SystemExit(3), None)
        session.end(recording)
        session.stop()
        assert sys.excepthook is mine
        assert threading.excepthook is mine
        assert len(told) == 2
        assert len(session.files) == 1
    finally:
        sys.excepthook, threading.excepthook = before


def test_a_dropped_flight_takes_its_hooks_along(tmp_path):
    before = sys.excepthook, threading.excepthook
    session = Session(tmp_path / "f.opscope", on_exception=True, signal=signal.SIGUSR2, no_step_for=1000)
    session.start()
    del session
    assert (sys.excepthook, threading.excepthook) == before


def test_a_dump_that_fails_unasked_is_a_warning_and_one_per_hang(tmp_path):
    session, recording = started(dump_to=tmp_path / "no" / "f.opscope", no_step_for=0.01)
    end = time.monotonic() + 60
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while not caught:
            assert time.monotonic() < end
            time.sleep(0.05)
            session.step()
        session.end(recording)
        session.stop()
    assert {type(warning.message) for warning in caught} == {UserWarning}
    assert re.fullmatch(r"dump \(no_step\): .*f-\d+-\d+\.opscope.*", str(caught[0].message)), caught[0].message
    assert session.files == []


def test_a_forked_child_has_no_part_in_it(tmp_path):
    done = run(
        """
        import os, signal, sys
        from opscope import _core
        from opscope.frontend.session import Session
        session = Session(sys.argv[1], signal=signal.SIGUSR2, on_exception=True, no_step_for=0.2)
        recording = session.prepare()
        session.start(); session.begin(recording)
        pid = os.fork()
        if pid == 0:
            session.stop()
            os.kill(os.getpid(), signal.SIGUSR2)  # ends it, as it would have without us
        print(os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGUSR2)
        session.end(recording); session.stop()
        """,
        tmp_path / "f.opscope",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"
