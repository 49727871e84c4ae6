# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope view`` on a folder that tensorboard_trace_handler has filled: runs, workers and windows."""

import json
import re
import subprocess
import sys

import pytest
from served_page import served_page

pytestmark = pytest.mark.framework("torch")

# Run, worker, windows.
RECORDED = [("bert", "node1_7", 1), ("resnet", "node2_9", 2), ("resnet", "node10_8", 1)]
PROGRAM = """
import json, sys, torch
from opscope.torch import ProfilerActivity, profile, schedule, tensorboard_trace_handler
folder, recorded = sys.argv[1], json.loads(sys.argv[2])
for run, worker, windows in recorded:
    handler = tensorboard_trace_handler(f"{folder}/{run}", worker_name=worker, use_gzip=run == "bert")
    plan = schedule(wait=0, warmup=1, active=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=handler) as prof:
        for _ in range(2 * windows):
            torch.ones(2).add(1)
            prof.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("log")
    command = [sys.executable, "-c", PROGRAM, place, json.dumps(RECORDED)]
    subprocess.run(command, check=True, timeout=300)
    return place


@pytest.fixture(scope="module")
def shown(folder):
    with served_page("log_folder.mjs", folder) as (page, _):
        return page


def test_a_log_folder_is_listed_by_run_and_worker(shown):
    assert shown["runs"] == ["bert", "resnet"] and shown["files"] == 0
    workers = [(run, worker) for run, worker, _, _ in shown["windows"]]
    assert workers == [(run, worker) for run, worker, windows in RECORDED for _ in range(windows)]


def test_each_choice_shows_its_own_file(shown, folder):
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.pt.trace.json*"))
    assert sorted(title for *_, title in shown["windows"]) == files and len(files) == 4
    for run, worker, _, title in shown["windows"]:
        assert title.startswith(f"{run}/{worker}.")


def test_windows_of_a_worker_are_listed_in_time(shown):
    windows = [(window, title) for _, worker, window, title in shown["windows"] if worker == "node2_9"]
    for number, (window, _) in enumerate(windows, 1):
        assert re.fullmatch(rf"{number}: \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", window)
    times = [int(title.split(".")[1]) for _, title in windows]
    assert len(times) == 2 and times == sorted(times)
