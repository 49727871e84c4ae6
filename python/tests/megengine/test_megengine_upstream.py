# SPDX-License-Identifier: Apache-2.0
"""MegEngine's own profiler tests against opscope.megengine.

They are not part of this repository: OPSCOPE_UPSTREAM_TESTS names a folder with `megengine/test_profiler.py`, or
MegEngine's sources, of the installed version. Each file runs with MegEngine's profiler and with opscope in its place.
"""

import pytest
from upstream import SIDES, folder, judge, require_no_loss, run_file

FOLDERS = ("megengine", "imperative/python/test/unit/utils")
FILES = ("test_profiler.py", "../jit/test_tracing.py", "test_tracing.py")


@pytest.mark.parametrize("file", FILES)
def test_what_passes_with_megengines_profiler_passes_with_opscope(file, tmp_path, capsys):
    path = folder(FOLDERS, FILES[0]) / file
    require_no_loss(path, "megengine", {}, tmp_path, capsys)


FAKE_MODULE = """
import os

import megengine as mge
import megengine.functional as F
import megengine.utils.profiler
from megengine.jit import trace
from megengine.utils.profiler import Profiler


class TestProfiler:
    def test_file(self, tmp_path):
        with Profiler(str(tmp_path)):
            F.add(mge.tensor([1.0]), 1)
        assert os.listdir(tmp_path) == [f"{os.getpid()}.chrome_timeline.json"]

    def test_whose(self):
        assert {each.__module__.partition(".")[0] for each in (Profiler, trace)} == {"megengine"}, "another profiler"
"""


def test_the_runner_puts_opscope_in_the_place_of_megengines_profiler(tmp_path):
    path = tmp_path / "test_profiler.py"
    path.write_text(FAKE_MODULE)
    theirs, ours = (run_file(path, "megengine", side, tmp_path / f"{side}.xml") for side in SIDES)
    counted, wrong, excused = judge(theirs, ours, {})
    assert sorted(counted) == ["TestProfiler.test_file", "TestProfiler.test_whose"]
    assert list(wrong) == ["TestProfiler.test_whose"] and "another profiler" in wrong["TestProfiler.test_whose"]
    assert excused == {}
