# SPDX-License-Identifier: Apache-2.0
"""Stacks are torch.profiler's on every supported Python: the tests that say so, run there beside its own torch.

``make test-pythons`` makes the environments and names them in ``OPSCOPE_PYTHONS``, programs separated by ``:``. Each
needs torch and pytest. Where none is named for a version its case is skipped; with ``OPSCOPE_REQUIRE_FRAMEWORKS=torch``
and some named, one that lacks torch fails.
"""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import opscope
from opscope import _core

TESTS = pathlib.Path(__file__).parent
FILES = (
    "test_torch_call_stacks.py",
    "test_torch_python_calls.py",
    "test_torch_event_tree.py",
    "test_torch_activity_types.py",
    "test_torch_experimental_config.py",
    "test_torch_overhead.py",
)
LIMIT_S = 900


@functools.cache
def version_of(program):
    told = subprocess.run(
        [program, "-c", "import sys; print('{}.{}'.format(*sys.version_info))"], capture_output=True, text=True
    )
    return told.stdout.strip()


def program_of(version):
    named = [program for program in os.environ.get("OPSCOPE_PYTHONS", "").split(os.pathsep) if program]
    found = [program for program in named if version_of(program) == version]
    if not found:
        pytest.skip(f"OPSCOPE_PYTHONS names no Python {version}; make test-pythons does")
    if subprocess.run([found[0], "-c", "import torch, pytest"], capture_output=True).returncode != 0:
        reason = f"{found[0]} has no torch or no pytest"
        if "torch" in os.environ.get("OPSCOPE_REQUIRE_FRAMEWORKS", "").split(","):
            pytest.fail(f"{reason}, and OPSCOPE_REQUIRE_FRAMEWORKS asks for it", pytrace=False)
        pytest.skip(reason)
    return found[0]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package alone, without what else lies beside it."""
    folder = tmp_path_factory.mktemp("package")
    for origin in {pathlib.Path(_core.__file__).parent, pathlib.Path(opscope.__file__).parent}:
        shutil.copytree(origin, folder / "opscope", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
def test_stacks_are_torchs_on_this_python(version, package, tmp_path):
    program = program_of(version)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": str(package),
        "OPSCOPE_CACHE": str(tmp_path / "cache"),
        "OPSCOPE_REQUIRE_FRAMEWORKS": "torch",
    }
    done = subprocess.run(
        [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(TESTS / name) for name in FILES)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    print(f"Python {version}: {done.stdout.splitlines()[-1] if done.stdout else ''}", file=sys.stderr)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
