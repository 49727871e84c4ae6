# SPDX-License-Identifier: Apache-2.0
"""Peaks of memory in summary() against Paddle's own counters, which they are read from."""

import re

import pytest
from paddle_runs import run_code

pytestmark = pytest.mark.framework("paddle")

# The largest block of the window is taken while the others live.
PROGRAM = """
import contextlib, io
from paddle.base import core
import {module} as profiler
prof = profiler.Profiler(
    targets=[profiler.ProfilerTarget.CPU], profile_memory=True, on_trace_ready=lambda prof: None
)
kept = []
with prof:
    for rows in (64, 128, 1024):
        kept.append(paddle.ones([rows, 512]))
        paddle.add(kept[-1], kept[-1])
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    prof.summary()
counters = [core.host_memory_stat_peak_value(kind, 0) for kind in ("Allocated", "Reserved")]
print(json.dumps([printed.getvalue(), counters]))
"""


def peaks(module):
    """Of the printed summary, and of Paddle's counters after it: allocated, reserved."""
    text, counters = run_code(PROGRAM.format(module=module))
    shown = re.findall(r"^Peak (?:Allocated|Reserved) Memory: (\d+)$", text, re.MULTILINE)
    return [int(peak) for peak in shown], counters


def test_both_peaks_are_those_of_paddles_counters():
    shown, counters = peaks("opscope.paddle")
    assert shown == counters


def test_the_original_shows_a_reserved_peak_below_the_allocated_one():
    shown, counters = peaks("paddle.profiler")
    assert shown[0] == counters[0]
    assert shown[1] < shown[0] <= counters[1]
