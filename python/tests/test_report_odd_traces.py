# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope report`` of traces without spans, of damaged ones, of very many names and tracks."""

import os
import random

from conftest import chrome_json, complete_event
from page_data import read_page, rows
from test_report import kept_spans, loop, run, write_trace

import opscope


def test_without_spans(tmp_path):
    path, page = write_trace(tmp_path / "run.json", []), tmp_path / "run.html"
    done = run("report", path, "-o", page)
    data = read_page(page)
    assert done.returncode == 0 and data["spans"] == 0 and data["timeline"]["tracks"] == []
    assert data["clock"]["end_ns"] - data["clock"]["start_ns"] == 1
    assert all(table["why_empty"] for table in data["tables"].values())


def test_with_spans_of_length_0_alone(tmp_path):
    path, page = write_trace(tmp_path / "run.json", [complete_event("a", 5, 0)] * 3), tmp_path / "run.html"
    assert run("report", path, "-o", page).returncode == 0
    data = read_page(page)
    assert (data["clock"]["start_ns"], data["clock"]["end_ns"]) == (5000, 5001) and len(kept_spans(data)) == 3


def test_a_damaged_file_has_a_page_and_exit_code_3(tmp_path):
    path, page = tmp_path / "run.json", tmp_path / "run.html"
    path.write_bytes(chrome_json(*loop(100))[:-200])
    done = run("report", path, "-o", page)
    assert done.returncode == 3 and read_page(page)["quality"]["verdict"] == "doubtful"
    assert rows(read_page(page), "problems")


def test_a_damaged_baseline_makes_the_page_doubtful(tmp_path):
    path, page = write_trace(tmp_path / "run.json", loop(100)), tmp_path / "run.html"
    baseline = tmp_path / "base.json"
    baseline.write_bytes(chrome_json(*loop(100))[:-200])
    done = run("report", path, "--baseline", baseline, "-o", page)
    quality = read_page(page)["quality"]
    assert done.returncode == 3 and quality["verdict"] == "doubtful"
    assert quality["reasons"] == ["baseline: problem truncated"]


def test_rows_and_names_fill_the_page_where_the_spans_leave_room(tmp_path):
    path, page = tmp_path / "run.json", tmp_path / "run.html"
    for count, length in ((40_000, 20), (60_000, 8), (20_000, 100)):
        write_trace(path, [complete_event(f"{i:0{length}}", 10 * i, 9) for i in range(count)])
        assert run("report", path, "-o", page).returncode == 0
        data = read_page(page)
        assert page.stat().st_size <= 10 << 20 and len(kept_spans(data)) == count
        assert data["tables"]["operators"]["folded"] is None and data["timeline"]["names"]["left_out"] == 0


def test_many_tracks_and_crossing_spans(tmp_path):
    generator = random.Random(2)
    events = [
        complete_event(f"n{i % 7}", generator.randint(0, 500), generator.randint(0, 300), tid=i % 7000)
        for i in range(20_000)
    ]
    path, page = write_trace(tmp_path / "run.json", events), tmp_path / "run.html"
    opscope.open(path).report(page, max_size="1M")
    timeline = read_page(page)["timeline"]
    assert os.path.getsize(page) <= 1 << 20
    shown = timeline["kept"]["start"]["n"] + timeline["folded"]["spans"]
    assert shown + timeline["left_out_spans"] == 20_000
    assert len(timeline["tracks"]) + timeline["left_out_tracks"] == 7000
