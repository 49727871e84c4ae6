# SPDX-License-Identifier: Apache-2.0
"""The environment of these tests: the MegEngine that tools/setup installs, and this tree's opscope beside it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_megengine_is_the_release_that_the_setup_names():
    import megengine

    wanted = re.search(r"^megengine_version=(.*)$", (ROOT / "tools/setup").read_text(), re.MULTILINE)[1]
    assert megengine.__version__ == wanted


def test_opscope_records_nothing_at_import():
    import megengine.utils.profiler

    import opscope

    assert not megengine.utils.profiler.is_profiling()
    assert pathlib.Path(opscope.__file__).resolve() == ROOT / "python/opscope/__init__.py"


def test_the_package_imports_no_megengine_before_it_is_used(run):
    program = "import sys, opscope.megengine; print('megengine' in sys.modules, callable(opscope.megengine.profile))"
    assert run(arguments=["-c", program]).printed.split()[-2:] == ["False", "True"]
