# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope view`` with a million spans in Chromium: what the document lacks is a question away."""

import csv
import io
import json
import random
import subprocess
from collections import defaultdict
from typing import NamedTuple

import pytest
from test_report_page import NODE, OPSCOPE, WEB, chromium, need_browser
from test_view import Server

TRACKS, UNITS, UNIT_NS = 8, 25_000, 12_000_000
NEEDLE_UNIT, NEEDLE_TRACK = 17_431, 5
NEEDLE = "shortest of all"


class Made(NamedTuple):
    track: int
    name: str
    start: int
    duration: int
    depth: int
    self_ns: int


def noise(number):
    """32 bits that do not compress, the same in every run."""
    number = number * 2_654_435_761 % 2**32
    number = (number ^ number >> 16) * 73_244_475 % 2**32
    return number ^ number >> 15


def unit(track, number):
    """Five spans: two children with a child each."""
    one = noise(number * TRACKS + track)
    two = noise(one + 1)
    is_needle = (track, number) == (NEEDLE_TRACK, NEEDLE_UNIT)
    start = number * UNIT_NS + (one & 0xFFFFF)
    whole, load, work = 8_000_000 + (two & 0xFFFFF), 3_000_000 + (two >> 12), 2_000_000 + (one >> 13)
    small, tiny = 2000 + (two >> 4 & 0xFFF), 7 if is_needle else 60 + (two >> 14 & 0x3FF)
    at_load, at_work = start + 100_000 + (one >> 14), start + 5_000_000 + (two >> 14)
    name = NEEDLE if is_needle else f"tiny {two % 997}"
    return (
        Made(track, f"unit {number % 13}", start, whole, 0, whole - load - work),
        Made(track, f"load {one % 101}", at_load, load, 1, load - small),
        Made(track, f"small {two % 499}", at_load + 10_000 + (one >> 16), small, 2, small),
        Made(track, f"work {one % 211}", at_work, work, 1, work - tiny),
        Made(track, name, at_work + 50_000 + (two >> 16), tiny, 2, tiny),
    )


