# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope view`` in Chromium: files, selections as the server computes them, an old address."""

import json
import subprocess

import pytest
from conftest import chrome_json, complete_event
from served_page import served_page
from test_report_page import NODE, WEB, chromium, need_browser
from test_view import PROGRAM


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("traces")
    for file, name in (("a.json", "aten::mm"), ("b.json", "<b>bold</b>")):
        events = [complete_event("outer", 0, 100)]
        events += [complete_event(name, 10 * at + 1, 1 + at % 7) for at in range(9)]
        (place / file).write_bytes(chrome_json(*events))
    return place


@pytest.fixture(scope="module")
def shown(folder):
    """What the page shows, and the server that it asked."""
    with served_page("view.mjs", folder) as both:
        yield both


def test_each_file_of_a_folder_is_one_choice_away(shown):
    page, _ = shown
    assert [name.rpartition("/")[2] for name in page["files"]] == ["a.json", "b.json"]
    assert [title.rpartition("/")[2] for title in page["titles"]] == ["a.json - opscope", "b.json - opscope"]


def test_selections_of_the_page_are_those_of_the_server(shown):
    page, server = shown
    for number, selection in enumerate(page["selections"]):
        status, answer = server.post("/api/selection", file=number, range=selection["range"])
        assert status == 200, answer
        keys = ("name", "count", "total_with_recursion_ns", "self_ns")
        expected = sorted([str(row[key]) for key in keys] for row in answer["rows"])
        assert sorted(selection["rows"]) == expected and len(expected) == 2


def test_nothing_leaves_the_machine_and_the_token_is_in_no_request_line(shown):
    page, _ = shown
    assert page["foreign"] == [] and page["withToken"] == [] and page["complaints"] == []


def test_an_old_address_is_an_alert(shown):
    page, _ = shown
    assert "not the one that opscope view printed last" in page["alert"]


def test_a_visible_page_keeps_the_server_awake_and_says_that_it_has_ended(folder):
    need_browser()
    command = [NODE, WEB / "tests" / "view_idle.mjs", chromium(), PROGRAM, folder]
    done = subprocess.run(command, capture_output=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr.decode()
    page = json.loads(done.stdout)
    assert page["isThere"] and page["pings"] >= 3 and page["alertsBefore"] == 0
    assert "opscope view has ended" in page["alert"] and page["tabs"] > 5 and page["exitCode"] == 0
