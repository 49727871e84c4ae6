# SPDX-License-Identifier: Apache-2.0
"""Trace.export: each format as a reader that is not ours sees it."""

import contextlib
import csv
import gzip
import io
import json
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import opscope

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "kineto"


def small_trace():
    """Two threads, a stream, a function of Python, a counter, an arrow, an async range; hostile names."""

    def span(name, ts, dur, tid=1, pid=1, cat="cpu_op", **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

    events = [
        span("step", 0, 100, cat="user_annotation"),
        span("aten::mm", 1, 40, **{"External id": 3, "Input Dims": [[2, 3]], "Input type": ["float"]}),
        span("cudaLaunchKernel", 5, 10, cat="cuda_runtime", correlation=9),
        span("aten::mm", 50, 20),
        span('=cmd|"a";b,\né😀\udcff', 60, 5),
        span("train.py(12): main", 0, 30, tid=2, cat="python_function", **{"Python id": 1}),
        span("kernel", 20, 30, pid=0, tid=7, cat="kernel", correlation=9, grid=[1, 2, 3]),
        {"ph": "s", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 6},
        {"ph": "f", "bp": "e", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 20},
        {"ph": "C", "name": "load", "pid": 1, "tid": 1, "ts": 3, "args": {"cpu": 0.5}},
        {"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 1, "ts": 4},
        {"ph": "b", "cat": "io", "id": "1", "name": "read", "pid": 1, "tid": 1, "ts": 2},
        {"ph": "e", "cat": "io", "id": "1", "name": "read", "pid": 1, "tid": 1, "ts": 9},
    ]
    document = {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events}
    return opscope.read(json.dumps(document).encode())


def plain(text):
    """A name as perfetto, pprof and csv spell it."""
    out = "".join(f"\\x{ord(c) - 0xDC00:02x}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)
    return out.replace("\0", "\\x00")


def sums(trace, kinds=None):
    """{name: (times, nanoseconds)} of the spans."""
    found = defaultdict(lambda: [0, 0])
    kind = trace.tracks["kind"]
    for name, duration, track in zip(
        trace.spans.text("name"), trace.spans["duration"], trace.spans["track"], strict=True
    ):
        if kinds is None or kind[track] in kinds:
            found[plain(name)][0] += 1
            found[plain(name)][1] += duration
    return {name: tuple(value) for name, value in found.items()}


def export(trace, tmp_path, to, name="out", **options):
    path = tmp_path / name
    with pytest.warns(opscope.ExportWarning) if to not in ("csv", "chrome") else contextlib.nullcontext():
        trace.export(path, to=to, **options)
    return path


def test_csv_is_read_by_python_and_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    trace = small_trace()
    path = export(trace, tmp_path, "csv", "spans.csv.gz")
    text = gzip.decompress(path.read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(trace.spans)
    names = [plain(name) for name in trace.spans.text("name")]
    assert [row["name"].removeprefix("'") for row in rows] == names
    assert any(row["name"].startswith("'=cmd") for row in rows)
    frame = pandas.read_csv(path)
    assert list(frame["name"].str.removeprefix("'")) == names
    assert list(frame["start"]) == list(trace.spans["start"])
    assert list(frame["duration"]) == list(trace.spans["duration"])
    mm = frame[(frame["name"] == "aten::mm") & frame["args"].notna()]
    assert json.loads(mm["args"].iloc[0])["Input Dims"] == [[2, 3]]


def test_csv_has_every_table(tmp_path):
    trace = small_trace()
    for table in ("processes", "tracks", "counters", "flows", "instants", "async_spans", "metadata", "problems"):
        path = export(trace, tmp_path, "csv", table, table=table)
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
        assert len(rows) == len(getattr(trace, table)) + 1, table
    with pytest.raises(ValueError, match="there is no table"):
        trace.export(tmp_path / "x", to="csv", table="nothing")


def test_collapsed_is_what_flame_prints(tmp_path):
    trace = small_trace()
    path = export(trace, tmp_path, "collapsed")
    assert path.read_text(encoding="utf-8", errors="surrogateescape") == trace.folded_stacks()
    merged = export(trace, tmp_path, "collapsed", "merged", merge_threads=True)
    assert not any(line.startswith(b"thread") for line in merged.read_bytes().splitlines())


def test_speedscope_frames_open_and_close_in_order_of_time(tmp_path):
    trace = small_trace()
    document = json.loads(export(trace, tmp_path, "speedscope").read_bytes())
    frames = document["shared"]["frames"]
    found = defaultdict(lambda: [0, 0])
    for profile in document["profiles"]:
        assert profile["type"] == "evented"
        assert profile["unit"] == "nanoseconds"
        last, opened = profile["startValue"], []
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                opened.append((event["frame"], last))
                continue
            frame, began = opened.pop()
            assert frame == event["frame"]
            found[plain(frames[frame]["name"])][0] += 1
            found[plain(frames[frame]["name"])][1] += last - began
        assert not opened
    expected = {name.removeprefix("train.py(12): "): value for name, value in sums(trace).items()}
    assert {name: tuple(value) for name, value in found.items()} == expected
    assert {"name": "main", "file": "train.py", "line": 12} in frames


def perfetto_events(path):
    """The packets by Google's own classes: [(name, begin, end, parent, flows)] by track, counters, descriptors."""
    proto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="PyPI's perfetto")
    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    return proto, trace.packet


def test_perfetto_is_parsed_by_perfettos_own_classes(tmp_path):
    trace = small_trace()
    proto, packets = perfetto_events(export(trace, tmp_path, "perfetto"))
    unknown_fields = pytest.importorskip("google.protobuf.unknown_fields")
    names, categories, tracks, open_slices = {}, {}, {}, defaultdict(list)
    found, counters, instants, starts, ends = defaultdict(lambda: [0, 0]), [], [], {}, {}
    for packet in packets:
        for message in (
            packet,
            packet.track_event,
            packet.track_descriptor,
            packet.interned_data,
            packet.clock_snapshot,
        ):
            assert len(unknown_fields.UnknownFieldSet(message)) == 0
        names.update({each.iid: each.name for each in packet.interned_data.event_names})
        categories.update({each.iid: each.name for each in packet.interned_data.event_categories})
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert event.track_uuid in tracks
        if event.type == proto.TrackEvent.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid].append((names[event.name_iid], packet.timestamp))
            starts.update(dict.fromkeys(event.flow_ids, names[event.name_iid]))
            ends.update(dict.fromkeys(event.terminating_flow_ids, names[event.name_iid]))
        elif event.type == proto.TrackEvent.TYPE_SLICE_END:
            name, began = open_slices[event.track_uuid].pop()
            found[name][0] += 1
            found[name][1] += packet.timestamp - began
        elif event.type == proto.TrackEvent.TYPE_COUNTER:
            counters.append((tracks[event.track_uuid].name, packet.timestamp, event.double_counter_value))
        elif event.type == proto.TrackEvent.TYPE_INSTANT:
            instants.append(names[event.name_iid])
    assert not any(open_slices.values())
    assert {name: tuple(value) for name, value in found.items() if name != "read"} == sums(trace)
    assert tuple(found["read"]) == (1, 7000)
    assert counters == [("load cpu", 3000, 0.5)]
    assert instants == ["mark"]
    assert {starts[flow]: ends[flow] for flow in starts} == {"cudaLaunchKernel": "kernel"}
    assert set(categories.values()) >= {"cpu_op", "kernel", "python_function"}
    threads = sorted((each.thread.pid, each.thread.tid) for each in tracks.values() if each.HasField("thread"))
    assert threads == [(1, 1), (1, 2)]


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof: apt-get install golang-go")
def test_pprof_is_read_by_go(tmp_path):
    trace = small_trace()
    path = export(trace, tmp_path, "pprof", "x.pb.gz")

    def top(sample):
        command = ["go", "tool", "pprof", "-top", "-unit=ns", "-nodecount=1000", "-nodefraction=0"]
        command += [f"-sample_index={sample}", str(path)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
        rows = (line.split(None, 5) for line in lines[begin + 1 :])  # a line end in a name gives two
        return {row[5]: int(row[0].removesuffix("ns")) for row in rows if len(row) == 6 and row[0] != "0"}

    counted = Counter(plain(name).replace("train.py(12): ", "") for name in trace.spans.text("name"))
    assert {name: value for name, value in top("samples").items() if "=cmd" not in name} == {
        name: value for name, value in counted.items() if "=cmd" not in name
    }
    assert top("device_time") == {"kernel": 30000}
    time = top("time")
    assert time["aten::mm"] == 45000  # 40 - 10 and 20 - 5
    assert time["cudaLaunchKernel"] == 10000


@pytest.mark.parametrize("to", ["perfetto", "speedscope", "collapsed", "pprof", "csv", "chrome", "opscope"])
@pytest.mark.filterwarnings("ignore::opscope.ExportWarning")
def test_an_export_that_fails_names_its_path_and_leaves_nothing(tmp_path, to):
    trace = small_trace()
    for path in (tmp_path / "no" / "x", tmp_path):
        with pytest.raises(OSError, match=str(path)):
            trace.export(path, to=to)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_names_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="known: chrome, perfetto, speedscope, collapsed, pprof, csv, opscope"):
        small_trace().export(tmp_path / "x", to="excel")


@pytest.mark.filterwarnings("ignore::opscope.ExportWarning")
def test_merged_traces_export_to_every_format(tmp_path):
    for rank in range(2):
        small_trace().export(tmp_path / f"{rank}.json")
    merged = opscope.merge([tmp_path / "0.json", tmp_path / "1.json"])
    for to in ("perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope", "chrome"):
        merged.export(tmp_path / to, to=to)
        assert (tmp_path / to).stat().st_size > 0
    profiles = json.loads((tmp_path / "speedscope").read_bytes())["profiles"]
    assert len({profile["name"] for profile in profiles}) == len(profiles), "processes cannot be told apart"


@pytest.mark.filterwarnings("ignore::opscope.ExportWarning")
@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("cuda_*.json.gz")) or [None])
def test_samples_have_their_spans_in_perfetto(tmp_path, sample):
    if sample is None:
        pytest.skip("no ../shared/samples here")
    trace = opscope.open(SAMPLES / sample)
    trace.export(tmp_path / "x", to="perfetto")
    proto, packets = perfetto_events(tmp_path / "x")
    types = Counter(packet.track_event.type for packet in packets if packet.HasField("track_event"))
    spans = len(trace.spans) + len(trace.async_spans)
    assert types[proto.TrackEvent.TYPE_SLICE_BEGIN] == types[proto.TrackEvent.TYPE_SLICE_END] == spans
    assert types[proto.TrackEvent.TYPE_COUNTER] == len(trace.counters)
    assert types[proto.TrackEvent.TYPE_INSTANT] == len(trace.instants)
