# SPDX-License-Identifier: Apache-2.0
"""Hostile names in every field of a trace: nothing of them becomes an element, an attribute, a link or a script of the
page, of the frame of a notebook, or of ``opscope view``, and a spreadsheet runs none of what the page copies.
"""

import csv
import html
import io
import os
import re
import subprocess
import sys

import pytest
import walked_pages
from hostile_names import hostile_json, hostile_names
from page_data import data_text, read_page, rows
from test_report_page import chromium, need_browser
from test_view import Server

import opscope

# "/" cannot be part of a file's name, nor can NUL.
FILE_NAME = "<script>window.hostile=1<|script>\"'&\u2028\u202e${1}\x1b[31m=SUM(A1).json"
TITLE = "</title><script>window.hostile=1</script><svg onload=window.hostile=1>\u2028\u202e"
FRAME = {"height", "sandbox", "srcdoc", "style", "title", "width"}
csv.field_size_limit(1 << 24)  # a name has 1 MiB
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    (place / FILE_NAME).write_bytes(hostile_json())
    return place


@pytest.fixture(scope="module")
def trace(folder):
    return opscope.open(folder / FILE_NAME)


@pytest.fixture(scope="module")
def page(folder):
    path = folder / "page.html"
    command = [sys.executable, "-m", "opscope", "report", folder / FILE_NAME, "-o", path, "--title", TITLE]
    done = subprocess.run([*command, "--baseline", folder / FILE_NAME], capture_output=True, timeout=100, check=False)
    assert done.returncode in (0, 3), done.stderr.decode()
    return path


@pytest.fixture(scope="module")
def seen(folder, page, trace):
    """What a browser makes of the page, of the frame in a notebook, and of the page of `view`."""
    need_browser()
    notebook = folder / "notebook.html"
    notebook.write_text(f"<!doctype html><html><body>{trace._repr_html_()}</body></html>", errors="surrogateescape")
    server = Server(folder / FILE_NAME)
    try:
        pages = [
            walked_pages.asked("page", page, query="<b"),
            walked_pages.asked("frame", notebook, frame=True),
            walked_pages.asked("view", server.address, query="<b"),
        ]
        return walked_pages.walk(folder, chromium(), pages)
    finally:
        server.process.kill()
        server.process.communicate()


@pytest.mark.parametrize("where", ["page", "frame", "view"])
def test_no_name_becomes_an_element_an_attribute_a_link_or_a_script(seen, where):
    assert seen[where]["complaints"] == []
    assert list(walked_pages.elements(seen[where])) == []


def test_around_the_frame_of_a_notebook_stands_nothing_of_a_name(seen):
    assert [tag for tag, _ in seen["frame"]["around"]] == ["html", "head", "body", "iframe"]
    assert [set(attributes) for _, attributes in seen["frame"]["around"]] == [set(), set(), set(), FRAME]


@pytest.mark.parametrize("where", ["page", "view"])
def test_a_spreadsheet_runs_no_copied_cell(seen, where):
    copied = seen[where]["copied"]
    assert {"Call tree", "Kernels", "Modules", "Operators"} <= copied.keys()
    for table, text in copied.items():
        for line in csv.reader(io.StringIO(text, newline=""), strict=True):
            run = [
                cell for cell in line if cell.startswith(FORMULA) and not re.fullmatch(r"-\d+(\.\d+)?(e[-+]\d+)?", cell)
            ]
            assert run == [], table
    keys, lines = walked_pages.read_csv(copied["Operators"])
    shown = {line[keys.index("name")] for line in lines}
    assert {name for name in hostile_names() if name} - shown == set()


def test_the_title_of_the_page_is_the_text_that_was_given(seen):
    assert seen["page"]["title"] == f"{TITLE} - opscope"


def test_the_page_has_the_markup_of_any_other_page(page, tmp_path, trace):
    plain = tmp_path / "plain.html"
    opscope.read(b'{"traceEvents": []}').report(plain)
    text = page.read_bytes().decode()  # all of it is UTF-8
    assert not set("<\u2028\u2029") & set(data_text(text))
    assert text.count("<") == plain.read_text().count("<")
    names = {row["name"] for row in rows(read_page(page), "operators")}
    assert set(filter(None, hostile_names())) <= names


def test_no_title_is_more_than_text(tmp_path):
    trace = opscope.read(b'{"traceEvents": []}')
    trace.report(tmp_path / "page.html", title="x")
    count = (tmp_path / "page.html").read_text().count("<")
    for name in filter(None, hostile_names()):
        trace.report(tmp_path / "page.html", title=name)
        text = (tmp_path / "page.html").read_bytes().decode()
        (title,) = re.findall(r"<title>([^<]*)</title>", text)
        assert text.count("<") == count
        visible = re.sub(r"[\x00-\x1f]", " ", name)
        if len(name) <= 2000:
            assert re.sub(r"[\x00-\x1f]", " ", html.unescape(title)) == f"{visible} - opscope"
            assert read_page(tmp_path / "page.html")["title"] == name
        else:
            assert title.endswith("\u2026 - opscope")
            assert read_page(tmp_path / "page.html")["title"].endswith("\u2026")


def test_a_long_title_is_cut_and_does_not_exceed_the_size(tmp_path):
    opscope.read(b'{"traceEvents": []}').report(tmp_path / "page.html", title="<" * (2 << 20), max_size="1M")
    assert os.path.getsize(tmp_path / "page.html") <= 1 << 20


def test_the_title_of_a_frame_cannot_leave_its_attribute():
    from opscope.page import page_frame

    trace = opscope.read(b'{"traceEvents": []}')
    for name in filter(None, hostile_names()[::6]):
        frame = page_frame(trace, name)
        around = r'<iframe sandbox="[a-z -]*" title="([^"]*)" [a-z0-9"=% :]* srcdoc="[^"]*"></iframe>'
        match = re.fullmatch(around, frame)
        assert match and html.unescape(match[1]) == name


def test_tables_at_a_prompt_escape_names(trace):
    for shown in (trace.summary(), trace.spans, trace.arguments, trace.tracks, trace.counters, trace.problems):
        text = shown._repr_html_()
        assert not re.search(r"<(?!/?(table|caption|tr|th|td|p)>)", text)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2028\u2029\u202e\u2066]", text)
    assert os.linesep not in repr(trace)
