# SPDX-License-Identifier: Apache-2.0
"""merge_trace_events: one timeline of several."""

import json

import megengine.functional as F
import pytest
from conftest import Timeline

from opscope.megengine import Profiler, merge_trace_events, scope


def write(folder, name, events, **top):
    (folder / name).write_text(json.dumps({"traceEvents": events, **top}))


def event(name, ts, *, tid=0, pid=1, ph="X", **more):
    return {"name": name, "ph": ph, "ts": ts, "pid": pid, "tid": tid, **more}


def thread(name, tid, pid=1):
    return {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def merged(folder):
    merge_trace_events(str(folder))
    return Timeline(folder / "merge.chrome_timeline.json")


def test_processes_stand_on_one_axis_of_time(tmp_path):
    write(tmp_path, "7.chrome_timeline.json", [event("late", 1.25, pid=7)], metadata={"localTime": "5000002500"})
    write(tmp_path, "12.chrome_timeline.json", [event("early", 3.5, pid=12)], metadata={"localTime": "5000000000"})
    write(tmp_path, "other.json", [event("not ours", 0)])
    made = merged(tmp_path)
    assert [(e["name"], e["pid"], e["ts"]) for e in made.events] == [("early", 12, 3.5), ("late", 7, 3.75)]
    assert made.content["metadata"] == {"localTime": "5000000000"}
    assert merged(tmp_path).events == made.events  # what it has written is not merged again


def test_windows_of_one_process_share_the_tracks_of_one_name(tmp_path):
    first = [event("a", 0, tid=0), event("b", 0, tid=1), thread("interpreter", 0), thread("worker", 1)]
    second = [event("c", 0, tid=0), event("d", 0, tid=1), event("e", 0, tid=2)]
    second += [thread("worker", 0), thread("interpreter", 1), thread("xpux:0", 2)]
    write(tmp_path, "1.chrome_timeline.json", first, metadata={"localTime": "0"})
    write(tmp_path, "1.2.chrome_timeline.json", second, metadata={"localTime": "1000"})
    made = merged(tmp_path)
    named = {event["name"]: made.tracks[event["tid"]] for event in made.events if event["ph"] == "X"}
    assert named == {"a": "interpreter", "b": "worker", "c": "worker", "d": "interpreter", "e": "xpux:0"}
    assert sum(event["name"] == "thread_name" for event in made.events) == 3


def test_files_of_megengine_1_5_are_read(tmp_path):
    about = {"name": "Metadata", "ph": "I", "pid": 1, "tid": 0, "ts": 0, "args": {"localTime": 50}}
    write(tmp_path, "1.chrome_timeline.json", [about, event("a", 1)])
    write(tmp_path, "2.chrome_timeline.json", [{**about, "args": {"localTime": 53}}, event("b", 1, pid=2)])
    assert [(e["name"], e["ts"]) for e in merged(tmp_path).events] == [("a", 1), ("b", 4)]


def test_what_two_living_profilers_wrote_is_one_timeline(tensor, tmp_path):
    import opscope

    first, second = Profiler(str(tmp_path)), Profiler(str(tmp_path))
    for profiler in (first, second):
        with profiler, scope("again"):
            F.add(tensor, tensor)
        profiler.dump()
    assert first.path != second.path
    made = merged(tmp_path)
    parts = [Timeline(profiler.path) for profiler in (first, second)]
    assert made.begins() == parts[0].begins() + parts[1].begins()
    assert made.begins("worker")["again"] == 2 and made.begins("interpreter")["OpDispatch"] == 2
    begins = [e["ts"] for e in made.events if e["name"] == "again" and made.tracks[e["tid"]] == "worker"]
    assert begins == sorted(begins)
    trace = opscope.open(tmp_path / "merge.chrome_timeline.json")
    assert sum(row["count"] for row in trace.summary() if row["name"] == "again") == 4


def test_what_cannot_be_merged_is_named(tmp_path):
    with pytest.raises(ValueError, match="no PID.chrome_timeline.json"):
        merge_trace_events(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        merge_trace_events(str(tmp_path / "nowhere"))
    damaged = tmp_path / "1.chrome_timeline.json"
    texts = ['{"traceEvents": [', "[]", '{"traceEvents": [], "metadata": {}}', "[" * 100_000]
    for events in ('{"ts": "x"}', "5", '{"name": "thread_name", "pid": 1}', '{"pid": [1]}'):
        texts.append(f'{{"traceEvents": [{events}], "metadata": {{"localTime": "0"}}}}')
    texts.append('{"traceEvents": [{"name": "Metadata", "args": {"localTime": Infinity}}]}')
    for text in texts:
        damaged.write_text(text)
        with pytest.raises(ValueError, match="1.chrome_timeline.json"):
            merge_trace_events(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [damaged.name]
