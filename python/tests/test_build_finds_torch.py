# SPDX-License-Identifier: Apache-2.0
"""Which torch `pip install .` builds for: the one that the environment imports, though pip hides it from builds."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CMAKE = Path(__file__).parents[2] / "cmake"
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(asks LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH "{CMAKE}")
include(FindInstalledTorch)
message(STATUS "found=[${{OPSCOPE_TORCH_DIR}}]")
"""
# What pip's own does in an isolated build: everything that is installed goes from the path.
HIDE = """
import os, sys
sys.path[:] = [entry for entry in sys.path if not os.path.exists(os.path.join(entry, "torch"))]
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A Python installation of its own, made of links: (program, folder of its packages)."""
    folder = tmp_path_factory.mktemp("base")
    stdlib = Path(sysconfig.get_path("stdlib"))
    here = folder / sysconfig.get_config_var("platlibdir") / stdlib.name
    if here.relative_to(folder) != stdlib.relative_to(sys.base_prefix):
        pytest.skip(f"{stdlib} is an unusual place for a standard library")
    here.mkdir(parents=True)
    for entry in stdlib.iterdir():
        if entry.name not in ("site-packages", "dist-packages"):
            (here / entry.name).symlink_to(entry)
    (folder / "bin").mkdir()
    program = folder / "bin" / f"python3.{sys.version_info.minor}"
    shutil.copy2(os.path.realpath(sys.executable), program)
    code = "import site, sys; print(sys.base_prefix, *site.getsitepackages(), sep='\\n')"
    told = subprocess.run([program, "-I", "-c", code], capture_output=True, text=True)
    if told.returncode != 0 or told.stdout.splitlines()[0] != str(folder):
        pytest.skip(f"this Python cannot be moved: {told.stdout}{told.stderr}")
    return program, Path(told.stdout.splitlines()[1])


def make_torch(folder):
    """As much of a torch as the build looks for."""
    header = folder / "torch" / "include" / "ATen" / "record_function.h"
    header.parent.mkdir(parents=True)
    header.touch()
    (folder / "torch" / "__init__.py").write_text("raise ImportError('not to be imported')\n")
    return str(folder / "torch")


def environment(base, folder, *options):
    subprocess.run([base[0], "-m", "venv", "--without-pip", *options, folder], check=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    told = subprocess.run([folder / "bin/python", "-I", "-c", code], capture_output=True, text=True, check=True)
    return folder / "bin/python", Path(told.stdout.strip())


def found_by(python, tmp_path):
    """The torch that a build with this interpreter takes, in an environment as pip's."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on this machine")
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "sitecustomize.py").write_text(HIDE)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    include = sysconfig.get_path("include")
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DPython_EXECUTABLE={python}"]
    command.append(f"-DPython_INCLUDE_DIR={include}")
    told = {**os.environ, "PYTHONPATH": str(overlay), "PYTHONNOUSERSITE": "1"}
    hidden = subprocess.run([python, "-c", "import torch"], env=told, capture_output=True, text=True)
    assert "No module named 'torch'" in hidden.stderr  # as in pip's
    done = subprocess.run(command, env=told, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.partition("found=[")[2].partition("]")[0]


def test_a_torch_beside_the_interpreter_is_found(base, tmp_path):
    python, packages = environment(base, tmp_path / "venv")
    torch = make_torch(packages)
    assert found_by(python, tmp_path) == torch


def test_a_torch_of_the_system_is_found_where_the_environment_shares_it(base, tmp_path):
    torch = make_torch(base[1])
    try:
        python, _ = environment(base, tmp_path / "venv", "--system-site-packages")
        assert found_by(python, tmp_path) == torch
        (tmp_path / "apart").mkdir()
        python, _ = environment(base, tmp_path / "other")
        assert found_by(python, tmp_path / "apart") == ""  # this environment cannot import it
    finally:
        shutil.rmtree(torch)


def test_a_torch_that_a_pth_file_leads_to_is_found(base, tmp_path):
    python, packages = environment(base, tmp_path / "venv")
    torch = make_torch(tmp_path / "elsewhere")
    (packages / "more.pth").write_text(f"{tmp_path / 'elsewhere'}\n")
    assert found_by(python, tmp_path) == torch


def test_a_torch_without_headers_is_none(base, tmp_path):
    python, packages = environment(base, tmp_path / "venv")
    shutil.rmtree(Path(make_torch(packages)) / "include")
    assert found_by(python, tmp_path) == ""
