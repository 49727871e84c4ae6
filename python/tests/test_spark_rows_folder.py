# SPDX-License-Identifier: Apache-2.0
"""Folders of rows that a killed driver left in a JOB are removed, and those of others are not."""

import os
import subprocess
import sys
import time

import pytest

from opscope.spark.rows_folder import RowsFolder, remove_abandoned

OWNER = """
import sys
from pathlib import Path
from opscope.spark.rows_folder import RowsFolder
folder = RowsFolder(sys.argv[1])
rows = Path(folder.path_of("job_ranks"))
rows.mkdir()
print(rows.parent, flush=True)
sys.stdin.read()
"""
DAY_S = 24 * 60 * 60


@pytest.fixture(name="owner")
def owner_fixture(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        yield owner
        owner.kill()


def age(folder, seconds):
    os.utime(folder, (time.time() - seconds,) * 2)


def test_the_folder_of_a_killed_driver_is_removed(owner, tmp_path):
    folder = owner.stdout.readline().strip()
    owner.kill()
    owner.wait()
    assert os.listdir(tmp_path) == [os.path.basename(folder)]
    remove_abandoned(tmp_path)
    assert not os.listdir(tmp_path)


def test_the_folder_of_a_driver_that_runs_stays(owner, tmp_path):
    folder = owner.stdout.readline().strip()
    remove_abandoned(tmp_path)
    age(folder, 2 * DAY_S)
    remove_abandoned(tmp_path)
    assert sorted(os.listdir(folder)) == ["_owner", "job_ranks"]


@pytest.mark.parametrize("owner_text", ["the boot id of another machine", "", None])
def test_the_folder_of_another_machine_stays_for_a_day(tmp_path, owner_text):
    folder = tmp_path / "spark-1"
    folder.mkdir()
    if owner_text is not None:
        (folder / "_owner").write_text(owner_text)
    age(folder, DAY_S - 60)
    remove_abandoned(tmp_path)
    assert folder.exists()
    age(folder, DAY_S + 60)
    remove_abandoned(tmp_path)
    assert not folder.exists()


def test_nothing_else_is_removed(tmp_path):
    (tmp_path / "parts").mkdir()
    age(tmp_path / "parts", 2 * DAY_S)
    remove_abandoned(tmp_path)
    assert (tmp_path / "parts").exists()


def test_a_folder_is_made_when_it_is_needed_and_can_be_removed(tmp_path):
    folder = RowsFolder(tmp_path)
    folder.remove()
    assert not os.listdir(tmp_path)
    assert os.path.dirname(folder.path_of("a")) == os.path.dirname(folder.path_of("b"))
    folder.remove()
    assert not os.listdir(tmp_path)
