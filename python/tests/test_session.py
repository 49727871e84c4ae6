# SPDX-License-Identifier: Apache-2.0
"""A recording of this process, as the front ends hold it."""

import gc
import json
import os
import subprocess
import sys
import threading

import pytest

from opscope import Error, _core
from opscope.trace import Trace

MAX_WINDOWS = 64  # open at once in one process


def started(**options):
    session = _core.Session(**options)
    session.start()
    return session


def run_python(code, **options):
    """Runs a program with the package of this process; its output is bytes."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, **options)


class TestLife:
    def test_start_stop_trace(self):
        session = started()
        assert session.running
        assert session.generation > 0
        session.stop()
        assert not session.running
        trace = Trace(session.trace())
        assert trace.info["format"] == "opscope"
        assert len(trace.spans) == 0
        assert session.counts()["recorded"] == trace.info["recorded"] == 0

    def test_the_trace_is_read_once(self):
        session = started()
        session.stop()
        bytes_before = session.trace().memory_bytes
        assert session.trace().memory_bytes == bytes_before
        assert session.counts()["dropped"] == 0

    def test_a_second_stop_changes_nothing(self):
        session = started()
        session.stop()
        counts = session.counts()
        session.stop()
        assert session.counts() == counts

    def test_records_once(self):
        session = started()
        with pytest.raises(RuntimeError, match="already started"):
            session.start()
        session.stop()
        with pytest.raises(RuntimeError, match="already started"):
            session.start()

    def test_has_no_trace_before_its_end(self):
        session = _core.Session()
        with pytest.raises(RuntimeError, match="not started"):
            session.trace()
        session.start()
        with pytest.raises(RuntimeError, match="still running"):
            session.trace()
        session.stop()
        session.trace()

    def test_stop_without_start_is_harmless(self):
        session = _core.Session()
        session.stop()
        assert session.counts() == {"recorded": 0, "dropped": 0, "bytes": 0, "threads": 0, "chunks": 0}

    def test_stops_on_another_thread(self):
        session = started()
        thread = threading.Thread(target=session.stop)
        thread.start()
        thread.join()
        assert not session.running
        assert len(Trace(session.trace()).spans) == 0

    def test_dropped_while_running_it_gives_its_place_back(self):
        for _ in range(3 * MAX_WINDOWS):
            started()
        gc.collect()

    def test_too_many_at_once_are_refused_and_the_others_live(self):
        sessions = []
        with pytest.raises(RuntimeError):
            for _ in range(MAX_WINDOWS + 1):
                sessions.append(started())
        assert len(sessions) == MAX_WINDOWS
        for session in sessions:
            session.stop()
        started().stop()

    def test_two_at_once_are_independent(self):
        first, second = started(), started()
        assert first.slot != second.slot
        first.stop()
        assert second.running
        second.stop()

    def test_stopping_from_many_threads_at_once_is_one_stop(self):
        for _ in range(20):
            session = started()
            barrier = threading.Barrier(4)

            def stop(session=session, barrier=barrier):
                barrier.wait()
                session.stop()
                session.trace()

            threads = [threading.Thread(target=stop) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not session.running


class TestOptions:
    @pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
    @pytest.mark.parametrize("native_threads", ["all", "attached", "none"])
    def test_are_taken(self, at_cap, native_threads):
        session = started(max_bytes=1 << 24, at_cap=at_cap, native_threads=native_threads)
        session.stop()
        session.trace()

    def test_unknown_words_name_the_known(self):
        with pytest.raises(ValueError, match="'stop' or 'keep_newest'"):
            _core.Session(at_cap="never")
        with pytest.raises(ValueError, match="'all', 'attached' or 'none'"):
            _core.Session(native_threads="some")


class TestMetadata:
    def test_before_while_and_after_recording(self):
        session = _core.Session(metadata_json='"from":"options"')
        assert session.add_metadata("before", '{"a":[1,2]}')
        session.start()
        assert session.add_metadata('quote " \\ \n \U0001f525', '"x"')
        session.stop()
        assert session.add_metadata("after", "3")
        trace = Trace(session.trace())
        metadata = dict(zip(trace.metadata.text("key"), trace.metadata.text("json"), strict=True))
        assert json.loads(metadata["from"]) == "options"
        assert json.loads(metadata["before"]) == {"a": [1, 2]}
        assert json.loads(metadata['quote " \\ \n \U0001f525']) == "x"
        assert json.loads(metadata["after"]) == 3

    def test_after_reading_it_is_too_late_and_says_so(self):
        session = started()
        session.stop()
        session.trace()
        assert not session.add_metadata("late", "1")


class TestProcess:
    def test_in_the_child_of_a_fork_every_call_is_harmless(self):
        session = started()
        child = os.fork()
        if child == 0:
            try:
                assert not session.running
                session.stop()
                assert session.counts()["recorded"] == 0
                assert not session.add_metadata("key", "1")
                for call in (session.start, session.trace):
                    with pytest.raises(RuntimeError, match="parent process"):
                        call()
                own = started()  # the child may record by itself
                own.stop()
                own.trace()
                del session
                gc.collect()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert session.running
        session.stop()
        session.trace()

    @pytest.mark.parametrize(
        ("ending", "code"),
        [
            ("", 0),
            ("sys.exit(3)", 3),
            ("os._exit(4)", 4),
            ("raise SystemExit(5)", 5),
            ("import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))", 0),  # never let go of
        ],
    )
    def test_ends_as_it_would_without_a_recording(self, ending, code):
        done = run_python(
            f"import os, sys\nfrom opscope import _core\nsession = _core.Session()\nsession.start()\n{ending}"
        )
        assert (done.stdout, done.stderr, done.returncode) == (b"", b"", code)

    def test_an_uncaught_exception_looks_as_ever(self):
        program = "import opscope._core as c; s = c.Session(); s.start(); 1 / 0"
        done = run_python(program)
        assert done.returncode == 1
        assert done.stderr.decode().splitlines()[-1] == "ZeroDivisionError: division by zero"

    def test_a_thread_that_outlives_the_recording_is_no_trouble(self):
        done = run_python(
            "import threading\n"
            "from opscope import _core\n"
            "go = threading.Event()\n"
            "threading.Thread(target=go.wait).start()\n"
            "session = _core.Session(); session.start(); session.stop(); session.trace()\n"
            "del session\n"
            "go.set()\n"
        )
        assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_a_thousand_recordings_grow_by_less_than_a_mebibyte():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def record(count):
        for _ in range(count):
            session = started(max_bytes=1 << 24)
            session.stop()
            session.trace()
        gc.collect()

    record(100)
    before = resident()
    record(1000)
    assert resident() - before < 1 << 20


class TestAdapter:
    def test_a_missing_library_is_named(self, tmp_path):
        with pytest.raises(Error, match=r"libopscope_torch_9_9\.so: cannot open shared object file") as caught:
            _core.load_torch_source(tmp_path / "libopscope_torch_9_9.so")
        assert caught.value.code == "unsupported"

    def test_a_library_that_is_no_adapter_is_refused(self):
        with pytest.raises(Error, match="is not a torch source"):
            _core.load_torch_source("libz.so.1")

    def test_a_file_that_is_no_library_is_refused(self, tmp_path):
        (tmp_path / "x.so").write_bytes(b"text")
        with pytest.raises(Error, match=r"x\.so"):
            _core.load_torch_source(tmp_path / "x.so")


@pytest.mark.framework("torch")
class TestTorch:
    @pytest.fixture
    def adapter(self):
        from opscope.torch import source

        return source.adapter()

    def test_operators_of_the_session_are_recorded_and_no_others(self, adapter):
        import torch

        torch.ones(3) + 1
        session = started(adapter=adapter, native_threads="attached")
        torch.mm(torch.ones(2, 2), torch.ones(2, 2))
        session.stop()
        torch.relu(torch.ones(3))
        trace = Trace(session.trace())
        names = list(trace.spans.text("name"))
        assert names.count("aten::mm") == 1
        assert {"aten::add", "aten::relu"}.isdisjoint(names)
        counts = session.counts()
        assert (counts["recorded"], counts["dropped"]) == (len(names), 0)
        assert trace.info["recorded"] == len(names)

    def test_the_cap_holds_and_what_it_drops_is_counted(self, adapter):
        import torch

        totals = []
        for at_cap in ("stop", "keep_newest"):
            session = started(adapter=adapter, native_threads="attached", max_bytes=1 << 20, at_cap=at_cap)
            one = torch.ones(1)
            for _ in range(100_000):
                torch.neg(one)
            session.stop()
            counts = session.counts()
            assert counts["dropped"] > 0
            assert counts["bytes"] <= (1 << 20) + 256 * 1024
            trace = Trace(session.trace())
            assert len(trace.spans) == counts["recorded"]
            assert "dropped_at_cap" in trace.problems.text("kind")
            totals.append(counts["recorded"] + counts["dropped"])
        assert totals[0] == totals[1] >= 100_000

    def test_dropped_while_running_torch_runs_on(self, adapter):
        import torch

        for _ in range(100):
            started(adapter=adapter)
            torch.ones(2) + 1
        gc.collect()
        torch.ones(2) + 1

    def test_stopped_by_another_thread_nothing_more_is_recorded(self, adapter):
        import torch

        session = started(adapter=adapter)
        torch.ones(2)
        thread = threading.Thread(target=session.stop)
        thread.start()
        thread.join()
        torch.relu(torch.ones(2))
        assert "aten::relu" not in Trace(session.trace()).spans.text("name")

    def test_in_the_child_of_a_fork_operators_run_unrecorded(self, adapter):
        import torch

        session = started(adapter=adapter)
        torch.ones(2)
        child = os.fork()
        if child == 0:
            try:
                torch.ones(2)
                session.stop()
                del session
                gc.collect()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        torch.relu(torch.ones(2))
        session.stop()
        assert list(Trace(session.trace()).spans.text("name")).count("aten::relu") == 1

    def test_an_open_recording_does_not_change_how_a_program_ends(self):
        for ending, code in [("", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4)]:
            done = run_python(
                "import os, sys, torch\n"
                "from opscope import _core\n"
                "from opscope.torch import source\n"
                "session = _core.Session(adapter=source.adapter(), source_flags=1)\n"
                f"session.start()\ntorch.ones(2) + 1\n{ending}"
            )
            assert (done.stdout, done.stderr, done.returncode) == (b"", b"", code)
