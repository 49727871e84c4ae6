# SPDX-License-Identifier: Apache-2.0
"""``pytest --opscope`` records a test of MegEngine, step by step, and leaves no file of MegEngine's profiler."""

import pytest

pytest_plugins = "pytester"
pytestmark = pytest.mark.framework("megengine")

TESTS = """
import megengine as mge, megengine.functional as F, megengine.utils.profiler, opscope.megengine, pytest

value = mge.tensor([1.0, 2.0])

@pytest.mark.opscope(max={"op_count:OpDispatch": 2})
def test_part(opscope_profile):
    with opscope_profile(stack=True):
        for _ in range(3):
            F.exp(value).numpy()
            opscope_profile.step()
    assert [row["step"] for row in opscope_profile.trace.steps_summary()] == [0, 1, 2]
    assert type(opscope_profile.profiler).__mro__[1].__module__ == "opscope.megengine.profiler"

@pytest.mark.opscope(min={"spans": 1}, max={"op_count:OpDispatch": 0})
def test_whole():
    F.exp(value).numpy()

@pytest.mark.opscope(min={"spans": 1})
@pytest.mark.parametrize("module", [megengine.utils.profiler, opscope.megengine])
def test_own(module):
    with module.Profiler():
        F.exp(value).numpy()
"""


def test_test_is_recorded_as_a_whole_or_in_the_block_of_the_fixture(pytester):
    pytester.makepyfile(test_speed=TESTS)
    done = pytester.runpytest_subprocess("-p", "no:opscope", "-p", "opscope.integrations.pytest_plugin", "--opscope")
    done.assert_outcomes(failed=4)  # MegEngine has one profiler at a time
    done.stdout.fnmatch_lines(
        ["opscope: op_count of OpDispatch is 3, more than 2", "opscope: op_count of OpDispatch is 1, more than 0"]
    )
    assert not (pytester.path / "profile").exists()  # the folder that MegEngine's Profiler writes into by default
