# SPDX-License-Identifier: Apache-2.0
"""Asynchronous spans and ranges, points in time, and the names of tracks in the data of a page."""

import collections
import json
import random

import pytest
from conftest import chrome_json, complete_event
from page_data import column, columns, page_of

import opscope


def mixed_events(seed, count):
    """Spans that nest and cross, ranges with an id, and points, on a few threads of two processes."""
    generator = random.Random(seed)
    for i in range(count):
        where = {"pid": generator.randint(1, 2), "tid": generator.randint(1, 3)}
        start, length = generator.randint(0, 50 * count), generator.randint(0, 400)
        kind = generator.randint(0, 3)
        if kind < 2:
            outside = {"opscope.async": "thread"} if i % 5 == 0 else {}
            yield complete_event(f"op{i % 7}", start, length, cat="cpu_op", **outside) | where
        elif kind == 2:
            ends = {"cat": "net", "id": i, "name": f"request{i % 5}"} | where
            yield {"ph": "b", "ts": start, "args": {"n": i}} | ends
            yield {"ph": "e", "ts": start + length} | ends | {"tid": generator.randint(1, 3)}
        else:
            yield {"ph": "i", "s": "tpg"[i % 3], "name": f"mark{i % 5}", "ts": start, "args": {"n": i}} | where


def trace_of(events, folder, name="trace.json"):
    path = folder / name
    path.write_bytes(chrome_json(*events))
    return opscope.open(path)


def test_every_range_and_point_of_a_small_trace_is_there(tmp_path):
    trace = trace_of(mixed_events(1, 400), tmp_path)
    data = page_of(trace, tmp_path)
    strings, tracks = data["strings"], data["timeline"]["tracks"]
    for kind, table, length in (("ranges", trace.async_spans, "duration"), ("instants", trace.instants, None)):
        marks = data["timeline"][kind]
        found = [
            (tracks[track]["id"], start, duration, strings[name])
            for track, start, duration, name in columns(marks, "track", "start", "duration", "name")
        ]
        pids = [process["pid"] for process in trace.processes]
        id_of = [f"{pids[each['process']]}/{each['tid']}" for each in trace.tracks]
        begin = "start" if length else "time"
        expected = [(id_of[e["track"]], e[begin], e[length] if length else 0, e["name"]) for e in table]
        assert sorted(found) == sorted(expected) and found
        assert marks["left_out"] == marks["folded"]["count"] == 0


def test_ranges_and_points_have_rows_below_the_spans_and_do_not_overlap(tmp_path):
    data = page_of(trace_of(mixed_events(2, 400), tmp_path), tmp_path)
    timeline = data["timeline"]
    ends = collections.defaultdict(lambda: float("-inf"))
    for track, depth, start, duration in sorted(columns(timeline["ranges"], "track", "depth", "start", "duration")):
        assert depth < timeline["tracks"][track]["mark_rows"]
        assert ends[track, depth] <= start
        ends[track, depth] = start + duration
    for track, depth in columns(timeline["instants"], "track", "depth"):
        assert depth == timeline["tracks"][track]["mark_rows"] - 1


def test_they_are_no_spans(tmp_path):
    trace = trace_of(mixed_events(3, 300), tmp_path)
    data = page_of(trace, tmp_path)
    assert data["spans"] == len(trace.spans) == sum(track["spans"] for track in data["timeline"]["tracks"])
    assert sum(column(data["timeline"]["names"]["count"])) == len(trace.spans)


def test_asynchronous_spans_are_counted_and_lie_below_the_nested_ones(tmp_path):
    trace = trace_of(mixed_events(4, 600), tmp_path)
    data = page_of(trace, tmp_path)
    asynchronous = collections.Counter(
        (span["start"], span["duration"], span["name"]) for span in trace.spans if span["flags"] & 2
    )
    assert asynchronous
    kept = columns(data["timeline"]["kept"], "start", "duration", "name", "depth")
    begin = 0
    for track in data["timeline"]["tracks"]:
        of_track = kept[begin : begin + track["kept"]]
        begin += track["kept"]
        keys = [(start, duration, data["strings"][name]) for start, duration, name, _ in of_track]
        nested = [row[3] for key, row in zip(keys, of_track, strict=True) if key not in asynchronous]
        below = [row[3] for key, row in zip(keys, of_track, strict=True) if key in asynchronous]
        if below and nested:
            assert min(below) > max(nested)
    assert len(kept) == len(trace.spans)


@pytest.mark.parametrize("count", [60_000])
def test_what_does_not_fit_is_in_blocks(tmp_path, count):
    trace = trace_of(mixed_events(5, count), tmp_path)
    data = page_of(trace, tmp_path, max_size=1 << 20)
    for kind, table in (("ranges", trace.async_spans), ("instants", trace.instants)):
        marks = data["timeline"][kind]
        assert marks["folded"]["count"] == sum(column(marks["folded"]["counts"])) > 0
        assert marks["track"]["n"] + marks["folded"]["count"] + marks["left_out"] == len(table)
    kept = data["timeline"]["kept"]["start"]["n"]
    assert kept + data["timeline"]["folded"]["spans"] + data["timeline"]["left_out_spans"] == len(trace.spans)


def test_a_track_without_spans_comes_last(tmp_path):
    point = {"ph": "i", "s": "t", "name": "here", "ts": 5, "pid": 1, "tid": 9}
    data = page_of(trace_of([point, complete_event("a", 0, 10, tid=20)], tmp_path), tmp_path)
    tracks = data["timeline"]["tracks"]
    assert [(track["id"], track["spans"], track["mark_rows"]) for track in tracks] == [("1/20", 1, 0), ("1/9", 0, 1)]
    assert column(data["timeline"]["instants"]["track"]) == [1]


def test_tracks_of_a_job_have_distinct_ids(tmp_path):
    paths = [tmp_path / f"rank{rank}.json" for rank in (0, 1, 2)]
    for rank, path in enumerate(paths):
        info = {"distributedInfo": {"rank": rank, "world_size": 3}}
        path.write_text(json.dumps({**info, "traceEvents": [complete_event(f"op{rank}", 10 * rank, 5, tid=7)]}))
    ids = [track["id"] for track in page_of(opscope.merge(paths), tmp_path)["timeline"]["tracks"]]
    assert len(set(ids)) == len(ids) == 3
