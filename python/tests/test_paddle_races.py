# SPDX-License-Identifier: Apache-2.0
"""opscope.paddle records the programs in which Paddle's own recorder corrupts the heap (paddle_recorder_races.py)."""

import pathlib

import pytest
from paddle_runs import run_python

pytestmark = pytest.mark.framework("paddle")

RACES = pathlib.Path(__file__).with_name("paddle_recorder_races.py")


@pytest.mark.parametrize("program", ["first", "windows"])
def test_programs_that_paddles_recorder_ends_go_on(program):
    assert run_python([str(RACES), program, "opscope.paddle", "2"]) == {"0": 2}
