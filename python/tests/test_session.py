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


def started(adapter=None, **options):
    recording = _core.Recording(sources=[(adapter, [])] if adapter else (), **options)
    recording.start()
    return recording


def run_python(code, **options):
    """Runs a program with the package of this process; its output is bytes."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, **options)


class TestLife:
    def test_start_stop_trace(self):
        recording = started()
        assert recording.is_running
        assert recording.generation > 0
        recording.stop()
        assert not recording.is_running
        trace = Trace(recording.trace())
        assert trace.info["format"] == "opscope"
        assert len(trace.spans) == 0
        assert recording.counts()["recorded"] == trace.info["recorded"] == 0

    def test_the_trace_is_read_once(self):
        recording = started()
        recording.stop()
        bytes_before = recording.trace().memory_bytes
        assert recording.trace().memory_bytes == bytes_before
        assert recording.counts()["dropped"] == 0

    def test_a_second_stop_changes_nothing(self):
        recording = started()
        recording.stop()
        counts = recording.counts()
        recording.stop()
        assert recording.counts() == counts

    def test_records_once(self):
        recording = started()
        with pytest.raises(RuntimeError, match="already started"):
            recording.start()
        recording.stop()
        with pytest.raises(RuntimeError, match="already started"):
            recording.start()

    def test_has_no_trace_before_its_end(self):
        recording = _core.Recording()
        with pytest.raises(RuntimeError, match="not started"):
            recording.trace()
        recording.start()
        with pytest.raises(RuntimeError, match="still running"):
            recording.trace()
        recording.stop()
        recording.trace()

    def test_stop_without_start_is_harmless(self):
        recording = _core.Recording()
        recording.stop()
        assert recording.counts() == {"recorded": 0, "dropped": 0, "bytes": 0, "threads": 0, "chunks": 0}

    def test_stops_on_another_thread(self):
        recording = started()
        thread = threading.Thread(target=recording.stop)
        thread.start()
        thread.join()
        assert not recording.is_running
        assert len(Trace(recording.trace()).spans) == 0

    def test_dropped_while_running_it_gives_its_place_back(self):
        for _ in range(3 * MAX_WINDOWS):
            started()
        gc.collect()

    def test_too_many_at_once_are_refused_and_the_others_live(self):
        recordings = []
        with pytest.raises(RuntimeError):
            for _ in range(MAX_WINDOWS + 1):
                recordings.append(started())
        assert len(recordings) == MAX_WINDOWS
        for recording in recordings:
            recording.stop()
        started().stop()

    def test_two_at_once_are_independent(self):
        first, second = started(), started()
        assert first.slot != second.slot
        first.stop()
        assert second.is_running
        second.stop()

    def test_stopping_from_many_threads_at_once_is_one_stop(self):
        for _ in range(20):
            recording = started()
            barrier = threading.Barrier(4)

            def stop(recording=recording, barrier=barrier):
                barrier.wait()
                recording.stop()
                recording.trace()

            threads = [threading.Thread(target=stop) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not recording.is_running


class TestOptions:
    @pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
    @pytest.mark.parametrize("native_threads", ["all", "attached", "none"])
    def test_are_taken(self, at_cap, native_threads):
        recording = started(max_bytes=1 << 24, at_cap=at_cap, native_threads=native_threads)
        recording.stop()
        assert json.loads(recording.trace().info()["options_json"])["at_cap"] == at_cap

    def test_unknown_words_name_the_known(self):
        with pytest.raises(ValueError, match="'stop' or 'keep_newest'"):
            _core.Recording(at_cap="never")
        with pytest.raises(ValueError, match="'all', 'attached' or 'none'"):
            _core.Recording(native_threads="some")


class TestMetadata:
    def test_before_while_and_after_recording(self):
        recording = _core.Recording(metadata_json='"from":"options"')
        assert recording.add_metadata("before", '{"a":[1,2]}')
        recording.start()
        assert recording.add_metadata('quote " \\ \n \U0001f525', '"x"')
        recording.stop()
        assert recording.add_metadata("after", "3")
        trace = Trace(recording.trace())
        metadata = dict(zip(trace.metadata.text("key"), trace.metadata.text("json"), strict=True))
        assert json.loads(metadata["from"]) == "options"
        assert json.loads(metadata["before"]) == {"a": [1, 2]}
        assert json.loads(metadata['quote " \\ \n \U0001f525']) == "x"
        assert json.loads(metadata["after"]) == 3

    def test_after_reading_it_is_too_late_and_says_so(self):
        recording = started()
        recording.stop()
        recording.trace()
        assert not recording.add_metadata("late", "1")


class TestCycles:
    def test_that_add_up_are_one_trace_and_those_that_do_not_are_apart(self):
        for adds_up, of_all in (True, 3), (False, 1):
            session = _core.Session()
            for cycle in range(3):
                recording = session.prepare(adds_up=adds_up, metadata_json=f'"cycle{cycle}":1')
                recording.start()
                assert recording.is_running
                recording.stop()
                assert recording.is_over
            assert recording.has_earlier == adds_up
            keys = [key for key in Trace(recording.whole_trace()).metadata.text("key") if key.startswith("cycle")]
            assert len(keys) == of_all
            alone = [key for key in Trace(recording.trace()).metadata.text("key") if key.startswith("cycle")]
            assert alone == ["cycle2"]

    def test_share_the_memory_and_the_oldest_give_way(self):
        session = _core.Session()
        for _ in range(4):
            recording = session.prepare(adds_up=True, at_cap="keep_newest", max_bytes=1 << 16)
            recording.start()
            recording.stop()
        assert Trace(recording.whole_trace()).info["recorded"] == 0

    def test_a_session_is_started_once_and_not_in_a_child(self):
        session = _core.Session()
        assert not session.is_started
        session.start()
        with pytest.raises(RuntimeError, match="started already"):
            session.start()
        child = os.fork()
        if child == 0:
            os._exit(int(session.is_started))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert session.is_started
        session.stop()
        assert not session.is_started


class TestProcess:
    def test_in_the_child_of_a_fork_every_call_is_harmless(self):
        recording = started()
        child = os.fork()
        if child == 0:
            try:
                assert not recording.is_running
                recording.stop()
                assert recording.counts()["recorded"] == 0
                assert not recording.add_metadata("key", "1")
                for call in (recording.start, recording.trace):
                    with pytest.raises(RuntimeError, match="parent process"):
                        call()
                own = started()  # the child may record by itself
                own.stop()
                own.trace()
                del recording
                gc.collect()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert recording.is_running
        recording.stop()
        recording.trace()

    @pytest.mark.parametrize(
        ("ending", "code"),
        [
            ("", 0),
            ("sys.exit(3)", 3),
            ("os._exit(4)", 4),
            ("raise SystemExit(5)", 5),
            ("import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(recording))", 0),  # never let go of
        ],
    )
    def test_ends_as_it_would_without_a_recording(self, ending, code):
        done = run_python(
            f"import os, sys\nfrom opscope import _core\nrecording = _core.Recording()\nrecording.start()\n{ending}"
        )
        assert (done.stdout, done.stderr, done.returncode) == (b"", b"", code)

    def test_an_uncaught_exception_looks_as_ever(self):
        program = "import opscope._core as c; s = c.Recording(); s.start(); 1 / 0"
        done = run_python(program)
        assert done.returncode == 1
        assert done.stderr.decode().splitlines()[-1] == "ZeroDivisionError: division by zero"

    def test_a_thread_that_outlives_the_recording_is_no_trouble(self):
        done = run_python(
            "import threading\n"
            "from opscope import _core\n"
            "go = threading.Event()\n"
            "threading.Thread(target=go.wait).start()\n"
            "recording = _core.Recording(); recording.start(); recording.stop(); recording.trace()\n"
            "del recording\n"
            "go.set()\n"
        )
        assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_a_thousand_recordings_grow_by_less_than_a_mebibyte():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def record(count):
        for _ in range(count):
            recording = started(max_bytes=1 << 24)
            recording.stop()
            recording.trace()
        gc.collect()

    record(100)
    before = resident()
    record(1000)
    assert resident() - before < 1 << 20


@pytest.mark.framework("torch")
class TestAdapter:
    def test_a_missing_library_is_named(self, tmp_path):
        with pytest.raises(Error, match=r"libopscope_torch_9_9\.so: cannot open shared object file") as caught:
            _core.torch.load_source(tmp_path / "libopscope_torch_9_9.so")
        assert caught.value.code == "unsupported"

    def test_a_library_that_is_no_adapter_is_refused(self):
        with pytest.raises(Error, match="is not a source"):
            _core.torch.load_source("libz.so.1")

    def test_a_flag_that_it_does_not_have_is_refused_with_those_it_has(self):
        from opscope.torch import source

        with pytest.raises(ValueError, match=r'the source torch has no flag "colours"; it has: inputs, all_threads'):
            _core.Recording(sources=[(source.adapter(), ["inputs", "colours"])])

    def test_a_file_that_is_no_library_is_refused(self, tmp_path):
        (tmp_path / "x.so").write_bytes(b"text")
        with pytest.raises(Error, match=r"x\.so"):
            _core.torch.load_source(tmp_path / "x.so")


@pytest.mark.framework("torch")
class TestTorch:
    @pytest.fixture
    def adapter(self):
        from opscope.torch import source

        return source.adapter()

    def test_operators_of_the_recording_are_recorded_and_no_others(self, adapter):
        import torch

        torch.ones(3) + 1
        recording = started(adapter=adapter, native_threads="attached")
        torch.mm(torch.ones(2, 2), torch.ones(2, 2))
        recording.stop()
        torch.relu(torch.ones(3))
        trace = Trace(recording.trace())
        names = list(trace.spans.text("name"))
        assert names.count("aten::mm") == 1
        assert {"aten::add", "aten::relu"}.isdisjoint(names)
        counts = recording.counts()
        assert (counts["recorded"], counts["dropped"]) == (len(names), 0)
        assert trace.info["recorded"] == len(names)

    def test_the_cap_holds_and_what_it_drops_is_counted(self, adapter):
        import torch

        totals = []
        for at_cap in ("stop", "keep_newest"):
            recording = started(adapter=adapter, native_threads="attached", max_bytes=1 << 20, at_cap=at_cap)
            one = torch.ones(1)
            for _ in range(100_000):
                torch.neg(one)
            recording.stop()
            counts = recording.counts()
            assert counts["dropped"] > 0
            assert counts["bytes"] <= (1 << 20) + 256 * 1024
            trace = Trace(recording.trace())
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

        recording = started(adapter=adapter)
        torch.ones(2)
        thread = threading.Thread(target=recording.stop)
        thread.start()
        thread.join()
        torch.relu(torch.ones(2))
        assert "aten::relu" not in Trace(recording.trace()).spans.text("name")

    def test_in_the_child_of_a_fork_operators_run_unrecorded(self, adapter):
        import torch

        recording = started(adapter=adapter)
        torch.ones(2)
        child = os.fork()
        if child == 0:
            try:
                torch.ones(2)
                recording.stop()
                del recording
                gc.collect()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        torch.relu(torch.ones(2))
        recording.stop()
        assert list(Trace(recording.trace()).spans.text("name")).count("aten::relu") == 1

    def test_an_open_recording_does_not_change_how_a_program_ends(self):
        for ending, code in [("", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4)]:
            done = run_python(
                "import os, sys, torch\n"
                "from opscope import _core\n"
                "from opscope.torch import source\n"
                "recording = _core.Recording(sources=[(source.adapter(), ['inputs'])])\n"
                f"recording.start()\ntorch.ones(2) + 1\n{ending}"
            )
            assert (done.stdout, done.stderr, done.returncode) == (b"", b"", code)
