# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope report``: its data against the trace, its size, hostile names, faults."""

import collections
import json
import os
import random
import stat
import subprocess
import sys

import pytest
from conftest import chrome_json, complete_event
from page_data import arguments, column, columns, data_text, read_page, rows

import opscope

MODULE = [sys.executable, "-m", "opscope"]
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\u2028\u2029",
    "\"'`&amp;<img src=x onerror=alert(1)>",
    "]]>{{x}}${x}",
    "\u202egnp.exe\x00\x1b[31m",
    "\\u003c\\",
]


def run(*arguments, **options):
    return subprocess.run([*MODULE, *arguments], capture_output=True, timeout=120, **options)


def write_trace(path, events):
    path.write_bytes(chrome_json(*events))
    return path


def loop(count, seed=0):
    """Events of a loop with two levels, on two threads."""
    generator = random.Random(seed)
    clock = [0, 0]
    for i in range(count // 2):
        thread = i % 2
        length = generator.randint(4, 400)
        name = f"aten::op{generator.randint(0, 30)}"
        yield complete_event(name, clock[thread], length, tid=thread + 1)
        yield complete_event("aten::inner", clock[thread] + 1, length / 2, tid=thread + 1)
        clock[thread] += length + generator.randint(0, 5)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write_trace(tmp_path_factory.mktemp("large") / "large.json", loop(300_000))


def kept_spans(data):
    names = data["strings"]
    fields = columns(data["timeline"]["kept"], "start", "duration", "covered", "depth", "name", "category")
    return [(*row[:4], names[row[4]], names[row[5]]) for row in fields]


def test_the_page_has_every_span_of_a_small_trace(tmp_path):
    path, page = write_trace(tmp_path / "run.json", loop(200)), tmp_path / "run.html"
    assert run("report", path, "-o", page).returncode == 0
    data, spans = read_page(page), opscope.open(path).spans
    expected = zip(*(spans[key] for key in ("start", "duration", "depth", "name", "category")), strict=True)
    assert [(s[0], s[1], s[3], s[4], s[5]) for s in kept_spans(data)] == list(expected)
    assert data["schema"] == "opscope.web/1" and data["title"] == "run.json" and data["files"] == ["run.json"]
    assert [(t["id"], t["spans"], t["kept"], t["rows"]) for t in data["timeline"]["tracks"]] == [
        ("1/1", 100, 100, 2),
        ("1/2", 100, 100, 2),
    ]
    text = page.read_text()
    assert "<title>run.json - opscope</title>" in text and 'data-theme-choice="auto"' in text


def test_tables_have_the_numbers_of_the_other_commands(tmp_path):
    steps = [complete_event(f"ProfilerStep#{i}", i * 1000, 900, tid=1, cat="user_annotation") for i in range(3)]
    path, page = write_trace(tmp_path / "run.json", [*loop(200), *steps]), tmp_path / "run.html"
    assert run("report", path, "-o", page).returncode == 0
    data = read_page(page)

    def answer(*arguments):
        return json.loads(run(*arguments, "--json", path).stdout)

    def by_name(row):
        return row["name"], row.get("on")

    assert sorted(rows(data, "operators"), key=by_name) == sorted(answer("summary")["rows"], key=by_name)
    assert rows(data, "steps") == answer("steps")["rows"]
    assert data["overview"]["steps"] == answer("steps")["summary"]
    assert data["tables"]["steps"]["ranges"] == [[i * 10**6, i * 10**6 + 900_000] for i in range(3)]
    info = answer("info")
    assert data["about"]["info"] == info
    assert data["clock"] == {"start_ns": info["start_ns"], "end_ns": info["end_ns"], "epoch_ns": info["epoch_ns"]}


def test_covered_time_is_the_duration_without_the_self_time(tmp_path):
    path = write_trace(tmp_path / "run.json", [complete_event("outer", 0, 100), complete_event("inner", 40, 20)])
    opscope.open(path).report(tmp_path / "run.html")
    assert [s[1] - s[2] for s in kept_spans(read_page(tmp_path / "run.html"))] == [80_000, 20_000]


@pytest.mark.parametrize("size", ["1M", "1100000", "1536K", "2M", "4M"])
def test_no_size_is_exceeded_and_no_span_is_lost(large, tmp_path, size):
    page = tmp_path / "run.html"
    assert run("report", large, "-o", page, "--max-size", size).returncode == 0
    limit = {"1M": 1 << 20, "1536K": 1536 << 10, "2M": 2 << 20, "4M": 4 << 20}.get(size) or int(size)
    assert os.path.getsize(page) <= limit
    data = read_page(page)
    timeline = data["timeline"]
    kept, folded = kept_spans(data), columns(timeline["folded"], "track", "depth", "start", "duration", "count")
    assert len(kept) + sum(row[4] for row in folded) == data["spans"] == 300_000
    assert timeline["folded"]["spans"] == sum(row[4] for row in folded)
    in_blocks = collections.Counter()
    for row in folded:
        in_blocks[row[0]] += row[4]
    for number, track in enumerate(timeline["tracks"]):
        assert track["kept"] + in_blocks[number] == track["spans"]
    assert folded == sorted(folded, key=lambda row: row[:3])
    assert sum(column(timeline["names"]["count"])) == 300_000


def test_the_longest_spans_are_kept_with_what_is_around_them(large, tmp_path):
    page = tmp_path / "run.html"
    trace = opscope.open(large)
    trace.report(page, max_size="1M")
    data = read_page(page)
    kept = kept_spans(data)
    lengths = sorted(trace.spans["duration"], reverse=True)
    shortest = min(span[1] for span in kept)
    assert 50_000 < len(kept) < 300_000
    assert len(kept) >= sum(1 for length in lengths if length > shortest)
    first = data["timeline"]["tracks"][0]["kept"]
    for spans in (kept[:first], kept[first:]):
        open_spans = []
        for start, duration, _, depth, *_ in spans:
            del open_spans[depth:]
            assert depth == len(open_spans)
            assert all(a <= start and start + duration <= b for a, b in open_spans)
            open_spans.append((start, start + duration))


def test_the_sums_with_folded_rows_are_those_of_the_trace(tmp_path):
    events = [complete_event(f"name {i} " + "x" * 50, i * 10, i % 9 + 1) for i in range(40_000)]
    path, page = write_trace(tmp_path / "run.json", events), tmp_path / "run.html"
    opscope.open(path).report(page, max_size="1M")
    data = read_page(page)
    folded = data["tables"]["operators"]["folded"]
    listed = rows(data, "operators")
    assert os.path.getsize(page) <= 1 << 20 and folded["rows"] + len(listed) == 40_000
    for key in ("count", "self_ns", "total_with_recursion_ns"):
        assert sum(row[key] for row in listed) + folded["sums"][key] == sum(
            1 if key == "count" else (i % 9 + 1) * 1000 for i in range(40_000)
        )
    times = [row["self_ns"] for row in listed]
    assert times == sorted(times, reverse=True)
    names = data["timeline"]["names"]
    assert sum(column(names["count"])) + names["left_out_spans"] == 40_000


def test_names_are_those_of_the_spans_and_each_step_has_its_own(tmp_path):
    events = [complete_event(f"ProfilerStep#{i % 3}", 10 * i, 5, cat="user_annotation") for i in range(7)]
    trace, page = write_trace(tmp_path / "steps.json", [*events, complete_event("x", 2, 1)]), tmp_path / "steps.html"
    run("report", trace, "-o", page)
    data = read_page(page)
    names = data["timeline"]["names"]
    found = zip(column(names["name"]), column(names["count"]), strict=True)
    counted = {data["strings"][name]: count for name, count in found}
    assert counted == {"ProfilerStep#0": 3, "ProfilerStep#1": 2, "ProfilerStep#2": 2, "x": 1}


def test_the_sums_of_all_groups_stay_where_the_stacks_exceed_the_page(tmp_path):
    depth = 5000
    calls = [
        complete_event(f"train.py({i}): a_function", i, 2 * depth + 10 - 2 * i, cat="python_function")
        for i in range(depth)
    ]
    shapes = {"Input type": ["float"]}
    operators = [
        complete_event(f"op{i % 9}", depth + i / 1000, 0.0005, **{"Input Dims": [[i, 2]]}, **shapes) for i in range(900)
    ]
    page = tmp_path / "run.html"
    opscope.open(write_trace(tmp_path / "run.json", calls + operators)).report(page, max_size="1M")
    data = read_page(page)
    assert os.path.getsize(page) <= 1 << 20
    for key in ("operators", "operators_by_shape", "operators_by_stack"):
        listed, folded = rows(data, key), data["tables"][key]["folded"]
        sums = folded["sums"] if folded else {"count": 0, "self_ns": 0}
        assert sum(row["count"] for row in listed) + sums["count"] == depth + 900, key
        assert sum(row["self_ns"] for row in listed) + sums["self_ns"] == (2 * depth + 10) * 1000, key
    assert data["tables"]["operators_by_stack"]["folded"]["rows"] > 0
    assert data["tables"]["operators_by_module"]["why_empty"].startswith(
        "No modules were recorded; that takes with_modules=True or"
    )


def test_names_cannot_leave_the_data_element(tmp_path):
    events = []
    for i, name in enumerate(HOSTILE):
        event = complete_event(name, i * 10, 5, cat=name)
        event.update(pid=name, tid=name, args={name: name, "nested": {name: [name]}})
        events.append(event)
        events.append({"ph": "C", "name": name, "ts": i, "pid": name, "args": {name: 1}})
        events.append({"ph": "M", "name": "process_name", "pid": name, "args": {"name": name}})
        events.append({"ph": "M", "name": "thread_name", "pid": name, "tid": name, "args": {"name": name}})
    path, page = write_trace(tmp_path / "run.json", events), tmp_path / "run.html"
    opscope.open(path).report(page, title=HOSTILE[0])
    text = page.read_bytes().decode()
    assert not set("<\u2028\u2029") & set(data_text(text))
    assert text.count("<script") == (plain := reference_page(tmp_path)).count("<script")
    assert text.count("<") == plain.count("<")
    assert "<title>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; - opscope</title>" in text
    data = read_page(page)
    assert {span[4] for span in kept_spans(data)} == set(HOSTILE)
    assert data["title"] == HOSTILE[0]


def reference_page(tmp_path):
    path = tmp_path / "plain.html"
    opscope.open(write_trace(tmp_path / "plain.json", loop(2))).report(path)
    return path.read_bytes().decode()


def test_the_same_input_gives_the_same_bytes(large, tmp_path):
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for page in pages:
        opscope.open(large).report(page, title="t", max_size="1M")
    assert pages[0].read_bytes() == pages[1].read_bytes()


class TestCommand:
    def test_needs_an_output_and_a_size_of_1M(self, tmp_path):
        path = write_trace(tmp_path / "run.json", loop(10))
        assert run("report", path).returncode == 2
        assert run("report", path, "-o", tmp_path / "x.html", "--max-size", "1023K").returncode == 2
        assert run("report", path, "-o", path).returncode == 2
        assert run("report", path, "-o", tmp_path / "x.html", "--theme", "pink").returncode == 2
        assert not (tmp_path / "x.html").exists()

    def test_writes_to_standard_output(self, tmp_path):
        path = write_trace(tmp_path / "run.json", loop(10))
        assert run("report", path, "-o", tmp_path / "x.html", "--theme", "dark").returncode == 0
        done = run("report", path, "-o", "-", "--theme", "dark")
        assert done.returncode == 0 and done.stdout == (tmp_path / "x.html").read_bytes()
        root = done.stdout.partition(b"<html ")[2].partition(b">")[0]
        assert b' data-theme-choice="dark"' in root and root.count(b"data-theme-choice=") == 1

    def test_an_unreadable_input_leaves_the_old_page(self, tmp_path):
        page = tmp_path / "x.html"
        page.write_text("old")
        assert run("report", tmp_path / "missing.json", "-o", page).returncode == 1
        path = write_trace(tmp_path / "run.json", loop(10))
        assert run("report", path, "--baseline", tmp_path / "missing.json", "-o", page).returncode == 1
        assert page.read_text() == "old"

    def test_a_baseline_adds_what_diff_shows(self, tmp_path):
        before = write_trace(tmp_path / "a.json", loop(100, seed=1))
        after = write_trace(tmp_path / "b.json", loop(100, seed=2))
        page = tmp_path / "x.html"
        assert run("report", after, "--baseline", before, "-o", page).returncode == 0
        assert rows(read_page(page), "compare") == json.loads(run("diff", before, after, "--json").stdout)["rows"]
        opscope.open(after).report(tmp_path / "y.html", baseline=opscope.open(before), title="b.json")
        assert read_page(tmp_path / "y.html")["tables"] == read_page(page)["tables"]

    def test_several_files_are_one_job(self, tmp_path):
        files = []
        for rank in range(2):
            files.append(tmp_path / f"rank{rank}.json")
            text = json.loads(chrome_json(*loop(20, seed=rank)))
            text["distributedInfo"] = {"rank": rank, "world_size": 2}
            files[-1].write_text(json.dumps(text))
        page = tmp_path / "x.html"
        assert run("report", *files, "-o", page).returncode == 0
        data = read_page(page)
        assert data["files"] == ["rank0.json", "rank1.json"] and data["spans"] == 40
        assert {track["rank"] for track in data["timeline"]["tracks"]} == {0, 1}

    def test_export_to_html_is_an_alias(self, tmp_path):
        path = write_trace(tmp_path / "run.json", loop(20))
        damaged = tmp_path / "damaged.json"
        damaged.write_bytes(chrome_json(*loop(100))[:-200])
        for file, code in ((path, 0), (damaged, 3)):
            assert run("export", file, "--to", "html", "-o", tmp_path / "x.html").returncode == code
            assert run("report", file, "-o", tmp_path / "y.html").returncode == code
            assert (tmp_path / "x.html").read_bytes() == (tmp_path / "y.html").read_bytes()
        assert run("export", path, "--to", "html", "-o", "-").stdout == run("report", path, "-o", "-").stdout

    def test_opens_the_browser_that_the_user_chose(self, tmp_path):
        path = write_trace(tmp_path / "run.json", loop(20))
        program = tmp_path / "browser"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/called"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        page = tmp_path / "a page.html"
        done = run("report", path, "-o", page, "--open", env={**os.environ, "BROWSER": f"{program} --new"})
        assert done.returncode == 0
        assert (tmp_path / "called").read_text().split() == ["--new", f"file://{tmp_path}/a%20page.html"]


def test_arguments_are_those_of_the_chrome_export_without_lists_that_the_trace_lacks(tmp_path):
    event = complete_event("aten::add", 0, 5)
    event["args"] = {"Input Dims": [[2, 3], []], "Input type": ["float", ""], "note": 'a "b" <c>', "n": 7}
    trace = opscope.open(write_trace(tmp_path / "run.json", [event]))
    trace.report(tmp_path / "x.html")
    trace.export(tmp_path / "x.json")
    data = read_page(tmp_path / "x.html")
    (written,) = [e for e in json.loads((tmp_path / "x.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert written["args"].pop("Concrete Inputs") == ["", ""] and written["args"].pop("Input Strides") == [[], []]
    assert arguments(data) == [written["args"]]


def test_the_frame_of_a_notebook_is_small(large):
    frame = opscope.open(large)._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads" title="300,000 spans"')
    assert len(frame.encode()) <= 2 << 20 and "allow-same-origin" not in frame.partition("srcdoc=")[0]


def test_arguments_of_works_have_their_numbers(tmp_path):
    launch = complete_event("cudaLaunchKernel", 0, 5, cat="cuda_runtime", **{"correlation": 7, "External id": 3})
    kernel = complete_event("gemm", 10, 5, tid=7, cat="kernel", correlation=7, device=0, stream=7)
    trace = opscope.open(write_trace(tmp_path / "run.json", [launch, kernel]))
    trace.report(tmp_path / "x.html")
    data = read_page(tmp_path / "x.html")
    timeline = data["timeline"]
    assert arguments(data) == [launch["args"], kernel["args"]]
    assert columns(timeline["flows"], "kind", "from", "to") == [(0, 0, 1)]
    assert [(row["name"], row["count"], row["total_ns"], row["mean_ns"]) for row in rows(data, "kernels")] == [
        ("gemm", 1, 5000, 5000)
    ]


def test_the_page_does_not_depend_on_the_number_of_threads(large, tmp_path):
    pages = []
    for cores in range(1, 1 + min(4, len(os.sched_getaffinity(0)))):
        page = tmp_path / f"{cores}.html"
        chosen = sorted(os.sched_getaffinity(0))[:cores]
        program = f"""
import os
os.sched_setaffinity(0, {chosen})
import opscope
opscope.open({str(large)!r}).report({str(page)!r}, title="t")
"""
        subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
        pages.append(page.read_bytes())
    assert all(page == pages[0] for page in pages)


def test_arguments_that_do_not_fit_are_those_of_the_shortest_spans(tmp_path):
    events = [complete_event("f", i * 100, i % 50 + 1, note=f"{i}" * 20, n=i, big=2**60 + i) for i in range(20_000)]
    opscope.open(write_trace(tmp_path / "run.json", events)).report(tmp_path / "x.html", max_size="1M")
    data = read_page(tmp_path / "x.html")
    spans, shown = kept_spans(data), arguments(data)
    left_out = data["timeline"]["arguments"]["left_out"]
    assert os.path.getsize(tmp_path / "x.html") <= 1 << 20
    assert sum(not each for each in shown) == left_out > 0 and len(spans) - left_out > 1000
    shortest = min(span[1] for span, has in zip(spans, shown, strict=True) if has)
    assert all(span[1] <= shortest for span, has in zip(spans, shown, strict=True) if not has)
    for span, has in zip(spans, shown, strict=True):
        i = round((span[0] - spans[0][0]) / 100_000)
        assert not has or has == {"note": f"{i}" * 20, "n": i, "big": 2**60 + i}
