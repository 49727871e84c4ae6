# SPDX-License-Identifier: Apache-2.0
"""Paddle's own profiler tests against opscope.paddle.

They are not part of this repository: OPSCOPE_UPSTREAM_TESTS names a folder with `paddle/test_newprofiler.py`, or one of
Paddle's sources, of the installed version. Each file runs with paddle.profiler and with opscope in its place.
"""

import pytest
from upstream import SIDES, folder, judge, require_no_loss, run_file

pytestmark = pytest.mark.framework("paddle")

FILES = ("test_newprofiler.py", "test_profiler_statistic.py")


@pytest.mark.parametrize("file", FILES)
def test_what_passes_with_paddle_profiler_passes_with_opscope(file, tmp_path, capsys):
    path = folder(("paddle", "test/legacy_test"), FILES[0]) / file
    require_no_loss(path, "paddle", {}, tmp_path, capsys)


FAKE_MODULE = """
import unittest

import paddle
from paddle import profiler
from paddle.profiler import utils


class TestProfiler(unittest.TestCase):
    def test_result(self):
        with profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
            paddle.ones([2])
            assert utils._is_profiler_used
        assert prof.profiler_result.get_data() and not utils._is_profiler_used

    def test_whose(self):
        assert profiler.Profiler.__module__.startswith("paddle."), "another profiler"
"""


def test_the_runner_puts_opscope_in_the_place_of_paddles_profiler(tmp_path):
    path = tmp_path / "test_newprofiler.py"
    path.write_text(FAKE_MODULE)
    theirs, ours = (run_file(path, "paddle", side, tmp_path / f"{side}.xml") for side in SIDES)
    counted, wrong, excused = judge(theirs, ours, {})
    assert sorted(counted) == ["TestProfiler.test_result", "TestProfiler.test_whose"]
    assert list(wrong) == ["TestProfiler.test_whose"] and "another profiler" in wrong["TestProfiler.test_whose"]
    assert excused == {}
