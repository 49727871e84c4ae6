# SPDX-License-Identifier: Apache-2.0
"""Recordings of a real GPU (tests/recorded_on_gpu): planted faults, their clean twins, and the peaks of the device."""

import sys
from pathlib import Path

import pytest

import opscope

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "recorded_on_gpu"
sys.path.insert(0, str(ROOT / "tools"))
import gpu_traces  # noqa: E402  (the folder of tools is no package)

PLANTED = ("sync_points", "host_device_copies", "launch_bound", "input_starvation", "device_allocations")


def recorded(name):
    return opscope.open(str(RECORDED / f"{name}.opscope"))


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_of_a_gpu_program_is_the_one_finding(fault):
    (finding,) = recorded(fault).advise()
    assert finding["kind"] == fault and finding["saving_ns"] > 0


@pytest.mark.parametrize("program", ["clean", "overlapped", "training"])
def test_a_program_that_keeps_its_gpu_busy_has_no_finding(program):
    assert list(recorded(program).advise()) == []


def test_steps_of_the_host_that_runs_ahead_do_not_show_runs_of_the_device():
    """A run of kernels counts within a step; here the kernels of all steps run after the last one has begun."""
    assert list(recorded("pointwise_behind").advise()) == []


def test_no_operator_exceeds_the_peak_of_the_device():
    rows = recorded("training").roofline()
    shares = {row["name"]: row["peak_share"] for row in rows if row["peak_share"] is not None}
    assert max(shares.values()) <= 1
    assert shares["aten::mm"] > 0.5 and shares["aten::gelu"] > 0.8
    peaks = {(row["name"], row["dtype"]): row["peak_flops"] for row in rows}
    assert peaks["aten::conv2d", "float"] == 494.7e12  # cuDNN computes it in TF32
    assert peaks["aten::addmm", "float"] == 67e12
    assert peaks["aten::mm", "c10::BFloat16"] == 989.5e12


def test_nearly_all_of_a_training_steps_device_time_has_known_costs():
    rows = recorded("training").roofline()
    known = sum(row["time_ns"] for row in rows if row["flops"] is not None and row["bytes"] is not None)
    assert known / sum(row["time_ns"] for row in rows) > 0.98


def test_two_streams_are_as_torch_profiler_has_them():
    ours, theirs = (
        gpu_traces.facts_of(gpu_traces.read_trace(RECORDED / f"streams.{side}.json.gz"))
        for side in ("opscope", "torch")
    )
    assert ours.works == 40
    missed = [check for check in gpu_traces.compare(ours, theirs, most_apart=0.1) if not check.holds]
    assert missed == []
