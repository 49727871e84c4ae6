# SPDX-License-Identifier: Apache-2.0
"""tools/test_hosts: which tests count for a host, and how it keeps its table."""

import re
from pathlib import Path

import pytest
from load_tool import load_tool

ROOT = Path(__file__).resolve().parents[2]
tool = load_tool("test_hosts")


def test_tests_count_for_the_trainer_that_they_name_and_for_each_where_they_name_none():
    cases = [("test_a[lightning]", True), ("test_a[pytorch_lightning]", False), ("test_b[accelerate-data]", True)]
    cases += [("test_c", True), ("test_two_gloo_ranks_leave_a_recording_and_a_report_each[lightning]", True)]
    assert tool.held("lightning", cases) == "3 of 3"
    assert tool.held("pytorch_lightning", cases) == "2 of 3"
    assert tool.held("transformers", cases) == "2 of 2"


def run(tmp_path, monkeypatch, results, *asked):
    page = tmp_path / "page.md"
    if not page.exists():
        page.write_text(f"before\n{tool.BEGIN}\n{tool.table_of({})}\n{tool.END}\nafter\n")
    monkeypatch.setattr(tool, "DOCUMENT", page)
    monkeypatch.setattr(tool.torches, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(tool, "rows_of", lambda name, _: results.get(name, {}))
    monkeypatch.setattr(tool.sys, "argv", ["test_hosts", *asked])
    return tool.main(), page.read_text()


def test_environments_that_are_not_named_keep_their_rows(tmp_path, monkeypatch):
    newest = {"newest": {("accelerate", "1.15.0"): ("torch 2.13.0", "9 of 9")}}
    oldest = {"oldest": {("accelerate", "0.33.0"): ("torch 2.4.1", "8 of 9")}}
    assert run(tmp_path, monkeypatch, newest)[0] == 0
    code, text = run(tmp_path, monkeypatch, oldest, "oldest")
    assert code == 1  # a test failed
    assert tool.rows_in(text) == newest["newest"] | oldest["oldest"]
    assert text.startswith("before\n") and text.endswith("after\n")


def test_an_environment_that_does_not_exist_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(tool.sys, "argv", ["test_hosts", "eldest"])
    assert tool.main() == 2
    assert (
        "there is no environment eldest; there are newest, oldest, newest-tools, oldest-tools, paddle"
        in capsys.readouterr().out
    )


def test_the_oldest_tools_are_those_that_the_package_claims():
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    claims = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    claimed = dict(each.split(">=") for name in ("notebook", "mcp", "test") for each in claims[name] if ">=" in each)
    tried = dict(each.split("==") for each in tool.ENVIRONMENTS["oldest-tools"] if "==" in each)
    assert {name: f"{claimed[name]}.0" for name in tried} == tried


def test_each_host_has_a_file_of_tests():
    for environment in tool.ENVIRONMENTS:
        assert all((ROOT / "python" / "tests" / file).exists() for _, file in tool.hosts_of(environment).values())


def test_the_page_has_the_newest_and_the_oldest_of_each_host():
    page = (ROOT / "docs" / "reference" / "host_versions.md").read_text()
    hosts = re.findall(r"^\| (\w+) \| [\d.]+ \|", page, re.MULTILINE)
    twice = [*tool.TRAINERS, *tool.TOOL_TESTS]
    assert sorted(hosts) == sorted([*twice, *twice, "paddle"])
