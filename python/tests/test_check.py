# SPDX-License-Identifier: Apache-2.0
"""Limits of metrics in Python are those of the command line."""

import json

import pytest
from opscope_command import answer

import opscope

LIMITS = {
    "step_p50_ns": {"max_increase": "5%", "max": 2_000_000},
    "op_self_ns:aten::mm": {"max_increase": 5000.5, "min": 1},
    "op_count:gone": {"max": 0},
    "peak_memory_bytes": {"max_decrease": "1%"},
    "spans": {"min": 6, "max": 5},
}


def run_bytes(step_us):
    events = []
    for step in range(3):
        events.append({"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 2000 * step, "dur": step_us})
        events.append({"cat": "cpu_op", "name": "aten::mm", "ts": 2000 * step, "dur": step_us / 2})
    return json.dumps([{"ph": "X", "pid": 1, "tid": 1} | event for event in events]).encode()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The baseline and a slower run."""
    folder = tmp_path_factory.mktemp("check")
    for name, step_us in (("main.json", 1000), ("slow.json", 1060)):
        (folder / name).write_bytes(run_bytes(step_us))
    return [folder / "main.json", folder / "slow.json"]


def printed_by_the_command(slow, baseline, limits):
    options = []
    for metric, kinds in limits.items():
        for kind, number in kinds.items():
            options += ["--" + kind.replace("_", "-"), f"{metric}={number}"]
    return answer("check", slow, "--baseline", baseline, *options, code=None)


def test_rows_are_those_that_the_command_line_prints(files):
    main, slow = files
    printed = printed_by_the_command(slow, main, LIMITS)
    trace = opscope.open(slow)
    for baseline in (main, str(main), opscope.open(main), [main]):
        result = trace.check(LIMITS, baseline=baseline)
        assert list(result) == printed["rows"]
        assert result.passed is printed["passed"] is False
    assert all(isinstance(row["passed"], bool) for row in result)
    assert [row["passed"] for row in result] == [False, True, False, True, True, False, True, False]
    assert result.crossed[0] == "step_p50_ns is 1060000, more than 1050000 (baseline 1000000 + 5%)"


def test_numbers_of_numpy_are_limits(files):
    numpy = pytest.importorskip("numpy")
    trace = opscope.open(files[0])
    for kind in (numpy.float64, numpy.float32, numpy.int64, numpy.uint8):
        (row,) = trace.check({"spans": {"max": kind(6)}})
        assert (row["limit"], row["passed"]) == (6.0, True), kind


def test_files_of_one_job_are_a_baseline(files):
    result = opscope.open(files[1]).check({"spans": {"max_decrease": 6}}, baseline=files)
    assert result[0]["baseline"] == 12 and result.passed


def test_a_run_that_keeps_its_limits_passes(files):
    result = opscope.open(files[1]).check({"step_p50_ns": {"max_increase": "6%"}}, baseline=files[0])
    assert result.passed and result.crossed == []


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "no limit"),
        ({"planets": {"max": 3}}, "no metric 'planets'"),
        ({"spans": {"most": 3}}, "no limit 'most'"),
        ({"spans": {"max": "5%"}}, "not a number"),
        ({"spans": {"max": float("nan")}}, "not a number"),
        ({"spans:a": {"max": 3}}, "takes no name"),
        ({"op_count": {"max": 3}}, "lacks the name"),
        ({"spans": {"max_increase": 3}}, "needs a baseline"),
    ],
)
def test_wrong_limits_are_refused(files, limits, message):
    with pytest.raises(ValueError, match=message):
        opscope.open(files[0]).check(limits)


def test_wrong_types_are_refused(files):
    trace = opscope.open(files[0])
    for limits in ({"spans": 3}, {"spans": {}}, {"spans": {"max": True}}, {"spans": {"max": None}}):
        with pytest.raises(TypeError):
            trace.check(limits)
    with pytest.raises(TypeError, match="a baseline is"):
        trace.check({"spans": {"max": 3}}, baseline=[trace])
    with pytest.raises(FileNotFoundError):
        trace.check({"spans": {"max": 3}}, baseline="no/such/file")
