# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own profiler tests against opscope.torch.

They are not part of this repository: OPSCOPE_UPSTREAM_TESTS names a folder with the test files of the installed
version (`test/profiler` of PyTorch's sources, or a folder that contains it). Each file runs twice, with
torch.profiler and with opscope in its place; what passes there has to pass here, unless it is listed below.
"""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.framework("torch")

FILES = (
    "test_profiler.py",
    "test_record_function.py",
    "test_memory_profiler.py",
    "test_execution_trace.py",
    "test_python_tracer.py",
)
SIDES = ("torch", "opscope")
SECONDS = 1200

# Test -> why it cannot pass here; docs/torch.md says the same to users.
_KEPT = "keyword values that torch's file replaces or leaves out (quotes, mixed lists) are kept"
_NUMBER = "it looks for addresses of tensors, where impl_ptr is a number of the object"
_BY_ADDRESS = (
    *("simple_fwd", "simple_fwd_bwd", "simple_fwd_bwd_step", "sequential_fwd", "sequential_fwd_bwd"),
    *("simple_module_fwd", "simple_module_fwd_bwd", "simple_module_fwd_bwd_step"),
)
EXCEPTIONS = {
    **{f"test_categories_e2e_{name}": _NUMBER for name in _BY_ADDRESS},
    "test_profiler_type": "asks torch's own state which profiler is active",
    "test_profiler_op_event_kwargs": _KEPT,
    "test_profiler_op_event_kwargs_list_of_strings": _KEPT,
}
# Besides, what raises UnsupportedFeature is told and does not count as a fault.


def folder():
    """Where the files are, or why they are not."""
    named = os.environ.get("OPSCOPE_UPSTREAM_TESTS")
    if not named:
        pytest.skip("OPSCOPE_UPSTREAM_TESTS names no folder with PyTorch's profiler tests")
    for candidate in (pathlib.Path(named), pathlib.Path(named, "profiler"), pathlib.Path(named, "test", "profiler")):
        if (candidate / FILES[0]).exists():
            return candidate
    pytest.fail(f"OPSCOPE_UPSTREAM_TESTS={named} has no {FILES[0]}", pytrace=False)


def run_file(path, side, report):
    """{test: (outcome, message)} of a file with one of the profilers."""
    environment = os.environ | {
        "OPSCOPE_UPSTREAM_SIDE": side,
        "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        "KINETO_LOG_LEVEL": "6",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "upstream_plugin", "-p", "no:cacheprovider"]
    command += [f"--junitxml={report}", f"--rootdir={path.parent}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS, cwd=report.parent)
    if not report.exists():
        raise AssertionError(
            f"{path.name} with {side} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return read_report(report)


def read_report(report):
    outcomes = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        bad = next((child for kind in ("failure", "error") for child in case.findall(kind)), None)
        if bad is not None:
            outcomes[name] = "failed", f"{bad.get('message')}\n{bad.text}"
        elif case.find("skipped") is not None:
            outcomes[name] = "skipped", case.find("skipped").get("message")
        else:
            outcomes[name] = "passed", ""
    return outcomes


def judge(theirs, ours):
    """(tests that count, {test that fails here alone: message}, {test: why it may})."""
    counted, wrong, excused = [], {}, {}
    for name, (outcome, _) in theirs.items():
        if outcome != "passed":
            continue
        counted.append(name)
        mine, message = ours.get(name, ("missing", "the test did not run"))
        if mine == "passed":
            continue
        reason = EXCEPTIONS.get(name.rpartition(".")[2])
        if reason is None and "errors.UnsupportedFeature: " in message:
            reason = message.partition("errors.UnsupportedFeature: ")[2].splitlines()[0]
        if reason is None:
            wrong[name] = f"{mine}: {message}"
        else:
            excused[name] = reason
    return counted, wrong, excused


@pytest.mark.parametrize("file", FILES)
def test_what_passes_with_torch_profiler_passes_with_opscope(file, tmp_path, capsys):
    path = folder() / file
    if not path.exists():
        pytest.skip(f"{path.parent} has no {file}")
    with ThreadPoolExecutor() as pool:
        theirs, ours = pool.map(lambda side: run_file(path, side, tmp_path / f"{side}.xml"), SIDES)
    counted, wrong, excused = judge(theirs, ours)
    with capsys.disabled():
        print(
            f"\n{file}: {len(counted)} tests pass with torch.profiler, {len(counted) - len(wrong) - len(excused)} here"
        )
        for name, reason in sorted(excused.items()):
            print(f"  not expected to: {name} ({reason})")
        for name in sorted(wrong):
            print(f"  FAILS: {name}: {wrong[name].splitlines()[0]}")
    if not counted:
        why = next(
            (text.strip().splitlines()[-1] for what, text in theirs.values() if what == "failed"), "all are skipped"
        )
        pytest.skip(f"no test of {file} passes with torch.profiler itself: {why}")
    assert not wrong, "\n\n".join(f"{name}: {message}" for name, message in wrong.items())


STAND_IN = """
import unittest

import torch
from torch.profiler import profile


class TestProfiler(unittest.TestCase):
    def test_counts(self):
        with profile() as prof:
            torch.ones(2).neg()
        assert [event.name for event in prof.events()].count("aten::neg") == 1

    def test_whose(self):
        assert profile.__module__.startswith("torch."), "another profile"

    def test_fails_everywhere(self):
        assert False
"""


def test_the_runner_tells_what_fails_here_alone(tmp_path):
    """On a file of its own: the plugin replaces the profiler, and only differences count."""
    path = tmp_path / "test_profiler.py"
    path.write_text(STAND_IN)
    theirs, ours = (run_file(path, side, tmp_path / f"{side}.xml") for side in SIDES)
    counted, wrong, excused = judge(theirs, ours)
    assert sorted(counted) == ["TestProfiler.test_counts", "TestProfiler.test_whose"]
    assert list(wrong) == ["TestProfiler.test_whose"] and "another profile" in wrong["TestProfiler.test_whose"]
    assert excused == {}
