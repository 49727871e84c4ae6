# SPDX-License-Identifier: Apache-2.0
"""Runs an original profiler's own tests twice, with the original and with opscope in its place, and compares.

The files are not part of this repository: OPSCOPE_UPSTREAM_TESTS names a folder that has them.
"""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import pytest

SIDES = ("original", "opscope")
SECONDS = 1200


def folder(subfolders, first_file):
    """Where the files are; skipped where OPSCOPE_UPSTREAM_TESTS is not set."""
    named = os.environ.get("OPSCOPE_UPSTREAM_TESTS")
    if not named:
        pytest.skip("OPSCOPE_UPSTREAM_TESTS names no folder with the original's profiler tests")
    for candidate in (pathlib.Path(named, subfolder) for subfolder in subfolders):
        if (candidate / first_file).exists():
            return candidate
    pytest.fail(f"OPSCOPE_UPSTREAM_TESTS={named} has no {first_file}", pytrace=False)


def run_file(path, framework, side, report):
    """{test: (outcome, message)} of a file with one of the profilers: "original" or "opscope"."""
    environment = os.environ | {
        "OPSCOPE_UPSTREAM_FRAMEWORK": framework,
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


def judge(theirs, ours, exceptions):
    """(tests that count, {test that fails here alone: message}, {test: why it may})."""
    counted, wrong, excused = [], {}, {}
    for name, (outcome, _) in theirs.items():
        if outcome != "passed":
            continue
        counted.append(name)
        mine, message = ours.get(name, ("missing", "the test did not run"))
        if mine == "passed":
            continue
        reason = exceptions.get(name.rpartition(".")[2])
        if reason is None and "errors.UnsupportedFeature: " in message:
            reason = message.partition("errors.UnsupportedFeature: ")[2].splitlines()[0]
        if reason is None:
            wrong[name] = f"{mine}: {message}"
        else:
            excused[name] = reason
    return counted, wrong, excused


def require_no_loss(path, framework, exceptions, tmp_path, capsys):
    """What passes with the original has to pass here, unless it is among ``exceptions`` (test -> why)."""
    if not path.exists():
        pytest.skip(f"{path.parent} has no {path.name}")
    with ThreadPoolExecutor() as pool:
        theirs, ours = pool.map(lambda side: run_file(path, framework, side, tmp_path / f"{side}.xml"), SIDES)
    counted, wrong, excused = judge(theirs, ours, exceptions)
    with capsys.disabled():
        here = len(counted) - len(wrong) - len(excused)
        print(f"\n{path.name}: {len(counted)} tests pass with the original, {here} here")
        for name, reason in sorted(excused.items()):
            print(f"  not expected to: {name} ({reason})")
        for name in sorted(wrong):
            print(f"  FAILS: {name}: {wrong[name].splitlines()[0]}")
    if not counted:
        why = next(
            (text.strip().splitlines()[-1] for what, text in theirs.values() if what == "failed"), "all are skipped"
        )
        pytest.skip(f"no test of {path.name} passes with the original itself: {why}")
    assert not wrong, "\n\n".join(f"{name}: {message}" for name, message in wrong.items())
