# SPDX-License-Identifier: Apache-2.0
"""The data of a page has the members that docs/reference/web_data.md lists, and no others."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event
from page_data import column, read_page

import opscope

pytest.importorskip("duckdb")

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "web_data.md").read_text()
TRACES = sorted((ROOT / "tests" / "golden").rglob("*.json.gz"))
OPAQUE = {"about.info", "about.metadata", "overview.steps", "memory.peaks[].parts[]"}
OPAQUE |= {f"tables.NAME.{name}" for name in ("folded.sums", "values[]", "ranges[]", "timeline_ranks[]")}


def documented_members():
    return set(re.findall(r"^\| `([^`]+)` \| ", PAGE.partition("## Tables")[0], re.MULTILINE))


def documented_tables():
    return set(re.findall(r"^\| `([^`]+)` \| ", PAGE.partition("## Tables")[2], re.MULTILINE))


def members(value, path=""):
    path = re.sub(r"^tables\.[a-z_]+", "tables.NAME", path)
    is_column = isinstance(value, dict) and set(value) == {"n", "d", "z"}
    if is_column:
        column(value)
    if path in OPAQUE or is_column or not isinstance(value, (dict, list)):
        yield path
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from members(member, f"{path}.{key}" if path else key)
    else:
        for member in value:
            yield from members(member, path + "[]")


def everything():
    """A trace with something for every member."""
    memory = {"Total Allocated": 64, "Bytes": 64, "Addr": 16, "Device Type": 0, "Device Id": -1}
    yield complete_event("ProfilerStep#1", 0, 100, cat="user_annotation")
    yield complete_event("aten::mm", 10, 20, **{"Call stack": "inner;outer;", "n": 1})
    yield {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "ts": 15, "pid": 1, "tid": 1} | {
        "args": memory
    }
    yield {"ph": "C", "name": "load", "ts": 3, "pid": 1, "args": {"value": 0.5}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The data of many pages."""
    page = tmp_path_factory.mktemp("pages") / "page.html"
    page.write_bytes(chrome_json(*everything()))
    opscope.open(page).report(page)
    read = [read_page(page)]
    for path in TRACES[::4]:
        trace = opscope.open(path)
        trace.report(page, baseline=trace if len(read) == 1 else None)
        read.append(read_page(page))
    read.append(page_of_a_job(tmp_path_factory.mktemp("job")))
    return read


def page_of_a_job(folder):
    """A JOB of two ranks that share a collective in each of two steps."""
    for rank in range(2):
        events = []
        for step in range(2):
            events.append(complete_event(f"ProfilerStep#{step}", 1000 * step, 900, cat="user_annotation"))
            begin = 1000 * step + 300 * rank
            events.append(complete_event("gloo:all_reduce", begin, 800 - 300 * rank, cat="user_annotation"))
        job = json.loads(chrome_json(*events)) | {"distributedInfo": {"rank": rank, "world_size": 2}}
        (folder / f"rank{rank}.json").write_text(json.dumps(job))
    for command in (["collect", str(folder), "-o", "job"], ["report", "job", "-o", "page.html"]):
        subprocess.run([sys.executable, "-m", "opscope", *command], cwd=folder, check=True, capture_output=True)
    return read_page(folder / "page.html")


def test_every_member_is_documented(data):
    assert {path for each in data for path in members(each)} - documented_members() == set()


def test_every_documented_member_is_there(data):
    found = {path for each in data for path in members(each)}
    of_report = {"tables.NAME.folded", "tables.NAME.folded.rows", "tables.NAME.folded.sums"}  # test_report.py
    of_view = {"is_partial"}  # test_view_partial.py
    assert documented_members() - found - of_report - of_view == set()


def test_every_table_is_documented(data):
    assert {name for each in data for name in each["tables"]} == documented_tables()


def test_the_example_of_a_column_is_right():
    import base64
    import zlib

    packed = base64.b64encode(zlib.compress(bytes.fromhex("c8013c"))).decode()
    assert column({"n": 2, "d": 1, "z": packed}) == [100, 130]
