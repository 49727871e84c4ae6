# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own profiler tests against opscope.torch.

They are not part of this repository: OPSCOPE_UPSTREAM_TESTS names a folder with the test files of the installed
version (`test/profiler` of PyTorch's sources, or a folder that contains it). Each file runs twice, with
torch.profiler and with opscope in its place; what passes there has to pass here, unless it is listed below.
"""

import pytest
from upstream import SIDES, folder, judge, require_no_loss, run_file

pytestmark = pytest.mark.framework("torch")

FILES = (
    "test_profiler.py",
    "test_record_function.py",
    "test_memory_profiler.py",
    "test_execution_trace.py",
    "test_python_tracer.py",
)

# Test -> why it cannot pass here; docs/reference/torch.md says the same to users.
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
# Besides, a test that raises UnsupportedFeature is listed and does not count as a fault.


@pytest.mark.parametrize("file", FILES)
def test_what_passes_with_torch_profiler_passes_with_opscope(file, tmp_path, capsys):
    path = folder(("", "profiler", "test/profiler", "torch"), FILES[0]) / file
    require_no_loss(path, "torch", EXCEPTIONS, tmp_path, capsys)


FAKE_MODULE = """
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
    path.write_text(FAKE_MODULE)
    theirs, ours = (run_file(path, "torch", side, tmp_path / f"{side}.xml") for side in SIDES)
    counted, wrong, excused = judge(theirs, ours, EXCEPTIONS)
    assert sorted(counted) == ["TestProfiler.test_counts", "TestProfiler.test_whose"]
    assert list(wrong) == ["TestProfiler.test_whose"] and "another profile" in wrong["TestProfiler.test_whose"]
    assert excused == {}
