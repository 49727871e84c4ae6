# SPDX-License-Identifier: Apache-2.0
"""Runs reported_program.py, and what its pages and answers must be, whatever the framework."""

import html
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

from page_data import data_text, read_page, rows

import opscope

PROGRAM = Path(__file__).with_name("reported_program.py")
ANSWERS = {
    "theme": "ValueError: theme should be one of: 'auto', 'light', 'dark'",
    "no theme": "TypeError: theme must be a str, not NoneType",
    "small": "ValueError: max_size should be at least 1M, not 5",
    "much": "ValueError: max_size must be a positive number of bytes, or a text such as '64M' (K, M, G, T: powers"
    " of 1024), not 'much'",
    "file": "TypeError: baseline must be an opscope.Trace (opscope.open(path), prof.trace), not str",
    "title": "TypeError: title must be a str, not int",
    "no path": "TypeError: expected str, bytes or os.PathLike object, not NoneType",
    "full": "OSError: [Errno 28] No space left on device: '/dev/full'",
    "running": "RuntimeError: the recording is still running",
    "frame before": "None",
    "frame running": "None",
}


def run(name, folder):
    """What the program printed, after it wrote its pages into the folder."""
    ended = subprocess.run(
        [sys.executable, PROGRAM, name, folder], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    return json.loads(line)


def frame_data(folder):
    """The data of the page in the frame of a notebook."""
    (page,) = re.findall(r' srcdoc="([^"]*)"', (folder / "frame.html").read_text())
    return json.loads(data_text(html.unescape(page)))


def check_numbers(name, folder):
    trace = opscope.open(folder / "recording.opscope")

    def by_name(row):
        return row["name"], row.get("on")

    expected = sorted((dict(row) for row in trace.summary()), key=by_name)
    for data in (read_page(folder / "page.html"), frame_data(folder)):
        shown = sorted(rows(data, "operators"), key=by_name)
        assert [row["name"] for row in shown] == [row["name"] for row in expected]
        for key in ("count", "total_ns", "self_ns", "total_with_recursion_ns", "max_ns"):
            assert [row[key] for row in shown] == [row[key] for row in expected]
        assert data["spans"] == len(trace.spans) and data["quality"]["verdict"] in ("good", "usable")
    assert len(expected) > 3


def check_about(name, folder):
    """The page says with what it was made, and with which arguments of the profile."""
    said = read_page(folder / "page.html")["about"]["metadata"]
    assert said["host_name"] and said["opscope_processors"] >= 1
    software = said["opscope_software"]
    assert set(software) >= {name, "opscope", "python"} and all(version[0].isdigit() for version in software.values())
    assert software["python"] == platform.python_version() and said["opscope_options"]


def check_answers(answers):
    assert {key: answers[key] for key in ANSWERS} == ANSWERS
    baseline = "TypeError: baseline must be an opscope.Trace (opscope.open(path), prof.trace), not "
    assert answers["prof"].startswith(baseline)
    assert answers["no folder"].startswith("FileNotFoundError: [Errno 2] No such file or directory: ")
    before = "RuntimeError: nothing has been recorded yet|AssertionError: Profiler must be initialized"
    assert re.match(before, answers["before"])
    profile = r"<opscope\.\w+\.\w+: "
    assert re.fullmatch(profile + "nothing recorded yet>", answers["text before"])
    assert re.fullmatch(profile + r"[\d,]+ events on \d+ threads, recording>", answers["text running"])
    assert re.fullmatch(profile + r"[1-9][\d,]* events on [1-9]\d* threads>", answers["text"])
