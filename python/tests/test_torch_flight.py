# SPDX-License-Identifier: Apache-2.0
"""opscope.torch.profile as a flight recorder."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

import pytest
from waiting import wait_for

pytestmark = pytest.mark.framework("torch")


def open_names(path):
    import opscope

    spans = opscope.open(path).spans
    return [name for name, flags in zip(spans.text("name"), spans["flags"], strict=True) if flags & 1]


def dump_facts(path):
    import opscope

    return opscope.open(path).info["options"]["dump"]


def await_dumps(prof, count):
    wait_for(lambda: len(prof.dumps) >= count)


def is_handled(number):
    """By anybody, in C: what signal.getsignal says is Python's view."""
    (mask,) = re.findall(r"SigCgt:\s*(\w+)", pathlib.Path("/proc/self/status").read_text())
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_dump_shows_the_operators_and_the_ranges_that_are_open(tmp_path):
    import torch

    import opscope
    from opscope.torch import profile, record_function

    with profile(at_cap="keep_newest") as prof:
        with record_function("outer"):
            torch.neg(torch.ones(3))
            with record_function("inner"):
                path = prof.dump(tmp_path / "now.opscope")
        torch.neg(torch.ones(3))
    assert path == str(tmp_path / "now.opscope")
    assert prof.dumps == [path]
    assert open_names(path) == ["outer", "inner"]
    assert list(opscope.open(path).spans.text("name")).count("aten::neg") == 1
    assert sum(row.count for row in prof.key_averages() if row.key == "aten::neg") == 2


