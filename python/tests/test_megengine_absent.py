# SPDX-License-Identifier: Apache-2.0
"""Where MegEngine is not installed the package opscope.megengine says what to do, at the first name that needs it."""

import pathlib
import subprocess
import sys

import pytest
from conftest import is_installed

import opscope

PROGRAM = """
import sys
import opscope.megengine
print("megengine" in sys.modules, "Profiler" in dir(opscope.megengine))
try:
    from opscope.megengine import Profiler
except ModuleNotFoundError as error:
    print(error.name, "pip install megengine" in str(error))
try:
    opscope.megengine.nothing
except AttributeError as error:
    print(error)
"""


@pytest.mark.skipif(is_installed("megengine"), reason="megengine is installed")
def test_the_first_name_that_needs_megengine_says_what_to_do(tmp_path):
    package = pathlib.Path(opscope.__file__).parent.parent
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(package)})
    assert done.stdout.splitlines() == [
        "False True",
        "megengine True",
        "module 'opscope.megengine' has no attribute 'nothing'",
    ], done.stderr
