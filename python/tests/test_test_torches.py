# SPDX-License-Identifier: Apache-2.0
"""tools/test_torches: which tests it runs with each torch, and how it keeps its table."""

import re
from pathlib import Path

from load_tool import load_tool

TESTS = Path(__file__).resolve().parent
tool = load_tool("test_torches")


def test_every_test_of_torch_that_is_about_cuda_or_the_monitor_is_tried_with_each_torch():
    tried = {f"test_torch_{name}.py" for names in tool.SUITES.values() for name in names}
    about = {path.name for path in TESTS.glob("test_torch_*.py") if "cuda_program" in path.read_text()}
    about |= {path.name for path in TESTS.glob("test_torch_*monitor*.py")}
    assert len(about) >= 4
    assert about <= tried
    assert all((TESTS / name).exists() for name in tried)


def test_the_torch_of_the_machines_with_a_gpu_is_among_those_that_are_tried():
    assert "2.11.0" in tool.RELEASES  # it has no readable custom_profiler_config and lists no calls of Python


def test_columns_that_are_not_asked_for_keep_what_they_said(tmp_path, monkeypatch):
    document = tmp_path / "torch.md"
    old = ["5 of 5", *(f"{at} of {at}" for at in range(1, len(tool.SUITES)))]  # one suite came after this row
    document.write_text(f"before\n{tool.BEGIN}\n{tool.table_of({'2.11.0+cu130': old})}\n{tool.END}\nafter\n")
    monkeypatch.setattr(tool, "DOCUMENT", document)
    monkeypatch.setattr(tool, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(tool, "given_environment", lambda *_: tmp_path)
    monkeypatch.setattr(tool, "version_of", lambda _: "2.11.0+cu130")
    monkeypatch.setattr(tool, "package_for", lambda _, folder: folder)
    monkeypatch.setattr(tool, "tried_parts", lambda *_: ({"operators": "", "memory": ""}, str(tmp_path), 0.0))
    monkeypatch.setattr(tool, "keep_headers", lambda *_: None)
    monkeypatch.setattr(tool, "counts_of_suites", lambda suites, *_: {suite: [8, 9, 1] for suite in suites})
    monkeypatch.setenv("OPSCOPE_TORCHES", str(tmp_path))
    monkeypatch.setattr(tool.sys, "argv", ["test_torches", "--suites=memory,trainers", "2.11.0"])
    tool.main()
    text = document.read_text()
    row = dict(zip(["parts", *tool.SUITES], tool.rows_of(text)["2.11.0+cu130"], strict=True))
    expected = {suite: old[at + 1] if at + 1 < len(old) else tool.NOT_TRIED for at, suite in enumerate(tool.SUITES)}
    assert row == {"parts": "2 of 2", **expected, "memory": "8 of 9 (1)", "trainers": "8 of 9 (1)"}
    assert text.startswith("before\n") and text.endswith("after\n")
    assert len(re.findall(r"^\| 2\.11", text, re.MULTILINE)) == 1


def test_a_suite_that_does_not_exist_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(tool.sys, "argv", ["test_torches", "--suites=cudas"])
    assert tool.main() == 2
    assert "there is no suite cudas; there are parity, " in capsys.readouterr().out