def microseconds(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def all_spans(units=UNITS):
    return [span for track in range(TRACKS) for number in range(units) for span in unit(track, number)]


def write_trace(path, spans):
    with open(path, "w") as file:
        file.write('{"traceEvents": [\n')
        for span in spans:
            arguments = '{"shape": [3, 4], "mode": "fast"}' if span.name == NEEDLE else "{}"
            file.write(
                f'{{"ph":"X","cat":"cpu_op","name":"{span.name}","pid":8,"tid":{span.track},'
                f'"ts":{microseconds(span.start)},"dur":{microseconds(span.duration)},"args":{arguments}}},\n'
            )
        begin, end = needle(), flow_end()
        for phase, at in (("s", begin), ("f", end)):
            file.write(
                f'{{"ph":"{phase}","id":1,"cat":"fwdbwd","name":"fwdbwd","pid":8,"tid":{at.track},'
                f'"ts":{microseconds(at.start)},"bp":"e"}}{"" if phase == "f" else ","}\n'
            )
        file.write("]}\n")


def needle():
    return unit(NEEDLE_TRACK, NEEDLE_UNIT)[4]


def flow_end():
    return unit(2, 20_000)[2]


def short(track, number):
    """The first very short span of a track from a unit on, but for the needle."""
    return next(span for at in range(number, UNITS) if (span := unit(track, at)[4]).duration < 100)


def selected(spans, begin, end):
    """What each name has in [begin, end): children lie within their parents here, so parts subtract."""
    found = defaultdict(lambda: [0, 0, 0])
    around = []
    for span in spans:
        part = min(end, span.start + span.duration) - max(begin, span.start)
        del around[span.depth :]
        around.append(span.name)
        if part <= 0:
            continue
        sums = found[span.name]
        sums[0] += 1
        sums[1] += part
        sums[2] += part
        if span.depth > 0:
            found[around[span.depth - 1]][2] -= part
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    need_browser()
    spans = all_spans()
    path = tmp_path_factory.mktemp("large") / "million.json"
    write_trace(path, spans)
    return spans, path


@pytest.fixture(scope="module")
def shown(made):
    """What the page shows, and the range that was selected."""
    spans, path = made
    server = Server(path)
    chance = random.Random(11)
    begin, end = sorted(chance.sample(range(UNITS * UNIT_NS), 2))
    other, near = short(1, 300), short(6, 9000)
    plan = {
        "text": NEEDLE.upper(),
        "common": "TINY 12",
        "other": f"8/{other.track}@{other.start}+{other.duration}",
        "range": [begin, end],
        "near": {"track": f"8/{near.track}", "time": near.start + near.duration // 2, "depth": near.depth},
    }
    try:
        command = [NODE, WEB / "tests" / "view_large.mjs", chromium(), server.address, str(server.process.pid)]
        done = subprocess.run([*command, json.dumps(plan)], capture_output=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout), (begin, end), spans
    finally:
        server.process.kill()
        server.process.communicate()


def fields(span):
    return {
        "name": span.name,
        "track": f"8/{span.track}",
        "category": "cpu_op",
        "start_ns": str(span.start),
        "duration_ns": str(span.duration),
        "self_ns": str(span.self_ns),
    }


def test_the_first_tabs_are_there_before_the_others_are_computed(shown):
    page, _, spans = shown
    assert page["spans"] == len(spans)
    assert page["pending"] == ["Being computed. Overview and Timeline are ready.", "true"]
    assert page["busyAfter"] == 0
    assert page["refused"] == "million.json: no room"
    assert all("422" in complaint for complaint in page["complaintsOfRefused"])


def test_the_shortest_of_a_million_spans_is_found_by_search(shown):
    page, _, spans = shown
    shortest = min(spans, key=lambda span: span.duration)
    assert len(spans) == 1_000_000 and sum(span.duration == shortest.duration for span in spans) == 1
    assert page["longestFolded"] > 100, "the document has the spans that are looked for: the test shows nothing"
    assert page["common"] == sum("tiny 12" in span.name for span in spans)
    assert page["found"] == 1 and page["span"] == f"8/{shortest.track}@{shortest.start}+{shortest.duration}"
    assert page["details"] == fields(shortest) | {"arg:shape": "[3,4]", "arg:mode": "fast"}
    begin, end = page["visible"]
    assert begin <= shortest.start and shortest.start + shortest.duration <= end


def test_flows_keys_and_addresses_lead_to_spans_that_the_document_lacks(shown):
    page, _, _ = shown
    [(kind, target)] = page["flows"]
    end = flow_end()
    assert kind == "fwdbwd" and f"span=8/{end.track}@{end.start}+{end.duration}" in target
    assert page["linked"] == fields(end)
    assert page["next"] == fields(unit(NEEDLE_TRACK, NEEDLE_UNIT + 1)[0])
    assert page["back"] == page["child"] == page["details"]
    assert page["parent"] == fields(unit(NEEDLE_TRACK, NEEDLE_UNIT)[3])
    assert page["addressed"] == fields(short(1, 300))


def test_the_visible_part_of_the_timeline_is_drawn_with_what_the_document_lacks(shown):
    page, _, _ = shown
    assert page["clicked"] == fields(short(6, 9000))
    assert page["bytes"] < 1_000_000


def test_a_selection_is_exact_over_all_spans(shown):
    page, (begin, end), spans = shown
    [keys, *rows] = csv.reader(io.StringIO(page["selection"]))
    assert keys == ["name", "count", "total_with_recursion_ns", "self_ns"] and page["errors"] == 0
    found = {name: [int(figure) for figure in figures] for name, *figures in rows}
    assert found == selected(spans, begin, end)


def test_no_error_and_the_end_of_the_server_is_an_alert(shown):
    page, _, _ = shown
    assert page["complaintsBefore"] == []
    assert "opscope view has ended" in page["alert"]


def test_a_report_says_by_how_much_its_selection_may_be_wrong(tmp_path):
    need_browser()
    spans = all_spans(3000)
    trace, page = tmp_path / "part.json", tmp_path / "part.html"
    write_trace(trace, spans)
    subprocess.run([*OPSCOPE, "report", trace, "-o", page, "--max-size", "1M"], timeout=200, check=True)
    begin, end = 2_345_678_901, 23_456_789_012
    command = [NODE, WEB / "tests" / "selection.mjs", chromium(), page, f"{begin}..{end}"]
    shown = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=200, check=True).stdout)
    assert shown["complaints"] == [] and shown["folded"] > 10_000 and len(shown["rows"]) > 10
    found = selected(spans, begin, end)
    figures = []
    for name, *cells in shown["rows"]:
        for cell, truth in zip(cells, found[name["value"]], strict=True):
            value, error = int(cell["value"]), float(cell["error"])
            assert abs(truth - value) <= error, (name, cell, truth)
            assert cell["text"].startswith("≈") == (error > 0)
            figures.append((value, error))
    assert any(error > 0 for _, error in figures)
    assert any(error <= value / 1000 for value, error in figures), "no figure is known to a thousandth"