def told_by_info(path, *options):
    done = subprocess.run([sys.executable, "-m", "opscope", "info", *options, path], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_info_says_why_a_dump_was_written_and_what_was_open_on_each_thread(tmp_path):
    import torch

    from opscope.torch import profile, record_function

    entered, leave = threading.Event(), threading.Event()

    def work():
        torch.neg(torch.ones(3))
        with record_function("waits for data"):
            entered.set()
            leave.wait()

    config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    asked = {"dump_on_signal": signal.SIGUSR1, "dump_on_exception": True, "experimental_config": config}
    with profile(dump_to=tmp_path / "f.opscope", **asked) as prof:
        with record_function("outer"), record_function('inner "\n"'):
            worker = threading.Thread(target=work, name="loader")
            worker.start()
            entered.wait()
            os.kill(os.getpid(), signal.SIGUSR1)
            await_dumps(prof, 1)
            leave.set()
            worker.join()
        prof._session.exception_leaves(KeyError)
    told = told_by_info(prof.dumps[0])
    assert re.search(r"^Dumped +the signal SIGUSR1 came \(dump 1, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)$", told, re.M)
    assert re.search(r'^Open on thread .*\n +[\d.]+ \w+  outer\n +[\d.]+ \w+   inner "\\x0a"$', told, re.M)
    known = json.loads(told_by_info(prof.dumps[0], "--json"))
    assert known["dump"]["reason"] == "signal" and known["dump"]["detail"] == "SIGUSR1"
    assert known["dump"]["why"] == "the signal SIGUSR1 came" and known["dump"]["number"] == 1
    assert abs(int(known["dump"]["unix_ns"]) / 1e9 - os.path.getmtime(prof.dumps[0])) < 60
    opened = [[span["name"] for span in thread["spans"]] for thread in known["open"]]
    assert sorted(opened) == [["outer", 'inner "\n"'], ["waits for data"]]
    assert all(span["open_ns"] > 0 for thread in known["open"] for span in thread["spans"])
    assert "KeyError left the recorded block, or was not caught (dump 2, " in told_by_info(prof.dumps[1])
    prof.save(tmp_path / "whole.opscope")
    whole = told_by_info(tmp_path / "whole.opscope")
    assert "Dumped" not in whole and "Open on" not in whole
    assert {"dump", "open"}.isdisjoint(json.loads(told_by_info(tmp_path / "whole.opscope", "--json")))


@pytest.mark.filterwarnings("ignore:Profiler won.t be using warmup")
def test_a_signal_between_two_cycles_of_a_schedule_does_no_harm(tmp_path):
    import torch

    from opscope.torch import profile, schedule

    with profile(
        schedule=schedule(wait=1, warmup=0, active=1), dump_to=tmp_path / "f.opscope", dump_on_signal=signal.SIGUSR1
    ) as prof:
        os.kill(os.getpid(), signal.SIGUSR1)  # in the wait: nothing to dump, and the process goes on
        prof.step()
        torch.ones(3)
        os.kill(os.getpid(), signal.SIGUSR1)
        # A thread writes the dumps. On a busy machine it takes the first signal up only after the step has begun to be
        # recorded, before the span of the step or while the operator runs: then that dump comes before the other.
        wait_for(lambda: prof.dumps and open_names(prof.dumps[-1]) == ["ProfilerStep#1"])
        prof.step()
    assert 1 <= len(prof.dumps) <= 2
    assert [dump_facts(path)["reason"] for path in prof.dumps] == ["signal"] * len(prof.dumps)


def test_an_exception_that_leaves_the_block_is_dumped(tmp_path):
    from opscope.torch import profile

    with pytest.raises(KeyError):
        with profile(dump_to=tmp_path / "f.opscope", dump_on_exception=True) as prof:
            raise KeyError("x")
    assert dump_facts(prof.dumps[0])["detail"] == "KeyError"
    with profile(dump_to=tmp_path / "f.opscope", dump_on_exception=True) as quiet:
        pass
    assert quiet.dumps == []


def test_a_recording_without_start_and_stop_has_its_dumps_too(tmp_path):
    from opscope.torch import _KinetoProfile

    prof = _KinetoProfile(dump_to=tmp_path / "f.opscope", dump_on_signal=signal.SIGUSR1)
    assert not is_handled(signal.SIGUSR1)
    prof.prepare_trace()
    prof.start_trace()
    assert is_handled(signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    await_dumps(prof, 1)
    prof.stop_trace()
    assert dump_facts(prof.dumps[0])["detail"] == "SIGUSR1"
    assert not is_handled(signal.SIGUSR1)


def test_arguments_that_make_no_sense_are_refused(tmp_path):
    from opscope.torch import profile

    with pytest.raises(ValueError, match="dump_to="):
        profile(dump_on_exception=True)
    with pytest.raises(RuntimeError, match="nothing is being recorded"):
        profile().dump(tmp_path / "x.opscope")


def test_the_example_finds_the_hang(tmp_path):
    from examples_path import EXAMPLES
    from test_torch_examples import run_program

    out, _ = run_program((EXAMPLES / "torch_flight_recorder.py").read_text(), tmp_path)
    assert re.findall(r"flight-PID-(\d)\.opscope: open were (.*)", out) == [
        ("1", "wait for a batch"),
        ("2", "checkpoint"),
    ]


def test_the_documentation_quotes_the_example():
    from examples_path import EXAMPLES

    page = (EXAMPLES.parent / "docs" / "how-to" / "keep_the_newest_events.md").read_text()
    assert (EXAMPLES / "torch_flight_recorder.py").read_text().split("    # [flight]\n")[1] in page


CHAINED = """
import faulthandler, os, signal, time
from opscope.torch import profile

folder = FOLDER

def window():
    return profile(at_cap="keep_newest", dump_on_signal=signal.SIGUSR2, dump_to=folder + "/f.opscope")

log = open(folder + "/threads.txt", "w+")
first = window()
first.start()
faulthandler.register(signal.SIGUSR2, file=log, chain=True)  # calls opscope's handler by raising the signal again
first.stop()
for second in (window(), window()):
    with second:
        for dumps in (1, 2):
            os.kill(os.getpid(), signal.SIGUSR2)
            end = time.monotonic() + 60
            while len(second.dumps) < dumps and time.monotonic() < end:
                time.sleep(0.001)
    print(len(second.dumps), log.seek(0) == 0 and "most recent call first" in log.read())
    log.truncate(0)
    faulthandler.unregister(signal.SIGUSR2)
"""


def test_a_handler_that_raises_the_signal_again_may_stay_between_windows(tmp_path):
    from test_torch_examples import run_program

    out, _ = run_program(CHAINED.replace("FOLDER", repr(str(tmp_path))), tmp_path)
    assert out.splitlines() == ["2 True", "2 False"]
