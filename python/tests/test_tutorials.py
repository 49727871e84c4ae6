# SPDX-License-Identifier: Apache-2.0
"""Each tutorial does what it says when it is followed to the letter (MegEngine's: megengine/test_tutorial.py)."""

import shutil
import subprocess

import pytest
from built import built
from tutorial import PAGES, follow

SLOW = PAGES.parents[1] / "examples" / "slow_training.py"
SLOW_RANK = PAGES.parents[1] / "examples" / "slow_rank.py"


def test_each_tutorial_is_followed_by_a_test():
    assert {page.name for page in PAGES.glob("*.md")} == {
        "cpp.md",
        "find_a_slow_rank.md",
        "make_training_faster.md",
        "megengine.md",
        "paddle.md",
        "pytorch.md",
    }


@pytest.mark.framework("torch")
def test_the_tutorial_of_pytorch(tmp_path):
    assert follow("pytorch.md", tmp_path) >= 6


@pytest.mark.framework("torch")
def test_the_tutorial_that_makes_training_faster(tmp_path):
    page = (PAGES / "make_training_faster.md").read_text()
    assert f'```python title="slow_training.py"\n{SLOW.read_text()}```' in page
    assert follow("make_training_faster.md", tmp_path, attempts=3) >= 9


@pytest.mark.framework("torch")
def test_the_tutorial_that_finds_a_slow_rank(tmp_path):
    pytest.importorskip("duckdb")
    page = (PAGES / "find_a_slow_rank.md").read_text()
    assert f'```python title="slow_rank.py"\n{SLOW_RANK.read_text()}```' in page
    assert follow("find_a_slow_rank.md", tmp_path, attempts=3) >= 7


@pytest.mark.framework("paddle")
def test_the_tutorial_of_paddle(tmp_path):
    assert follow("paddle.md", tmp_path) >= 4


def test_the_tutorial_of_cpp(tmp_path):
    build = built("CMakeCache.txt").parent
    if not (build / "opscope.pc").exists() or shutil.which("cmake") is None:
        pytest.skip("there is no build tree here to install from")
    prefix, folder = tmp_path / "prefix", tmp_path / "folder"
    folder.mkdir()
    for component in ("library", "development", "program"):
        command = ["cmake", "--install", build, "--prefix", prefix, "--component", component]
        subprocess.run(command, check=True, capture_output=True)
    libraries = next(prefix.glob("lib*/**/libopscope_recorder.so*")).parent
    path = f"{prefix / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    assert follow("cpp.md", folder, CMAKE_PREFIX_PATH=str(prefix), LD_LIBRARY_PATH=str(libraries), PATH=path) >= 4
