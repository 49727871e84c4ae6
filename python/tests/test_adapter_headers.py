# SPDX-License-Identifier: Apache-2.0
"""The adapter compiles for the oldest and the newest torch of which `make test-torches` has left the headers."""

import pathlib
import re
import shutil
import subprocess

import pytest

from opscope.adapters import build, torch_adapter
from opscope.adapters.compiler import Compiler
from opscope.adapters.torch_build import read_torch

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "build" / "torches" / "headers"


def torch_folders():
    """Of the oldest and the newest."""
    found = sorted(HEADERS.glob("*/torch"), key=lambda folder: [*map(int, re.findall(r"\d+", folder.parent.name)[:3])])
    return {"oldest": found[0], "newest": found[-1]} if found else {}


@pytest.mark.parametrize("unit", ["adapter", "beside"])
@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_the_adapter_compiles(which, unit, tmp_path):
    folder = torch_folders().get(which)
    if folder is None:
        pytest.skip(f"{HEADERS} holds no headers of torch; make test-torches leaves some there")
    if shutil.which("g++") is None:
        pytest.skip("no g++ on this machine")
    torch = read_torch(folder)
    compiler = Compiler(("g++",), "g++")
    recipe = torch_adapter.recipe(torch, compiler)
    (found,) = [one for one in recipe.units() if one[0] == unit]
    command = build.compile_command(recipe, compiler, *found, tmp_path)
    done = subprocess.run([*command, "-fsyntax-only"], capture_output=True, text=True)
    assert done.returncode == 0, f"torch {torch.version}: {done.stderr[:3000]}"
